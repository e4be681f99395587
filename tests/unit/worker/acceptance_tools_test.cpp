#include "worker/acceptance_tools.h"

#include <gtest/gtest.h>

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
  const auto findings = worker::RunSanitizers({}, {}, {}, {});
  ASSERT_EQ(findings.size(), 4u);
  for (const auto& finding : findings) EXPECT_EQ(finding.outcome, Outcome::kNotRun);
}

}  // namespace
}  // namespace warpwright
