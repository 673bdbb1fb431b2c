// For programs that were written for torch::deploy.
#pragma once

#include "multipy/runtime/deploy.h"
