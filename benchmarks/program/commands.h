// What the driver can ask for. Each command is a line of words, with tabs between
// them, and answers with numbers; state (pools, models) stays from one to the next.
// A TARGET is STRATEGY/MODEL: "torchscript/mlp8", or the name of a pool and a model.
//
//   pool NAME N                     a manager, in place of the old of that name: seconds
//   drop NAME                       the pool and its models go: seconds
//   torch POOL                      imported in all interpreters at once: seconds
//   load POOL MODEL PACKAGE INPUT   into all interpreters: seconds
//   lazily POOL MODEL PACKAGE INPUT into none yet: seconds
//   bring POOL MODEL K              into interpreter K, one call there: seconds
//   limit POOL N                    only the first N are used ("ring": workers): 0
//   torchscript MODEL FILE INPUT    seconds
//   aotinductor MODEL FILE INPUT RUNNERS
//                                   seconds
//   ring N WORDS... -- (MODEL PACKAGE INPUT)...
//                                   worker processes, started by WORDS: seconds
//   throughput TARGET M S           calls/s by M threads in S seconds
//   open TARGET M RATE S BURST SEED queueing, compute, latency: p50, p95, p99, p99.9
//                                   of each in us, and the number of requests
//   mix TARGET M RATE TARGET M RATE S SEED
//                                   latencies of the first, then of the second: p50 ... p99.9
//   call | call_session | call_inside POOL MODEL S
//                                   ns of one call (pools.h)
//   session | entered POOL M S      ns of a session's begin and end, without and with
//                                   its GIL, by M threads
//   handoff M PLACES S              ns (handoff.h)
//   detach S                        ns
//   extra | extra_whole | extra_torch | collect
//                                   one more interpreter, step by step: seconds (pools.h)
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pools.h"
#include "ring_pool.h"

namespace multipy::benchmark {

class Commands {
 public:
  /// `loops` is the source of rivals/python_loops.py.
  explicit Commands(std::string loops);

  using Words = std::vector<std::string>;
  using Numbers = std::vector<double>;
  /// Throws what goes wrong, also for a command that is not known.
  Numbers run(const Words& words);

 private:
  struct Command;
  static const std::map<std::string, Command>& all();

  Pool& pool(const std::string& name);
  Target& target(const std::string& name);

  // Each with all words of its line.
  void startPool(const Words& words);
  void dropPool(const Words& words);
  void importTorch(const Words& words);
  void load(const Words& words);
  void loadLazily(const Words& words);
  void bring(const Words& words);
  void loadTorchScript(const Words& words);
  void loadAotInductor(const Words& words);
  void startRing(const Words& words);

  Numbers limit(const Words& words);
  Numbers throughput(const Words& words);
  Numbers open(const Words& words);
  Numbers mix(const Words& words);
  Numbers call(const Words& words);
  Numbers pyperformance(const Words& words);
  Numbers session(const Words& words);
  Numbers handoff(const Words& words);
  Numbers detach(const Words& words);
  Numbers extra(const Words& words);

  const std::string loops_;
  std::map<std::string, std::unique_ptr<Pool>> pools_;
  std::map<std::string, std::unique_ptr<Target>> compiled_;
  std::unique_ptr<RingPool> ring_;
  Extras extras_;
};

}  // namespace multipy::benchmark
