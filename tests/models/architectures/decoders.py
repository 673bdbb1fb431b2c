"""Decoders of text, which also generate with a key-value cache."""

from architectures.architecture import ALL_INPUTS, table
from inputs import VOCABULARY, text

SMALL = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=128,
    max_position_embeddings=64,
    head_dim=16,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
EQUAL_HEADS = {name: value for name, value in SMALL.items() if name not in ("num_key_value_heads", "head_dim")}
GPT = dict(vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)
OPT = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    ffn_dim=128,
    max_position_embeddings=64,
    word_embed_proj_dim=64,
)
words = text(padding="left")

DECODERS = table(
    "decoder",
    ("biogpt", "BioGptForCausalLM", EQUAL_HEADS, words),
    ("bloom", "BloomForCausalLM", dict(vocab_size=VOCABULARY, hidden_size=64, n_layer=2, n_head=4), words),
    ("codegen", "CodeGenForCausalLM", {**GPT, "rotary_dim": 8}, words),
    ("cohere", "CohereForCausalLM", SMALL, words),
    ("ctrl", "CTRLLMHeadModel", {**GPT, "dff": 128}, words),
    (
        "falcon",
        "FalconForCausalLM",
        dict(vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2, num_attention_heads=4),
        words,
    ),
    ("gemma2", "Gemma2ForCausalLM", {**SMALL, "sliding_window": 4}, words),
    (
        "gemma3",
        "Gemma3ForCausalLM",
        {
            **SMALL,
            "sliding_window": 4,
            "num_hidden_layers": 3,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        },
        words,
    ),
    ("glm4", "Glm4ForCausalLM", SMALL, words),
    ("gpt2", "GPT2LMHeadModel", GPT, words),
    ("gpt_bigcode", "GPTBigCodeForCausalLM", GPT, words),
    (
        "gpt_neo",
        "GPTNeoForCausalLM",
        dict(
            vocab_size=VOCABULARY,
            hidden_size=64,
            num_layers=2,
            num_heads=4,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
            max_position_embeddings=64,
        ),
        words,
    ),
    ("gpt_neox", "GPTNeoXForCausalLM", EQUAL_HEADS, words),
    ("gptj", "GPTJForCausalLM", {**GPT, "rotary_dim": 8}, words),
    ("llama", "LlamaForCausalLM", SMALL, words),
    ("mistral", "MistralForCausalLM", {**SMALL, "sliding_window": 4}, words),
    ("mpt", "MptForCausalLM", dict(vocab_size=VOCABULARY, d_model=64, n_layers=2, n_heads=4, max_seq_len=64), words),
    ("nemotron", "NemotronForCausalLM", SMALL, words),
    ("olmo2", "Olmo2ForCausalLM", {name: value for name, value in SMALL.items() if name != "head_dim"}, words),
    ("opt", "OPTForCausalLM", OPT, words),
    ("persimmon", "PersimmonForCausalLM", EQUAL_HEADS, words),
    ("phi", "PhiForCausalLM", EQUAL_HEADS, words),
    ("phi3", "Phi3ForCausalLM", SMALL, words),
    ("qwen2", "Qwen2ForCausalLM", SMALL, words),
    ("qwen3", "Qwen3ForCausalLM", SMALL, words),
    ("smollm3", "SmolLM3ForCausalLM", SMALL, words),
    ("stablelm", "StableLmForCausalLM", SMALL, words),
    ("starcoder2", "Starcoder2ForCausalLM", SMALL, words),
    (
        "xglm",
        "XGLMForCausalLM",
        dict(
            vocab_size=VOCABULARY, d_model=64, num_layers=2, attention_heads=4, ffn_dim=128, max_position_embeddings=64
        ),
        words,
    ),
    generates_from=ALL_INPUTS,
)
