#include "interpreter/cpython/real_paths.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace multipy {
namespace {

bool isNormalized(std::string_view path) {
  if (path.size() < 2 || path.front() != '/') return false;
  for (std::size_t i = 0; i < path.size();) {
    const std::size_t end = std::min(path.find('/', i + 1), path.size());
    const std::string_view part = path.substr(i + 1, end - i - 1);
    if (part.empty() || part == "." || part == "..") return false;
    i = end;
  }
  return true;
}

// O_PATH opens nothing: it needs what lstat() needs, the right to search the folders.
bool leadsThroughNoLink(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;  // with O_NOFOLLOW a link at the end would do
  how.resolve = RESOLVE_NO_SYMLINKS;
  const int before = errno;
  const long file = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (file >= 0) close(static_cast<int>(file));
  errno = before;
  return file >= 0;  // else a link, or not there, or a kernel before 5.6, or a sandbox, ...
}

}  // namespace

PyObject* isRealPath(PyObject*, PyObject* path) {
  // Of other texts the file system's encoding would have to be known.
  if (!PyUnicode_CheckExact(path) || !PyUnicode_IS_ASCII(path)) Py_RETURN_FALSE;
  const std::string_view text(static_cast<const char*>(PyUnicode_DATA(path)),
                              static_cast<std::size_t>(PyUnicode_GET_LENGTH(path)));
  if (text.find('\0') != text.npos || !isNormalized(text)) Py_RETURN_FALSE;
  return PyBool_FromLong(leadsThroughNoLink(text.data()));
}

}  // namespace multipy
