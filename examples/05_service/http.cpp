#include "http.h"

#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "failures.h"
#include "json_values.h"

namespace service {
namespace {

using multipy::runtime::CallOptions;

constexpr const char* kJson = "application/json";
constexpr std::size_t kMostBytes = 16 << 20;  // of a body
constexpr const char* kRetryAfter = "1";      // second

// So many requests can be in predict() at once: those in line and those that run. Calls that wait
// in Python (for another service, say) share interpreters, hence twice.
std::size_t mostPredictions(const Options& options) {
  return 2 * options.interpreters + options.waiting;
}

// For /metrics, /ready, /live, and to say no to more predictions.
constexpr std::size_t kMoreThreads = 4;

/// One of a bounded number of places, if one is free.
class Place {
 public:
  explicit Place(std::counting_semaphore<>& places)
      : places_(places), taken_(places.try_acquire()) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (taken_) places_.release();
  }
  explicit operator bool() const noexcept { return taken_; }

 private:
  std::counting_semaphore<>& places_;
  const bool taken_;
};

void fail(httplib::Response& response, const Failure& failure) {
  response.status = failure.status;
  response.set_content(bodyOf(failure.type, failure.message), kJson);
  if (failure.status == 503) response.set_header("Retry-After", kRetryAfter);
  if (!failure.log.empty())
    std::fprintf(stderr, "05_service: %d: %s\n", failure.status, failure.log.c_str());
}

CallOptions::Clock::time_point deadlineOf(const httplib::Request& request,
                                          std::chrono::milliseconds most) {
  if (!request.has_header("Timeout-Ms")) return CallOptions::in(most);
  const std::string text = request.get_header_value("Timeout-Ms");
  std::uint32_t wanted = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadRequest("Timeout-Ms is \"" + text + "\", expected a number of milliseconds");
  return CallOptions::in(std::min(most, std::chrono::milliseconds(wanted)));
}

/// For errors that httplib itself finds, which have no body.
void explain(httplib::Response& response) {
  if (!response.body.empty()) return;
  std::string message = "the request cannot be understood";
  if (response.status == 404) message = "expected POST /predict, or GET /metrics, /ready or /live";
  if (response.status == 413)
    message = "the body has more than " + std::to_string(kMostBytes) + " bytes";
  response.set_content(bodyOf("HttpError", message), kJson);
}

}  // namespace

HttpServer::HttpServer(const Options& options, Model& model, Metrics& metrics)
    : options_(options),
      model_(model),
      metrics_(metrics),
      server_(std::make_unique<httplib::Server>()),
      places_(static_cast<std::ptrdiff_t>(mostPredictions(options))) {
  setUp();
  port_ = bind();
  thread_ = std::thread([this] { listen(); });
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::setUp() {
  using httplib::Request;
  using httplib::Response;
  server_->Post("/predict",
                [this](const Request& request, Response& response) { predict(request, response); });
  server_->Get("/metrics", [this](const Request&, Response& response) {
    response.set_content(prometheusText(model_.stats()) + metrics_.text(),
                         "text/plain; version=0.0.4");
  });
  server_->Get("/ready", [this](const Request&, Response& response) { health(response, true); });
  // A program that is not live is restarted. One without an interpreter that could take calls makes
  // new ones by itself, sooner than that.
  server_->Get("/live", [this](const Request&, Response& response) { health(response, false); });

  server_->set_error_handler([](const Request&, Response& response) { explain(response); });
  server_->set_logger([this](const Request&, const Response& response) {
    metrics_.countResponse(response.status);
  });
  server_->set_payload_max_length(kMostBytes);
  server_->set_keep_alive_max_count(1);
  server_->new_task_queue = [threads = mostPredictions(options_) + kMoreThreads] {
    return new httplib::ThreadPool(threads);  // httplib deletes it
  };
}

int HttpServer::bind() {
  server_->set_socket_options([this](int socket) {
    socket_ = socket;
    // (By default httplib lets two programs have one port, and each gets half of the requests.)
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  int port = options_.port;
  if (port == 0) {
    port = server_->bind_to_any_port(options_.address);
  } else if (!server_->bind_to_port(options_.address, port)) {
    port = -1;
  }
  if (port < 0)
    throw std::runtime_error("cannot listen at " + options_.address + ":" +
                             std::to_string(options_.port) +
                             ": no such address of this machine, or the port is in use");
  // More than the five connections that httplib lets wait to be accepted.
  ::listen(socket_, SOMAXCONN);
  return port;
}

void HttpServer::listen() {
  server_->listen_after_bind();
  if (stopping_) return;
  failed_ = true;
  ::kill(::getpid(), SIGTERM);
}

void HttpServer::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  // Not Server::stop(), which drops connections that have been accepted and still wait for a
  // thread. A listening socket that is shut down has its accept() fail, upon which httplib ends as
  // it should.
  ::shutdown(socket_, SHUT_RDWR);
  thread_.join();
}

void HttpServer::predict(const httplib::Request& request, httplib::Response& response) {
  const Place place(places_);
  if (!place) {
    fail(response, {503, "QueueFullError", "too many requests are under way; try again later", ""});
    return;
  }
  try {
    const auto deadline = deadlineOf(request, options_.deadline);
    const at::IValue answer = model_.predict(fromJson(request.body), deadline);
    response.set_content(toJson(answer), kJson);
  } catch (...) {
    fail(response, toFailure(std::current_exception()));
  }
}

void HttpServer::health(httplib::Response& response, bool unreadyIsError) const {
  const multipy::runtime::PoolHealth health = model_.health();
  const nlohmann::json body{{"ready", health.ready}, {"reasons", health.reasons}};
  response.status = unreadyIsError && !health.ready ? 503 : 200;
  response.set_content(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), kJson);
}

}  // namespace service
