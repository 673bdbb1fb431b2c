// Which Python an interpreter runs in: its standard library, its site-packages,
// its search path.
//
// Three environments are provided:
//   NoopEnvironment              the default Python (the active venv, ...)
//   PythonEnvironment(prefix)    a given venv, conda environment or prefix
//   PathEnvironment(directory)   the default Python with one more directory
//
// Derive from this class for another search path, or to prepare each interpreter
// in code:
//
//   class Prepared : public multipy::runtime::NoopEnvironment {
//     void configureInterpreter(Interpreter* interpreter) override {
//       interpreter->acquireSession().global("my_setup", "run")({});
//     }
//   };
//
// Threads: an environment may be shared by managers. Its members are called by
// the thread that constructs the manager (or stand-alone Interpreter), one
// interpreter after the other.
#pragma once

#include <string>
#include <vector>

namespace multipy::runtime {

class Interpreter;

class Environment {
 public:
  Environment() = default;
  /// Kept for classes derived from the ancestor's, which unpacked Python modules
  /// into `directory` and removed it at the end. Nothing is unpacked and nothing
  /// removed here.
  explicit Environment(const std::string& directory) : applicationDirectory_(directory) {}
  virtual ~Environment() = default;

  /// Prefix of the Python installation to run in: the directory of a venv or
  /// conda environment, or "/usr". Empty for the default Python.
  virtual std::string pythonPrefix() const { return {}; }

  /// Further entries of sys.path, behind its own.
  virtual const std::vector<std::string>& getExtraPythonPaths() { return extraPythonPaths_; }

  /// Called once for each interpreter when it is ready, before the constructor
  /// of its manager returns. What it throws ends that constructor.
  virtual void configureInterpreter(Interpreter* interpreter) = 0;

 protected:
  std::vector<std::string> extraPythonPaths_;  // of getExtraPythonPaths()
  std::string applicationDirectory_;           // as given; not used
};

}  // namespace multipy::runtime
