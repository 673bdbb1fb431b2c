import torch
import transformers

torch.manual_seed(0)
config = transformers.LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=100)
model = transformers.LlamaForCausalLM(config).eval()
print(model.generate(torch.tensor([[1, 5, 7]]), max_new_tokens=8, do_sample=False))
with torch.no_grad():
    print(model(torch.tensor([[1, 5, 7]])).logits.sum(-1))
print(transformers.BertModel(transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, vocab_size=50)).num_parameters())
