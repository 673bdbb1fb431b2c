// Names of functions that differ between versions of torch: chooses the file with those
// of the one that is compiled against. Nothing of torch is included but its number, so that the
// table of redirected symbols (abi/redirects.def) can be compared with a torch whose headers are
// not what we know (self_check.cpp). Null: not in this version.
//
//   kWrap                THPVariable_Wrap
//   kAnyForwardLevel     the function by which torch asks whether a level of
//                        forward-mode autograd is open
//   the others           of the rows of redirects.def that name them
#pragma once

#include "torch_bridge/symbols/versions/torch_series.h"

#if MULTIPY_TORCH_SERIES < 209
#include "torch_bridge/symbols/versions/symbols_2_6.h"
#else
#include "torch_bridge/symbols/versions/symbols_2_13.h"
#endif
