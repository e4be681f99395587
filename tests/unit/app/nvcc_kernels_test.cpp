#include "app/nvcc_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/fake_evaluator.h"

namespace warpwright {
namespace {

using Outcome = core::ToolFinding::Outcome;

// Runs a text once, and judges it as the table says.
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
    return verdicts_.at(candidate.text);
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  std::map<std::string, Result<core::Verdict>> verdicts_;
  std::vector<std::string> notes_;
};

TEST(NvccKernels, AreWhatCountsUnlessTheOriginalFailsSoToo) {
  const auto passes = [] { return Result<core::Verdict>(core::Measured()); };
  const auto fails = [](const char* log) { return Result<core::Verdict>(core::CompileFailed{log}); };
  const auto missing = [] { return Result<core::Verdict>(Fail(ErrorCode::kUnsupported, "there is no nvcc")); };
  struct Row {
    Result<core::Verdict> original, winner;
    Outcome outcome;
    const char* message;
    size_t runs;
  };
  const Row rows[] = {
      {passes(), passes(), Outcome::kClean, "", 1},
      {passes(), fails("no kernel"), Outcome::kFound, "no kernel", 2},
      {fails("static kernel"), fails("no kernel"), Outcome::kNotRun, "the original fails so too: ", 2},
      {missing(), fails("no kernel"), Outcome::kNotRun, "the original fails so too: there is no nvcc", 2},
      {passes(), missing(), Outcome::kNotRun, "there is no nvcc", 1},
  };
  for (const Row& row : rows) {
    FakeEvaluator evaluator;
    evaluator.Add("// original", [](FakeRun&) {});
    evaluator.Add("// winner", [](FakeRun&) {});
    TableJudge judge({{"// original", row.original}, {"// winner", row.winner}});
    const core::ToolFinding finding =
        app::JudgeNvccKernels(judge, evaluator, {"", "a.cu", "// original"}, {"", "a.cu", "// winner"});
    EXPECT_EQ(finding.outcome, row.outcome) << row.message;
    EXPECT_NE(finding.message.find(row.message), std::string::npos) << finding.message;
    ASSERT_EQ(evaluator.calls.size(), row.runs) << row.message;
    for (const FakeEvaluator::Call& call : evaluator.calls) EXPECT_TRUE(call.options.nvcc);
  }
}

}  // namespace
}  // namespace warpwright
