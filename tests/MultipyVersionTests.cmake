# The tests that a version of torch or CPython may break, while the others pass: every route,
# every kind of crossing, packages, autograd, modes, libraries, compilers, distributed, forks,
# recycling, cold starts. scripts/matrix runs them for each version (label version; the target
# version_tests builds them): less than ten minutes on two cores.
set(multipy_version_tests
  # the interpreter
  python_test code_cache_test string_pool_test concurrent_cpp_test gil_blocked_test stacks_test
  interpreter_options_test environments_test imports_test interrupts_test call_options_test once_test forks_test
  recycling_test recursion_test ends_test python_process_test cmake_interpreter_symbols
  # torch's own functions and types
  torch_transfer_counts torch_tensor_transfer torch_shared_bytes torch_registration
  torch_engine_threads torch_process_slots torch_compiler_interface torch_opaque_types
  torch_py_interpreter torch_tensor_wrappers torch_adapter torch_supported
  # torch in interpreters
  torch_test values_test transfer_test result_moves_test settings_test operators_test anomaly_test
  forward_mode_test sessions_test objects_test lifetimes_test isolation_test bad_input_test
  slim_test slim_importers_test broken_interpreters_test shared_storages_test
  runtime_packages packages_test packaged_pickles_test replicated_objects_test ancestor_programs_test
  # together, cold, again and again
  tensors_stress cold_starts cold_starts_whole recycle recycle_bare
  # beside plain Python
  conformance_programs conformance_slim meta_kernels)

add_custom_target(version_tests)

# Gives a test its labels; `target` is built for it.
#
#   multipy_label_test(<name> <target> [label...])
function(multipy_label_test name target)
  set(labels ${ARGN})
  if(name IN_LIST multipy_version_tests)
    list(APPEND labels version)
    if(TARGET ${target})
      add_dependencies(version_tests ${target})
    endif()
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endfunction()
