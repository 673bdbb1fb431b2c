// What the command line says.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

namespace service {

struct Options {
  std::string package;                         // made by torch.package; read again at each SIGHUP
  std::string address = "127.0.0.1";           // 0.0.0.0 for all interfaces
  int port = 8080;                             // 0: any that is free
  std::size_t interpreters = 0;                // never 0 after parsing
  std::chrono::milliseconds deadline{10'000};  // of each request; its header can only shorten it
  std::size_t waiting = 64;                    // most requests in line for an interpreter
  std::size_t replaceAfterCalls = 0;           // calls in one interpreter; 0: never
  std::size_t replaceAboveMegabytes = 0;       // of its Python heap; 0: never
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// None where --help was asked for. Throws UsageError.
std::optional<Options> parseOptions(int argc, char** argv);

/// For --help, and below the text of a UsageError.
extern const char* const kUsage;

}  // namespace service
