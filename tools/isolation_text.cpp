#include "tools/isolation_text.h"

namespace multipy::tools {
namespace {

std::string verdictLine(bool isPrivate, const std::string& file, const std::string& reason) {
  return std::string(isPrivate ? "private  " : "shared   ") + file + ": " + reason + "\n";
}

}  // namespace

std::string isolationText(const runtime::LoadedLibrary& library) {
  return verdictLine(library.isPrivate, library.file, library.reason);
}

std::string isolationText(const runtime::ExplainedLibrary& library) {
  if (!library.problem.empty()) return "broken   " + library.problem + "\n";
  std::string text = verdictLine(library.isPrivate, library.file, library.reason);
  for (const auto& missing : library.missing) {
    text += "         needs " + missing.name + ", which was not found in";
    for (const std::string& place : missing.searched) text += " " + place;
    text += "\n";
  }
  return text;
}

}  // namespace multipy::tools
