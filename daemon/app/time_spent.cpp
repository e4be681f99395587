#include "app/time_spent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace warpwright::app {

std::string WhereTimeWent(const std::map<std::string, double>& spent, double seconds) {
  static const std::map<std::string_view, std::string_view> kWords = {
      {"slice", "to read the source"},   {"parse", "to read the source"},  {"record", "to build and run launchers"},
      {"compile", "to compile kernels"}, {"lease", "to wait for the GPU"}, {"run", "to run kernels"}};
  std::map<std::string_view, double> by_words;
  double named = 0;
  for (const auto& [stage, time] : spent)
    if (const auto words = kWords.find(stage); words != kWords.end()) {  // parts of stages are in them
      by_words[words->second] += time;
      named += time;
    }
  by_words["for inputs, references, comparisons and starting workers"] = std::max(0.0, seconds - named);
  std::vector<std::pair<std::string_view, double>> rows(by_words.begin(), by_words.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [words, time] : rows)
    if (time >= 0.5 && parts.size() < 3) parts.push_back(fmt::format("{:.0f} s {}", time, words));
  return fmt::format("the time: {}; --max-minutes, or the manifest's policy.max_minutes, is the limit",
                     parts.empty() ? fmt::format("{:.1f} s", seconds) : fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace warpwright::app
