"""Encoders of text."""

from architectures.architecture import table
from inputs import LENGTH, VOCABULARY, boxes, ones, text

SMALL = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=64,
)

ENCODERS = table(
    "encoder",
    ("albert", "AlbertForMaskedLM", {**SMALL, "embedding_size": 32}, text()),
    ("bert", "BertForMaskedLM", SMALL, text(token_type_ids=ones(2, LENGTH))),
    (
        "big_bird",
        "BigBirdForMaskedLM",
        {
            **SMALL,
            "attention_type": "block_sparse",
            "block_size": 8,
            "num_random_blocks": 1,
            "max_position_embeddings": 128,
        },
        text(length=96),
    ),
    (
        "canine",
        "CanineModel",
        {
            **SMALL,
            "type_vocab_size": 2,
            "num_hash_buckets": 128,
            "local_transformer_stride": 8,
            "max_position_embeddings": 128,
            "downsampling_rate": 4,
        },
        text(length=64),
    ),
    ("convbert", "ConvBertForMaskedLM", {**SMALL, "embedding_size": 64}, text()),
    ("deberta", "DebertaForMaskedLM", {**SMALL, "relative_attention": True, "pos_att_type": "p2c|c2p"}, text()),
    (
        "deberta_v2",
        "DebertaV2ForMaskedLM",
        {**SMALL, "relative_attention": True, "pos_att_type": "p2c|c2p", "conv_kernel_size": 3},
        text(),
    ),
    (
        "distilbert",
        "DistilBertForMaskedLM",
        dict(vocab_size=VOCABULARY, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=64),
        text(),
    ),
    ("electra", "ElectraForPreTraining", {**SMALL, "embedding_size": 32}, text()),
    (
        "esm",
        "EsmForMaskedLM",
        {**SMALL, "position_embedding_type": "rotary", "mask_token_id": 4, "pad_token_id": 1},
        text(),
    ),
    (
        "fnet",
        "FNetForMaskedLM",
        {name: value for name, value in SMALL.items() if name != "num_attention_heads"},
        text(mask=False),
    ),
    (
        "funnel",
        "FunnelForMaskedLM",
        dict(vocab_size=VOCABULARY, block_sizes=[1, 1], d_model=64, n_head=4, d_head=16, d_inner=128),
        text(),
    ),
    ("layoutlm", "LayoutLMForTokenClassification", SMALL, text(bbox=boxes(2, LENGTH))),
    (
        "longformer",
        "LongformerForMaskedLM",
        {**SMALL, "attention_window": 8, "max_position_embeddings": 130},
        text(length=96),
    ),
    (
        "modernbert",
        "ModernBertForMaskedLM",
        {**SMALL, "global_attn_every_n_layers": 2, "local_attention": 6, "pad_token_id": 0},
        text(),
    ),
    ("mpnet", "MPNetForMaskedLM", SMALL, text()),
    (
        "nystromformer",
        "NystromformerForMaskedLM",
        {**SMALL, "num_landmarks": 4, "segment_means_seq_len": 16},
        text(length=16, mask=False),
    ),
    ("roberta", "RobertaForSequenceClassification", SMALL, text()),
    ("roformer", "RoFormerForMaskedLM", {**SMALL, "embedding_size": 64}, text()),
    ("squeezebert", "SqueezeBertForMaskedLM", {**SMALL, "embedding_size": 64}, text()),
    ("xlm_roberta", "XLMRobertaForTokenClassification", SMALL, text()),
    (
        "xlnet",
        "XLNetForSequenceClassification",
        dict(vocab_size=VOCABULARY, d_model=64, n_layer=2, n_head=4, d_inner=128),
        text(),
    ),
)
