"""Precision of matrix products and of backends, as set."""

import torch

print(torch.get_float32_matmul_precision())
try:
    for precision in "high", "medium", "highest":
        torch.set_float32_matmul_precision(precision)
        for _ in range(200):
            assert torch.get_float32_matmul_precision() == precision
        print(torch.get_float32_matmul_precision())
finally:
    torch.set_float32_matmul_precision("highest")
with torch.backends.mkldnn.flags(enabled=False):
    print(torch.backends.mkldnn.enabled, torch._C._get_mkldnn_enabled())
print(torch.backends.mkldnn.enabled, torch.backends.mkldnn.is_available(), torch.backends.openmp.is_available())
with torch.backends.cudnn.flags(enabled=False, benchmark=True, deterministic=True):
    print(torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic)
print(torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic)
with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    print(torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled())
print(torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled())
