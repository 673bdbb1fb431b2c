// Reads commands (commands.h) from standard input, one a line, and answers each
// with a line: numbers with tabs between them, or "error: " and what went wrong.
// benchmarks/run drives it, in turns with the rivals, so that all meet the machine in
// the same state.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"

namespace {

std::string oneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

std::vector<std::string> splitAtTabs(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " python_loops.py   (commands from standard input)\n";
    return 1;
  }
  std::ifstream file(argv[1]);
  std::string loops((std::istreambuf_iterator<char>(file)), {});
  if (loops.empty()) {
    std::cerr << argv[0] << ": cannot read " << argv[1] << "\n";
    return 1;
  }
  std::cout.precision(9);
  multipy::benchmark::Commands commands(std::move(loops));
  for (std::string line; std::getline(std::cin, line);) {
    const auto words = splitAtTabs(line);
    if (words.empty()) continue;
    try {
      std::string separator;
      for (const double number : commands.run(words))
        std::cout << std::exchange(separator, "\t") << number;
      std::cout << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error: " << oneLine(error.what()) << std::endl;
    }
  }
  return 0;
}
