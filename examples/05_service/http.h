// The model over HTTP.
//
//   POST /predict   a JSON document, which the model is called with; its answer as JSON.
//                   "Timeout-Ms: 250" asks for an answer within that time; --deadline bounds it
//   GET /metrics    for Prometheus
//   GET /ready      200, or 503 if no call can be made now: no interpreter, or the line is full;
//                   {"ready": ..., "reasons": [...]}
//   GET /live       200 with the same body, as long as the program answers at all
//
// failures.h has the errors.
//
// The library (cpp-httplib) gives each connection a thread. So a connection is closed after its
// response: one kept open would keep its thread. Put a proxy in front that keeps those of clients,
// ends TLS, and waits for slow ones. The version that Debian 12 has does not tell a handler that
// its client has gone: such a request runs to its end or deadline. (With another library, request a
// stop of CallOptions::stop then.)
#pragma once

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>

#include "metrics.h"
#include "model.h"
#include "options.h"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace service {

class HttpServer {
 public:
  /// Answers requests from now on. Throws std::runtime_error if the port cannot be had.
  HttpServer(const Options& options, Model& model, Metrics& metrics);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();  // stop()

  int port() const noexcept { return port_; }

  /// Accepts no connection any more, and returns when each that was has had its response. (The
  /// kernel resets those that are still waiting to be accepted.)
  void stop();

  /// Whether it has stopped by itself: SIGTERM was sent to this process then.
  bool failed() const noexcept { return failed_; }

 private:
  void setUp();
  int bind();
  void listen();
  void predict(const httplib::Request& request, httplib::Response& response);
  void health(httplib::Response& response, bool unreadyIsError) const;

  const Options options_;
  Model& model_;
  Metrics& metrics_;
  const std::unique_ptr<httplib::Server> server_;
  std::counting_semaphore<> places_;  // for requests in predict()
  int socket_ = -1;                   // that listens
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  std::thread thread_;  // that accepts connections
};

}  // namespace service
