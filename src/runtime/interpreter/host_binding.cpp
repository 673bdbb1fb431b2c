#include "runtime/interpreter/host_binding.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_io.h"
#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "loader/copy_destructors.h"
#include "loader/loading_process.h"
#include "multipy/runtime/Exception.h"
#include "process/code_cache.h"
#include "process/environment_variables.h"
#include "process/fork_guard.h"
#include "process/fork_handlers.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "process/signal_handlers.h"
#include "process/string_pool.h"
#include "process/wake_signal.h"
#include "runtime/environment/code_directories.h"
#include "runtime/interpreter/fork_hold.h"
#include "runtime/interpreter/value_makers.h"
#include "torch_bridge/python_binding.h"
#include "torch_bridge/tensors/future_link.h"
#include "torch_bridge/tensors/tensor_transfer.h"
#include "torch_bridge/tensors/tensor_wrappers.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::runtime {
namespace {

// Exceptions may not cross into libinterpreter.so: they become text here.

const HostBinding& binding(void* context) { return *static_cast<const HostBinding*>(context); }

// To be assigned without memory: it is short, or shared where libstdc++'s old std::string copies on
// write. Never destroyed, since interpreters may end while static destructors run.
const std::string& noMemory = *new std::string("out of memory");

void say(std::string& error, const char* text) noexcept {
  try {
    error = text;
  } catch (const std::bad_alloc&) {
    error = noMemory;
  }
}

template <typename Work>
void* loaded(std::string& error, Work&& work) noexcept {
  try {
    return work();
  } catch (const std::exception& failure) {
    say(error, failure.what());
  } catch (...) {
    say(error, "loading failed with an exception of a foreign type");
  }
  return nullptr;
}

/// What `work` returns; where there is no memory for it, nothing, false or null.
template <typename Work>
auto orNothing(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return decltype(work())();
  }
}

void* load(void* context, const char* path, std::string& error) {
  return loaded(error, [&] { return binding(context).space().load(path); });
}

void* open(void* context, const char* name, int flags, const void* caller, std::string& error) {
  return loaded(error, [&] { return binding(context).space().open(name, flags, caller); });
}

bool addCodeDirectory(void* context, const char* directory) noexcept {
  try {
    const auto directories = withoutSystemDirectories({directory});
    for (const auto& each : directories) binding(context).space().addRoot(each);
    return !directories.empty();
  } catch (const std::exception&) {
    return false;
  }
}

void* symbol(void* context, void* handle, const char* name, const void* caller) {
  return orNothing([&] { return binding(context).space().symbol(handle, name, caller); });
}

const char* originalOf(void* context, const char* copy) {
  return binding(context).space().originalOf(copy);
}

int eachObject(void* context, int (*use)(dl_phdr_info*, std::size_t, void*), void* data) {
  return binding(context).space().eachObject(use, data);
}

void setCurrent(InterpreterId slot) { process::Ownership::setCurrent(slot); }

const void* thisThread() { return &process::WakeableThread::ofThisThread(); }
void wake(const void* thread) { static_cast<const process::WakeableThread*>(thread)->wake(); }

bool runOnOwner(void* context, void (*task)(void*), void* argument, std::string& error) {
  if (process::inForkedChild()) {
    task(argument);
    return true;
  }
  try {
    const auto run = [&] { task(argument); };
    process::runOwner(binding(context).slot(), std::cref(run));
    return true;
  } catch (const std::exception& failure) {
    say(error, failure.what());
    return false;
  }
}

bool postToOwner(void* context, void (*task)(void*), void* argument) {
  if (process::inForkedChild()) return false;
  return orNothing(
      [&] { return process::postToOwner(binding(context).slot(), [=] { task(argument); }); });
}

void reportBroken(void* context, std::string_view why) {
  orNothing([&] { binding(context).broken(why); });
}

bool findCompiled(std::string_view key, std::string& code) {
  return orNothing([&] { return process::CodeCache::instance().find(key, code); });
}

void keepCompiled(std::string_view key, std::string_view code) {
  orNothing([&] { process::CodeCache::instance().keep(key, code); });
}

// Never waits: a thread that was in here when the process was forked off is for ever.
class Facts {
 public:
  bool contain(std::string_view fact) {
    if (!mutex_.try_lock()) return false;
    const base::Lock lock(mutex_, std::adopt_lock);
    return facts_.contains(fact);
  }
  void add(std::string_view fact) {
    if (!mutex_.try_lock()) return;
    const base::Lock lock(mutex_, std::adopt_lock);
    facts_.emplace(fact);
  }

 private:
  base::Mutex mutex_;
  std::set<std::string, std::less<>> facts_ MULTIPY_GUARDED_BY(mutex_);
};

Facts& facts() {
  static auto* const one = new Facts;  // interpreters may outlive static destructors
  return *one;
}

bool hasFact(std::string_view fact) {
  return orNothing([&] { return facts().contain(fact); });
}

void publishFact(std::string_view fact) {
  orNothing([&] { facts().add(fact); });
}

void runExclusive(void (*work)(void*), void* argument) {
  static auto* const mutex = new base::ForkMutex;  // interpreters may outlive static destructors
  const base::Lock lock(*mutex);
  work(argument);
}

const char* shareText(std::string_view text) {
  return orNothing([&] { return process::StringPool::instance().share(text); });
}

bool moduleSource(void* context, const char* name, std::string& source) {
  const ModuleSources* sources = binding(context).sources();
  if (!sources) return false;
  std::optional<std::string> found = sources->find(name);
  if (!found) return false;
  source = std::move(*found);
  return true;
}

bool hasModulesBelow(void* context, const char* name) {
  const ModuleSources* sources = binding(context).sources();
  return sources && sources->hasBelow(name);
}

bool giveOutput(void* context, int stream, const char* text, std::size_t size, std::string& error) {
  // In a child of fork() it goes to the file: what the program's hook fills or locks is
  // the parent's.
  if (process::inForkedChild()) {
    const int failed = base::writeAll(stream == 2 ? STDERR_FILENO : STDOUT_FILENO,
                                      std::as_bytes(std::span(text, size)));
    if (failed) say(error, std::strerror(failed));
    return failed == 0;
  }
  OutputLines& lines = static_cast<HostBinding*>(context)->output();
  try {
    lines.add(stream == 2 ? OutputStream::Stderr : OutputStream::Stdout, {text, size});
    return true;
  } catch (const std::exception& failure) {
    say(error, failure.what());
  } catch (...) {
    say(error, "it threw an exception of a foreign type");
  }
  return false;
}

int changeSignal(void* context, int number, const struct sigaction* action, struct sigaction* old) {
  return process::changeSignalAction(binding(context).slot(), number, action, old);
}

bool forgetSignals(void* context) { return process::forgetSignalActions(binding(context).slot()); }

void setForkHandlers(void* context, void (*prepare)(), void (*inParent)(), void (*inChild)()) {
  process::setForkHandlers(binding(context).slot(), {prepare, inParent, inChild});
}

void holdOthers(void* context) { holdOthersForFork(binding(context).slot()); }

// To load torch for the first time takes seconds.
constexpr std::chrono::seconds kPatienceWithLoading{10};
constinit thread_local bool hasLoadingLock = false;

// The loading lock is the first one: who loads takes others, too. What else a child may come
// to in here is never waited for (try_to_lock), or is not used there (inForkedChild).
void lockForFork() {
  hasLoadingLock = loader::LoadingProcess::instance().lockForFork(kPatienceWithLoading);
  base::ForkLock::takeAll();
}

void unlockAfterFork(bool inChild) {
  base::ForkLock::giveAllBack(inChild);
  loader::LoadingProcess::instance().unlockAfterFork(inChild, hasLoadingLock);
}

bool atThreadEnd(void* context, void (*destroy)(void*), void* object) {
  return orNothing([&] {
    binding(context).threadDestructors().add(destroy, object);
    return true;
  });
}

const TorchPython* torchPython(void* context) {
  return bridge::torchPython(binding(context).slot());
}

c10::intrusive_ptr<c10::ivalue::Future> linkFuture(
    void* context, const c10::intrusive_ptr<c10::ivalue::Future>& original, InterpreterId owner,
    TransferValue transfer) {
  return bridge::linkFuture(original, owner, binding(context).slot(), transfer);
}

void skipDestructorsInForkedChildren() {
  [[maybe_unused]] static const int done = ::pthread_atfork(nullptr, nullptr, [] {
    loader::CopyDestructors::skipInChild(process::Ownership::instance().current());
  });
}

}  // namespace

HostBinding::HostBinding(loader::PrivateSpace& space, std::shared_ptr<const ModuleSources> sources,
                         OutputHook output, OnBroken onBroken)
    : space_(space),
      sources_(std::move(sources)),
      output_(space.slot(), std::move(output)),
      threadDestructors_(std::make_shared<ThreadDestructors>(space.slot())),
      onBroken_(std::move(onBroken)),
      services_{} {
  skipDestructorsInForkedChildren();
  services_.context = this;
  services_.slot = space.slot();
  services_.load = load;
  services_.open = open;
  services_.addCodeDirectory = addCodeDirectory;
  services_.symbol = symbol;
  services_.originalOf = originalOf;
  services_.eachObject = eachObject;
  services_.setCurrent = setCurrent;
  services_.atThreadEnd = atThreadEnd;
  services_.thisThread = thisThread;
  services_.wake = wake;
  services_.runOnOwner = runOnOwner;
  services_.postToOwner = postToOwner;
  services_.reportBroken = reportBroken;
  services_.findCompiled = findCompiled;
  services_.keepCompiled = keepCompiled;
  services_.hasFact = hasFact;
  services_.publishFact = publishFact;
  services_.shareText = shareText;
  services_.releaseText = process::StringPool::release;
  services_.moduleSource = moduleSource;
  services_.hasModulesBelow = hasModulesBelow;
  services_.output = giveOutput;
  services_.changeSignal = changeSignal;
  services_.forgetSignals = forgetSignals;
  services_.setVariable = process::setProcessVariable;
  services_.removeVariable = process::removeProcessVariable;
  services_.putVariable = process::putProcessVariable;
  services_.clearVariables = process::clearProcessVariables;
  services_.runExclusive = runExclusive;
  services_.setForkHandlers = setForkHandlers;
  services_.holdOthersForFork = holdOthers;
  services_.letOthersGoAfterFork = letOthersGoAfterFork;
  services_.lockForFork = lockForFork;
  services_.unlockAfterFork = unlockAfterFork;
  services_.torchPython = torchPython;
  services_.transferTensor = bridge::transferTensor;
  services_.moveTensor = bridge::moveTensor;
  services_.dropTensor = bridge::dropTensor;
  services_.putTensor = bridge::putTensor;
  services_.beginTransferGroup = bridge::beginTransferGroup;
  services_.endTransferGroup = bridge::endTransferGroup;
  services_.linkFuture = linkFuture;
  services_.values = &valueMakers();
  services_.routes = &bridge::torchRoutes();
}

void HostBinding::broken(std::string_view why) const {
  if (onBroken_) onBroken_(std::string(why));
}

const InterpreterApi& HostBinding::attach(void* library) {
  const auto get = reinterpret_cast<GetInterpreterApi>(::dlsym(library, kInterpreterApiSymbol));
  if (!get)
    throw LoadError(std::string("the embedded libinterpreter.so has no symbol ") +
                    kInterpreterApiSymbol +
                    ": expected one made by the same build; rebuild multipy");
  const InterpreterApi* api = get();
  if (api->version != kInterpreterApiVersion)
    throw LoadError("the embedded libinterpreter.so has interface version " +
                    std::to_string(api->version) + ", expected " +
                    std::to_string(kInterpreterApiVersion) + "; rebuild multipy");
  api->withoutGil->attach(&services_);
  return *api;
}

}  // namespace multipy::runtime
