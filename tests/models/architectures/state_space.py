"""State-space and other recurrent models, and what mixes them with attention."""

from architectures.architecture import ALL_INPUTS, table
from architectures.decoders import SMALL, words
from inputs import VOCABULARY, text

RECURRENT = dict(vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2)
without_mask = text(mask=False)

STATE_SPACE = table(
    "state space",
    (
        "bamba",
        "BambaForCausalLM",
        {
            **SMALL,
            "mamba_n_heads": 8,
            "mamba_d_head": 16,
            "mamba_d_state": 16,
            "mamba_chunk_size": 8,
            "attn_layer_indices": [1],
        },
        words,
    ),
    (
        "falcon_h1",
        "FalconH1ForCausalLM",
        {
            **SMALL,
            "mamba_d_ssm": 64,
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_d_state": 16,
            "mamba_n_groups": 1,
            "mamba_chunk_size": 8,
        },
        words,
    ),
    ("falcon_mamba", "FalconMambaForCausalLM", {**RECURRENT, "state_size": 8}, without_mask),
    (
        "jamba",
        "JambaForCausalLM",
        {
            **SMALL,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "num_experts": 4,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "use_mamba_kernels": False,
        },
        words,
    ),
    ("lfm2", "Lfm2ForCausalLM", {**SMALL, "layer_types": ["conv", "full_attention"], "conv_L_cache": 3}, words),
    ("mamba", "MambaForCausalLM", {**RECURRENT, "state_size": 8}, without_mask),
    (
        "mamba2",
        "Mamba2ForCausalLM",
        {**RECURRENT, "state_size": 16, "num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 8},
        without_mask,
    ),
    (
        "minimax",
        "MiniMaxForCausalLM",
        {**SMALL, "layer_types": ["linear_attention", "full_attention"], "block_size": 8, "num_local_experts": 4},
        words,
    ),
    (
        "nemotron_h",
        "NemotronHForCausalLM",
        {
            **SMALL,
            "layers_block_type": ["mamba", "attention", "moe"],
            "ssm_state_size": 16,
            "mamba_num_heads": 8,
            "mamba_head_dim": 16,
            "n_groups": 1,
            "chunk_size": 8,
            "n_routed_experts": 4,
            "moe_intermediate_size": 32,
            "moe_shared_expert_intermediate_size": 32,
        },
        words,
    ),
    (
        "olmo_hybrid",
        "OlmoHybridForCausalLM",
        {
            **SMALL,
            "layer_types": ["linear_attention", "full_attention"],
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
        },
        words,
    ),
    (
        "qwen3_next",
        "Qwen3NextForCausalLM",
        {
            **SMALL,
            "layer_types": ["linear_attention", "full_attention"],
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 32,
        },
        words,
    ),
    (
        "recurrent_gemma",
        "RecurrentGemmaForCausalLM",
        {**SMALL, "num_hidden_layers": 3, "attention_window_size": 8, "lru_width": 64},
        words,
    ),
    (
        "rwkv",
        "RwkvForCausalLM",
        {**RECURRENT, "attention_hidden_size": 64, "intermediate_size": 128, "context_length": 64},
        text(mask=False, use_cache=False),
    ),
    ("xlstm", "xLSTMForCausalLM", {**RECURRENT, "num_heads": 4, "qk_dim_factor": 1.0}, without_mask),
    (
        "zamba2",
        "Zamba2ForCausalLM",
        {
            **SMALL,
            "num_hidden_layers": 3,
            "layers_block_type": ["mamba", "hybrid", "mamba"],
            "mamba_d_state": 16,
            "mamba_ngroups": 1,
            "n_mamba_heads": 8,
            "mamba_headdim": 16,
            "chunk_size": 8,
            "num_mem_blocks": 1,
            "use_mem_rope": True,
            "num_key_value_heads": 4,
        },
        words,
    ),
    generates_from=ALL_INPUTS,
)
