#include "runtime/interpreter/python_options.h"

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw InvalidArgument("InterpreterOptions::pythonOptions: '" + option + "' " + why);
}

/// False for a letter that is none of them.
bool count(PythonFlags& flags, char letter) {
  switch (letter) {
    case 'b':
      return ++flags.bytesWarning;
    case 'B':
      return flags.noBytecode = true;
    case 'E':
      return flags.noEnvironment = true;
    case 'O':
      return ++flags.optimize;
    case 'P':
      return flags.safePath = true;
    case 's':
      return flags.noUserSite = true;
    case 'v':
      return ++flags.verbose;
    case 'q':  // there is no prompt whose banner it would leave out,
    case 'u':
      return true;  // and no buffer of C's stdout that is ours
    default:
      return false;
  }
}

}  // namespace

PythonFlags parsePythonOptions(const std::vector<std::string>& options) {
  PythonFlags flags;
  for (const std::string& word : options)
    if (word.find('\0') != std::string::npos)
      refuse(word.c_str(), "goes on after a null character, expected none");
  for (auto option = options.begin(); option != options.end(); ++option) {
    const std::string& word = *option;
    if (word.size() < 2 || word[0] != '-')
      refuse(word, "is no option of python's, expected one like -O, -W or -X");
    for (std::size_t at = 1; at < word.size(); ++at) {
      if (count(flags, word[at])) continue;
      if (word[at] != 'W' && word[at] != 'X')
        refuse(word, word[at] == 'I'
                         ? "is not taken, expected InterpreterOptions::isolated"
                         : "is not taken, expected -b, -B, -E, -O, -P, -q, -s, -u, -v, -W or -X");
      auto& values = word[at] == 'W' ? flags.warnings : flags.implementation;
      // The rest of the word, or the next one.
      if (at + 1 < word.size())
        values.emplace_back(word.substr(at + 1));
      else if (++option != options.end())
        values.push_back(*option);
      else
        refuse(word, "has no argument, expected one behind it, as in {\"-W\", \"error\"}");
      break;
    }
  }
  return flags;
}

}  // namespace multipy::runtime
