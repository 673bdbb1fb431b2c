// Signals are the host's, and an interpreter asks for those it wants.
//
// What CPython and private libraries do with sigaction() and signal() goes to the host,
// which calls the handlers of all who want a signal: src/process/signal_handlers.h.
//
// CPython asks without being told to: the first import of `signal` takes SIGINT over,
// whatever PyConfig::install_signal_handlers says (Modules/signalmodule.c), and code as
// common as subprocess imports it. So that import is done once, at the start, while
// sigaction() is kept from changing anything. Later changes are what the user's Python
// code asks for itself; signal.signal() works only in the interpreter's own thread.
//
// CPython is linked with --wrap=sigaction; private copies call multipy_sigaction.
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
