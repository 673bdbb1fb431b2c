// A reservation of one interpreter: the place from which Python objects are
// reached.
//
//   InterpreterSession I = manager.acquireOne();
//   Obj linear = I.global("torch.nn", "Linear")({4, 2});
//   at::Tensor y = linear({x}).toIValue().toTensor();
//
// While a session lives, the manager's LoadBalancer counts its interpreter as in
// use, and the Objs made through it can be used. It does not hold the GIL: each
// operation takes it and gives it back, so that sessions can be kept for as long
// as one likes. enter() keeps the GIL over several operations:
//
//   {
//     auto inside = I.enter();      // one taking of the GIL instead of three
//     for (auto& part : parts) total = add({total, part});
//   }
//
// Threads: a thread may have sessions of several interpreters, and many threads
// may use one session. A thread never holds two GILs: an operation on one
// interpreter inside a scope of another gives up the outer GIL for its duration.
//
// Errors: HandleError when the manager (or stand-alone Interpreter) has gone,
// in a forked child, and for an Obj that is not of this session where it has to
// be; else as in obj.h. A session whose manager has gone may still be destroyed.
#pragma once

#include <functional>
#include <memory>

#include "multipy/runtime/obj.h"

namespace multipy::runtime {

class Entered;
class ReplicatedObj;
struct SessionState;

class InterpreterSession {
 public:
  /// The package's importer in a session of a Package, the object itself in a
  /// session of a ReplicatedObj, else empty.
  Obj self;

  InterpreterSession(InterpreterSession&& other) noexcept = default;
  InterpreterSession& operator=(InterpreterSession&& other) noexcept;
  ~InterpreterSession();

  /// Was this Obj made through this session?
  bool isOwner(const Obj& obj) const noexcept;

  /// Python's `from module import name`. Modules given to
  /// InterpreterManager::registerModuleSource are found too.
  Obj global(const char* module, const char* name) const;

  /// A Python object with this value. Tensors share their memory.
  Obj fromIValue(const at::IValue& value) const;

  /// InterpreterManager::createMovable() for an Obj of this session.
  ReplicatedObj createMovable(const Obj& obj);
  /// The replicated object as it is in this session's interpreter, brought
  /// there if it is not there yet.
  Obj fromMovable(const ReplicatedObj& movable) const;

  /// Keeps this interpreter's GIL. Left by the thread that entered, scopes of
  /// one thread in the reverse order of entering. A Scope may outlive its
  /// session. Destroying the manager waits for the scopes of other threads; if
  /// the destroying thread itself is in one, the interpreter is shut down in
  /// the background once it has left.
  class Scope {
   public:
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    static void* operator new(std::size_t) = delete;

   private:
    friend class InterpreterSession;
    explicit Scope(std::shared_ptr<const SessionState> session);
    std::shared_ptr<const SessionState> session_;
    std::unique_ptr<Entered> entered_;
  };
  [[nodiscard]] Scope enter() const;  // see Scope

 protected:
  /// For derived classes: `callback` is run when the session ends, after its
  /// Objs have become unusable. It must not throw. False if there is one already.
  bool attachDeconstructorCallback(std::function<void()> callback);

 private:
  friend struct SessionState;
  explicit InterpreterSession(std::shared_ptr<SessionState> state) noexcept;
  const SessionState& state() const;
  void end() noexcept;

  std::shared_ptr<SessionState> state_;  // null once moved from
  std::function<void()> onEnd_;
};

}  // namespace multipy::runtime
