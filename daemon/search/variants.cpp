#include "search/variants.h"

#include <algorithm>

namespace warpwright::search {
namespace {

constexpr size_t kEnoughWrong = 3;

// The value of the first in which the two differ, if they differ in one alone.
std::optional<std::pair<std::string, std::string>> OnlyDifference(const core::Parameters& a,
                                                                  const core::Parameters& b) {
  std::optional<std::pair<std::string, std::string>> difference;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) return std::nullopt;
    if (other->second == value) continue;
    if (difference) return std::nullopt;
    difference = {name, value};
  }
  return difference;
}

}  // namespace

void Variants::Learn(const core::Parameters& parameters, const core::Verdict& verdict) {
  const bool right = core::Passed(verdict);
  if (right || std::holds_alternative<core::WrongResult>(verdict)) results_.push_back({parameters, right});
}

bool Variants::WorthTrying(const core::Parameters& parameters) const {
  const auto is_right = [](const Result& result) { return result.right; };
  if (results_.size() >= kEnoughWrong && std::none_of(results_.begin(), results_.end(), is_right)) return false;
  for (const Result& wrong : results_) {
    if (wrong.right) continue;
    for (const Result& right : results_) {
      if (!right.right) continue;
      const auto blame = OnlyDifference(wrong.parameters, right.parameters);
      if (!blame) continue;
      const auto own = parameters.find(blame->first);
      if (own != parameters.end() && own->second == blame->second) return false;
    }
  }
  return true;
}

}  // namespace warpwright::search
