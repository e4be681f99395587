#include "worker/acceptance_tools.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

using Outcome = core::ToolFinding::Outcome;

TEST(AcceptanceTools, ReadWhatASanitizerSays) {
  struct Row {
    const char* log;
    std::optional<Outcome> outcome;
    const char* message;
  };
  for (const Row& row : {
           Row{"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", Outcome::kClean, ""},
           Row{"========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
               Outcome::kClean, ""},
           Row{"========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at "
               "k(float*)+0x50\n"
               "========= ERROR SUMMARY: 32 errors\n",
               Outcome::kFound, "32 findings, first: Invalid __global__ write of size 4 bytes"},
           Row{"========= COMPUTE-SANITIZER\n========= Error: Target application terminated before first instrumented "
               "API call\n",
               std::nullopt, ""},
           Row{"", std::nullopt, ""},
           Row{"========= ERROR SUMMARY: many errors\n", std::nullopt, ""},
       }) {
    const auto finding = worker::ReadSanitizerLog("memcheck", row.log);
    ASSERT_EQ(finding.has_value(), row.outcome.has_value()) << row.log;
    if (!finding) continue;
    EXPECT_EQ(finding->tool, "compute-sanitizer memcheck");
    EXPECT_EQ(finding->outcome, *row.outcome) << row.log;
    EXPECT_EQ(finding->message, row.message);
  }
}

TEST(AcceptanceTools, SaySoWhereTheyAreNotInstalled) {
  const core::ToolFinding built = worker::BuildWithNvcc({}, {"/", "a.cu", ""}, "sm_90");
  EXPECT_EQ(built.outcome, Outcome::kNotRun);
  EXPECT_EQ(built.message, "it is not installed");
  const auto findings = worker::RunSanitizers({}, {}, {}, {});
  ASSERT_EQ(findings.size(), 4u);
  for (const auto& finding : findings) EXPECT_EQ(finding.outcome, Outcome::kNotRun);
}

TEST(AcceptanceTools, NvccBuildsTheWinnerBesideItsHeaders) {
  const worker::AcceptanceTools tools = worker::FindAcceptanceTools();
  if (tools.nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const auto root = base::TemporaryDirectory::Create("warpwright-test");
  ASSERT_TRUE(root);
  ASSERT_TRUE(base::WriteFileAtomically(root->path() / "include/scale.cuh", "constexpr float kScale = 2;\n"));
  ASSERT_TRUE(base::WriteFileAtomically(root->path() / "src/a.cu", "__global__ void k(float* x) { *x = 1; }\n"));
  const char* good =
      "#include \"../include/scale.cuh\"\n__global__ void k(float* x) { *x *= kScale; }\nvoid f(float* x) { k<<<1, "
      "1>>>(x); }\n";
  const core::ToolFinding clean = worker::BuildWithNvcc(tools, {root->path().string(), "src/a.cu", good}, "sm_90");
  EXPECT_EQ(clean.outcome, Outcome::kClean) << clean.message;
  const core::ToolFinding broken = worker::BuildWithNvcc(
      tools, {root->path().string(), "src/a.cu", "__global__ void k() { undeclared(); }\n"}, "sm_90");
  EXPECT_EQ(broken.outcome, Outcome::kFound);
  EXPECT_NE(broken.message.find("undeclared"), std::string::npos) << broken.message;
}

// A project may build with flags that are not known here: what nvcc alone refuses in the original counts against
// nobody.
TEST(AcceptanceTools, NvccRefusesOnlyWhatItAcceptsInTheOriginal) {
  const worker::AcceptanceTools tools = worker::FindAcceptanceTools();
  if (tools.nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const auto root = base::TemporaryDirectory::Create("warpwright-test");
  ASSERT_TRUE(root);
  const char* relaxed =
      "#include <limits>\n__global__ void k(float* x) { *x = -std::numeric_limits<float>::infinity(); }\n";
  const auto outcome = [&](const std::string& original, const std::string& winner) {
    EXPECT_TRUE(base::WriteFileAtomically(root->path() / "a.cu", original));
    return worker::BuildWithNvcc(tools, {root->path().string(), "a.cu", winner}, "sm_90").outcome;
  };
  EXPECT_EQ(outcome(relaxed, std::string(relaxed) + "// faster\n"), Outcome::kClean);
  EXPECT_EQ(outcome("__global__ void k(float* x) { *x = 1; }\n", relaxed), Outcome::kFound);
  EXPECT_EQ(outcome("#include <torch.h>\n", "#include <torch.h>\n"), Outcome::kNotRun);
}

// A text on which nvcc never ends is one that it refuses, unless it does not end on the original either.
TEST(AcceptanceTools, NvccThatDoesNotEndRefuses) {
  const auto root = base::TemporaryDirectory::Create("warpwright-test");
  ASSERT_TRUE(root);
  worker::AcceptanceTools tools;
  tools.nvcc = root->path() / "toolkit/bin/nvcc";
  tools.nvcc_deadline = std::chrono::milliseconds(300);
  ASSERT_TRUE(base::WriteFileAtomically(tools.nvcc, "#!/bin/sh\ngrep -q endless winner.cu && exec sleep 60\nexit 0\n"));
  std::filesystem::permissions(tools.nvcc, std::filesystem::perms::owner_all);
  const auto finding = [&](const std::string& original) {
    EXPECT_TRUE(base::WriteFileAtomically(root->path() / "a.cu", original));
    return worker::BuildWithNvcc(tools, {root->path().string(), "a.cu", "// endless\n"}, "sm_90");
  };
  EXPECT_EQ(finding("// quick\n").outcome, Outcome::kFound);
  EXPECT_EQ(finding("// quick\n").message, "it did not end in time");
  EXPECT_EQ(finding("// endless too\n").outcome, Outcome::kNotRun);
}

}  // namespace
}  // namespace warpwright
