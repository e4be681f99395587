#include "memory/verdict_json.h"

#include <nlohmann/json.hpp>

namespace warpwright::memory {
namespace {

using nlohmann::json;

constexpr size_t kMaxLines = 64;

// Earlier versions stored the numbers of a line as a list "n", in this order.
constexpr const char* kFormerNumbers[] = {"warp_instructions", "thread_instructions", "global_requests",
                                          "global_sectors",    "shared_requests",     "shared_wavefronts",
                                          "divergent_branches"};

// Calls `act` with each element of the list at `key`, if there is one.
template <typename Act>
void ForEach(json& object, const char* key, const Act& act) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_array()) return;
  for (json& item : object[key]) act(item);
}

void UpgradeLine(json& line) {
  if (!line.is_object() || !line.contains("n") || !line["n"].is_array() ||
      line["n"].size() != std::size(kFormerNumbers))
    return;
  const json numbers = std::move(line["n"]);
  line.erase("n");
  for (size_t i = 0; i < numbers.size(); ++i) line[kFormerNumbers[i]] = numbers[i];
}

}  // namespace

void UpgradeVerdict(json& verdict) {
  ForEach(verdict, "cases",
          [](json& c) { ForEach(c, "launches", [](json& launch) { ForEach(launch, "lines", UpgradeLine); }); });
}

core::Verdict Stored(core::Verdict verdict) {
  if (auto* const measured = std::get_if<core::Measured>(&verdict))
    for (core::CaseMeasurement& c : measured->cases)
      for (core::LaunchReport& launch : c.launches)
        if (launch.lines.size() > kMaxLines) launch.lines.resize(kMaxLines);
  return verdict;
}

}  // namespace warpwright::memory
