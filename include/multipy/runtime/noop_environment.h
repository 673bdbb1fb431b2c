// The default Python, as it is: the active virtual environment (VIRTUAL_ENV),
// else the active conda environment (CONDA_PREFIX), else the Python that multipy
// was built for.
//
// It must have the major and minor version of the built-in CPython; if it does
// not, or is not there, the constructor of the InterpreterManager throws
// EnvironmentError. A bad VIRTUAL_ENV is an error too: no other Python is taken
// in its place.
#pragma once

#include "multipy/runtime/environment.h"

namespace multipy::runtime {

class NoopEnvironment : public Environment {
 public:
  void configureInterpreter(Interpreter*) override {}
};

}  // namespace multipy::runtime
