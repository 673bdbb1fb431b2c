import tempfile

import diffusers
import torch

diffusers.utils.logging.disable_progress_bar()
torch.manual_seed(0)
unet = diffusers.UNet2DModel(
    sample_size=8,
    block_out_channels=(32, 32),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
for scheduler in diffusers.DDPMScheduler(), diffusers.DDIMScheduler(), diffusers.DPMSolverMultistepScheduler():
    steps = torch.tensor([10, 400])
    noisy = scheduler.add_noise(torch.ones(2, 3, 8, 8), torch.full((2, 3, 8, 8), 0.5), steps)
    print(type(scheduler).__name__, noisy[:, 0, 0, 0])
pipeline = diffusers.DDIMPipeline(unet=unet, scheduler=diffusers.DDIMScheduler())
pipeline.set_progress_bar_config(disable=True)
images = pipeline(batch_size=2, num_inference_steps=4, generator=torch.manual_seed(3), output_type="np").images
print(images.shape, images.mean().round(4), images.std().round(4))
with tempfile.TemporaryDirectory() as folder:
    pipeline.save_pretrained(folder)
    again = diffusers.DDIMPipeline.from_pretrained(folder)
    again.set_progress_bar_config(disable=True)
    same = again(batch_size=2, num_inference_steps=4, generator=torch.manual_seed(3), output_type="np").images
    print(abs(same - images).max() < 1e-5)
unet.enable_gradient_checkpointing()
unet.train()(torch.ones(1, 3, 8, 8), 1).sample.square().mean().backward()
print(sum(p.grad.abs().sum() > 0 for p in unet.parameters() if p.grad is not None))
vae = diffusers.AutoencoderKL(block_out_channels=(32,), norm_num_groups=8, latent_channels=4).eval()
with torch.no_grad():
    print(vae.decode(vae.encode(torch.ones(1, 3, 16, 16)).latent_dist.mode()).sample.mean())
conditioned = diffusers.UNet2DConditionModel(
    sample_size=8, block_out_channels=(32, 32), cross_attention_dim=16, attention_head_dim=8, norm_num_groups=8,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
).eval()
with torch.no_grad():
    print(conditioned(torch.ones(1, 4, 8, 8), 5, torch.ones(1, 3, 16)).sample.std())
print(sorted({type(each).__name__ for each in conditioned.attn_processors.values()}))
