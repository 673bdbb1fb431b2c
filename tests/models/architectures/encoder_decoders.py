"""Encoders with a decoder, from text to text."""

from architectures.architecture import table
from inputs import VOCABULARY, text, words

BART = dict(
    vocab_size=VOCABULARY,
    d_model=64,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
    max_position_embeddings=64,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=1,
    forced_eos_token_id=None,
)
T5 = dict(vocab_size=VOCABULARY, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0)
pair = text(decoder_input_ids=words(2, 5))

ENCODER_DECODERS = table(
    "encoder-decoder",
    ("bart", "BartForConditionalGeneration", BART, pair),
    ("bigbird_pegasus", "BigBirdPegasusForConditionalGeneration", {**BART, "attention_type": "original_full"}, pair),
    ("blenderbot", "BlenderbotForConditionalGeneration", BART, pair),
    (
        "fsmt",
        "FSMTForConditionalGeneration",
        {**BART, "langs": ["en", "de"], "src_vocab_size": VOCABULARY, "tgt_vocab_size": VOCABULARY},
        pair,
    ),
    (
        "led",
        "LEDForConditionalGeneration",
        {**BART, "attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
        pair,
    ),
    (
        "longt5",
        "LongT5ForConditionalGeneration",
        {**T5, "encoder_attention_type": "transient-global", "local_radius": 4, "global_block_size": 4},
        pair,
    ),
    ("m2m_100", "M2M100ForConditionalGeneration", BART, pair),
    ("marian", "MarianMTModel", BART, pair),
    ("mbart", "MBartForConditionalGeneration", BART, pair),
    ("mt5", "MT5ForConditionalGeneration", T5, pair),
    ("pegasus", "PegasusForConditionalGeneration", BART, pair),
    ("plbart", "PLBartForConditionalGeneration", BART, pair),
    (
        "prophetnet",
        "ProphetNetForConditionalGeneration",
        dict(
            vocab_size=VOCABULARY,
            hidden_size=64,
            num_encoder_layers=2,
            num_decoder_layers=2,
            num_encoder_attention_heads=4,
            num_decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            max_position_embeddings=64,
            decoder_start_token_id=1,
        ),
        pair,
    ),
    (
        "switch_transformers",
        "SwitchTransformersForConditionalGeneration",
        {
            **T5,
            "num_decoder_layers": 2,
            "num_experts": 4,
            "expert_capacity": 8,
            "num_sparse_encoder_layers": 1,
            "num_sparse_decoder_layers": 1,
        },
        pair,
    ),
    ("t5", "T5ForConditionalGeneration", T5, pair),
    ("umt5", "UMT5ForConditionalGeneration", T5, pair),
    generates_from=("input_ids", "attention_mask"),
)
