#include "agents/experience_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "agents/data_block.h"

namespace warpwright::agents {
namespace {

constexpr size_t kRows = 12;

// How near the nearest sample is, for a reader who does not know the grades.
std::string_view InWords(memory::MatchGrade grade) {
  switch (grade) {
    case memory::MatchGrade::kNone: return "";
    case memory::MatchGrade::kOperation: return "the same operation";
    case memory::MatchGrade::kSimilar: return "the same operation and limit, on another chip or in another type";
    case memory::MatchGrade::kForm: return "the same formula, otherwise implemented";
    case memory::MatchGrade::kExact: return "the same operation, limit, chip and type";
    case memory::MatchGrade::kShape: return "these, at sizes of the same kind";
    case memory::MatchGrade::kFormExact: return "the same formula, limit, chip and type";
    case memory::MatchGrade::kFormAndShape: return "the same formula, limit, chip, type and kind of sizes";
  }
  return "";
}

// Models name methods too.
std::string Cell(std::string_view method) {
  std::string cell = Quoted(method, 60);
  std::replace(cell.begin(), cell.end(), '|', '/');
  return cell;
}

}  // namespace

std::string ExperienceText(const memory::ExperienceMatches& experience, bool modelled) {
  std::vector<memory::Experience> of_this_kind;
  std::map<std::string, memory::MatchGrade> nearest;
  for (const memory::GradedExperience& sample : experience.samples) {
    if (sample.experience.modelled != modelled) continue;
    of_this_kind.push_back(sample.experience);
    auto& grade = nearest[sample.experience.method];
    grade = std::max(grade, sample.grade);
  }
  if (of_this_kind.empty()) return "Nothing was measured yet on kernels of this kind.\n";
  std::string text = fmt::format(
      "What was {} on kernels of this kind, this one included; a gain is over the version that the method was tried "
      "on:\n| method | tried | faster | gain of those, in the mean | the nearest of them had "
      "|\n|---|---|---|---|---|\n",
      modelled ? "modelled" : "measured");
  const std::vector<memory::LearnedMethod> learned = memory::LearnedMethods(of_this_kind);
  for (size_t i = 0; i < std::min(kRows, learned.size()); ++i)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", Cell(learned[i].method), learned[i].tries, learned[i].faster,
                        learned[i].faster > 0 ? fmt::format("{:.2f}", learned[i].gain) : "none",
                        InWords(nearest[learned[i].method]));
  return text;
}

}  // namespace warpwright::agents
