#include "process/forked_child.h"

#include <sys/mman.h>
#include <unistd.h>

namespace multipy::process {
namespace {

// One page that the kernel gives to a child filled with zeros. Where that cannot
// be had (kernels before 4.14, no memory), the process id is asked instead.
class ForkMark {
 public:
  ForkMark() noexcept : owner_(::getpid()) {
    const long size = ::sysconf(_SC_PAGESIZE);
    void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (::madvise(page, size, MADV_WIPEONFORK) != 0) {
      ::munmap(page, size);
      return;
    }
    mark_ = static_cast<volatile char*>(page);
    *mark_ = 1;
  }

  bool wiped() const noexcept { return mark_ ? *mark_ == 0 : ::getpid() != owner_; }

 private:
  volatile char* mark_ = nullptr;  // stays mapped for the life of the process
  pid_t owner_;
};

}  // namespace

bool inForkedChild() noexcept {
  static const ForkMark mark;
  return mark.wiped();
}

}  // namespace multipy::process
