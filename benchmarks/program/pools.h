// multipy itself, as it is measured: managers, and single interpreters beside them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "targets.h"

namespace multipy::runtime {
class Interpreter;
class InterpreterManager;
}  // namespace multipy::runtime

namespace multipy::benchmark {

/// One InterpreterManager and the models that were loaded into it.
class Pool {
 public:
  /// `loops` is the source of rivals/python_loops.py.
  Pool(int interpreters, const std::string& loops);
  ~Pool();

  /// Imports torch in all interpreters at once, and calls an operator in each.
  void importTorch();
  /// Loads the package's model; it is in no interpreter yet.
  void load(const std::string& name, const std::string& package, const std::string& input);
  /// Brings the model into one interpreter, and calls it there once.
  void bring(const std::string& name, int interpreter);
  void bringEverywhere(const std::string& name);
  /// From now on only the first n interpreters are used.
  void limit(int interpreters);

  Target& target(const std::string& name);

  // Nanoseconds of one call, of the ReplicatedObj, of the Obj in a kept session, and by
  // Python inside the interpreter.
  double call(const std::string& name, double seconds);
  double callInSession(const std::string& name, double seconds);
  double callInside(const std::string& name, double seconds);
  /// Of one loop of a benchmark of pyperformance, inside an interpreter.
  double pyperformance(const std::string& folder, const std::string& name, double seconds);

  /// Nanoseconds of acquireOne() and the end of that session, by so many threads at
  /// once; `entering` also takes and gives back the GIL in between.
  double session(int threads, double seconds, bool entering);

 private:
  struct Model;
  Model& model(const std::string& name);

  std::unique_ptr<runtime::InterpreterManager> manager_;
  std::map<std::string, std::unique_ptr<Model>> models_;
};

/// Interpreters in no pool, one more at a time. Each member answers in seconds.
class Extras {
 public:
  Extras();
  ~Extras();

  double start(bool slimTorch);  // one more, and one call of a Python function in it
  double importTorch();          // torch imported in the last one, and one operator called
  double collect();              // Python's garbage collected there
  // function(argument) of a module there; the folder is put on its path
  double call(const std::string& folder, const std::string& module, const std::string& function,
              const std::string& argument);

 private:
  runtime::Interpreter& last();
  std::deque<runtime::Interpreter> interpreters_;
};

}  // namespace multipy::benchmark
