// A Python installation named by its prefix: a virtual environment, a conda
// environment, or what `python -c "import sys; print(sys.prefix)"` prints.
//
//   InterpreterManager m(4, std::make_shared<PythonEnvironment>("/srv/app/venv"));
#pragma once

#include <string>

#include "multipy/runtime/environment.h"

namespace multipy::runtime {

class PythonEnvironment : public Environment {
 public:
  /// Throws EnvironmentError, naming what was found and what was expected, if
  /// there is no Python installation of the built-in CPython's version.
  explicit PythonEnvironment(std::string prefix);

  std::string pythonPrefix() const override { return prefix_; }
  void configureInterpreter(Interpreter*) override {}

 private:
  std::string prefix_;
};

}  // namespace multipy::runtime
