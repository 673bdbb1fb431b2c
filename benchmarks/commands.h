// What the driver can ask for. Each command is a line of words, with tabs between
// them, and answers with one number; state (a manager, models) stays from one to
// the next.
//
//   manager N                         a new manager in place of the old: seconds
//   load NAME PACKAGE INPUT           save_pickle("model", "model.pkl"); brought
//                                     into all interpreters: seconds
//   throughput NAME N M S             calls/s on N interpreters by M threads in S seconds
//   call NAME S                       ns of one call of the ReplicatedObj
//   call_session NAME S               ns of one call of the Obj in a kept session
//   call_inside NAME S                ns of one call by Python, in the interpreter
//   torchscript NAME FILE INPUT       a scripted model: seconds
//   torchscript_throughput NAME M S   calls/s
//   bring NAME K                      the model into interpreter K alone, and one
//                                     call there: seconds
//   lazily NAME PACKAGE INPUT         load, but into no interpreter yet
//   extra                             one more interpreter beside all others, and
//                                     one call of a Python function: seconds
//   extra_torch                       torch imported in the last one, and one
//                                     operator called: seconds
//   collect                           Python's garbage collected there: seconds
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "input.h"

namespace multipy::runtime {
class Interpreter;
class InterpreterManager;
class ReplicatedObj;
}  // namespace multipy::runtime

namespace multipy::benchmark {

struct Model;
struct ScriptedModel;

class Commands {
 public:
  /// `loops` is the source of python_loops.py.
  explicit Commands(std::string loops);
  ~Commands();

  /// Throws what goes wrong, also for a command that is not known.
  double run(const std::vector<std::string>& words);

 private:
  double newManager(int interpreters);
  double load(const std::string& name, const std::string& package, const std::string& input,
              bool everywhere);
  double bring(const std::string& name, int interpreter);
  double measureThroughput(const std::string& name, int interpreters, int threads, double seconds);
  double call(const std::string& name, double seconds);
  double callInSession(const std::string& name, double seconds);
  double callInside(const std::string& name, double seconds);
  double loadScript(const std::string& name, const std::string& file, const std::string& input);
  double scriptThroughput(const std::string& name, int threads, double seconds);
  double extra();
  double extraTorch();
  double collect();

  Model& model(const std::string& name);

  const std::string loops_;
  std::unique_ptr<runtime::InterpreterManager> manager_;
  std::map<std::string, std::unique_ptr<Model>> models_;
  std::map<std::string, std::unique_ptr<ScriptedModel>> scripts_;
  std::deque<runtime::Interpreter> extras_;
};

}  // namespace multipy::benchmark
