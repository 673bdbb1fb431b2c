// The process's signal handlers are the host's.
//
// The first import of `signal` makes CPython take SIGINT over, whatever
// PyConfig::install_signal_handlers says (Modules/signalmodule.c), and code as
// common as subprocess imports it. So that import is done once, at the start,
// while sigaction() is kept from changing anything. Later changes are what the
// user's Python code asks for itself; signal.signal() works only in the
// interpreter's own thread.
//
// Linked with --wrap=sigaction.
#pragma once

namespace multipy {

/// While one exists, sigaction() called by CPython changes nothing and reports
/// success. One thread at a time: the interpreter's own, as it starts.
class SignalsAreTheHosts {
 public:
  SignalsAreTheHosts();
  ~SignalsAreTheHosts();
  SignalsAreTheHosts(const SignalsAreTheHosts&) = delete;
  SignalsAreTheHosts& operator=(const SignalsAreTheHosts&) = delete;
};

}  // namespace multipy
