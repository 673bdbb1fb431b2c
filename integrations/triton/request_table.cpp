#include "integrations/triton/request_table.h"

#include "integrations/triton/errors.h"

namespace multipy::triton {
namespace {

template <typename Held>
std::shared_ptr<Held> take(std::unordered_map<std::uint64_t, std::shared_ptr<Held>>& all,
                           std::uint64_t number) {
  const auto found = all.find(number);
  if (found == all.end()) return nullptr;
  std::shared_ptr<Held> held = std::move(found->second);
  all.erase(found);
  return held;
}

}  // namespace

RequestTable& RequestTable::instance() {
  // Never destroyed: Python's threads may still ask when the process ends.
  static auto* const table = new RequestTable;
  return *table;
}

std::uint64_t RequestTable::add(std::shared_ptr<OpenRequest> request,
                                std::shared_ptr<Responder> responder) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++last_;
  requests_.emplace(number, std::move(request));
  responders_.emplace(number, std::move(responder));
  return number;
}

std::shared_ptr<OpenRequest> RequestTable::request(std::uint64_t number) const {
  if (auto found = findRequest(number)) return found;
  throw TritonError(TRITONSERVER_ERROR_INTERNAL, "the request has ended");
}

std::shared_ptr<Responder> RequestTable::responder(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = responders_.find(number); found != responders_.end()) return found->second;
  throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                    "Unable to send response. Response sender has been closed.");
}

std::shared_ptr<OpenRequest> RequestTable::takeRequest(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return take(requests_, number);
}

std::shared_ptr<Responder> RequestTable::takeResponder(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return take(responders_, number);
}

std::shared_ptr<OpenRequest> RequestTable::findRequest(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(number);
  return found == requests_.end() ? nullptr : found->second;
}

}  // namespace multipy::triton
