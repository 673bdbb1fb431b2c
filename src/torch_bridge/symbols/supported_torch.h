// Which torch this build works with, and the check that a torch found on disk is
// that one: the one place that knows names and versions.
//
// The table lists the functions of torch that change state which libtorch_cpu
// has once per process, by mangled name, with the functions of libinterpreter.so
// that take their place in private libraries (abi/redirects.def).
//
// Threads: all functions from any thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/shared_object.h"

namespace multipy::bridge {

struct RedirectedSymbol {
  std::string_view name;   // mangled
  std::string_view route;  // what libinterpreter.so exports in its stead
  /// The beginning of the name that all overloads share. Every undefined symbol
  /// of libtorch_python that begins so must be in this table: a new overload is
  /// a torch that we do not know. Empty: not checked.
  std::string_view stem;
  /// libtorch_python's own function, which it calls through its PLT.
  bool defined = false;
  /// Not every torch uses it.
  bool optional = false;
  /// Asks for a setting (interpreter_settings.h): a library that calls nothing
  /// else of this table registers nothing with torch.
  bool setting = false;
  /// Not torch's own: redirected in libtorch_python and nowhere else.
  bool torchPythonOnly = false;
};

std::span<const RedirectedSymbol> redirectedSymbols();

/// Functions and variables that python_binding.cpp takes from libtorch_python.
struct BindingSymbols {
  const char* wrap[3];  // a torch has some of them; the first is the best
  const char* variableClass;
  const char* toPyObject;
  const char* toIValue;
  const char* getPyInterpreter;
};
const BindingSymbols& bindingSymbols();

/// Functions that interpreter_settings.cpp redirects in torch's shared libraries.
struct SettingSymbols {
  const char* generator;
  const char* context;
  const char* dtype;
  const char* scalarType;
  const char* complexDtype;
  const char* setDtype;
};
const SettingSymbols& settingSymbols();

/// Functions of a torch with CUDA that cuda_generators.cpp, cuda_start.cpp and cuda_captures.cpp
/// redirect or call.
struct CudaSymbols {
  const char* defaultGenerator;
  const char* createGenerator;
  const char* deviceCount;
  const char* captureBegin;
  const char* captureEnd;
  const char* captureEndFirst;  // since torch 2.15: its first half, by which the capture ends
  const char* synchronize;
};
const CudaSymbols& cudaSymbols();

/// Functions that forward_levels.cpp redirects there.
struct ForwardLevelSymbols {
  const char* open;
  const char* close;
  const char* get;
  const char* find;
  const char* any;  // not in every torch
};
const ForwardLevelSymbols& forwardLevelSymbols();

/// Variables and functions that anomaly_mode.cpp redirects there, and the one that uses them.
struct AnomalySymbols {
  const char* enabled;
  const char* checkNan;
  const char* metadata;
  const char* isNan;
  const char* isAnyTrue;
  const char* itemOfBool;
  const char* evaluateFunction;
  const char* openGuard;
  const char* closeGuard;
};
const AnomalySymbols& anomalySymbols();

/// What prepares a trace, of which a torch has one (profiler_router.cpp).
struct PrepareSymbols {
  const char* plain;
  const char* filtered;
  const char* extended;
};
const PrepareSymbols& prepareSymbols();

/// Not every torch has one, or both (once_per_process.cpp).
struct OpaqueTypeSymbols {
  const char* add;
  const char* remove;
  const char* isKnown;
};
const OpaqueTypeSymbols& opaqueTypeSymbols();

/// Functions that thread_numbers.cpp, process_groups.cpp and compiler_interface.cpp redirect there.
const char* initNumThreadsSymbol();
const char* resolveProcessGroupSymbol();
const char* compilerInterfaceSymbol();

/// "2.13.0": what the headers said that this was compiled with.
std::string builtWithTorch();
/// Changes when the table changes; part of the cache key of edited copies.
std::string tableVersion();

/// The torch library loaded into this process and its file in the environment.
/// What verifyTorch() compares; separate so that tests can make their own.
struct TorchFiles {
  std::filesystem::path versionFile;       // torch/version.py; need not exist if a soname tells
  std::filesystem::path cpuLibrary;        // libtorch_cpu of the environment
  std::filesystem::path loadedCpuLibrary;  // the one in this process; empty if there is none
};
TorchFiles torchFiles(const std::filesystem::path& libtorchPython);

/// "libtorch_python.so", or "libtorch_python.so.2.6" as distributions have it.
bool isLibtorchPython(const std::filesystem::path& library);
/// libtorch_cpu of this process; empty if there is none.
std::filesystem::path loadedTorchCpu();

/// Throws UnsupportedTorchError with all differences unless `libtorchPython`
/// belongs to the torch that we were built with and that is in this process.
/// Loads nothing and writes nothing.
void verifyTorch(const elf::SharedObject& libtorchPython, const TorchFiles& files);

/// What `libtorchPython`'s symbol table lacks of the table above and of the binding,
/// or has besides: one line each.
std::vector<std::string> symbolDifferences(const elf::SharedObject& libtorchPython);
/// Which functions that are called or redirected none of torch's shared libraries exports.
std::vector<std::string> exportDifferences(const std::vector<elf::SharedObject>& shared);

/// GNU build id of a file on disk, empty where there is none. Reads the program
/// headers and the note only: libtorch_cpu has hundreds of megabytes.
std::string buildIdOf(const std::filesystem::path& file);

}  // namespace multipy::bridge
