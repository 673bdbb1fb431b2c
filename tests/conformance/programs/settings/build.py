"""What torch tells of itself."""

import torch

print(torch.__version__, torch.version.debug, torch.version.cuda, torch.cuda.is_available())
print(torch._C._GLIBCXX_USE_CXX11_ABI, torch.backends.mps.is_built(), torch.distributed.is_available())
print(torch.__config__.show())
print(sorted(torch.classes.loaded_libraries), len(dir(torch)) > 1000)
print(torch.utils.collect_env.get_platform() if hasattr(torch.utils, "collect_env") else "")
print(torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device())
print(torch.accelerator.is_available(), torch.accelerator.device_count())
