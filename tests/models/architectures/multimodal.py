"""Models of text together with images."""

from architectures.architecture import ALL_INPUTS, table
from architectures.decoders import OPT
from architectures.encoder_decoders import BART
from inputs import LENGTH, VOCABULARY, both, boxes, image, normal, ones, rows, text, text_with_parts, words

TEXT = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=64,
)
DECODER = {**TEXT, "num_key_value_heads": 2, "head_dim": 16}
VIEW = dict(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8
)
IMAGE_TOKEN = 4
PATCHES = 16  # of an image of 32 x 32 in patches of 8 x 8
text_and_image = both(text(), image())
described = text_with_parts(PATCHES, IMAGE_TOKEN, pixel_values=normal(2, 3, 32, 32))

MULTIMODAL = [
    *table(
        "multimodal",
        (
            "align",
            "AlignModel",
            dict(
                text_config=TEXT,
                projection_dim=24,
                vision_config=dict(
                    image_size=32,
                    width_coefficient=0.5,
                    depth_coefficient=0.5,
                    hidden_dim=640,
                    kernel_sizes=[3, 3, 5],
                    in_channels=[32, 16, 24],
                    out_channels=[16, 24, 40],
                    strides=[1, 2, 2],
                    num_block_repeats=[1, 2, 2],
                    expand_ratios=[1, 6, 6],
                    depthwise_padding=[],
                ),
            ),
            text_and_image,
        ),
        (
            "blip",
            "BlipForImageTextRetrieval",
            dict(text_config={**TEXT, "encoder_hidden_size": 64}, vision_config=VIEW, image_text_hidden_size=32),
            text_and_image,
        ),
        (
            "bridgetower",
            "BridgeTowerModel",
            dict(
                text_config={**TEXT, "intermediate_size": 256},
                vision_config=dict(hidden_size=64, num_hidden_layers=2, patch_size=8, image_size=32),
                hidden_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
            ),
            both(text(), image(pixel_mask=ones(2, 32, 32))),
        ),
        (
            "chinese_clip",
            "ChineseCLIPModel",
            dict(text_config=TEXT, vision_config=VIEW, projection_dim=32),
            text_and_image,
        ),
        (
            "clip",
            "CLIPModel",
            dict(text_config={**TEXT, "eos_token_id": 2}, vision_config=VIEW, projection_dim=32),
            text_and_image,
        ),
        (
            "clipseg",
            "CLIPSegForImageSegmentation",
            dict(
                text_config={**TEXT, "eos_token_id": 2},
                vision_config=VIEW,
                projection_dim=32,
                reduce_dim=16,
                extract_layers=[0, 1],
            ),
            text_and_image,
        ),
        (
            "flava",
            "FlavaModel",
            dict(text_config=TEXT, image_config=VIEW, multimodal_config=VIEW, image_codebook_config={}, hidden_size=64),
            text_and_image,
        ),
        (
            "groupvit",
            "GroupViTModel",
            dict(
                text_config={**TEXT, "eos_token_id": 2},
                vision_config={
                    **VIEW,
                    "depths": [1, 1, 1],
                    "num_hidden_layers": 3,
                    "num_group_tokens": [4, 2, 0],
                    "num_output_groups": [4, 2, 0],
                },
                projection_dim=32,
                projection_intermediate_dim=64,
            ),
            text_and_image,
        ),
        (
            "layoutlmv3",
            "LayoutLMv3ForTokenClassification",
            {**TEXT, "input_size": 32, "patch_size": 8, "coordinate_size": 10, "shape_size": 12},
            both(text(bbox=boxes(2, LENGTH)), image()),
        ),
        (
            "lxmert",
            "LxmertModel",
            dict(
                vocab_size=VOCABULARY,
                hidden_size=64,
                num_attention_heads=4,
                intermediate_size=128,
                l_layers=1,
                x_layers=1,
                r_layers=1,
                visual_feat_dim=32,
            ),
            text(visual_feats=normal(2, 6, 32), visual_pos=normal(2, 6, 4)),
        ),
        (
            "owlvit",
            "OwlViTForObjectDetection",
            dict(text_config={**TEXT, "max_position_embeddings": 16}, vision_config=VIEW, projection_dim=64),
            text_and_image,
        ),
        (
            "siglip",
            "SiglipModel",
            dict(text_config={**TEXT, "projection_size": 64}, vision_config=VIEW),
            text_and_image,
        ),
        ("vilt", "ViltForQuestionAnswering", {**TEXT, "image_size": 32, "patch_size": 8}, text_and_image),
        (
            "visual_bert",
            "VisualBertForPreTraining",
            {**TEXT, "visual_embedding_dim": 32},
            text(visual_embeds=normal(2, 4, 32), visual_attention_mask=ones(2, 4)),
        ),
    ),
    *table(
        "multimodal",
        (
            "blip_2",
            "Blip2ForConditionalGeneration",
            dict(
                vision_config=VIEW,
                qformer_config={**TEXT, "encoder_hidden_size": 64},
                num_query_tokens=4,
                image_token_index=IMAGE_TOKEN,
                text_config={"model_type": "opt", **OPT},
            ),
            text_with_parts(4, IMAGE_TOKEN, pixel_values=normal(2, 3, 32, 32)),
        ),
        ("git", "GitForCausalLM", {**TEXT, "vision_config": VIEW}, text_and_image),
        (
            "idefics3",
            "Idefics3ForConditionalGeneration",
            dict(
                text_config={"model_type": "llama", **DECODER},
                vision_config=VIEW,
                image_token_id=IMAGE_TOKEN,
                scale_factor=2,
            ),
            text_with_parts(4, IMAGE_TOKEN, pixel_values=normal(2, 1, 3, 32, 32)),
        ),
        (
            "llava",
            "LlavaForConditionalGeneration",
            dict(
                text_config={"model_type": "llama", **DECODER},
                vision_config={"model_type": "clip_vision_model", **VIEW, "projection_dim": 32},
                image_token_id=IMAGE_TOKEN,
                vision_feature_layer=-1,
            ),
            described,
        ),
        (
            "mllama",
            "MllamaForConditionalGeneration",
            dict(
                text_config={
                    **DECODER,
                    "cross_attention_layers": [1],
                    "pad_token_id": 0,
                    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
                },
                vision_config=dict(
                    hidden_size=64,
                    num_hidden_layers=2,
                    num_global_layers=1,
                    attention_heads=4,
                    intermediate_size=128,
                    vision_output_dim=128,
                    image_size=32,
                    patch_size=8,
                    max_num_tiles=1,
                    intermediate_layers_indices=[0],
                    supported_aspect_ratios=[[1, 1]],
                ),
                image_token_index=IMAGE_TOKEN,
            ),
            text_with_parts(
                1,
                IMAGE_TOKEN,
                pixel_values=normal(2, 1, 1, 3, 32, 32),
                aspect_ratio_ids=ones(2, 1),
                aspect_ratio_mask=ones(2, 1, 1),
                cross_attention_mask=ones(2, LENGTH + 1, 1, 1),
            ),
        ),
        (
            "paligemma",
            "PaliGemmaForConditionalGeneration",
            dict(
                text_config={"model_type": "gemma", **DECODER},
                vision_config={
                    "model_type": "siglip_vision_model",
                    **VIEW,
                    "projection_dim": 64,
                    "vision_use_head": False,
                },
                image_token_id=IMAGE_TOKEN,
                projection_dim=64,
            ),
            described,
        ),
        (
            "qwen2_vl",
            "Qwen2VLForConditionalGeneration",
            dict(
                text_config={
                    **DECODER,
                    "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0},
                },
                image_token_id=IMAGE_TOKEN,
                video_token_id=3,
                vision_start_token_id=2,
                vision_config=dict(depth=2, embed_dim=32, hidden_size=64, num_heads=4, patch_size=8, mlp_ratio=2),
            ),
            text_with_parts(
                4,
                IMAGE_TOKEN,
                kinds="mm_token_type_ids",
                pixel_values=normal(32, 3 * 2 * 8 * 8),
                image_grid_thw=rows([[1, 4, 4]] * 2),
            ),
        ),
        generates_from=ALL_INPUTS,
    ),
    *table(
        "multimodal",
        (
            "florence2",
            "Florence2ForConditionalGeneration",
            dict(
                text_config={"model_type": "bart", **BART},
                vision_config=dict(
                    depths=[1, 1, 1, 1],
                    embed_dim=[16, 32, 48, 64],
                    num_heads=[1, 2, 3, 4],
                    num_groups=[1, 2, 3, 4],
                    window_size=4,
                    projection_dim=64,
                ),
                image_token_id=IMAGE_TOKEN,
            ),
            text_with_parts(5, IMAGE_TOKEN, pixel_values=normal(2, 3, 64, 64), decoder_input_ids=words(2, 5)),
        ),
        generates_from=("input_ids", "attention_mask", "pixel_values"),
    ),
    *table(
        "multimodal",
        (
            "vision_encoder_decoder",
            "VisionEncoderDecoderModel",
            dict(
                encoder={"model_type": "vit", **VIEW},
                decoder={
                    "model_type": "gpt2",
                    "vocab_size": VOCABULARY,
                    "n_embd": 64,
                    "n_layer": 2,
                    "n_head": 4,
                    "n_positions": 64,
                    "add_cross_attention": True,
                    "is_decoder": True,
                },
                decoder_start_token_id=1,
            ),
            image(decoder_input_ids=words(2, 5)),
        ),
        generates_from=("pixel_values",),
    ),
]
