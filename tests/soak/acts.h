// All that the soak does, by name. An act does one thing with the World and compares the
// answer; what is wrong it throws (checks.h), as it lets through any error that it does not
// expect. Acts of one topic stand in one file, <topic>_acts.cpp, and their names begin with it.
#pragma once

#include <string_view>
#include <vector>

#include "random.h"
#include "world.h"

namespace multipy::soak {

struct Act {
  std::string_view name;  // "topic.what"
  int weight = 1;         // how often it is chosen, beside the others
  void (*perform)(World& world, Random& random) = nullptr;
  int atOnce = 0;  // how many threads may be in it at once; 0: all of them
};
using Acts = std::vector<Act>;

Acts autogradActs();
Acts callActs();
Acts errorActs();
Acts libraryActs();
Acts movableActs();
Acts packageActs();
Acts recycleActs();
Acts sessionActs();
Acts tensorActs();
Acts threadActs();
Acts valueActs();

/// All of the above.
Acts allActs();

}  // namespace multipy::soak
