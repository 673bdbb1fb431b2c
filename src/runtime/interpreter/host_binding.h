// The host's side of HostServices for one libinterpreter.so: what its functions
// lead to. Lives for as long as that library is loaded.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "abi/host_services.h"
#include "abi/interpreter_api.h"
#include "base/interpreter_id.h"
#include "loader/private_space.h"
#include "runtime/interpreter/module_sources.h"
#include "runtime/interpreter/output_lines.h"
#include "runtime/interpreter/thread_destructors.h"

namespace multipy::runtime {

class HostBinding {
 public:
  /// Called when the interpreter says that it is of no use any more, and why: by a thread that
  /// is inside, with its GIL.
  using OnBroken = std::function<void(std::string why)>;

  /// `space` and, where not null, `sources` serve the interpreter in the space's
  /// slot. `sources` is null for the resident copy, which runs no Python. `output` and `onBroken`
  /// may be null, too.
  HostBinding(loader::PrivateSpace& space, std::shared_ptr<const ModuleSources> sources,
              OutputHook output, OnBroken onBroken);
  HostBinding(const HostBinding&) = delete;
  HostBinding& operator=(const HostBinding&) = delete;
  ~HostBinding() { threadDestructors_->close(); }

  /// Finds the interpreter's table of functions behind dlopen's `library` and
  /// attaches these services. Throws LoadError if it is not there or of another
  /// version.
  const InterpreterApi& attach(void* library);

  loader::PrivateSpace& space() const noexcept { return space_; }
  const ModuleSources* sources() const noexcept { return sources_.get(); }
  OutputLines& output() noexcept { return output_; }
  ThreadDestructors& threadDestructors() const noexcept { return *threadDestructors_; }
  InterpreterId slot() const noexcept { return services_.slot; }
  void broken(std::string_view why) const;

 private:
  loader::PrivateSpace& space_;
  const std::shared_ptr<const ModuleSources> sources_;
  OutputLines output_;
  const std::shared_ptr<ThreadDestructors> threadDestructors_;
  const OnBroken onBroken_;
  HostServices services_;
};

}  // namespace multipy::runtime
