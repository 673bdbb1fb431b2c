// The default Python with one more directory (or zip file) of Python code at the
// end of its search path.
//
//   InterpreterManager m(4, std::make_shared<PathEnvironment>("/srv/app/python"));
//
// To run in another virtual environment as a whole use PythonEnvironment.
#pragma once

#include <string>

#include "multipy/runtime/environment.h"

namespace multipy::runtime {

class PathEnvironment : public Environment {
 public:
  /// Throws EnvironmentError if `path` does not exist, is neither a directory nor a zip
  /// file, is the root of a virtual environment, or is the library directory of another
  /// version of Python.
  explicit PathEnvironment(std::string path);

  void configureInterpreter(Interpreter*) override {}
};

}  // namespace multipy::runtime
