// A Python object that every interpreter of a manager can have.
//
//   ReplicatedObj model = package.loadPickle("model", "model.pkl");
//   at::Tensor y = model({x}).toTensor();      // from any thread
//
// It holds the tensors' memory once, and says how an interpreter comes by the object:
// one from Package::loadPickle names the pickle in the package, one from createMovable
// holds the object pickled. Each interpreter that uses it loads its own Python object on
// first use and keeps it, all of them over the same weights. Code that an object runs
// while it is loaded runs in each interpreter: if it changes its tensors in place, it
// changes them for all. A call picks an interpreter, enters it once,
// converts, calls, converts back and leaves: no session and no Obj is made. If all
// interpreters are busy it waits in line, but never for a call that blocks, and not
// long for one that takes much longer; a call made from inside an interpreter, by
// Python or in an InterpreterSession::enter(), does not wait.
//
// A ReplicatedObj is a handle: copies refer to the same thing. When the last one
// has gone, the interpreters give their objects up soon, without anyone waiting.
//
// Threads: every member from any thread.
//
// CallOptions give a call a deadline, a stop token and a priority; call_options.h says what
// they do.
//
// Errors: HandleError after the manager has gone; InvalidArgument for an empty
// ReplicatedObj; PythonException (ModuleNotFoundError for an extern module that
// is not installed) from loading and calling; ConversionError;
// QueueFullError where PoolOptions bounds the line; DeadlineExceededError and CancelledError
// for a call with options.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "multipy/runtime/awaited_call.h"
#include "multipy/runtime/call_options.h"
#include "multipy/runtime/call_outcome.h"
#include "multipy/runtime/interpreter_session.h"
#include "multipy/runtime/pool_stats.h"

namespace multipy::runtime {

class Interpreter;
struct ReplicatedState;

class ReplicatedObj {
 public:
  /// An empty one: it can be assigned to and asked nothing.
  ReplicatedObj() noexcept = default;

  /// A session with the object as `self`: on the given interpreter (of any
  /// manager, or stand-alone), else on one that the LoadBalancer picks.
  InterpreterSession acquireSession(const Interpreter* onThisInterpreter = nullptr) const;
  /// The same as InterpreterManager::acquireOne() does it with options.
  InterpreterSession acquireSession(const CallOptions& options) const;

  /// Calls the object on some interpreter.
  at::IValue operator()(at::ArrayRef<at::IValue> args) const;
  /// The same, within the limits of `options`.
  [[nodiscard]] at::IValue call(
      at::ArrayRef<at::IValue> args, const CallOptions& options,
      const std::unordered_map<std::string, at::IValue>& kwargs = {}) const;
  [[nodiscard]] at::IValue callKwargs(
      const std::vector<at::IValue>& args,
      const std::unordered_map<std::string, at::IValue>& kwargs) const;  // with named ones
  [[nodiscard]] at::IValue callKwargs(
      const std::unordered_map<std::string, at::IValue>& kwargs) const;  // with named ones

  // --- calls that no thread of the program waits for: threads of the manager's make them, as many
  // as there are interpreters; the others are in line by their priority. Thrown at once, and
  // nothing comes later: HandleError, QueueFullError, DeadlineExceededError and CancelledError for
  // what has passed already, EnvironmentError where no thread is to be had. A call that has not
  // begun when its manager is destroyed comes to a HandleError.

  /// The result comes into the future.
  [[nodiscard]] std::future<at::IValue> callAsync(
      std::vector<at::IValue> args, const CallOptions& options = {},
      std::unordered_map<std::string, at::IValue> kwargs = {}) const;
  /// `then` is called once, with the outcome: by a thread of the manager's when the call has ended;
  /// if it did not begin, by the thread that watches deadlines, that has requested the stop, or
  /// that destroys the manager. It may do all that a program may, further calls too, but destroy
  /// the manager; while it works its thread makes no other call. It must not throw (std::terminate,
  /// as with std::stop_callback).
  void callThen(std::vector<at::IValue> args, std::function<void(CallOutcome)> then,
                const CallOptions& options = {},
                std::unordered_map<std::string, at::IValue> kwargs = {}) const;
  /// For coroutines, see AwaitedCall.
  AwaitedCall awaitCall(std::vector<at::IValue> args, const CallOptions& options = {},
                        std::unordered_map<std::string, at::IValue> kwargs = {}) const;

  /// Python's hasattr(), on some interpreter.
  [[nodiscard]] bool hasattr(const char* name) const;

  /// Gives up the Python object on one interpreter, or on all, but not the tensors'
  /// memory. The next use there loads it again. Objs and calls that have it keep theirs.
  void unload(const Interpreter* onThisInterpreter = nullptr);

  // --- a new version without a gap. Both wait until the other object has been loaded, and `warmUp`
  // has been called with a session whose `self` it is, in every interpreter of the pool, one after
  // the other, while calls go on; interpreters that come later load it at its first call, or by
  // InterpreterManager::setWarmUp(). What that throws leaves everything as it was. InvalidArgument
  // if the other object is this one, or of another manager. Not in a warm-up function.

  /// From now on this object, and each copy of it, is `next`: calls that are under way end on the
  /// old one, later ones take the new one. The old one's memory is given back when those have
  /// ended, with the Package that it was loaded from, if that is not kept.
  void switchTo(const ReplicatedObj& next,
                const std::function<void(InterpreterSession& session)>& warmUp = {}) const;
  /// From now on this share of the calls (0 to 1) is made by `other`, evenly; the other ones as
  /// before. 0 ends it, as switchTo() does.
  void shareCalls(const ReplicatedObj& other, double share,
                  const std::function<void(InterpreterSession& session)>& warmUp = {}) const;

  /// What its calls came to that it made itself: not those that another one has made in its place.
  [[nodiscard]] ObjectStats stats() const;

  /// The object in the session's interpreter.
  Obj toObj(InterpreterSession* session) const;

 private:
  friend class InterpreterSession;
  friend class PythonMethodWrapper;
  friend struct ReplicatedState;
  explicit ReplicatedObj(std::shared_ptr<ReplicatedState> state) noexcept
      : state_(std::move(state)) {}
  ReplicatedState& state() const;

  std::shared_ptr<ReplicatedState> state_;
};

}  // namespace multipy::runtime
