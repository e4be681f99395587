// The check `equivalence`: what a comparison of expressions says, and what a verdict makes of it.
#include "judge/equivalence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "judge/lift_shapes.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

using core::Check;
using core::DifferenceKind;

// Wrong where an input is 77.25, which no other check tries.
void WrongAt77(FakeRun& run) {
  for (size_t i = 0; i < run.Size("out"); ++i) {
    const double v = run.Get("in", i);
    run.Set("out", i, v == 77.25 ? v : 2 * v);
  }
}

core::Difference DifferenceAt(double value, int64_t n = 7) {
  core::Difference difference{.kind = DifferenceKind::kFunction, .output = "out", .element = 3};
  difference.original = "mul(in[3], 2)";
  difference.candidate = "in[3]";
  difference.input.scalars = {{"n", n}};
  core::BufferContent out{.name = "out"}, in{.name = "in"};
  out.bytes = Pack(core::DType::kF32, std::vector<double>(7, 0));
  in.bytes = Pack(core::DType::kF32, std::vector<double>(7, value));
  difference.input.buffers = {std::move(out), std::move(in)};
  return difference;
}

struct Answer {
  core::Equivalence equivalence;
  std::vector<core::EquivalenceRequest> requests;

  void ScriptInto(JudgeBench& bench) {
    bench.untrusted.compare = [this](const core::EquivalenceRequest& request) -> Result<core::Equivalence> {
      requests.push_back(request);
      return equivalence;
    };
  }
};

bool HasNote(const core::Verdict& verdict, const std::string& text) {
  const auto* measured = std::get_if<core::Measured>(&verdict);
  return measured != nullptr && std::any_of(measured->notes.begin(), measured->notes.end(),
                                            [&](const std::string& n) { return n.find(text) != std::string::npos; });
}
bool HasCheck(const core::Verdict& verdict) {
  const auto* measured = std::get_if<core::Measured>(&verdict);
  return measured != nullptr && std::find(measured->checks.begin(), measured->checks.end(),
                                          core::CheckName(Check::kEquivalence)) != measured->checks.end();
}

TEST(EquivalenceCheck, ElementsAreCountedOnceWhereAllAreEqualInOneWay) {
  JudgeBench bench(Twice);
  Answer answer{
      .equivalence = {.outcome =
                          core::Equal{.shapes = 3, .inputs = 8, .elements = 40, .identical = 0, .same_form = 40}},
      .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(HasNote(*verdict, "40 elements at 3 shapes are equal: as the same formula"));
}

TEST(EquivalenceCheck, EqualIsAPassedCheck) {
  JudgeBench bench(Twice);
  Answer answer{
      .equivalence = {.outcome =
                          core::Equal{.shapes = 3, .inputs = 8, .elements = 40, .identical = 30, .same_form = 6}},
      .requests = {}};
  answer.equivalence.remarks = {"it calls no exp, which the original does"};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(HasCheck(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_TRUE(HasNote(
      *verdict,
      "40 elements at 3 shapes are equal: 30 by the same operations, 6 as the same formula, 4 by their values on"));
  EXPECT_TRUE(HasNote(*verdict, "it calls no exp"));
  ASSERT_EQ(answer.requests.size(), 1u);  // no numbers to look around
  EXPECT_EQ(answer.requests[0].device, "sim:h200");
  EXPECT_FALSE(answer.requests[0].shapes.empty());
}

TEST(EquivalenceCheck, WhatCannotBeComparedIsSaid) {
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::NotComparable{"lossy", "a shuffle's lane (k.cu:3)", true}},
                .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  ASSERT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_FALSE(HasCheck(*verdict));
  EXPECT_TRUE(HasNote(*verdict, "equivalence: not tested: the candidate cannot be followed (lossy: a shuffle's lane"));
}

TEST(EquivalenceCheck, ADifferenceThatARunShowsIsRefused) {
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::Different{{DifferenceAt(1), DifferenceAt(77.25)}}}, .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(WrongAt77);
  ASSERT_TRUE(verdict);
  const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
  ASSERT_NE(wrong, nullptr) << core::VerdictMessage(*verdict);
  EXPECT_EQ(wrong->check, Check::kEquivalence);
  EXPECT_EQ(wrong->case_name.substr(0, 3), "n=7");
  EXPECT_NE(wrong->message.find("77.25"), std::string::npos) << wrong->message;
  EXPECT_NE(wrong->message.find("out[3] is another function of the inputs: mul(in[3], 2) became in[3]"),
            std::string::npos)
      << wrong->message;
}

TEST(EquivalenceCheck, ADifferenceThatNoRunShowsIsANote) {
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::Different{{DifferenceAt(1)}}}, .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(WrongAt77);
  ASSERT_TRUE(verdict);
  ASSERT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_FALSE(HasCheck(*verdict));
  EXPECT_TRUE(HasNote(*verdict, "no run shows it"));
}

// Runs reload the module, so the outputs come with the difference.
TEST(EquivalenceCheck, WhatAnEarlierCallLeavesIsRefusedIfItShows) {
  core::Difference difference = DifferenceAt(3);
  difference.kind = DifferenceKind::kEarlierCall;
  for (const double result : {6.0, 5.0}) {
    JudgeBench bench(Twice);
    difference.outputs.assign(2, base::Bytes(Pack(core::DType::kF32, std::vector<double>(7, result))));
    Answer answer{.equivalence = {.outcome = core::Different{{difference}}}, .requests = {}};
    answer.ScriptInto(bench);
    const auto verdict = bench.Try(Twice);
    ASSERT_TRUE(verdict);
    const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
    EXPECT_EQ(wrong != nullptr, result == 5.0) << core::VerdictMessage(*verdict);
    if (wrong != nullptr) {
      EXPECT_TRUE(wrong->message.starts_with("after an earlier call out[0]")) << wrong->message;
      bench.spec.allow.insert(core::Allow::kState);
      EXPECT_TRUE(core::Passed(*bench.Try(Twice)));
    }
  }
  difference.outputs.pop_back();
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::Different{{difference}}}, .requests = {}};
  answer.ScriptInto(bench);
  EXPECT_FALSE(bench.Try(Twice));
}

TEST(EquivalenceCheck, AnInputThatDoesNotFitIsAnError) {
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::Different{{DifferenceAt(1, 9)}}}, .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kCorrupt);
}

TEST(EquivalenceCheck, LooksAroundTheNumbersOfTheText) {
  JudgeBench bench(Twice);
  Answer answer{.equivalence = {.outcome = core::Equal{.shapes = 3}}, .requests = {}};
  answer.equivalence.literals = {4, 128, 2048};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  ASSERT_EQ(answer.requests.size(), 2u);
  std::vector<int64_t> sizes;
  for (const core::LiftShape& shape : answer.requests[1].shapes)
    sizes.push_back(std::get<int64_t>(shape.scalars.at("n")));
  EXPECT_EQ(sizes, (std::vector<int64_t>{2049, 2048, 129, 128}));
}

TEST(EquivalenceCheck, IsPartOfFullEvaluationsOnly) {
  JudgeBench bench(Twice);
  Answer answer;
  answer.ScriptInto(bench);
  ASSERT_TRUE(bench.Try(Twice, judge::VerificationLevel::kQuick));
  EXPECT_TRUE(answer.requests.empty());
}

TEST(ShapesAround, StayWithinTheLimit) {
  const auto shapes = judge::MakeShapesAround(SoftmaxSpec(100, 1000), {16, 1 << 20}, 3, 1 << 20);
  ASSERT_EQ(shapes.size(), 3u);
  for (const core::LiftShape& shape : shapes) {
    EXPECT_EQ(shape.buffers.size(), 2u);
    EXPECT_LE(shape.buffers[0].bytes.size(), size_t{1} << 20);
  }
}

// Processes for the checks that run beside the others.
struct OtherProcesses {
  explicit OtherProcesses(JudgeBench& bench) {
    bench.options.another = [this]() -> Result<core::OtherProcess> {
      auto evaluator = std::make_unique<FakeEvaluator>();
      evaluator->Add("original", Twice);
      evaluator->Add("candidate", Twice);
      evaluator->compare = [this](const core::EquivalenceRequest&) -> Result<core::Equivalence> {
        ++asked;
        return core::Equivalence{.outcome = core::Equal{.shapes = 3, .elements = 40, .identical = 40}};
      };
      ++started;
      return core::OtherProcess{std::move(evaluator), [this] { ++abandoned; }};
    };
  }
  int started = 0, abandoned = 0;
  std::atomic<int> asked = 0;
};

TEST(EquivalenceCheck, IsAskedInAnotherProcessWhereThereIsOne) {
  JudgeBench bench(Twice);
  OtherProcesses others(bench);
  Answer answer{.equivalence = {}, .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(HasCheck(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_EQ(others.asked, 1);
  EXPECT_TRUE(answer.requests.empty()) << "the candidate's own process is not asked as well";
  EXPECT_EQ(others.started, 3) << "one for equivalence, two for sizes beyond memory";
}

TEST(EquivalenceCheck, OtherProcessesAreAbandonedWhenACandidateIsRefused) {
  JudgeBench bench(Twice);
  OtherProcesses others(bench);
  const auto verdict = bench.Try([](FakeRun& run) { run.Set("out", 0, 3); });
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(core::Passed(*verdict));
  EXPECT_EQ(others.started, 1);
  EXPECT_EQ(others.abandoned, 1);
}

TEST(EquivalenceCheck, WithoutAnotherProcessOneCheckFollowsTheOther) {
  JudgeBench bench(Twice);
  bench.options.another = []() -> Result<core::OtherProcess> {
    return Fail(ErrorCode::kEnvironment, "no process is left");
  };
  Answer answer{.equivalence = {.outcome = core::Equal{.shapes = 1, .elements = 1, .identical = 1}}, .requests = {}};
  answer.ScriptInto(bench);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(HasCheck(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_EQ(answer.requests.size(), 1u);
  EXPECT_TRUE(std::any_of(bench.notes.begin(), bench.notes.end(),
                          [](const auto& note) { return note.find("no process is left") != std::string::npos; }));
}

}  // namespace
}  // namespace warpwright
