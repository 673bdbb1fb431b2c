#include "interpreter/torch/pybind_tables.h"

#include <pybind11/pybind11.h>

#include <exception>

namespace multipy {
namespace {

// pybind11 finds tables that were made by other extensions the same way, by a name that has the
// version of their layout and the C++ library in it. Null: there are none of this layout.
constinit pybind11::detail::internals** tables = nullptr;

/// (Not every version of pybind11 has all of them: a template asks whether there is a member.)
template <class Tables>
void shrink(Tables& all) {
  all.registered_types_cpp.rehash(0);
  all.registered_types_py.rehash(0);
  if constexpr (requires { all.registered_types_cpp_fast; })
    all.registered_types_cpp_fast.rehash(0);
  if constexpr (requires { all.registered_instances; }) all.registered_instances.rehash(0);
}

}  // namespace

void findPybindTables() {
  try {
    const pybind11::dict state = pybind11::detail::get_python_state_dict();
    PyObject* const capsule = PyDict_GetItemString(state.ptr(), PYBIND11_INTERNALS_ID);
    if (capsule && PyCapsule_CheckExact(capsule))
      tables = static_cast<pybind11::detail::internals**>(PyCapsule_GetPointer(capsule, nullptr));
  } catch (const std::exception&) {
  }
  PyErr_Clear();
}

void shrinkPybindTables() {
  if (!tables || !*tables) return;
  try {
    shrink(**tables);
  } catch (const std::exception&) {
    // No memory for smaller ones.
  }
}

}  // namespace multipy
