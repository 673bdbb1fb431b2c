# What `cmake --install` puts where, so that find_package(multipy) works from
# any folder it is moved to. In two components, `library` and `program`, as they are
# called with find_package and with `cmake --install --component` alike.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/multipy")
install(TARGETS multipy multipy_archive EXPORT multipyTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library
  FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/multipy" COMPONENT library)
install(EXPORT multipyTargets NAMESPACE multipy:: DESTINATION "${package_dir}" COMPONENT library)
if(TARGET multipy_program)
  install(TARGETS multipy_program EXPORT multipyProgram
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  install(EXPORT multipyProgram NAMESPACE multipy:: DESTINATION "${package_dir}" COMPONENT program)
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/multipyConfig.cmake.in" "${PROJECT_BINARY_DIR}/multipyConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Until 1.0 a minor version may break programs.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/multipyConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/multipyConfig.cmake"
  "${PROJECT_BINARY_DIR}/multipyConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/MultipyChoosePython.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/MultipyStandardLibrary.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/MultipyStaticLibstdcxx.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/MultipyTorch.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/python_facts.py"
  "${PROJECT_SOURCE_DIR}/cmake/torch_facts.py"
  DESTINATION "${package_dir}" COMPONENT library)
