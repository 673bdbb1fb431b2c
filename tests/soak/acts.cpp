#include "acts.h"

#include <array>

namespace multipy::soak {

Acts allActs() {
  static constexpr std::array kTopics{
      autogradActs, callActs,    errorActs,  libraryActs, movableActs, packageActs,
      recycleActs,  sessionActs, tensorActs, threadActs,  valueActs,
  };
  Acts acts;
  for (const auto topic : kTopics)
    for (const Act& act : topic()) acts.push_back(act);
  return acts;
}

}  // namespace multipy::soak
