// getopt(), getopt_long() and getopt_long_only() with their variables, for private libraries.
//
// In libc the variables are the process's, and so is what it remembers between two calls: where in
// "-abc" it is, and which arguments it has moved. Libraries that are programs made callable
// (samtools' in pysam) parse a command line at each call; of N interpreters that do so at once,
// each would go on in the command line of another. Here each interpreter has its own, as its
// private libraries have of their own variables. What they do is getopt(3)'s of Linux;
// tests/runtime/c_state_test.cpp compares them with libc's.
//
// Threads: as libc's, one of an interpreter at a time.
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "interpreter/common/exported.h"

extern "C" MULTIPY_EXPORT char* multipy_optarg;
extern "C" MULTIPY_EXPORT int multipy_optind, multipy_opterr, multipy_optopt;
char* multipy_optarg = nullptr;
int multipy_optind = 1, multipy_opterr = 1, multipy_optopt = '?';

namespace {

bool isOption(const char* argument) { return argument[0] == '-' && argument[1] != '\0'; }

/// What there is between two calls.
struct Between {
  enum class Order { Permute, AsFound, OptionsFirst };

  bool isBegun = false;
  Order order = Order::Permute;
  char* rest = nullptr;  // of an argument with several short options
  // Arguments that are no options and have been passed over: [passed, passedEnd).
  int passed = 1, passedEnd = 1;
} between;

class Parser {
 public:
  Parser(int count, char* const* arguments, const char* options, const option* longOptions,
         int* longIndex, bool isLongOnly)
      : count_(count),
        arguments_(const_cast<char**>(arguments)),  // which it may permute
        options_(options),
        longOptions_(longOptions),
        longIndex_(longIndex),
        isLongOnly_(isLongOnly) {}

  int next(bool isPosix) {
    multipy_optarg = nullptr;
    if (count_ < 1) return -1;
    begin(isPosix);
    if (*options_ == '-' || *options_ == '+') ++options_;
    isTold_ = multipy_opterr != 0 && *options_ != ':';
    if (between.rest && *between.rest) return shortOption();
    if (!findOption()) return -1;
    char* const argument = arguments_[multipy_optind];
    if (!isOption(argument)) {
      if (between.order == Between::Order::OptionsFirst) return -1;
      multipy_optarg = argument;
      ++multipy_optind;
      return 1;
    }
    if (longOptions_) {
      if (argument[1] == '-') return longOption(argument + 2, "--", isLongOnly_);
      if (isLongOnly_ && (argument[2] || !std::strchr(options_, argument[1]))) {
        const int found = longOption(argument + 1, "-", true);
        if (found != -1) return found;
      }
    }
    between.rest = argument + 1;
    return shortOption();
  }

 private:
  void begin(bool isPosix) {
    if (multipy_optind != 0 && between.isBegun) return;
    if (multipy_optind == 0) multipy_optind = 1;
    if (!between.isBegun) multipy_optopt = 0;
    between = {.isBegun = true, .passed = multipy_optind, .passedEnd = multipy_optind};
    if (*options_ == '-')
      between.order = Between::Order::AsFound;
    else if (*options_ == '+' || isPosix || std::getenv("POSIXLY_CORRECT"))
      between.order = Between::Order::OptionsFirst;
  }

  /// Puts the options that have been met since behind those before the passed arguments.
  void movePassed() {
    if (between.passedEnd == multipy_optind) return;
    if (between.passed == between.passedEnd) {
      between.passed = multipy_optind;
      return;
    }
    std::rotate(arguments_ + between.passed, arguments_ + between.passedEnd,
                arguments_ + multipy_optind);
    between.passed += multipy_optind - between.passedEnd;
    between.passedEnd = multipy_optind;
  }

  /// Sets optind to the next argument to look at; false at the end.
  bool findOption() {
    // (The caller may have set it back.)
    between.passedEnd = std::min(between.passedEnd, multipy_optind);
    between.passed = std::min(between.passed, multipy_optind);
    if (between.order == Between::Order::Permute) {
      movePassed();
      while (multipy_optind < count_ && !isOption(arguments_[multipy_optind])) ++multipy_optind;
      between.passedEnd = multipy_optind;
    }
    if (multipy_optind != count_ && std::string_view(arguments_[multipy_optind]) == "--") {
      ++multipy_optind;
      movePassed();
      between.passedEnd = multipy_optind = count_;
    }
    if (multipy_optind != count_) return true;
    if (between.passed != between.passedEnd) multipy_optind = between.passed;
    return false;
  }

  int missingArgument() const { return *options_ == ':' ? ':' : '?'; }

  int shortOption() {
    const char letter = *between.rest++;
    const char* const known = std::strchr(options_, letter);
    if (*between.rest == '\0') ++multipy_optind;
    if (!known || letter == ':' || letter == ';') {
      if (isTold_) std::fprintf(stderr, "%s: invalid option -- '%c'\n", arguments_[0], letter);
      multipy_optopt = letter;
      return '?';
    }
    const bool isLong = letter == 'W' && known[1] == ';' && longOptions_;  // -W name is --name
    if (!isLong && known[1] != ':') return letter;
    char* const rest = between.rest;
    between.rest = nullptr;
    if (*rest) {
      if (isLong) return longOption(rest, "-W ", false);
      multipy_optarg = rest;
      ++multipy_optind;
      return letter;
    }
    if (!isLong && known[2] == ':') return letter;  // its argument may be missing
    if (multipy_optind == count_) {
      if (isTold_)
        std::fprintf(stderr, "%s: option requires an argument -- '%c'\n", arguments_[0], letter);
      multipy_optopt = letter;
      return missingArgument();
    }
    if (isLong) return longOption(arguments_[multipy_optind], "-W ", false);
    multipy_optarg = arguments_[multipy_optind++];
    return letter;
  }

  /// Those that begin with `name`: the one of that name, or the only one. Null: none, or several
  /// that differ, which is told in `isAmbiguous`.
  const option* findLong(std::string_view name, bool isLongOnly, bool& isAmbiguous) const {
    const option* found = nullptr;
    for (const option* each = longOptions_; each->name; ++each) {
      const std::string_view full = each->name;
      if (full == name) {
        isAmbiguous = false;
        return each;
      }
      if (!full.starts_with(name)) continue;
      if (!found)
        found = each;
      else if (isLongOnly || differ(*found, *each))
        isAmbiguous = true;
    }
    return isAmbiguous ? nullptr : found;
  }

  static bool differ(const option& a, const option& b) {
    return a.has_arg != b.has_arg || a.flag != b.flag || a.val != b.val;
  }

  void tellAmbiguous(const char* text, std::string_view name, const char* prefix,
                     bool isLongOnly) const {
    std::fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", arguments_[0], prefix,
                 text);
    const option* first = nullptr;
    for (const option* each = longOptions_; each->name; ++each) {
      if (!std::string_view(each->name).starts_with(name)) continue;
      if (!first) first = each;
      if (first == each || isLongOnly || differ(*first, *each))
        std::fprintf(stderr, " '%s%s'", prefix, each->name);
    }
    std::fprintf(stderr, "\n");
  }

  /// -1: it may be a short one.
  int longOption(char* text, const char* prefix, bool isLongOnly) {
    const std::string_view name(text, std::strcspn(text, "="));
    bool isAmbiguous = false;
    const option* const found = findLong(name, isLongOnly, isAmbiguous);
    if (!found) {
      if (!isAmbiguous && isLongOnly && arguments_[multipy_optind][1] != '-' &&
          std::strchr(options_, *text))
        return -1;
      if (isTold_ && isAmbiguous)
        tellAmbiguous(text, name, prefix, isLongOnly);
      else if (isTold_)
        std::fprintf(stderr, "%s: unrecognized option '%s%s'\n", arguments_[0], prefix, text);
      between.rest = nullptr;
      ++multipy_optind;
      multipy_optopt = 0;
      return '?';
    }
    between.rest = nullptr;
    ++multipy_optind;
    if (text[name.size()] == '=') {
      if (found->has_arg == no_argument) {
        if (isTold_)
          std::fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", arguments_[0],
                       prefix, found->name);
        multipy_optopt = found->val;
        return '?';
      }
      multipy_optarg = text + name.size() + 1;
    } else if (found->has_arg == required_argument) {
      if (multipy_optind >= count_) {
        if (isTold_)
          std::fprintf(stderr, "%s: option '%s%s' requires an argument\n", arguments_[0], prefix,
                       found->name);
        multipy_optopt = found->val;
        return missingArgument();
      }
      multipy_optarg = arguments_[multipy_optind++];
    }
    if (longIndex_) *longIndex_ = static_cast<int>(found - longOptions_);
    if (!found->flag) return found->val;
    *found->flag = found->val;
    return 0;
  }

  const int count_;
  char** const arguments_;
  const char* options_;
  const option* const longOptions_;
  int* const longIndex_;
  const bool isLongOnly_;
  bool isTold_ = false;
};

}  // namespace

extern "C" MULTIPY_EXPORT int multipy_getopt(int argc, char* const* argv, const char* options) {
  return Parser(argc, argv, options, nullptr, nullptr, false).next(false);
}
extern "C" MULTIPY_EXPORT int multipy___posix_getopt(int argc, char* const* argv,
                                                     const char* options) {
  return Parser(argc, argv, options, nullptr, nullptr, false).next(true);
}
extern "C" MULTIPY_EXPORT int multipy_getopt_long(int argc, char* const* argv, const char* options,
                                                  const option* longOptions, int* longIndex) {
  return Parser(argc, argv, options, longOptions, longIndex, false).next(false);
}
extern "C" MULTIPY_EXPORT int multipy_getopt_long_only(int argc, char* const* argv,
                                                       const char* options,
                                                       const option* longOptions, int* longIndex) {
  return Parser(argc, argv, options, longOptions, longIndex, true).next(false);
}
