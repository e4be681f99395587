// record, verify and profile on a device of C++ functions.
#include "app/profile.h"
#include "app/record.h"
#include "app/verify.h"
#include "tests/unit/app/app_bench.h"

namespace warpwright {
namespace {

class JudgedTest : public AppTest {
 protected:
  app::VerifyResult Verify() {
    auto result = app::VerifyWorkingTree(Open(), "HEAD", judging(), {candidates_, [] {}});
    EXPECT_TRUE(result) << result.error().Format();
    return result.value_or(app::VerifyResult());
  }
  FakeDevice candidates_;
};

TEST_F(JudgedTest, RecordsReferencesOfTheTrustedRevision) {
  const std::string commit = CommitKernels({"a", "b"});
  repository_.Write("a.cu", "// something that does not even compile\n");
  std::vector<std::string> told;
  const auto result = app::RecordReferences(Open(), "HEAD", judging(),
                                            [&](const app::RecordedKernel& kernel) { told.push_back(kernel.kernel); });
  ASSERT_TRUE(result) << result.error().Format();
  EXPECT_EQ(result->base, commit);
  EXPECT_TRUE(result->complete);
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(result->kernels.size(), 2u);
  for (const app::RecordedKernel& kernel : result->kernels) {
    ASSERT_EQ(kernel.cases.size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(repository_.path() / kernel.cases[0].path)) << kernel.cases[0].path;
  }
}

// The line of an error is one of the file that it names.
TEST_F(JudgedTest, WhatDoesNotRunCannotBeRecorded) {
  CommitKernels({"a"});
  const auto error = [&] {
    auto result = app::RecordReferences(Open(), "HEAD", judging());
    if (!result || result->kernels.empty()) return Error{.message = "no result"};
    EXPECT_FALSE(result->complete);
    return result->kernels[0].error.value_or(Error{.message = "no error"});
  };
  device_.kernels = FakeEvaluator();
  const Error nowhere = error();
  EXPECT_NE(nowhere.message.find("kernel a: the original does not run"), std::string::npos) << nowhere.message;
  EXPECT_EQ(nowhere.file, ".warpwright.yml");
  EXPECT_EQ(nowhere.line, 3);
  EXPECT_EQ(nowhere.code, ErrorCode::kConfig);
  device_.kernels.Add("original", [](FakeRun& run) {
    run.outcome = core::Faulted{{.message = "misaligned", .file = "a.cu", .line = 7}, ""};
  });
  const Error fault = error();
  EXPECT_EQ(fault.file, "a.cu") << fault.Format();
  EXPECT_EQ(fault.line, 7);
  EXPECT_EQ(fault.message.find("a.cu:7"), std::string::npos) << "it is said once";
  EXPECT_NE(fault.remedy.find("mend the kernel"), std::string::npos) << fault.remedy;
  device_.kernels = FakeEvaluator();
  device_.kernels.Add("original", [](FakeRun& run) {
    run.outcome = core::Refused{core::Check::kSlice, "the launcher uses CUDA graphs", "a.cu", 5};
  });
  const Error refused = error();
  EXPECT_EQ(refused.code, ErrorCode::kUnsupported) << "there is no mistake in it";
  EXPECT_EQ(refused.line, 5) << refused.Format();
  EXPECT_NE(refused.remedy.find("the entry in .warpwright.yml"), std::string::npos) << refused.remedy;
}

TEST_F(JudgedTest, VerifiesTheWorkingTree) {
  CommitKernels({"a", "b"});
  candidates_.kernels.Add("original", TwiceOf);
  candidates_.kernels.Add("wrong", ThriceOf);
  app::VerifyResult result = Verify();
  EXPECT_TRUE(result.passed);
  ASSERT_EQ(result.cases.size(), 2u);
  EXPECT_EQ(result.cases[0].verdict, "verified") << result.cases[0].message;

  repository_.Write("b.cu", "// wrong\n");
  result = Verify();
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.cases[0].verdict, "verified");
  EXPECT_EQ(result.cases[1].kernel, "b");
  EXPECT_EQ(result.cases[1].verdict, "wrong_result");
  EXPECT_FALSE(result.cases[1].check.empty());
}

TEST_F(JudgedTest, AnErrorOfOneKernelDoesNotKeepTheOthersFromBeingVerified) {
  CommitKernels({"a", "b", "c"});
  candidates_.kernels.Add("original", TwiceOf);
  device_.failing = "b";
  const app::VerifyResult result = Verify();
  EXPECT_FALSE(result.passed);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kIo);
  ASSERT_EQ(result.cases.size(), 3u);
  EXPECT_EQ(result.cases[0].verdict, "verified");
  EXPECT_EQ(result.cases[1].kernel, "b");
  EXPECT_EQ(result.cases[1].verdict, "error");
  EXPECT_NE(result.cases[1].message.find("the GPU is lost"), std::string::npos) << result.cases[1].message;
  EXPECT_EQ(result.cases[2].kernel, "c");
  EXPECT_EQ(result.cases[2].verdict, "verified");
}

TEST_F(JudgedTest, AnErrorOfOneKernelDoesNotKeepTheOthersFromBeingProfiledAndRecorded) {
  CommitKernels({"a", "b"});
  device_.failing = "a";
  const auto profiled = app::ProfileWorkingTree(Open(), judging());
  ASSERT_TRUE(profiled) << profiled.error().Format();
  ASSERT_EQ(profiled->size(), 2u);
  ASSERT_TRUE(profiled->at(0).error);
  EXPECT_EQ(profiled->at(0).error->message, "the GPU is lost");
  EXPECT_NE(profiled->at(1).measured(), nullptr);
  const auto recorded = app::RecordReferences(Open(), "HEAD", judging());
  ASSERT_TRUE(recorded) << recorded.error().Format();
  ASSERT_EQ(recorded->kernels.size(), 2u);
  EXPECT_TRUE(recorded->kernels[0].error);
  EXPECT_FALSE(recorded->kernels[1].error);
  EXPECT_FALSE(recorded->complete);
}

TEST_F(JudgedTest, ProfilesTheWorkingTree) {
  CommitKernels({"a", "b"});
  repository_.Write("b.cu", "// does not compile\n");
  std::vector<std::string> lines;
  app::JudgingServices services = judging();
  services.progress.line = [&](const std::string& line) { lines.push_back(line); };
  const auto kernels = app::ProfileWorkingTree(Open(), services);
  ASSERT_TRUE(kernels) << kernels.error().Format();
  ASSERT_EQ(kernels->size(), 2u);
  ASSERT_NE(kernels->at(0).measured(), nullptr);
  EXPECT_EQ(kernels->at(0).features->case_name, "typical");
  EXPECT_EQ(kernels->at(1).measured(), nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "b: " + core::VerdictMessage(kernels->at(1).original));
}

TEST(CaseVerdicts, OneRowForEachCaseAndOneOfThemFailed) {
  judge::Baseline baseline;
  baseline.cases = {
      {.name = "small", .verified = true, .measured = true},
      {.name = "large", .verified = false, .measured = true, .check = core::Check::kTooLarge, .note = "too large"},
      {.name = "other", .check = core::Check::kOtherDevice, .note = "for the simulator"}};
  struct Row {
    core::Verdict verdict;
    std::vector<std::string> verdicts;
  };
  for (const Row& row : {Row{core::Measured{}, {"verified", "measured", "skipped"}},
                         Row{core::CompileFailed{"no"}, {"compile_failed", "not_reached", "not_reached"}},
                         Row{core::WrongResult{.check = core::Check::kComparison, .case_name = "large, odd"},
                             {"not_reached", "wrong_result", "not_reached"}},
                         Row{core::WrongResult{.check = core::Check::kComparison, .case_name = "elsewhere"},
                             {"not_reached", "not_reached", "not_reached", "wrong_result"}}}) {
    std::vector<std::string> verdicts;
    for (const app::CaseVerdict& c : app::CaseVerdicts("k", baseline, row.verdict)) verdicts.push_back(c.verdict);
    EXPECT_EQ(verdicts, row.verdicts);
  }
}

}  // namespace
}  // namespace warpwright
