#include "app/nvcc_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/rewriting_device.h"

namespace warpwright {
namespace {

using Outcome = core::ToolFinding::Outcome;

// Runs a text once, and judges it as the table says; "relaxed" is built with a flag more.
class TableJudge final : public judge::Reviewer {
 public:
  explicit TableJudge(std::map<std::string, Result<core::Verdict>> verdicts) : verdicts_(std::move(verdicts)) {}

  Result<judge::Baseline> Prepare() override { return judge::Baseline(); }
  Result<core::Verdict> Evaluate(const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 judge::VerificationLevel) override {
    core::ExecuteRequest request;
    request.source = candidate;
    const auto ran = evaluator.Execute(request);
    EXPECT_TRUE(ran) << ran.error().Format();
    const bool relaxed = candidate.build.flags.contains(core::BuildFlag::kRelaxedConstexpr);
    return verdicts_.at(candidate.text + (relaxed ? " relaxed" : ""));
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  std::map<std::string, Result<core::Verdict>> verdicts_;
  std::vector<std::string> notes_;
};

TEST(NvccKernels, AreWhatCountsUnlessTheOriginalFailsSoToo) {
  const auto passes = [] { return Result<core::Verdict>(core::Measured()); };
  const auto refused = [](const char* log) { return Result<core::Verdict>(core::CompileFailed{log}); };
  const auto fails = [](const char* why) {
    return Result<core::Verdict>(core::Refused{core::Check::kHostCode, why, "a.cu", 1});
  };
  const auto missing = [] { return Result<core::Verdict>(Fail(ErrorCode::kUnsupported, "there is no nvcc")); };
  struct Row {
    Result<core::Verdict> original, winner, relaxed_original, relaxed_winner;
    Outcome build;
    std::optional<Outcome> kernels;  // none: not judged
    const char* message;
    size_t runs;
  };
  const auto unused = missing;
  const Row rows[] = {
      {unused(), passes(), unused(), unused(), Outcome::kClean, Outcome::kClean, "", 1},
      {passes(), refused("no kernel"), unused(), unused(), Outcome::kFound, std::nullopt, "no kernel", 2},
      {passes(), fails("too fast"), unused(), unused(), Outcome::kClean, Outcome::kFound, "too fast", 2},
      {fails("slow"), fails("too fast"), unused(), unused(), Outcome::kClean, Outcome::kNotRun,
       "the original fails so too: refused by host-code: slow", 2},
      {missing(), refused("no kernel"), unused(), unused(), Outcome::kNotRun, std::nullopt,
       "it refuses the original too: there is no nvcc", 2},
      {unused(), missing(), unused(), unused(), Outcome::kNotRun, std::nullopt, "there is no nvcc", 1},
      // A flag that the manifest does not name.
      {refused("constexpr"), refused("constexpr"), refused("torch.h"), unused(), Outcome::kNotRun, std::nullopt,
       "it refuses the original too: does not compile: torch.h", 3},
      {refused("constexpr"), refused("constexpr"), passes(), passes(), Outcome::kClean, Outcome::kClean, "", 4},
      {refused("constexpr"), refused("constexpr"), passes(), refused("no kernel"), Outcome::kFound, std::nullopt,
       "no kernel", 4},
      {refused("constexpr"), refused("constexpr"), passes(), fails("too fast"), Outcome::kClean, Outcome::kFound,
       "too fast", 4},
  };
  for (const Row& row : rows) {
    FakeEvaluator evaluator;
    evaluator.Add("// original", [](FakeRun&) {});
    evaluator.Add("// winner", [](FakeRun&) {});
    TableJudge judge({{"// original", row.original},
                      {"// winner", row.winner},
                      {"// original relaxed", row.relaxed_original},
                      {"// winner relaxed", row.relaxed_winner}});
    const auto findings =
        app::JudgeNvccBuild(judge, evaluator, {"", "a.cu", "// original"}, {"", "a.cu", "// winner"}, "sm_90");
    ASSERT_EQ(findings.size(), row.kernels ? 3u : 1u) << row.message;
    EXPECT_EQ(findings[0].tool, "nvcc -arch=sm_90");
    EXPECT_EQ(findings[0].outcome, row.build) << row.message;
    if (row.kernels) {
      EXPECT_EQ(findings[2].tool, "kernels as nvcc builds them");
      EXPECT_EQ(findings[2].outcome, *row.kernels) << row.message;
    }
    EXPECT_NE(findings.back().message.find(row.message), std::string::npos) << findings.back().message;
    ASSERT_EQ(evaluator.calls.size(), row.runs) << row.message;
    for (const FakeEvaluator::Call& call : evaluator.calls) EXPECT_TRUE(call.options.nvcc);
  }
}

// Adds a note to the runs of a text.
class NotingEvaluator final : public RewritingDevice {
 public:
  explicit NotingEvaluator(std::map<std::string, std::string> notes) : notes_(std::move(notes)) {
    for (const auto& [text, note] : notes_) kernels.Add(text, [](FakeRun&) {});
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    auto outcome = RewritingDevice::Execute(request);
    const std::string& note = notes_.at(request.source.text);
    if (auto* run = outcome ? std::get_if<core::Executed>(&*outcome) : nullptr; run != nullptr && !note.empty())
      run->notes.push_back(note);
    return outcome;
  }

 private:
  std::map<std::string, std::string> notes_;
};

TEST(NvccLaunches, AreThoseOfTheSliceUnlessTheOriginalsAreNotEither) {
  const std::string otherwise(core::kLaunchesOtherwise), unknown(core::kLaunchesUnknown);
  const struct {
    std::string original, winner;
    Outcome outcome;
    const char* message;
  } rows[] = {
      {"", "", Outcome::kClean, ""},
      {"", otherwise + "operation 1 is another one", Outcome::kFound,
       "the real build launches otherwise: operation 1 is another one"},
      {otherwise + "another grid", otherwise + "operation 1", Outcome::kNotRun,
       "the original launches otherwise too: another grid"},
      {"", unknown + "it uses cudaGraphLaunch", Outcome::kNotRun, "it uses cudaGraphLaunch"},
  };
  for (const auto& row : rows) {
    NotingEvaluator evaluator({{"// original", row.original}, {"// winner", row.winner}});
    TableJudge judge(
        {{"// original", core::Verdict(core::Measured())}, {"// winner", core::Verdict(core::Measured())}});
    const auto findings =
        app::JudgeNvccBuild(judge, evaluator, {"", "a.cu", "// original"}, {"", "a.cu", "// winner"}, "sm_90");
    ASSERT_EQ(findings.size(), 3u);
    EXPECT_EQ(findings[1].tool, "launches as nvcc builds them");
    EXPECT_EQ(findings[1].outcome, row.outcome) << row.message;
    EXPECT_EQ(findings[1].message, row.message);
    EXPECT_EQ(findings[2].outcome, Outcome::kClean);
  }
}

}  // namespace
}  // namespace warpwright
