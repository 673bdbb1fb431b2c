// The command line of the sentence search.
#pragma once

#include <stdexcept>
#include <string>

namespace sentence_search {

struct Options {
  std::string package;    // sentence_encoder.pt
  std::string reference;  // reference.pt: plain Python's answers
  std::string corpus;     // one sentence a line
  std::string query;      // empty: the first query of the reference
  int interpreters = 0;   // the cores of this machine, at most 4
  int threads = 0;        // as many as interpreters
  int passes = 2;         // how often the corpus is encoded in each way
};

/// The command line cannot be understood; what() ends with the usage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parseOptions(int argc, char** argv);

}  // namespace sentence_search
