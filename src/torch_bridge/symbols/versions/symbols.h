// The rows of the table of redirected symbols (redirected_symbols.cpp) that differ
// between versions of torch: chooses the file with those of the one that is
// compiled against. Nothing of torch is included but its number, so that the table
// can be compared with a torch whose headers are not what we know (self_check.cpp).
//
//   kSymbols             the rows
//   kCompilerInterface   the function by which nodes find compiled autograd's
//                        compiler; null where there is none
//   kAnyForwardLevel     the function by which torch asks whether a level of
//                        forward-mode autograd is open; null where there is none
#pragma once

#include "torch_bridge/symbols/versions/torch_series.h"

#if MULTIPY_TORCH_SERIES < 209
#include "torch_bridge/symbols/versions/symbols_2_6.h"
#else
#include "torch_bridge/symbols/versions/symbols_2_13.h"
#endif
