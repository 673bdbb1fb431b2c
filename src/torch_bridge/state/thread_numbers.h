// How many threads an operator may use (torch.set_num_threads): each interpreter's own.
//
// torch keeps the number twice: for each thread (in the OpenMP runtime and in MKL),
// and once per process as what threads begin with that have not computed yet. Here
// each interpreter has the second for its own threads. So Python's threads are as in
// plain Python: a number that one of them sets is its own and that of those which
// begin to compute later. A thread of the program that enters an interpreter has that
// interpreter's number until it leaves.
//
// An interpreter that has set no number leaves all as it is: its threads begin with
// what C++ has set by at::set_num_threads(), or with torch's default.
//
// The OpenMP threads themselves are each calling thread's, so numbers do not
// interfere. Left alone is what is the process's: the pool of the mobile kernels
// (XNNPACK, QNNPACK), which torch makes anew for another number, under the feet of
// the thread that is using it.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addThreadNumberRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections threadNumberRedirections();
/// The interpreter has none any more.
void purgeThreadNumber(InterpreterId slot);

}  // namespace multipy::bridge
