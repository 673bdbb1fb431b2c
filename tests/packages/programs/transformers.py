import torch
import transformers

torch.manual_seed(0)
config = transformers.LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=100)
model = transformers.LlamaForCausalLM(config).eval()
print(model.generate(torch.tensor([[1, 5, 7]]), max_new_tokens=8, do_sample=False))
with torch.no_grad():
    print(model(torch.tensor([[1, 5, 7]])).logits.sum(-1))
print(transformers.BertModel(transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, vocab_size=50)).num_parameters())
for model in (
    transformers.BertModel(transformers.BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=50)),
    transformers.GPT2Model(transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=50, bos_token_id=0, eos_token_id=0)),
    transformers.ViTModel(transformers.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=8)),
):
    x = torch.ones(1, 3, 32, 32) if "pixel" in model.main_input_name else torch.tensor([[1, 5, 7]])
    with torch.no_grad():
        eager = model.eval()(x)[0]
        print(type(model).__name__, torch.allclose(torch.compile(model, backend="eager")(x)[0], eager))
