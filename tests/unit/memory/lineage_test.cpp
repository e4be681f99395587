// Which versions a result stands on: the full judge may refuse the best of the search.
#include "memory/lineage.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

struct Step {
  memory::StepKind kind;
  const char *candidate, *base;
  int round;
  bool accepted;
};
using enum memory::StepKind;
constexpr int kFinal = memory::kFinalRound;

memory::Lineage Of(const std::vector<Step>& steps) {
  memory::TrajectoryView view;
  view.task.key.base_hash = "original";
  for (const Step& step : steps) {
    memory::StepView& added = view.steps.emplace_back();
    added.record.kind = step.kind;
    added.record.candidate = step.candidate;
    added.record.base = step.base;
    added.record.round = step.round;
    added.outcome.emplace().accepted = step.accepted;
    added.outcome->summary = std::string("of ") + step.candidate;
  }
  return memory::LineageOf(view);
}

TEST(Lineage, HoldsWhatTheResultStandsOn) {
  struct Row {
    const char* what;
    std::vector<Step> steps;
    std::set<std::string> kept;
    std::map<std::string, std::string> refused;
  };
  const Step a{kAccept, "a", "original", 1, true}, b{kAccept, "b", "a", 2, true}, c{kAccept, "c", "original", 3, true};
  for (const Row& row : {
           Row{"nothing", {}, {}, {}},
           Row{"still searching", {a, b}, {"a", "b"}, {}},
           Row{"the last is accepted", {a, b, {kAccept, "b", "original", kFinal, true}}, {"a", "b"}, {}},
           Row{"the last is refused, the one before accepted",
               {a, b, {kAccept, "b", "original", kFinal, false}, {kAccept, "a", "original", kFinal, true}},
               {"a"},
               {{"b", "of b"}}},
           Row{"all are refused",
               {a, b, {kAccept, "b", "original", kFinal, false}, {kAccept, "a", "original", kFinal, false}},
               {},
               {{"a", "of a"}, {"b", "of b"}}},
           Row{"another branch of the search is accepted",
               {a, b, c, {kAccept, "c", "original", kFinal, true}},
               {"c"},
               {}},
           Row{"what was refused was mended",
               {a,
                b,
                {kAccept, "b", "original", kFinal, false},
                {kEvaluate, "m", "b", 2, false},
                {kAccept, "m", "original", kFinal, true}},
               {"a", "m"},
               {{"b", "of b"}}},
           Row{"a ring ends", {{kAccept, "a", "a", 1, true}, {kAccept, "a", "original", kFinal, true}}, {"a"}, {}},
       }) {
    const memory::Lineage lineage = Of(row.steps);
    EXPECT_EQ(lineage.kept, row.kept) << row.what;
    EXPECT_EQ(lineage.refused, row.refused) << row.what;
  }
}

}  // namespace
}  // namespace warpwright
