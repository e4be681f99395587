// A run that is killed at any write of its trajectory, and run again, ends like one that was not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "memory/step_json.h"
#include "tests/unit/search/scripted_loop.h"

namespace warpwright {
namespace {

// Every kind of step: a plan from experience, refusals, repairs that succeed and that are abandoned, a text that two
// methods lead to, new bases, a winner that the full judge refuses, and one that it accepts.
void Prepare(ScriptedLoop& loop) {
  const core::Verdict too_large = core::CompileFailed{"ptxas error : Entry function 'k' uses too much shared data"};
  loop.AddMethod("seeded", {.gain = 1.2, .gain_of_case = {}, .fails = {}});
  loop.AddCard("refused");
  loop.worker.refuses["refused"] = "no loop here";
  loop.AddCard("tiled", {{"tile", {"64x64x16"}, ""}});
  loop.script["tiled tile=64x64x16"].fails = loop.script["tiled tile=64x64x8"].fails = too_large;
  loop.script["tiled tile=32x32x32"].gain = 1.3;
  loop.AddMethod("broken",
                 {.gain = 1, .gain_of_case = {}, .fails = core::WrongResult{core::Check::kComparison, "n", "off"}});
  loop.AddCard("twin").transform = "broken";
  loop.judge.full_verdicts.emplace("tiled tile=32x32x32", core::WrongResult{core::Check::kSecretSeed, "n", "off"});
  memory::GradedExperience sample{{}, memory::MatchGrade::kExact};
  sample.experience.method = "seeded";
  sample.experience.outcome = core::VerdictKind::kMeasured;
  sample.experience.log_gain = std::log(1.2);
  loop.experience.answer.samples = {sample, sample};
  loop.task.policy.max_rounds = 4;
}

std::vector<std::string> Everything(const memory::TrajectoryView& view) {
  std::vector<std::string> lines;
  for (const memory::StepView& step : view.steps)
    lines.push_back(std::to_string(step.id) + " " + memory::EncodeStep(step.record) +
                    (step.outcome ? memory::EncodeOutcome(*step.outcome) : " ..."));
  return lines;
}

std::set<std::string> Judged(const memory::TrajectoryView& view) {  // hashes with a stored verdict of a quick review
  std::set<std::string> hashes;
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kEvaluate && step.outcome) hashes.insert(step.record.candidate);
  return hashes;
}

TEST(Resume, AfterEveryWriteGoesOnAsIfNothingHadBeen) {
  ScriptedLoop undisturbed;
  Prepare(undisturbed);
  const auto expected = undisturbed.Run();
  ASSERT_TRUE(expected) << expected.error().Format();
  ASSERT_EQ(expected->result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(expected->text.find("// tiled"), std::string::npos) << "the base before was accepted";
  const auto story = undisturbed.Story();
  for (const char* kind : {" baseline", "0 plan: 1 methods", "0 accept seeded", " rewrite refused", " repair tiled",
                           " repair broken: abandoned", " evaluate twin", " accept tiled",
                           "-1 accept tiled: wrong result", "-1 accept seeded"})
    EXPECT_TRUE(std::any_of(story.begin(), story.end(), [&](const std::string& line) {
      return line.find(kind) != std::string::npos;
    })) << kind;
  const auto everything = Everything(undisturbed.View());
  const size_t reviews = undisturbed.judge.quick.size() + undisturbed.judge.full.size();

  int writes = 0;
  for (bool killed = true; killed; ++writes) {
    SCOPED_TRACE("killed after write " + std::to_string(writes));
    ScriptedLoop loop;
    Prepare(loop);
    DieAfter(loop.path(), writes);
    const auto first = loop.Run();
    killed = !first;
    if (killed) {
      EXPECT_NE(first.error().message.find("killed"), std::string::npos) << first.error().Format();
    }
    const std::set<std::string> stored = Judged(loop.View());
    const size_t reviewed_before = loop.judge.quick.size();
    Revive(loop.path());
    const auto resumed = loop.Run();
    ASSERT_TRUE(resumed) << resumed.error().Format();
    EXPECT_EQ(resumed->result.outcome, expected->result.outcome);
    EXPECT_EQ(resumed->result.message, expected->result.message);
    EXPECT_EQ(resumed->result.best_hash, expected->result.best_hash);
    EXPECT_EQ(resumed->result.gain, expected->result.gain);
    EXPECT_EQ(resumed->text, expected->text);
    if (killed) {
      EXPECT_EQ(resumed->counts, expected->counts);
    }
    ASSERT_EQ(Everything(loop.View()), everything);
    for (size_t i = reviewed_before; i < loop.judge.quick.size(); ++i)
      EXPECT_EQ(stored.count(base::Sha256(loop.judge.quick[i])), 0u) << "judged again: " << loop.judge.quick[i];
    EXPECT_LE(loop.judge.quick.size() + loop.judge.full.size(), reviews + 1)
        << "at most what was being judged is judged again";
    EXPECT_LE(loop.experience.appended.size(), undisturbed.experience.appended.size());
    EXPECT_GE(loop.experience.appended.size() + 1, undisturbed.experience.appended.size());
  }
  EXPECT_GT(writes, 40);
}

TEST(Resume, LiftsTheOriginalOnce) {
  int lifted = 0;
  ScriptedLoop loop;
  Prepare(loop);
  loop.lift = [&] {
    ++lifted;
    return Result<core::LiftOutcome>(core::NotLifted{"branch on data", "line 3", true});
  };
  DieAfter(loop.path(), 30);
  ASSERT_FALSE(loop.Run());
  EXPECT_EQ(lifted, 1);
  Revive(loop.path());
  ASSERT_TRUE(loop.Run());  // goes on
  ASSERT_TRUE(loop.Run());  // is finished
  EXPECT_EQ(lifted, 1);
}

TEST(Resume, StartsFromTheTimesThatWereMeasuredFirst) {
  ScriptedLoop undisturbed, loop;
  Prepare(undisturbed);
  Prepare(loop);
  ASSERT_TRUE(undisturbed.Run());
  DieAfter(loop.path(), 30);
  ASSERT_FALSE(loop.Run());
  Revive(loop.path());
  loop.judge.original_us = 130;  // the device is busier now; the remaining candidates are measured on it
  const auto resumed = loop.Run();
  ASSERT_TRUE(resumed) << resumed.error().Format();
  const auto before = undisturbed.Story(), after = loop.Story();
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(after[i], before[i]);
  const auto plans = [](const std::vector<std::string>& story) {
    return std::count_if(story.begin(), story.end(),
                         [](const std::string& step) { return step.starts_with("1 plan"); });
  };
  EXPECT_EQ(plans(after), plans(before)) << "the first round is not planned again";
}

TEST(Resume, AFinishedTaskIsRecalled) {
  ScriptedLoop loop;
  Prepare(loop);
  const auto first = loop.Run();
  ASSERT_TRUE(first) << first.error().Format();
  const size_t reviews = loop.judge.quick.size();
  const auto again = loop.Run();
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(again->text, first->text);
  ASSERT_TRUE(first->accepted && again->accepted);
  EXPECT_EQ(again->accepted->cases.size(), first->accepted->cases.size());
  EXPECT_EQ(again->baseline.original.index(), first->baseline.original.index());
  EXPECT_EQ(again->roofline_pct_before, first->roofline_pct_before);
  EXPECT_EQ(again->roofline_pct_after, first->roofline_pct_after);
  EXPECT_EQ(again->counts, first->counts);
  EXPECT_EQ(loop.judge.prepared, 1);
  EXPECT_EQ(loop.judge.quick.size(), reviews);
}

}  // namespace
}  // namespace warpwright
