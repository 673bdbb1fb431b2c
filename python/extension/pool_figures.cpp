#include "pool_figures.h"

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "interpreter/common/reference.h"
#include "runtime/pool/figure_names.h"

namespace multipy::host {
namespace {

using namespace multipy::runtime;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// One of the program's dicts, while it is filled. What has failed leaves a Python exception.
class Dict {
 public:
  Dict() : dict_(Reference::take(PyDict_New())) {}

  void set(const char* key, PyObject* value) {
    const auto owned = Reference::take(value);
    if (dict_ && (!owned || PyDict_SetItemString(dict_.get(), key, owned.get()) != 0))
      dict_ = Reference();
  }
  void set(const char* key, unsigned long long number) {
    set(key, PyLong_FromUnsignedLongLong(number));
  }
  void set(const char* key, double number) { set(key, PyFloat_FromDouble(number)); }
  void set(const char* key, const char* text) { set(key, PyUnicode_FromString(text)); }

  PyObject* release() { return dict_.release(); }

 private:
  Reference dict_;
};

PyObject* dictOf(const std::array<std::uint64_t, kReplacementReasons>& byReason) {
  Dict dict;
  for (std::size_t i = 0; i < byReason.size(); ++i)
    dict.set(kReplacementNames[i], static_cast<unsigned long long>(byReason[i]));
  return dict.release();
}

PyObject* dictOf(const std::map<std::string, std::uint64_t>& byType) {
  Dict dict;
  for (const auto& [type, count] : byType)
    dict.set(type.c_str(), static_cast<unsigned long long>(count));
  return dict.release();
}

PyObject* dictOf(const DurationHistogram& histogram) {
  Dict dict;
  dict.set("count", static_cast<unsigned long long>(histogram.total()));
  dict.set("sum_seconds", seconds(histogram.sum));
  return dict.release();
}

PyObject* dictOf(const InterpreterStats& one) {
  Dict dict;
  dict.set("interpreter", static_cast<unsigned long long>(one.interpreter));
  dict.set("state", nameOf(one.state));
  dict.set("age_seconds", seconds(one.age));
  dict.set("calls", static_cast<unsigned long long>(one.calls));
  dict.set("running", static_cast<unsigned long long>(one.running.size()));
  dict.set("errors", dictOf(one.errors));
  dict.set("interrupts", static_cast<unsigned long long>(one.interrupts));
  dict.set("heap_bytes", static_cast<unsigned long long>(one.heapBytes));
  dict.set("broken", one.whyBroken.c_str());
  return dict.release();
}

}  // namespace

PyObject* figuresOf(const PoolStats& stats) {
  unsigned long long calls = stats.callsOfRetired, waiting = 0;
  auto list = Reference::take(PyList_New(0));
  for (const InterpreterStats& one : stats.interpreters) {
    const auto dict = Reference::take(dictOf(one));
    if (!list || !dict || PyList_Append(list.get(), dict.get()) != 0) return nullptr;
    calls += one.calls;
  }
  for (const std::size_t each : stats.waiting) waiting += each;
  Dict dict;
  dict.set("interpreters", list.release());
  dict.set("calls", calls);
  dict.set("waiting", waiting);
  dict.set("refused", static_cast<unsigned long long>(stats.ended.queueFull));
  dict.set("timed_out", static_cast<unsigned long long>(stats.ended.deadlineInLine +
                                                        stats.ended.deadlineRunning));
  dict.set("cancelled", static_cast<unsigned long long>(stats.ended.cancelledInLine +
                                                        stats.ended.cancelledRunning));
  dict.set("replacements", dictOf(stats.replacements));
  dict.set("failed_replacements", static_cast<unsigned long long>(stats.failedReplacements));
  dict.set("queue_time", dictOf(stats.queueTime));
  dict.set("run_time", dictOf(stats.runTime));
  return dict.release();
}

PyObject* healthOf(const PoolHealth& health) {
  const auto reasons = Reference::take(PyList_New(0));
  for (const std::string& reason : health.reasons) {
    const auto text = Reference::take(PyUnicode_FromString(reason.c_str()));
    if (!reasons || !text || PyList_Append(reasons.get(), text.get()) != 0) return nullptr;
  }
  return reasons ? PyTuple_Pack(2, health.ready ? Py_True : Py_False, reasons.get()) : nullptr;
}

}  // namespace multipy::host
