import tempfile

import peft
import torch
import transformers

torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
config = transformers.LlamaConfig(**sizes, vocab_size=100)
ids = torch.tensor([[1, 5, 7, 9]])


def base():
    torch.manual_seed(1)
    return transformers.LlamaForCausalLM(config)


kinds = [
    peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"], init_lora_weights="gaussian"),
    peft.LoraConfig(task_type="CAUSAL_LM", r=4, use_dora=True, target_modules="all-linear"),
    peft.IA3Config(task_type="CAUSAL_LM", target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
    peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
    peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
]
for kind in kinds:
    model = peft.get_peft_model(base(), kind)
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.5)
    for _ in range(3):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(kind.peft_type, model.get_nb_trainable_parameters(), round(loss.item(), 4))
    model.eval()
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = peft.PeftModel.from_pretrained(base(), folder).eval()
        print(torch.allclose(again(input_ids=ids).logits, model(input_ids=ids).logits, atol=1e-5))
        if isinstance(kind, peft.LoraConfig):
            merged = again.merge_and_unload()
            print(type(merged).__name__, torch.allclose(merged(ids).logits, model(input_ids=ids).logits, atol=1e-4))
            with model.disable_adapter():
                print(torch.allclose(model(input_ids=ids).logits, base().eval()(ids).logits, atol=1e-5))
