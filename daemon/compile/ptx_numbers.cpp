#include "compile/ptx_numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace warpwright::compile {
namespace {

constexpr size_t kMost = 4096;

bool IsWordPart(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' ||
         c == '$' || c == '.';
}

// "0f3F800000", "0d3FF0000000000000": the bits of an f32 or an f64.
void AddFloat(std::string_view word, std::set<double>& numbers) {
  const bool single = word.starts_with("0f") || word.starts_with("0F");
  const bool twice = word.starts_with("0d") || word.starts_with("0D");
  if (!(single && word.size() == 10) && !(twice && word.size() == 18)) return;
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
  if (error != std::errc() || end != word.data() + word.size()) return;
  const double value = single ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  if (std::isfinite(value)) numbers.insert(value);
}

void AddInteger(std::string_view word, std::set<double>& numbers) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) numbers.insert(static_cast<double>(value));
}

}  // namespace

std::set<double> FindNumbers(const std::string& ptx) {
  std::set<double> numbers;
  std::string_view rest = ptx;
  while (!rest.empty() && numbers.size() < kMost) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const bool compares = line.find("setp.") != std::string_view::npos;
    for (size_t i = 0; i < line.size();) {
      const bool negative = line[i] == '-' && i + 1 < line.size();
      const size_t begin = i;
      i += negative;
      while (i < line.size() && IsWordPart(line[i])) ++i;
      const std::string_view word = line.substr(begin, i - begin);
      if (word.empty() || begin == i) {
        i = begin + 1;
        continue;
      }
      AddFloat(word, numbers);
      if (compares) AddInteger(word, numbers);
    }
  }
  return numbers;
}

}  // namespace warpwright::compile
