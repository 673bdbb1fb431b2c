// MULTIPY_TORCH_SERIES: the version of torch that is compiled against, 213 for 2.13.x.
#pragma once

#include <torch/version.h>

#define MULTIPY_TORCH_SERIES (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)
