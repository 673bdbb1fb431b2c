#include "multipy/runtime/package.h"

#include <utility>

#include "multipy/runtime/Exception.h"
#include "runtime/checked_options.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/object_state.h"
#include "runtime/replicated_state.h"
#include "runtime/session_state.h"

namespace multipy::runtime {

Package::Package(std::shared_ptr<PackageSource> source,
                 std::shared_ptr<ManagerState> manager) noexcept
    : source_(std::move(source)), manager_(std::move(manager)) {}

PackageSource& Package::source() const {
  if (!source_)
    throw InvalidArgument(
        "cannot use a Package: it has been moved from; use the one that it was moved to, or "
        "InterpreterManager::loadPackage()");
  return *source_;
}

InterpreterSession Package::acquireSession() const { return acquireSession(nullptr); }

InterpreterSession Package::acquireSession(const CallOptions& options) const {
  return acquireSession(&checked(options));
}

InterpreterSession Package::acquireSession(const CallOptions* options) const {
  constexpr const char* kDoing = "open a package in an interpreter";
  PackageSource& package = source();
  InterpreterSession session = SessionState::onAny(manager_, source_, options);
  const auto& state = SessionState::of(&session, kDoing);
  const Entered inside(*state->core, kDoing);
  NewReference importer = inside.python().newReference(package.importer(inside));
  session.self = ObjectState::adopt(inside, std::move(importer), {}, state);
  return session;
}

ReplicatedObj Package::loadPickle(const std::string& module, const std::string& file) const {
  source().requireResource(module, file);
  return ReplicatedState::load(module, file, manager_, source_);
}

std::string Package::loadText(const std::string& package, const std::string& resource) const {
  return loadBinary(package, resource);
}

std::string Package::loadBinary(const std::string& package, const std::string& resource) const {
  return source().resource(package, resource);
}

ReplicatedObj Package::createMovable(const Obj& obj, InterpreterSession* session) const {
  source();
  return ReplicatedState::make(obj, session, manager_, source_);
}

}  // namespace multipy::runtime
