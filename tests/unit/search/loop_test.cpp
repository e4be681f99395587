// What the loop decides: new bases, repairs, what is tried only once, and when it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agents/feature_extractor.h"
#include "memory/lift_json.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/search/scripted_loop.h"

namespace warpwright {
namespace {

using Story = std::vector<std::string>;

const core::Verdict kTooLarge =
    core::CompileFailed{"ptxas error : Entry function 'k' uses too much shared data (0x18000 bytes)"};
const core::Verdict kWrong = core::WrongResult{core::Check::kComparison, "n", "out[3] = 1, expected 2"};

Worth Gains(double gain) { return {.gain = gain, .gain_of_case = {}, .fails = {}}; }
Worth Fails(const core::Verdict& verdict) { return {.gain = 1, .gain_of_case = {}, .fails = verdict}; }

size_t Count(const Story& story, const std::string& text) {
  return static_cast<size_t>(std::count_if(
      story.begin(), story.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}
std::string Last(const Story& story) { return story.empty() ? "" : story.back(); }

class Loop : public ::testing::Test {
 protected:
  search::RefineResult Run() {
    auto refined = loop.Run();
    EXPECT_TRUE(refined) << refined.error().Format();
    return refined ? std::move(*refined) : search::RefineResult();
  }
  // Half an hour of three gains and a method left over, and no time to accept what was found.
  void TakeTooLongToAccept() {
    loop.AddCard("wide", {{"width", {"2", "4", "8"}, ""}});
    for (const char* width : {"2", "4", "8"}) loop.script["wide width=" + std::string(width)] = Gains(1.5);
    loop.AddMethod("late", Gains(2));
    loop.judge.per_review = std::chrono::minutes(8);
    loop.judge.per_full_review = std::chrono::minutes(25);
    loop.task.policy.max_minutes = 30;
  }
  ScriptedLoop loop;
};

TEST_F(Loop, AGainBecomesTheBaseAndIsAccepted) {
  loop.AddMethod("fast", Gains(2));
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(refined.result.gain, 2, 1e-9);
  EXPECT_EQ(refined.text, "float x;\n// fast\n// spliced\n");
  EXPECT_EQ(refined.counts, (memory::TaskCounts{.rounds = 1, .attempts = 1, .evaluations = 1}));
  EXPECT_EQ(loop.fresh_workers, 1);
  const Story story = loop.Story();
  ASSERT_EQ(story.size(), 8u);
  EXPECT_TRUE(story[0].starts_with("0 baseline: ")) << story[0];
  EXPECT_EQ(story[1], "0 plan: 0 methods worked on kernels of this kind");
  EXPECT_TRUE(story[2].starts_with("1 plan: fast: ")) << story[2];
  EXPECT_EQ(story[3], "1 evaluate fast: measured 2.00");
  EXPECT_EQ(story[4], "1 accept fast: new base, 2.00x over the one before");
  EXPECT_TRUE(story[5].starts_with("2 plan: fast: ")) << "other evidence, another chance: " << story[5];
  EXPECT_TRUE(story[6].starts_with("2 plan: no method is left (fast: does not apply)")) << story[6];
  EXPECT_TRUE(story[7].starts_with("-1 accept fast: ")) << story[7];
}

TEST_F(Loop, SmallGainsCompound) {
  for (const char* method : {"a", "b", "c"}) loop.AddMethod(method, Gains(1.03));
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(refined.result.gain, std::pow(1.03, 3), 1e-9);
  EXPECT_EQ(refined.text, "float x;\n// a\n// b\n// c\n// spliced\n");
}

// Another strategy: the fastest version for which plans are left, down to the original.
class FastestFirst final : public search::Selector {
 public:
  std::optional<size_t> Next(const search::Pool& pool) const override {
    std::optional<size_t> next;
    for (size_t number = 0; number < pool.size(); ++number)
      if (!pool[number].exhausted && !pool[number].refused && (!next || pool.GainOf(number) >= pool.GainOf(*next)))
        next = number;
    return next;
  }
};

TEST_F(Loop, ASelectorMayGoBackToAnotherVersion) {
  const auto prepare = [](ScriptedLoop& in) {
    in.AddMethod("first", Gains(1.5));
    in.AddMethod("other", Gains(1.8));
    in.library.methods["other"].conflicts = {"first"};  // what gains first stands in its way
  };
  prepare(loop);
  EXPECT_NEAR(Run().result.gain, 1.5, 1e-9);
  ScriptedLoop other;
  prepare(other);
  const FastestFirst fastest;
  other.selector = &fastest;
  const auto refined = other.Run();
  ASSERT_TRUE(refined) << refined.error().Format();
  EXPECT_NEAR(refined->result.gain, 1.8 * 1.5, 1e-9);
  EXPECT_EQ(refined->text, "float x;\n// other\n// first\n// spliced\n");
}

TEST_F(Loop, WhatIsNotExpectedToBeWorthItsTimeEndsTheSearch) {
  loop.AddMethod("first", Gains(1.5));
  loop.AddMethod("late", Gains(1.5));
  loop.library.methods["late"].gain_typical = 1.0001;
  loop.judge.per_review = std::chrono::minutes(2);
  const search::RefineResult refined = Run();
  EXPECT_NEAR(refined.result.gain, 1.5, 1e-9);
  EXPECT_EQ(loop.judge.quick.size(), 1u);
  EXPECT_EQ(Count(loop.Story(), "what is left is not expected to be worth its 120.0 s for each try"), 1u);
}

TEST_F(Loop, LessThanTheSmallestStepIsNoBase) {
  loop.AddMethod("a", Gains(1.005));
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(refined.result.message.starts_with("no improvement found in 1 round")) << refined.result.message;
  EXPECT_EQ(Count(loop.Story(), " accept "), 0u);
}

// As of a repository whose cases with weight are a GPU's, on a simulator.
TEST_F(Loop, WithoutACaseThatCountsNoGainCanBeShown) {
  loop.AddMethod("a", Gains(4));
  loop.judge.case_weight = 0;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(refined.result.message.starts_with("no gain can be shown on sim:h200: none of the cases"))
      << refined.result.message;
}

TEST_F(Loop, BelowThePolicyNothingIsPutBeforeTheFullJudge) {
  loop.AddMethod("a", Gains(1.04));
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.message,
            "no improvement found in 1 round (the best candidate gave 1.04x; the policy asks for 1.05x)");
  EXPECT_TRUE(loop.judge.full.empty());
}

TEST_F(Loop, NoCaseMayBecomeSlower) {
  loop.SetCases({"large", "small"});
  loop.AddMethod("uneven", {.gain = 3, .gain_of_case = {{"small", 0.9}}, .fails = {}});
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnchanged);
  const memory::TrajectoryView view = loop.View();
  const auto evaluation = std::find_if(view.steps.begin(), view.steps.end(), [](const memory::StepView& step) {
    return step.record.kind == memory::StepKind::kEvaluate;
  });
  ASSERT_NE(evaluation, view.steps.end());
  EXPECT_EQ(evaluation->outcome->summary, "faster over all cases, but one takes 11 % longer: not taken (adds uneven)");
  EXPECT_NEAR(evaluation->outcome->gain, std::sqrt(2.7), 1e-9);
}

TEST_F(Loop, ASoundVariantComesBeforeAFasterOneThatLosesACase) {
  loop.SetCases({"large", "small"});
  loop.AddCard("wide", {{"width", {"8", "4", "2"}, ""}});
  loop.script["wide width=8"] = {.gain = 3, .gain_of_case = {{"small", 0.9}}, .fails = {}};
  loop.script["wide width=4"] = Gains(1.2);
  loop.script["wide width=2"] = Gains(1.1);
  loop.task.policy.max_rounds = 1;
  EXPECT_EQ(Run().text, "float x;\n// wide width=4\n// spliced\n");
}

TEST_F(Loop, ARepairThatWorksIsTakenAndTiedToTheFailure) {
  loop.AddCard("tiled", {{"tile", {"64x64x16"}, ""}});
  loop.script["tiled tile=64x64x16"] = loop.script["tiled tile=64x64x8"] = Fails(kTooLarge);
  loop.script["tiled tile=32x32x32"] = Gains(2);
  loop.task.policy.max_rounds = 1;
  EXPECT_EQ(Run().text, "float x;\n// tiled tile=32x32x32\n// spliced\n");
  const Story story = loop.Story();
  ASSERT_GE(story.size(), 9u);
  EXPECT_EQ(
      Story(story.begin() + 3, story.begin() + 9),
      (Story{"1 evaluate tiled tile=64x64x16: compile_failed", "1 repair tiled tile=64x64x16: adds tiled tile=64x64x8",
             "1 evaluate tiled tile=64x64x8: compile_failed", "1 repair tiled tile=64x64x8: adds tiled tile=32x32x32",
             "1 evaluate tiled tile=32x32x32: measured 2.00",
             "1 accept tiled tile=32x32x32: new base, 2.00x over the one before"}));
  const memory::TrajectoryView view = loop.View();
  EXPECT_EQ(view.steps[5].record.attempt, 1);
  EXPECT_EQ(view.steps[7].record.attempt, 2);
  EXPECT_EQ(view.steps[5].mended_by, view.steps[7].id);
}

TEST_F(Loop, OneThatWorksNeedsNoRepairOfItsSiblings) {
  loop.AddCard("tiled", {{"tile", {"64x64x16", "64x64x8"}, ""}});
  loop.script["tiled tile=64x64x16"] = Fails(kTooLarge);
  loop.script["tiled tile=64x64x8"] = Gains(2);
  loop.task.policy.max_rounds = 1;
  Run();
  EXPECT_EQ(Count(loop.Story(), " repair "), 0u);
}

TEST_F(Loop, RepairsEndAfterTheirNumber) {
  loop.AddCard("tiled", {{"tile", {"128x128x8"}, ""}});
  for (const char* tile : {"128x128x8", "128x64x16", "64x64x16", "64x64x8", "32x32x32"})
    loop.script["tiled tile=" + std::string(tile)] = Fails(kTooLarge);
  loop.task.policy.max_repairs = 2;
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnchanged);
  const Story story = loop.Story();
  EXPECT_EQ(Count(story, " repair "), 3u) << "and the reason why there is no other";
  EXPECT_EQ(Count(story, ": not mended: the limit of 2 repairs is reached"), 1u);
  EXPECT_EQ(Count(story, " evaluate "), 3u);
  EXPECT_EQ(Last(story), "2 plan: no method is left (tiled: failed in round 1)");
}

TEST_F(Loop, WhatTheRepairerGivesUpIsAbandoned) {
  loop.AddMethod("broken", Fails(kWrong));
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnchanged);
  const Story story = loop.Story();
  ASSERT_GE(story.size(), 5u);
  EXPECT_EQ(story[3], "1 evaluate broken: wrong_result");
  EXPECT_TRUE(story[4].starts_with("1 repair broken: abandoned: no built-in repair")) << story[4];
  EXPECT_EQ(Count(story, " repair "), 1u);
}

TEST_F(Loop, ATextIsJudgedOnceWhateverLedToIt) {
  loop.AddMethod("a", Gains(1.005));
  loop.AddCard("b").transform = "a";
  Run();
  EXPECT_EQ(loop.judge.quick, std::vector<std::string>{"float x;\n// a\n"});
  EXPECT_EQ(Count(loop.Story(), ": measured 1.0"), 2u) << "both rounds say what came of it";
  ASSERT_EQ(loop.experience.appended.size(), 1u) << "one verdict, one line of experience";
  EXPECT_EQ(loop.experience.appended[0].method, "a");
  EXPECT_EQ(loop.experience.appended[0].key.chip, "h200");
  EXPECT_NEAR(loop.experience.appended[0].log_gain, std::log(1.005), 1e-9);
}

TEST_F(Loop, AMethodIsTriedOnceOnTheSameEvidence) {
  loop.AddMethod("a", Gains(1.005));
  loop.AddMethod("b", Gains(0.5));
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.counts.rounds, 2);
  EXPECT_EQ(Last(loop.Story()), "3 plan: no method is left (a: gave 1.00x in round 1; b: gave 0.50x in round 2)");
}

TEST_F(Loop, WhatNoTransformationCanDoIsSaidAndCostsNoRound) {
  loop.AddCard("a");
  loop.worker.refuses["a"] = "no loop here";
  loop.AddMethod("b", Gains(2));
  loop.task.policy.max_rounds = 1;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(refined.counts.rounds, 1);
  EXPECT_EQ(Count(loop.Story(), "1 rewrite a: no loop here (line 7)"), 1u);
}

TEST_F(Loop, AMethodThatDoesNotApplyUsesUpNoRoundAndIsWrittenDownOnce) {
  loop.AddCard("a");
  loop.worker.refuses["a"] = "no loop here";
  loop.AddMethod("b", Gains(1.5));
  loop.AddMethod("c", Gains(1.5));
  loop.task.policy.max_rounds = 2;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.counts, (memory::TaskCounts{.rounds = 2, .attempts = 3, .evaluations = 2}));
  const Story story = loop.Story();
  EXPECT_EQ(Count(story, " rewrite a: "), 1u) << "the second base is refused for the same reason";
  EXPECT_EQ(Count(story, "2 evaluate c: measured"), 1u) << "rounds are numbered without it";
}

TEST_F(Loop, TheRealCauseOfNoImprovementIsNamed) {
  for (const char* method : {"a", "b"}) loop.AddCard(method);
  loop.worker.refuses["a"] = loop.worker.refuses["b"] = "two nested reduction loops";
  EXPECT_EQ(Run().result.message, "every transformation refused: two nested reduction loops (a, b, line 7)");
  ScriptedLoop none;
  const auto nothing = none.Run();
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->result.message, "nothing was tried: no method applies to this evidence");
  ScriptedLoop failing;
  failing.AddMethod("broken", Fails(kWrong));
  const auto failed = failing.Run();
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->result.message.starts_with("no improvement found in 1 round: no candidate passed (broken: "))
      << failed->result.message;
}

TEST_F(Loop, ARefusedOriginalEndsIt) {
  loop.AddMethod("fast", Gains(2));
  loop.judge.refuses_original = core::Refused{core::Check::kToleranceSelfTest, "wrong results cannot be told", "", 0};
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kRefused);
  EXPECT_NE(refined.result.message.find("wrong results cannot be told"), std::string::npos);
  EXPECT_EQ(loop.Story().size(), 1u);
}

// What the original computes is in the trajectory; that it is not known changes nothing.
TEST_F(Loop, StoresWhatTheOriginalComputes) {
  const core::Lifted softmax{.computation = testing::Softmax(), .shapes = 3, .verified = true};
  struct Row {
    Result<core::LiftOutcome> outcome;
    const char* summary;
  };
  for (const Row& row :
       {Row{core::LiftOutcome(softmax), "out[i0,i1] = exp("},
        Row{core::LiftOutcome(core::NotLifted{"branch on data", "line 3", true}), "not lifted: branch on data: line 3"},
        Row{Fail(ErrorCode::kTimeout, "no answer"), "not lifted: error: no answer"}}) {
    SCOPED_TRACE(row.summary);
    ScriptedLoop asked, unasked;
    asked.lift = [&] { return row.outcome; };
    const auto with = asked.Run(), without = unasked.Run();
    ASSERT_TRUE(with && without);
    EXPECT_EQ(with->result.outcome, without->result.outcome);
    const memory::TrajectoryView view = asked.View();
    ASSERT_EQ(view.steps.size(), unasked.View().steps.size() + 1);
    const memory::StepView& step = view.steps.at(1);
    EXPECT_EQ(step.record.kind, memory::StepKind::kLift);
    ASSERT_TRUE(step.outcome);
    EXPECT_TRUE(step.outcome->summary.starts_with(row.summary)) << step.outcome->summary;
    const auto stored = memory::DecodeLift(step.outcome->data);
    ASSERT_TRUE(stored) << stored.error().Format();
    if (const auto* lifted = std::get_if<core::Lifted>(&*stored)) {
      EXPECT_EQ(lifted->computation, softmax.computation);
    }
  }
}

// Under the digest of what the original computes, in every round.
TEST_F(Loop, LearnsUnderTheFormula) {
  loop.AddMethod("fast", Gains(2));
  loop.lift = [] { return Result<core::LiftOutcome>(core::Lifted{.computation = testing::Softmax()}); };
  Run();
  ASSERT_FALSE(loop.experience.appended.empty());
  for (const memory::Experience& experience : loop.experience.appended) {
    EXPECT_EQ(experience.key.form, agents::FormOf(testing::Softmax(), {}).digest);
    EXPECT_EQ(experience.key.operation, "row_normalization") << "whatever the source looks like";
  }
}

TEST_F(Loop, ExperienceGivesTheFirstCandidates) {
  loop.AddCard("wide", {{"width", {"2", "4"}, ""}});
  loop.script["wide width=2"] = Gains(1.2);
  loop.script["wide width=4"] = Gains(2);
  memory::GradedExperience sample{{}, memory::MatchGrade::kExact};
  sample.experience.method = "wide";
  sample.experience.parameters = {{"width", "4"}};
  sample.experience.outcome = core::VerdictKind::kMeasured;
  sample.experience.log_gain = std::log(2);
  loop.experience.answer.samples = {sample, sample};
  loop.task.policy.max_rounds = 0;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.text, "float x;\n// wide width=4\n// spliced\n");
  EXPECT_EQ(refined.counts.rounds, 0) << "seeds are no rounds";
  const Story story = loop.Story();
  ASSERT_GE(story.size(), 5u);
  EXPECT_EQ(
      Story(story.begin() + 1, story.begin() + 5),
      (Story{"0 plan: 1 methods worked on kernels of this kind", "0 evaluate wide width=4: measured 2.00",
             "0 evaluate wide width=2: measured 1.20", "0 accept wide width=4: new base, 2.00x over the one before"}));
}

TEST_F(Loop, AtTheRooflineNothingIsTried) {
  loop.AddMethod("fast", Gains(2));
  loop.judge.original_us = 0.002;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(refined.result.message.starts_with("nothing was tried: at 100.0 % of the roofline"))
      << refined.result.message;
  const Story story = loop.Story();
  ASSERT_EQ(story.size(), 2u);
  EXPECT_NE(story[1].find("1 plan: at 100.0 % of the roofline"), std::string::npos) << story[1];
}

TEST_F(Loop, RoundsAreABudget) {
  for (const char* method : {"a", "b", "c", "d"}) loop.AddMethod(method, Gains(0.9));
  loop.task.policy.max_rounds = 2;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.counts.rounds, 2);
  EXPECT_EQ(loop.judge.quick.size(), 2u);
}

TEST_F(Loop, SoAreEvaluationsOfBuiltInPlans) {
  const std::vector<std::string> widths = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
  for (const char* method : {"a", "b", "c", "d"}) {
    loop.AddCard(method, {{"width", widths, ""}});
    for (const std::string& width : widths) loop.script[std::string(method) + " width=" + width] = Gains(0.9);
  }
  const search::RefineResult refined = Run();
  EXPECT_EQ(loop.judge.quick.size(), 30u);
  EXPECT_NE(refined.result.message.find("30 evaluations are the limit"), std::string::npos) << refined.result.message;
}

TEST_F(Loop, AValueThatAloneMadeAResultWrongIsNotTriedAgain) {
  loop.AddCard("wide", {{"mode", {"a", "b"}, ""}, {"width", {"8", "4", "2"}, ""}});
  for (const char* width : {"8", "4", "2"}) {
    loop.script["wide mode=a width=" + std::string(width)] = Fails(kWrong);
    loop.script["wide mode=b width=" + std::string(width)] = Gains(1.5);
  }
  loop.task.policy.max_rounds = 1;
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kImproved);
  const Story story = loop.Story();
  EXPECT_EQ(Count(story, " evaluate wide mode=a"), 1u);
  EXPECT_EQ(Count(story, " evaluate wide mode=b"), 3u);
}

TEST_F(Loop, ThreeWrongResultsEndAPlan) {
  const std::vector<std::string> widths = {"16", "8", "4", "2", "1"};
  loop.AddCard("wide", {{"width", widths, ""}});
  for (const std::string& width : widths) loop.script["wide width=" + width] = Fails(kWrong);
  loop.task.policy.max_rounds = 1;
  Run();
  EXPECT_EQ(Count(loop.Story(), " evaluate wide"), 3u);
}

TEST_F(Loop, SoArePlansThatCannotBeCarriedOut) {
  for (char method = 'a'; method <= 'z'; ++method)
    loop.worker.refuses[loop.AddCard(std::string(1, method)).id] = "not here";
  loop.task.policy.max_rounds = 1;
  Run();
  EXPECT_EQ(Count(loop.Story(), " rewrite "), 4u);  // three for a round, and one
}

// A formula offers every way to write it, most of which do not apply.
TEST_F(Loop, AsManyMoreMayNotApplyAsFormulasHaveMethods) {
  for (char method = 'a'; method <= 'z'; ++method)
    loop.worker.refuses[loop.AddCard(std::string(1, method)).id] = "not here";
  for (char method = 'a'; method <= 'h'; ++method)
    loop.library.methods["schedule_" + std::string(1, method)].transform = "schedule_rows";
  loop.task.policy.max_rounds = 1;
  Run();
  EXPECT_EQ(Count(loop.Story(), " rewrite "), 12u);
}

TEST_F(Loop, SoIsTimeAndWhatWasFoundIsStillAccepted) {
  loop.AddCard("wide", {{"width", {"2", "4", "8"}, ""}});
  for (const char* width : {"2", "4", "8"}) loop.script["wide width=" + std::string(width)] = Gains(1.5);
  loop.AddMethod("late", Gains(2));
  loop.judge.per_review = std::chrono::minutes(8);
  loop.task.policy.max_minutes = 30;
  const search::RefineResult refined = Run();
  EXPECT_EQ(loop.judge.quick.size(), 2u) << "the second was broken off, so that most of the time is left";
  EXPECT_EQ(refined.counts.evaluations, 1);
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(refined.seconds, 60 * (9 + 8));
}

// What is found makes the search's part of the time shorter; it may be over then.
TEST_F(Loop, WhatWasFoundIsNotLostWhereTheSearchEndsBeforeItIsTheBase) {
  loop.AddCard("wide", {{"width", {"2", "4"}, ""}});
  for (const char* width : {"2", "4"}) loop.script["wide width=" + std::string(width)] = Gains(1.5);
  loop.judge.per_review = std::chrono::minutes(4);
  // The original's text, both versions', and then the base's.
  loop.worker.inspecting = [this, inspections = 0]() mutable {
    return ++inspections < 4 ? Status() : loop.judge.Spend(std::chrono::minutes(2));
  };
  loop.task.policy.max_minutes = 30;
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(loop.judge.quick.size(), 2u);
}

TEST_F(Loop, AsLongAsNothingIsFoundLessOfTheTimeIsKeptForAccepting) {
  loop.AddCard("wide", {{"width", {"2", "4", "8"}, ""}});
  for (const char* width : {"2", "4"}) loop.script["wide width=" + std::string(width)] = Fails(kTooLarge);
  loop.script["wide width=8"] = Gains(1.5);
  loop.judge.per_review = std::chrono::minutes(7);
  loop.task.policy.max_minutes = 30;
  const search::RefineResult refined = Run();
  EXPECT_EQ(loop.judge.quick.size(), 3u);
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
}

TEST_F(Loop, TheLimitIsTheEndWhateverTheFullJudgeIsAt) {
  loop.AddMethod("fast", Gains(1.5));
  loop.judge.per_review = std::chrono::minutes(1);
  loop.judge.per_full_review = std::chrono::hours(2);
  loop.task.policy.max_minutes = 30;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnfinished);
  EXPECT_TRUE(refined.out_of_time);
  EXPECT_EQ(refined.result.message,
            "the best version so far is 1.50x as fast, and the limit of 30 minutes was over before it was verified; "
            "the same command goes on from there");
  EXPECT_EQ(refined.seconds, 60 * 30);
  EXPECT_TRUE(Last(loop.Story()).ends_with(" ...")) << "what was broken off has no outcome";
}

// Whatever the search had not come to when its time was over: the next run has all of its time for what was found.
TEST_F(Loop, ARunThatWasOutOfTimeGoesOnAtTheAcceptance) {
  TakeTooLongToAccept();
  ASSERT_EQ(Run().result.outcome, core::TaskOutcome::kUnfinished);
  const auto story = loop.Story();
  const size_t quick = loop.judge.quick.size();
  for (const int minutes : {28, 20}) {  // once more in vain
    loop.judge.per_full_review = std::chrono::minutes(minutes + 1);
    loop.task.policy.max_minutes = minutes;
    EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnfinished) << minutes;
    EXPECT_EQ(loop.Story(), story);
  }
  loop.judge.per_full_review = std::chrono::minutes(19);
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved) << refined.result.message;
  EXPECT_EQ(refined.result.gain, 1.5);
  EXPECT_EQ(loop.judge.quick.size(), quick) << "nothing more is tried";
}

// A refusal leaves the rest of the time to what the search had not come to.
TEST_F(Loop, WhereTheFullJudgeRefusesWhatTheTimeWasOverForTheSearchGoesOn) {
  TakeTooLongToAccept();
  ASSERT_EQ(Run().result.outcome, core::TaskOutcome::kUnfinished);
  loop.judge.per_review = loop.judge.per_full_review.emplace(std::chrono::minutes(1));
  loop.judge.full_verdicts.emplace("wide width=2", kWrong);
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved) << refined.result.message;
  EXPECT_GE(refined.result.gain, 2);
}

// What is told of it counts only what was evaluated, as everywhere.
TEST_F(Loop, ARoundThatWasBrokenOffInItsFirstEvaluationIsNone) {
  loop.AddMethod("fast", Gains(1.5));
  loop.judge.per_review = std::chrono::hours(2);
  loop.task.policy.max_minutes = 30;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.counts.rounds, 0);
  EXPECT_EQ(refined.counts.evaluations, 0);
  EXPECT_EQ(refined.result.message, "nothing was tried: the limit of 30 minutes was over first");
}

TEST_F(Loop, TheLimitIsTheEndOfMeasuringTheOriginalToo) {
  loop.AddMethod("fast", Gains(1.5));
  loop.judge.per_preparation = std::chrono::hours(2);
  loop.task.policy.max_minutes = 0.5;
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_EQ(refined.result.message,
            "nothing was tried: the limit of 0.5 minutes was over before the original was measured");
  EXPECT_EQ(refined.seconds, 30);
  EXPECT_TRUE(loop.judge.quick.empty());
}

TEST_F(Loop, NoTimeIsSpentOnRepairsAfterTheEnd) {
  loop.AddCard("tiled", {{"tile", {"64x64x16"}, ""}});
  loop.script["tiled tile=64x64x16"] = Fails(kTooLarge);
  loop.judge.per_review = std::chrono::minutes(31);
  Run();
  EXPECT_EQ(Count(loop.Story(), " repair "), 0u);
}

class Acceptance : public Loop {
 protected:
  // Two bases: "first" and, on top of it, "second".
  void SetUp() override {
    loop.AddMethod("first", Gains(1.5));
    loop.AddMethod("second", Gains(1.5));
  }
};

TEST_F(Acceptance, FallsBackToTheBaseBefore) {
  loop.judge.full_verdicts.emplace("second", kWrong);
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(refined.text, "float x;\n// first\n// spliced\n");
  EXPECT_NEAR(refined.result.gain, 1.5, 1e-9);
  EXPECT_EQ(loop.judge.full.size(), 2u);
  EXPECT_EQ(loop.fresh_workers, 2) << "each in a fresh worker";
}

TEST_F(Acceptance, WhereNoBasePassesTheOriginalStays) {
  loop.judge.full_verdicts.emplace("first", kWrong);
  loop.judge.full_verdicts.emplace("second", kWrong);
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(refined.text.empty());
  EXPECT_NE(refined.result.message.find("the best candidate gave 2.25x and was not accepted"), std::string::npos);
  EXPECT_EQ(loop.judge.full.size(), 3u) << "the second was made of a wrong one, and has another chance";
}

// "second" was made of a wrong version; from the original it is another.
TEST_F(Acceptance, AfterARefusalTheSearchGoesOn) {
  loop.judge.full_verdicts.emplace("first", kWrong);
  EXPECT_EQ(Run().text, "float x;\n// second\n// spliced\n");
}

TEST_F(Loop, AVersionThatTheFullJudgeRefusesLeavesItsSiblings) {
  loop.AddCard("wide", {{"pad", {"no", "zero"}, ""}, {"width", {"8", "4"}, ""}}).conflicts = {"wide"};
  for (const char* pad : {"no", "zero"})
    for (const char* width : {"8", "4"})
      loop.script["wide pad=" + std::string(pad) + " width=" + width] = Gains(*width == '8' ? 4 : 3);
  for (const char* width : {"8", "4"})
    loop.judge.full_verdicts.emplace("wide pad=no width=" + std::string(width), kWrong);
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.text, "float x;\n// wide pad=zero width=8\n// spliced\n");
  EXPECT_EQ(loop.judge.quick.size(), 4u) << "what was judged is remembered";
}

TEST_F(Acceptance, WithoutTimeTheNextBestIsAccepted) {
  loop.judge.full_verdicts.emplace("second", kWrong);
  loop.judge.per_review = std::chrono::minutes(3);
  loop.task.policy.max_minutes = 20;
  EXPECT_EQ(Run().text, "float x;\n// first\n// spliced\n");
}

TEST_F(Acceptance, ASpliceMayRefuse) {
  loop.worker.splice_refuses = core::Refused{core::Check::kSplice, "an edit outside the entry", "kernels/k.cu", 3};
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(loop.judge.full.empty());
}

TEST_F(Acceptance, AMeanWithoutItsBoundIsNotEnough) {
  core::Measured undecided;
  undecided.modelled = false;
  undecided.decision = core::TimingDecision::kInconclusive;
  undecided.cases.push_back(
      {.case_name = "n", .weight = 1, .time_us = 10, .sampled = false, .launches = {}, .timing = {}});
  loop.judge.full_verdicts.emplace("second", undecided);
  EXPECT_EQ(Run().text, "float x;\n// first\n// spliced\n");
}

TEST_F(Acceptance, AToolsFindingRefusesTheWinner) {
  loop.tools = [](const core::SourceRef& winner, const core::Measured&) -> std::vector<core::ToolFinding> {
    const bool second = winner.text.find("// second") != std::string::npos;
    return {
        {"nvcc", core::ToolFinding::Outcome::kClean, ""},
        {"memcheck", second ? core::ToolFinding::Outcome::kFound : core::ToolFinding::Outcome::kNotRun, "3 findings"}};
  };
  const search::RefineResult refined = Run();
  EXPECT_EQ(refined.text, "float x;\n// first\n// spliced\n");
  ASSERT_TRUE(refined.accepted);
  EXPECT_EQ(refined.accepted->checks, std::vector{core::CheckName("nvcc")});
  EXPECT_EQ(refined.accepted->notes, std::vector<std::string>{"memcheck: did not run: 3 findings"});
  EXPECT_EQ(Count(loop.Story(), "-1 accept second: "), 1u);
}

}  // namespace
}  // namespace warpwright
