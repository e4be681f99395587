#include "agents/diagnoser.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

using Cause = core::Diagnosis::Cause;

core::Verdict Fault_(core::Fault::Kind kind, std::string message) {
  core::Faulted faulted;
  faulted.fault.kind = kind;
  faulted.fault.message = std::move(message);
  faulted.case_name = "odd";
  return faulted;
}

struct Row {
  const char* name;
  core::Verdict verdict;
  Cause cause;
  const char* quote;  // must be in the verdict verbatim
};
class Diagnoses : public ::testing::TestWithParam<Row> {};

TEST_P(Diagnoses, NameTheCauseAndQuoteTheEvidence) {
  const core::Diagnosis diagnosis = agents::Diagnose({}, GetParam().verdict);
  EXPECT_EQ(agents::Name(diagnosis.cause), agents::Name(GetParam().cause));
  EXPECT_EQ(diagnosis.quote, GetParam().quote);
  EXPECT_FALSE(diagnosis.root_cause.empty());
  EXPECT_FALSE(diagnosis.fix.empty());
  EXPECT_GT(diagnosis.confidence, 0);
  EXPECT_LE(diagnosis.confidence, 1);
}
INSTANTIATE_TEST_SUITE_P(
    All, Diagnoses,
    ::testing::Values(
        Row{"missing",
            core::CompileFailed{
                "a.cu(3): warning: unused\na.cu(9): error: identifier \"INFINITY\" is undefined\n1 error"},
            Cause::kMissingHelper, "a.cu(9): error: identifier \"INFINITY\" is undefined"},
        Row{"shared",
            core::CompileFailed{"ptxas error   : Entry function 'k' uses too much shared data (0x18000 bytes)"},
            Cause::kResourceLimit, "ptxas error   : Entry function 'k' uses too much shared data (0x18000 bytes)"},
        Row{"syntax", core::CompileFailed{"a.cu(1): error: expected a \";\""}, Cause::kCompileError,
            "a.cu(1): error: expected a \";\""},
        Row{"misaligned", Fault_(core::Fault::Kind::kMisaligned, "misaligned read of 16 bytes"), Cause::kMisaligned,
            "misaligned read of 16 bytes"},
        Row{"bounds", Fault_(core::Fault::Kind::kOutOfBounds, "out-of-bounds write at out[10]"), Cause::kOutOfBounds,
            "out-of-bounds write at out[10]"},
        Row{"race", Fault_(core::Fault::Kind::kSharedRace, "race on tile[3]"), Cause::kRace, "race on tile[3]"},
        Row{"resources", Fault_(core::Fault::Kind::kResourceLimit, "98304 bytes of shared memory"),
            Cause::kResourceLimit, "98304 bytes of shared memory"},
        Row{"unsimulated", Fault_(core::Fault::Kind::kNotSimulated, "not simulated: wgmma at 3"), Cause::kNotSimulable,
            "not simulated: wgmma at 3"},
        Row{"refused", core::Refused{core::Check::kRecord, "reads back a value", "a.cu", 4}, Cause::kRefused,
            "reads back a value"},
        Row{"wrong", core::WrongResult{core::Check::kComparison, "odd", "out[3] = 1, expected 2"}, Cause::kWrongResult,
            "out[3] = 1, expected 2"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace warpwright
