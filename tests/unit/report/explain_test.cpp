#include "report/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "report/format.h"
#include "report/pull_request.h"
#include "report/review_notes.h"
#include "tests/support/golden.h"
#include "tests/unit/report/samples.h"

namespace warpwright {
namespace {

// The numbers are from the trajectory in tests/golden/trajectories.
TEST(Explain, ARealTrajectory) {
  const report::Explanation e = ModelledSoftmax();
  EXPECT_EQ(e.outcome, core::TaskOutcome::kImproved);
  EXPECT_TRUE(e.modelled);
  EXPECT_FALSE(e.interval);
  EXPECT_NEAR(e.gain, 97.644, 1e-3);
  EXPECT_NEAR(e.before_us / e.after_us, e.gain, 1e-9);
  EXPECT_NEAR(e.before_us, std::pow(5424.0398 * 5424.0398 * 348.2268, 1 / 3.0), 0.1);  // by weight: 2 and 1
  ASSERT_EQ(e.cases.size(), 3u);
  EXPECT_TRUE(e.cases[0].errors.empty());  // too large for a full comparison
  ASSERT_EQ(e.cases[2].errors.size(), 1u);
  EXPECT_EQ(e.cases[2].weight, 0);
  EXPECT_EQ(e.cases[2].errors[0].output, "out");
  EXPECT_FALSE(e.cases[2].errors[0].identical);
  EXPECT_DOUBLE_EQ(e.cases[2].errors[0].error, 3e-8);
  EXPECT_DOUBLE_EQ(e.cases[2].errors[0].allowed, 1.8e-7);
  EXPECT_EQ(report::BitIdentical(e), std::optional<bool>(false));
  ASSERT_FALSE(e.hot_before.empty());
  EXPECT_EQ(e.hot_before[0].line, 18);
  EXPECT_EQ(e.hot_before[0].text.find("out_row[j] = expf("), 0u);
  EXPECT_EQ(e.run_id.size(), 16u);
  ASSERT_EQ(e.preconditions.size(), 2u);
  EXPECT_NE(e.preconditions[0].find("a different order"), std::string::npos);
  EXPECT_NE(e.preconditions[1].find("inp must not overlap"), std::string::npos);
}

// Its times, errors and lines are those of the file that it was carried into; its search is the old one's.
TEST(Explain, ACarriedResultIsToldAsItWasMeasuredInTheLaterFile) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  report::ExplainContext context = SoftmaxContext();
  context.base_blob.clear();
  const report::Explanation before = report::Explain(view, context);
  const auto carry = [&](const std::string& method, const std::string& text, const core::Verdict& verdict,
                         double slower, int lines) {
    memory::StepView step;
    step.record.kind = memory::StepKind::kCarry;
    step.record.round = memory::kFinalRound;
    step.record.base = base::Sha256("the later file");
    step.record.candidate = base::Sha256(text);
    step.record.method = method;
    core::Measured measured = std::get<core::Measured>(verdict);
    for (core::CaseMeasurement& c : measured.cases) {
      c.time_us *= slower;
      for (core::LaunchReport& launch : c.launches)
        for (core::LineCounters& line : launch.lines) line.line += lines;
    }
    step.outcome.emplace().verdict = measured;
    view.steps.push_back(step);
  };
  const auto verdict = [&](memory::StepKind kind) {
    core::Verdict found;
    for (const memory::StepView& step : view.steps)
      if (step.record.kind == kind && step.outcome && step.outcome->verdict &&
          (kind != memory::StepKind::kAccept || step.record.round == memory::kFinalRound))
        found = *step.outcome->verdict;
    return found;
  };
  carry(std::string(memory::kCarriedFrom), "the later file", verdict(memory::StepKind::kBaseline), 1, 3);
  carry("row_parallel", "the result in it", verdict(memory::StepKind::kAccept), 2, 3);
  context.result_text = "of another branch";
  const report::Explanation other = report::Explain(view, context);
  EXPECT_FALSE(other.carried);
  EXPECT_EQ(other.gain, before.gain);
  context.original_text = "the later file";
  context.result_text = "the result in it";
  const report::Explanation e = report::Explain(view, context);
  EXPECT_TRUE(e.carried);
  EXPECT_NEAR(e.gain, before.gain / 2, 1e-9);
  ASSERT_EQ(e.cases.size(), before.cases.size());
  EXPECT_NEAR(e.cases[0].after_us, before.cases[0].after_us * 2, 1e-6);
  ASSERT_FALSE(e.hot_before.empty());
  EXPECT_EQ(e.hot_before[0].line, before.hot_before[0].line + 3);
  EXPECT_EQ(e.original_hash, base::Sha256("the later file"));
  EXPECT_EQ(e.attempts.size(), before.attempts.size());
  EXPECT_EQ(e.attempts.back().gain, before.attempts.back().gain);
  const std::string body = report::RenderPullRequest(e, SampleProvenance()).body;
  const size_t why = body.find("### Why it is faster"), note = body.find("Found on an earlier commit."),
               step = body.find("1. `row_parallel`");
  EXPECT_TRUE(why < note && note < step && step != std::string::npos) << "said before the steps: " << body;
  EXPECT_EQ(body.find("of the chip's roofline"), std::string::npos) << "it was that of the old base";
  // Nothing multiplies a gain of the old search with a time of the new file.
  for (const char* time : {"25.2 µs", "22.2 µs", "44.5 µs"})
    EXPECT_EQ(body.find(time, why), std::string::npos) << time << "\n" << body;
  for (const std::string& text : {report::RenderText(e), report::RenderHtml(e), report::RenderCommitMessage(e)})
    EXPECT_NE(text.find("Found on an earlier commit."), std::string::npos) << text;
  ExpectGolden("pull-request-carried.md", body);
}

// The best of the search is not always what is proposed: what the full judge refused is no step of the way there.
TEST(Explain, WhatTheFullJudgeRefusedIsNotToldAsTaken) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  const report::Explanation before = report::Explain(view, {});
  ASSERT_FALSE(before.steps.empty());
  memory::StepView final, promoted, best;
  for (const memory::StepView& step : view.steps) {
    if (step.record.kind == memory::StepKind::kAccept)
      (step.record.round == memory::kFinalRound ? final : promoted) = step;
  }
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kEvaluate && step.record.candidate == final.record.candidate) best = step;
  const std::string hash(64, 'f');
  best.record.base = promoted.record.base = final.record.candidate;
  best.record.candidate = promoted.record.candidate = hash;
  best.record.method = "schedule_rows";
  best.outcome->candidate = hash;
  auto& measured = std::get<core::Measured>(*best.outcome->verdict);
  for (core::CaseMeasurement& c : measured.cases) c.time_us /= 2;
  memory::StepView refused = final;
  refused.record.candidate = hash;
  refused.outcome.emplace().summary = "wrong result (secret-seed, case odd): out[3] is 1, expected 2";
  view.steps.insert(view.steps.end() - 1, {best, promoted, refused});
  const report::Explanation e = report::Explain(view, {});
  EXPECT_EQ(e.gain, before.gain);
  EXPECT_EQ(e.steps.size(), before.steps.size());
  for (const report::TakenStep& step : e.steps) EXPECT_NE(step.method, "schedule_rows");
  const auto row = std::find_if(e.attempts.begin(), e.attempts.end(),
                                [](const report::AttemptRow& a) { return a.method == "schedule_rows"; });
  ASSERT_NE(row, e.attempts.end());
  EXPECT_EQ(row->outcome, report::AttemptOutcome::kNotAccepted);
  EXPECT_FALSE(row->accepted);
  EXPECT_FALSE(row->gain) << "it was not confirmed";
  EXPECT_NE(row->message.find(" in the search; the full verification: wrong result (secret-seed"), std::string::npos)
      << row->message;
  const std::string body = report::RenderPullRequest(e, {}).body;
  EXPECT_NE(body.find("- **Not proposed**: `schedule_rows`"), std::string::npos) << body;
  EXPECT_NE(body.find("| refused in the end |"), std::string::npos) << body;
  EXPECT_EQ(report::RenderCommitMessage(e).find("schedule_rows"), std::string::npos);
}

// What nothing cites explains nothing.
TEST(Explain, AStepWithoutACauseShowsNoCounters) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  size_t shown = 0;
  for (const report::TakenStep& step : report::Explain(view, {}).steps) shown += step.counters.size();
  EXPECT_GT(shown, 0u);
  for (memory::StepView& step : view.steps)
    if (step.outcome) step.outcome->causes.clear();
  const report::Explanation e = report::Explain(view, {});
  ASSERT_FALSE(e.steps.empty());
  for (const report::TakenStep& step : e.steps) {
    EXPECT_GT(step.predicted, 0) << step.method;
    EXPECT_TRUE(step.counters.empty()) << step.method;
  }
}

TEST(Explain, AVerdictIsSaidOnce) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  for (memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kEvaluate || !step.outcome) continue;
    step.outcome->verdict = core::WrongResult{};
    step.outcome->summary = "wrong result (comparison, case odd): out[3] is 1, expected 2 (off by 1)";
  }
  const report::Explanation e = report::Explain(view, {});
  for (const report::AttemptRow& attempt : e.attempts) {
    if (attempt.outcome != report::AttemptOutcome::kWrongResult) continue;
    EXPECT_EQ(attempt.message, "comparison, case odd: out[3] is 1, expected 2 (off by 1)");
  }
}

TEST(Explain, AFailedVersionThatIsNotMendedSaysWhy) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  memory::StepView repair;
  for (memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kEvaluate || !step.outcome) continue;
    step.outcome->verdict = core::WrongResult{};
    step.outcome->summary = "out[3] is off";
    repair.record = step.record;
  }
  repair.record.kind = memory::StepKind::kRepair;
  repair.outcome.emplace().summary = "abandoned: it needs another layout";
  view.steps.push_back(repair);
  const report::Explanation e = report::Explain(view, {});
  const auto says = [](const auto& attempt) {
    return attempt.message == "out[3] is off; abandoned: it needs another layout";
  };
  EXPECT_EQ(std::count_if(e.attempts.begin(), e.attempts.end(), says), 1);
  view.steps.back().outcome->candidate = "a repaired version";
  const report::Explanation mended = report::Explain(view, {});
  EXPECT_EQ(std::count_if(mended.attempts.begin(), mended.attempts.end(), says), 0);
}

TEST(Explain, AVersionOfAModelNamesItsQuestion) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  const auto evaluated = std::find_if(view.steps.begin(), view.steps.end(), [](const memory::StepView& step) {
    return step.record.kind == memory::StepKind::kEvaluate;
  });
  ASSERT_NE(evaluated, view.steps.end());
  view.candidates[evaluated->record.candidate].origin = core::Origin{core::AgentRole::kRepairer, "0123456789abcdef"};
  const report::Explanation e = report::Explain(view, SoftmaxContext());
  EXPECT_EQ(e.attempts.front().agent, "repairer");
  for (const std::string& text : {report::RenderMarkdown(e), report::RenderHtml(e)})
    EXPECT_NE(text.find("by the repairer, question 0123456789"), std::string::npos);
}

memory::TrajectoryView Timed() {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  memory::StepView& accepted = view.steps.back();
  auto& measured = std::get<core::Measured>(*accepted.outcome->verdict);
  measured.modelled = false;
  std::get<core::Measured>(*view.steps.front().outcome->verdict).modelled = false;
  for (auto& c : measured.cases) {
    core::TimingSummary t;
    t.decision = core::TimingDecision::kFaster;
    t.log_ratio = std::log(2.0);
    t.standard_error = 0.01;
    t.lower = t.log_ratio - 0.02;
    t.upper = t.log_ratio + 0.02;
    t.original_us = 100;
    t.candidate_us = 50;
    t.pairs = 100;
    t.discarded = 2;
    t.blocks = 20;
    c.timing = t;
  }
  return view;
}

TEST(Explain, IntervalsComeFromThePairs) {
  const report::Explanation e = report::Explain(Timed(), {});
  ASSERT_TRUE(e.interval);
  EXPECT_NEAR(e.interval->gain, 2, 1e-9);
  // Two cases of weight 2 and 1, standard error 0.01 each: sqrt(5)/3 of it, and t of 19 degrees is 2.093.
  EXPECT_NEAR(std::log(e.interval->high / e.interval->gain), 2.093 * 0.01 * std::sqrt(5.0) / 3, 1e-5);
  EXPECT_NEAR(e.interval->low * e.interval->high, 4, 1e-6);
  EXPECT_EQ(e.cases[0].decision, core::TimingDecision::kFaster);
  EXPECT_EQ(e.cases[0].before_us, 100);
  EXPECT_EQ(e.cases[0].pairs, 100);
  EXPECT_NEAR(e.cases[0].timing->low, std::exp(std::log(2.0) - 0.02), 1e-9);
  memory::TrajectoryView untimed = Timed();
  std::get<core::Measured>(*untimed.steps.back().outcome->verdict).cases[0].timing.reset();
  EXPECT_FALSE(report::Explain(untimed, {}).interval);
}

TEST(Explain, RelaxationsOfTheManifestAreSaid) {
  report::ExplainContext context;
  context.allow = {core::Allow::kTf32, core::Allow::kClock};
  context.tolerance.relative = 1e-3;
  const report::Explanation e = report::Explain(LoadTrajectory("softmax.jsonl"), context);
  EXPECT_EQ(e.relaxations, (std::vector<std::string>{"allow: tf32", "allow: clock", "tolerance: relative 0.001"}));
}

TEST(ReviewNotes, AreSortedByWhatTheySay) {
  report::Explanation e;
  e.cases.resize(2);
  e.cases[0].name = "a: b";
  e.cases[1].name = "a";
  const std::string refused =
      "the original itself: refused by record: an empty grid (it says: a.cu:2: invalid) (a.cu:1)";
  report::SortNotes(
      {"agreement: a: b: out is bit-identical",
       "agreement: a: out is off by at most 1.5e-07 where 3e-07 is allowed (1 of 2 elements differ)",
       "agreement: gone: out is bit-identical", "review: case a is 15.0 times as fast, which is rare for the same work",
       "precision: approximate ex2 at line 3", "odd-shape: not tested with N=1: the original faults",
       "odd-shape: not tested with N=0 (odd shape of odd): " + refused,
       "odd-shape: not tested with M=0 (odd shape of odd): " + refused,
       "equivalence: 30 elements at 9 shapes are equal: by the same operations", "timing: 1.6x in a first process",
       "dead-code: not tested: no run told which lines it ran", "counters: none: ask root", "counters: none: ask root"},
      e);
  ASSERT_EQ(e.cases[0].errors.size(), 1u);
  EXPECT_TRUE(e.cases[0].errors[0].identical);
  ASSERT_EQ(e.cases[1].errors.size(), 1u);
  EXPECT_EQ(e.cases[1].errors[0].error, 1.5e-7);
  EXPECT_EQ(e.cases[1].errors[0].allowed, 3e-7);
  EXPECT_EQ(e.review, (std::vector<std::string>{"case a is 15.0 times as fast, which is rare for the same work",
                                                "precision: approximate ex2 at line 3"}));
  EXPECT_EQ(e.not_tested,
            (std::vector<std::string>{"odd-shape with N=1: the original faults",
                                      "odd-shape with N=0 and M=0: the original itself: an empty grid (a.cu:1)",
                                      "dead-code: no run told which lines it ran"}))
      << "once for both sizes";
  EXPECT_EQ(e.timing_notes, (std::vector<std::string>{"1.6x in a first process"}));
  EXPECT_EQ(e.counter_notes, (std::vector<std::string>{"none: ask root"}));
}

// Rows with a result that are no repetition are as many as were evaluated.
TEST(Explain, WhatWasJudgedBeforeIsMarked) {
  memory::TrajectoryView view = LoadTrajectory("softmax.jsonl");
  const auto evaluated = std::find_if(view.steps.begin(), view.steps.end(), [](const memory::StepView& step) {
    return step.record.kind == memory::StepKind::kEvaluate && step.record.round == 2;
  });
  ASSERT_NE(evaluated, view.steps.end());
  memory::StepView again = *evaluated;
  again.record.round = 3;
  view.steps.push_back(again);
  const report::Explanation e = report::Explain(view, SoftmaxContext());
  const report::AttemptRow& row = e.attempts.back();
  EXPECT_EQ(row.repeats_round, 2);
  EXPECT_EQ(report::VerdictWords(row), "same as round 2");
  for (const std::string& text :
       {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e), report::RenderPullRequest(e, {}).body})
    EXPECT_NE(text.find("same as round 2"), std::string::npos) << text;
  const auto results = std::count_if(e.attempts.begin(), e.attempts.end(), [](const report::AttemptRow& attempt) {
    return attempt.outcome != report::AttemptOutcome::kNotApplicable && !attempt.repeats_round;
  });
  EXPECT_EQ(results, e.counts.evaluations);
}

TEST(ReviewNotes, EveryCheckIsListedWithWhyItDidNotRun) {
  report::Explanation e;
  e.cases = {{.name = "x", .errors = {{"out", true, 0, 0}}}};
  auto rows = report::CheckTable({core::Check::kComparison, core::CheckName("a-new-one")},
                                 {"special-values: not tested with x: it faults"}, e);
  const auto find = [&](const std::string& name) {
    return *std::find_if(rows.begin(), rows.end(), [&](const report::CheckRow& row) { return row.name == name; });
  };
  EXPECT_TRUE(find("comparison").ran);
  EXPECT_TRUE(find("a-new-one").ran);
  EXPECT_EQ(find("timed-output").why_not, "needs a GPU");
  EXPECT_EQ(find("special-values").why_not, "not tested with x: it faults");
  EXPECT_EQ(find("reduced-shape").why_not, "all cases are compared in full");
  EXPECT_EQ(find("dead-code").why_not, "did not run");
  for (const auto& row : report::CheckTable({}, {}, {})) EXPECT_FALSE(row.why_not.empty()) << row.name;
  // What does not hold is not said.
  e.modelled = false;
  e.cases.push_back({.name = "too large", .errors = {}});
  rows = report::CheckTable({}, {}, e);
  for (const char* name : {"reduced-shape", "large-case", "timed-output", "roofline-floor"})
    EXPECT_EQ(find(name).why_not, "did not run") << name;
}

// Every check that the judge can report is known here: otherwise its meaning would be missing for the reader.
TEST(ReviewNotes, KnowsTheJudgesChecks) {
  const std::string judge = *base::ReadFile(std::string(WW_SOURCE_DIR) + "/daemon/judge/judge.h");
  for (const auto& row : report::CheckTable({}, {}, {})) EXPECT_NE(judge.find(row.name), std::string::npos) << row.name;
}

TEST(Explain, TellsWhatModelsWereAskedAndWhatWaits) {
  memory::TrajectoryView view;
  memory::StepView answered, waiting;
  answered.record.kind = waiting.record.kind = memory::StepKind::kAsk;
  answered.record.method = "planner";
  answered.record.candidate = std::string(64, 'a');
  answered.outcome.emplace().summary = "answered, 1200 tokens in, 310 out, $0.0123";
  waiting.record.method = "optimizer";
  waiting.record.candidate = std::string(64, 'b');
  view.steps = {answered, waiting};
  const report::Explanation e = report::Explain(view, {});
  EXPECT_EQ(e.conversation,
            (std::vector<std::string>{"planner, question aaaaaaaaaa: answered, 1200 tokens in, 310 out, $0.0123",
                                      "optimizer, question bbbbbbbbbb: waits for an answer"}));
  EXPECT_NE(report::RenderHtml(e).find("<li>optimizer, question bbbbbbbbbb: waits for an answer</li>"),
            std::string::npos);
  EXPECT_NE(report::RenderText(e).find("What language models were asked\n  planner, question aaaaaaaaaa: answered"),
            std::string::npos);
}

TEST(Explain, WhatModelsCostIsUnknownWhereAnAnswersCostIs) {
  for (const auto& [use, text] : std::vector<std::pair<report::ModelUse, std::string>>{
           {{}, "none was used"},
           {{.questions = 1, .names = {"m"}, .dollars = 0, .unknown = 1, .gains = 1}, "m, 1 question, cost unknown"},
           {{.questions = 3, .names = {"m", "n"}, .dollars = 0.5, .unknown = 1, .gains = 1},
            "m, n, 3 questions, $0.50 and 1 answer of unknown cost"},
           {{.questions = 3, .names = {}, .dollars = 0, .unknown = 0, .gains = 1}, "3 questions, at no cost"},
           {{.questions = 3, .names = {"m"}, .dollars = 0.5, .unknown = 0, .gains = 0}, "m, 3 questions, $0.50"},
           {{.questions = 3, .names = {"m"}, .dollars = 0.5, .unknown = 0, .gains = 1},
            "m, 3 questions, $0.50 for the version that was taken"},
           {{.questions = 3, .names = {"m"}, .dollars = 0.5, .unknown = 0, .gains = 2},
            "m, 3 questions, $0.50 ($0.25 for each of 2 versions that were taken)"}})
    EXPECT_EQ(report::ModelCostText(use), text);
  const report::Explanation e = report::Explain(LoadTrajectory("softmax.jsonl"),
                                                {.models = {.questions = 1, .names = {"m"}, .unknown = 1, .gains = 1}});
  EXPECT_NE(report::RenderPullRequest(e, {}).body.find("| language model | m, 1 question, cost unknown |"),
            std::string::npos);
}

}  // namespace
}  // namespace warpwright
