#include "loader/private_space.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "base/interpreter_id.h"
#include "loader/c_api_names.h"
#include "loader/copy_names.h"
#include "loader/interpreter_names.h"
#include "loader/ld_so_lock.h"
#include "loader/library_graph.h"
#include "loader/library_loader.h"
#include "loader/load_errors.h"
#include "loader/loaded_objects.h"
#include "loader/loading_process.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr int kExtensionFlags = RTLD_NOW | RTLD_LOCAL;  // as CPython opens extension modules

LoadingProcess& process() { return LoadingProcess::instance(); }

/// dlsym() where a symbol that is not there is no error to be left in dlerror().
void* lookUp(void* handle, const char* name) {
  void* found = ::dlsym(handle, name);
  if (!found) ::dlerror();
  return found;
}

}  // namespace

struct PrivateSpace::State {
  State(InterpreterId slot, std::shared_ptr<const IsolationPolicy> policy,
        std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter)
      : slot(slot),
        graph(std::move(policy), process().catalogue()),
        loader(slot, std::move(cache), adapter, copyNames) {}

  void* openByPath(const std::filesystem::path& file, const Requester* loadedBy, int flags);
  void* openByName(const std::string& name, const Requester& requester, int flags);
  void* openLoaded(const std::string& name, const Requester& requester, int flags);
  void* openCopy(const std::string& path, int flags);
  const Requester& requesterAt(const void* caller);
  void requireInterpreter(const std::string& wanted) const;
  bool isOwn(const void* address) const;
  void* programSymbol(const char* name, const void* caller) const;

  const InterpreterId slot;
  CopyNames copyNames;  // locks itself
  LibraryGraph graph;   // guarded by the loading lock, as are the rest
  LibraryLoader loader;
  int depth = 0;  // loads under way: static initialisers may load, too
  bool unloaded = false;
  void* interpreter = nullptr;  // set once, before any other use
  const Requester notOurs;      // code that is not in one of our libraries
};

// --- life

PrivateSpace::PrivateSpace(InterpreterId slot, std::shared_ptr<const IsolationPolicy> policy,
                           std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter) {
  if (!policy || !cache) {
    throw runtime::InvalidArgument("a private space needs an isolation policy and a copy cache");
  }
  const LoadingLock lock = process().lock();
  state_ = std::make_unique<State>(slot, std::move(policy), std::move(cache), adapter);
}

PrivateSpace::~PrivateSpace() {
  if (process().isLost()) {
    [[maybe_unused]] auto* const kept = state_.release();
    return;
  }
  const LoadingLock lock = process().lock();
  state_.reset();
}

InterpreterId PrivateSpace::slot() const noexcept { return state_->slot; }

std::vector<LoadedLibrary> PrivateSpace::loaded() const { return state_->loader.history(); }

void* PrivateSpace::loadInterpreter(std::span<const std::byte> payload) {
  const LoadingLock lock = process().lock();
  if (state_->interpreter || state_->unloaded) {
    throw runtime::InternalError("slot " + std::to_string(state_->slot.number()) +
                                 ": libinterpreter.so was loaded before; expected once per space");
  }
  return state_->interpreter = state_->loader.openInterpreter(payload);
}

// Without the loading lock: a destructor may wait for a thread that loads something.
void PrivateSpace::runDestructors() { state_->loader.runDestructors(); }

std::size_t PrivateSpace::unload() {
  const LoadingLock lock = process().lock();
  if (state_->unloaded) return 0;
  state_->unloaded = true;
  return state_->loader.closeAll();
}

// --- loading

void PrivateSpace::State::requireInterpreter(const std::string& wanted) const {
  if (interpreter && !unloaded) return;
  throw runtime::LoadError(
      wanted + ": cannot load into slot " + std::to_string(slot.number()) + ": " +
      (unloaded ? "it has been unloaded" : "its interpreter is not loaded yet"));
}

void* PrivateSpace::State::openByPath(const std::filesystem::path& file, const Requester* loadedBy,
                                      int flags) {
  requireInterpreter(file);
  struct UnderWay {
    explicit UnderWay(State& state) : state(state) { ++state.depth; }
    ~UnderWay() {
      // Only the outermost: the loads around this one have plans of their own.
      if (--state.depth == 0) state.graph.forgetAbsent();
    }
    State& state;
  } underWay(*this);
  Library& library = graph.resolve(file, loadedBy);
  try {
    return loader.open(graph, library, flags);
  } catch (const runtime::LoadError& error) {
    const std::string missing = whereMissingWereSearched(error.what(), library, graph);
    if (missing.empty()) throw;
    throw runtime::LoadError(error.what() + missing);
  }
}

void* PrivateSpace::load(const std::filesystem::path& library) {
  const LoadingLock lock = process().lock();
  return state_->openByPath(library, nullptr, kExtensionFlags);
}

void PrivateSpace::addRoot(const std::filesystem::path& directory) {
  const LoadingLock lock = process().lock();
  state_->graph.addRoot(directory);
}

void PrivateSpace::makePrivate(const std::filesystem::path& library) {
  const LoadingLock lock = process().lock();
  state_->graph.makePrivate(library);
}

/// RTLD_NOLOAD: only what is there already, null if it is not.
void* PrivateSpace::State::openLoaded(const std::string& name, const Requester& requester,
                                      int flags) {
  const Library* library = graph.findPresent(name, requester);
  if (library && library->handle) return library->handle;
  if (library && library->isPrivate()) return nullptr;
  void* handle = openObject(library ? library->file.c_str() : name.c_str(), flags);
  if (handle) ::dlclose(handle);  // what loaded it keeps it
  return handle;
}

const Requester& PrivateSpace::State::requesterAt(const void* caller) {
  const link_map* object = objectAt(caller);
  const Library* library = object ? graph.libraryOfCopy(object->l_name) : nullptr;
  return library ? library->requester : notOurs;
}

void* PrivateSpace::State::openByName(const std::string& name, const Requester& requester,
                                      int flags) {
  const Library* library = graph.find(name, requester);
  if (library) return openByPath(library->file, &requester, flags);
  // Nowhere to be found: ld.so says so in its own words.
  void* handle = openObject(name.c_str(), flags);
  if (!handle) throw runtime::LoadError(takeDlError());
  return handle;
}

/// What code has found in /proc/self/maps, as threadpoolctl does.
void* PrivateSpace::State::openCopy(const std::string& path, int flags) {
  if (copyNames.original(path.c_str())) {
    void* const handle = ::dlopen(path.c_str(), flags | RTLD_NOLOAD);
    if (handle) ::dlclose(handle);  // the space keeps it
    return handle;
  }
  if (flags & RTLD_NOLOAD) return nullptr;
  throw runtime::LoadError(path +
                           ": cannot open shared object file: it is another interpreter's private "
                           "copy of a library, expected the library itself");
}

void* PrivateSpace::open(const char* name, int flags, const void* caller) {
  const LoadingLock lock = process().lock();
  State& state = *state_;
  state.requireInterpreter(name ? name : "this program");
  if (!name || !*name) return state.interpreter;
  if (const std::string copy = CopiesOfAll::process().pathOf(name); !copy.empty())
    return state.openCopy(copy, flags);
  const std::filesystem::path asPath = name;
  if (isLibPython(asPath.filename().native())) return state.interpreter;
  const Requester& requester = state.requesterAt(caller);
  if (flags & RTLD_NOLOAD) return state.openLoaded(name, requester, flags);
  if (asPath.native().find('/') == std::string::npos) {
    return state.openByName(name, requester, flags);
  }
  return state.openByPath(LibrarySearch::expand(name, requester.directory), &requester, flags);
}

// --- looking up

const char* PrivateSpace::originalOf(const char* copy) const {
  return copy ? state_->copyNames.original(copy) : nullptr;
}

int PrivateSpace::eachObject(int (*use)(dl_phdr_info*, std::size_t, void*), void* data) const {
  struct Walk {
    const CopyNames& own;
    int (*use)(dl_phdr_info*, std::size_t, void*);
    void* data;
  } walk{state_->copyNames, use, data};
  return ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t size, void* data) {
        const auto& walk = *static_cast<const Walk*>(data);
        const auto copy = CopiesOfAll::process().find(object->dlpi_name);
        if (!copy.space) return walk.use(object, size, walk.data);
        if (copy.space != &walk.own) return 0;
        dl_phdr_info shown = *object;
        shown.dlpi_name = copy.original;
        // (Of a later C library's, which has more, this is what there is.)
        return walk.use(&shown, std::min(size, sizeof shown), walk.data);
      },
      &walk);
}

bool PrivateSpace::State::isOwn(const void* address) const {
  const link_map* object = objectAt(address);
  return object && copyNames.original(object->l_name);
}

/// A name in "this program", as private code sees it.
void* PrivateSpace::State::programSymbol(const char* name, const void* caller) const {
  if (isCApiName(name)) {
    if (void* found = lookUp(interpreter, privateCApiName(name).c_str())) return found;
  }
  // glibc's handle of an object is its link_map. It looks in what the object
  // needs, too, and there only our own copies come before the program: malloc
  // must be the one that the program uses, be it libc's or a preloaded one.
  link_map* object = objectAt(caller);
  void* near = object ? lookUp(object, name) : nullptr;
  if (near && isOwn(near)) return near;
  if (void* found = loader.globalSymbol(name)) return found;
  // A CPython that the program may have is none of ours.
  if (isCApiName(name)) return nullptr;
  void* found = lookUp(RTLD_DEFAULT, name);
  return found ? found : near;
}

void* PrivateSpace::symbol(void* handle, const char* name, const void* caller) {
  const State& state = *state_;
  const bool ofProgram =
      handle == RTLD_DEFAULT || handle == RTLD_NEXT || handle == state.interpreter;
  void* const found = ofProgram ? state.programSymbol(name, caller) : lookUp(handle, name);
  if (found) {
    // dlopen, getenv and so on are replaced for private code also where it asks for
    // them by name (ctypes, a JIT), unless a library of its own is what has them.
    const std::string replacement = InterpreterNames::replacementOf(name);
    if (replacement.empty() || state.isOwn(found)) return found;
    return lookUp(state.interpreter, replacement.c_str());
  }
  if (ofProgram || !isCApiName(name)) return nullptr;
  // A private library that was opened to reach the C API through it.
  link_map* object = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &object) || !state.copyNames.original(object->l_name)) {
    return nullptr;
  }
  return lookUp(state.interpreter, privateCApiName(name).c_str());
}

}  // namespace multipy::loader
