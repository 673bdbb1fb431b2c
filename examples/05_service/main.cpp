// A model as a service: what a program needs beside the model to be run for months.
//
//   python export.py models
//   05_service --package models/language.pt --port 8080
//   curl --json '{"text": "Wo ist der Bahnhof?"}' localhost:8080/predict
//
// It listens once every interpreter is warm. SIGHUP reloads the package while requests go on;
// SIGTERM or SIGINT lets requests that are under way end, and then the program, with exit code 0.
// After that a second one ends it at once.
//
//   http.h         what is answered, and how long a request may take
//   failures.h     which error is which status
//   model.h        the interpreters, their warm-up, and the switch to a new model
//   json_values.h  JSON to Python and back
//   signals.h      signals without handlers
//   options.h      the command line
#include <ATen/Parallel.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "http.h"
#include "metrics.h"
#include "model.h"
#include "options.h"
#include "reloader.h"
#include "signals.h"

namespace service {
namespace {

/// Returns when the program is to end.
void takeSignals(Signals& signals, Reloader& reloader) {
  while (signals.wait() == SIGHUP) reloader.request();
}

int run(const Options& options) {
  // Before any other thread is started; so one that comes while the model loads is seen after that.
  Signals signals{SIGHUP, SIGINT, SIGTERM};
  // A client that closes its connection is an error of that connection.
  std::signal(SIGPIPE, SIG_IGN);
  // Requests come in parallel, so that each of them needs one core.
  at::set_num_threads(1);

  Metrics metrics;
  Model model(options);
  Reloader reloader(model, metrics);
  HttpServer server(options, model, metrics);
  std::fprintf(stderr, "05_service: listening at %s:%d\n", options.address.c_str(), server.port());

  takeSignals(signals, reloader);
  signals.release();
  std::fprintf(stderr, "05_service: ending; requests that are under way are answered\n");
  server.stop();
  if (!server.failed()) return 0;
  std::fprintf(stderr, "05_service: no more connections could be accepted\n");
  return 1;
}

}  // namespace
}  // namespace service

int main(int argc, char** argv) try {
  const auto options = service::parseOptions(argc, argv);
  if (!options) {
    std::fputs(service::kUsage, stdout);
    return 0;
  }
  return service::run(*options);
} catch (const service::UsageError& error) {
  std::fprintf(stderr, "05_service: %s\n\n%s", error.what(), service::kUsage);
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "05_service: %s\n", error.what());
  return 1;
}
