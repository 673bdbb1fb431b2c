#include "runtime/pool/sizing_rules.h"

#include <algorithm>
#include <string>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

SizingRules::SizingRules(const SizingOptions& options, std::size_t n, std::size_t places)
    : options_(options) {
  const auto refuse = [n](const std::string& why) {
    throw InvalidArgument("InterpreterManager: SizingOptions for " + std::to_string(n) +
                          " interpreters: " + why);
  };
  if (grows() && (options.most < n || options.most > places))
    refuse("`most` is " + std::to_string(options.most) + ", expected " + std::to_string(n) +
           " to " + std::to_string(places));
  if (shrinks() && options.least > n)
    refuse("`least` is " + std::to_string(options.least) + ", expected 0 to " + std::to_string(n));
  if (shrinks() && options.least == 0 && !grows())
    refuse("`least` is 0 and `growAfter` is not given, so that none would come back");
}

std::size_t SizingRules::wanted(const Facts& facts) const noexcept {
  const std::size_t n = facts.interpreters;
  if (grows() && n < options_.most && facts.waited) {
    if (n == 0) return 1;  // it waits for nothing else
    if (std::min(*facts.waited, facts.sinceChange) >= options_.growAfter) return n + 1;
  }
  const bool mayShrink = shrinks() && !facts.waited && facts.sinceChange >= options_.shrinkAfter;
  if (mayShrink && n > options_.least) return std::max(options_.least, n - std::min(n, facts.idle));
  return n;
}

}  // namespace multipy::runtime
