#include "random.h"

#include <ATen/Functions.h>

#include <array>
#include <string_view>

namespace multipy::soak {

using namespace std::string_view_literals;

std::string Random::text(int words) {
  static constexpr std::array kWords{"soak"sv,   "grüße"sv, "漢字"sv, "🙂"sv,
                                     "\0null"sv, "a b\n"sv, "%s{}"sv};
  std::string text;
  for (int i = 0; i < words; ++i) text += kWords[next() % kWords.size()];
  return text;
}

at::Tensor Random::tensor(at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const at::Tensor numbers =
      at::arange(count).mul_(number(1, 30)).add_(number(0, 16)).remainder_(17);
  return numbers.sub_(8).to(at::kFloat).div_(8).reshape(sizes);
}

}  // namespace multipy::soak
