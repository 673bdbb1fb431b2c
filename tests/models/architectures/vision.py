"""Models of images and videos."""

from architectures.architecture import table
from inputs import image, normal, numbers

VIT = dict(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8
)
STAGES = dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64], num_stages=4)
RESNET = dict(embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1])
SWIN = dict(image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4)

VISION = table(
    "vision",
    ("beit", "BeitForImageClassification", VIT, image()),
    ("convnext", "ConvNextForImageClassification", STAGES, image(64)),
    ("convnextv2", "ConvNextV2ForImageClassification", STAGES, image(64)),
    ("cvt", "CvtForImageClassification", dict(embed_dim=[16, 32, 64], num_heads=[1, 2, 4], depth=[1, 2, 3]), image(64)),
    ("deit", "DeiTForImageClassificationWithTeacher", VIT, image()),
    (
        "detr",
        "DetrForObjectDetection",
        dict(
            use_timm_backbone=False,
            backbone=None,
            use_pretrained_backbone=False,
            backbone_config={"model_type": "resnet", **RESNET, "out_features": ["stage4"]},
            d_model=64,
            encoder_layers=1,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_queries=5,
        ),
        image(64),
    ),
    ("dinov2", "Dinov2ForImageClassification", VIT, image()),
    ("dinov3_vit", "DINOv3ViTModel", {**VIT, "num_register_tokens": 2}, image()),
    (
        "depth_anything",
        "DepthAnythingForDepthEstimation",
        dict(
            backbone_config={"model_type": "dinov2", **VIT, "out_indices": [1, 2], "reshape_hidden_states": False},
            patch_size=8,
            reassemble_hidden_size=64,
            reassemble_factors=[1, 0.5],
            neck_hidden_sizes=[16, 16],
            fusion_hidden_size=16,
            head_hidden_size=8,
        ),
        image(),
    ),
    (
        "dpt",
        "DPTForDepthEstimation",
        {
            **VIT,
            "num_hidden_layers": 4,
            "backbone_out_indices": [0, 1, 2, 3],
            "neck_hidden_sizes": [16, 16, 32, 32],
            "fusion_hidden_size": 16,
        },
        image(),
    ),
    (
        "efficientnet",
        "EfficientNetForImageClassification",
        dict(
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
        image(),
    ),
    (
        "focalnet",
        "FocalNetForImageClassification",
        dict(
            image_size=32,
            patch_size=2,
            embed_dim=16,
            hidden_sizes=[16, 32],
            depths=[1, 1],
            focal_levels=[2, 2],
            focal_windows=[3, 3],
        ),
        image(),
    ),
    (
        "glpn",
        "GLPNForDepthEstimation",
        dict(
            depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64], num_attention_heads=[1, 2, 4, 4], decoder_hidden_size=16
        ),
        image(64),
    ),
    (
        "hiera",
        "HieraForImageClassification",
        dict(image_size=[64, 64], embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2]),
        image(64),
    ),
    (
        "levit",
        "LevitForImageClassification",
        dict(
            image_size=64, hidden_sizes=[32, 48, 64], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8]
        ),
        image(64),
    ),
    ("mobilenet_v2", "MobileNetV2ForImageClassification", dict(image_size=32, depth_multiplier=0.35), image()),
    (
        "mobilevit",
        "MobileViTForImageClassification",
        dict(
            image_size=64,
            hidden_sizes=[32, 48, 64],
            neck_hidden_sizes=[8, 16, 16, 24, 24, 32, 64],
            num_attention_heads=4,
        ),
        image(64),
    ),
    (
        "poolformer",
        "PoolFormerForImageClassification",
        dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64]),
        image(64),
    ),
    (
        "pvt",
        "PvtForImageClassification",
        dict(image_size=64, depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64], num_attention_heads=[1, 2, 4, 4]),
        image(64),
    ),
    ("regnet", "RegNetForImageClassification", {**RESNET, "groups_width": 8}, image(64)),
    ("resnet", "ResNetForImageClassification", RESNET, image(64)),
    (
        "rt_detr",
        "RTDetrForObjectDetection",
        dict(
            backbone_config={
                "model_type": "rt_detr_resnet",
                **RESNET,
                "layer_type": "basic",
                "out_features": ["stage2", "stage3", "stage4"],
            },
            encoder_hidden_dim=32,
            encoder_in_channels=[32, 48, 64],
            encoder_ffn_dim=64,
            encoder_attention_heads=4,
            d_model=32,
            num_queries=5,
            decoder_in_channels=[32, 32, 32],
            decoder_ffn_dim=64,
            decoder_layers=2,
            decoder_attention_heads=4,
            num_denoising=0,
        ),
        image(64),
    ),
    (
        "sam",
        "SamModel",
        dict(
            vision_config=dict(
                hidden_size=64,
                output_channels=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                image_size=64,
                patch_size=8,
                global_attn_indexes=[1],
                window_size=4,
                mlp_dim=128,
                num_pos_feats=16,
            ),
            prompt_encoder_config=dict(hidden_size=32, image_size=64, patch_size=8, mask_input_channels=4),
            mask_decoder_config=dict(
                hidden_size=32, mlp_dim=64, num_hidden_layers=2, num_attention_heads=4, iou_head_hidden_dim=32
            ),
        ),
        image(64, input_points=normal(2, 1, 2, 2)),
    ),
    (
        "segformer",
        "SegformerForSemanticSegmentation",
        dict(
            depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64], num_attention_heads=[1, 2, 4, 4], decoder_hidden_size=32
        ),
        image(64),
    ),
    ("swin", "SwinForImageClassification", SWIN, image()),
    ("swin2sr", "Swin2SRForImageSuperResolution", {**SWIN, "patch_size": 1, "window_size": 8, "upscale": 2}, image()),
    ("swinv2", "Swinv2ForImageClassification", SWIN, image()),
    (
        "timesformer",
        "TimesformerForVideoClassification",
        {**VIT, "num_frames": 2},
        numbers("pixel_values", 2, 2, 3, 32, 32),
    ),
    ("videomae", "VideoMAEForVideoClassification", {**VIT, "num_frames": 4}, numbers("pixel_values", 2, 4, 3, 32, 32)),
    (
        "vjepa2",
        "VJEPA2Model",
        dict(
            patch_size=8,
            crop_size=32,
            frames_per_clip=4,
            hidden_size=64,
            num_attention_heads=4,
            num_hidden_layers=2,
            num_pooler_layers=1,
            pred_hidden_size=32,
            pred_num_attention_heads=4,
            pred_num_hidden_layers=1,
            pred_num_mask_tokens=2,
        ),
        numbers("pixel_values_videos", 2, 4, 3, 32, 32),
    ),
    ("vit", "ViTForImageClassification", VIT, image()),
    (
        "vit_mae",
        "ViTMAEForPreTraining",
        {
            **VIT,
            "decoder_hidden_size": 32,
            "decoder_num_hidden_layers": 1,
            "decoder_num_attention_heads": 4,
            "decoder_intermediate_size": 64,
        },
        image(),
    ),
    ("yolos", "YolosForObjectDetection", {**VIT, "image_size": [32, 32], "num_detection_tokens": 5}, image()),
)
