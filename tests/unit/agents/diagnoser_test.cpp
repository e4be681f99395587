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
  const core::Diagnosis diagnosis = agents::Diagnose({}, GetParam().verdict, "a.cu");
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

TEST(Diagnosis, CarriesTheLinesThatTheVerdictNamesAndTheSample) {
  core::Candidate candidate;
  candidate.text = "int a;\n__shared__ float tile[32];\n  tile[i] = x;\n";
  core::Faulted race;
  race.fault = {.kind = core::Fault::Kind::kSharedRace,
                .message = "race on tile[3]: read here, written at src/a.cu:2 and include/h.cuh:7",
                .file = "src/a.cu",
                .line = 3};
  const core::Diagnosis of_race = agents::Diagnose(candidate, race, "src/a.cu");
  EXPECT_EQ(of_race.lines, (std::vector<core::DiagnosedLine>{{"src/a.cu", 3, "  tile[i] = x;"},
                                                             {"src/a.cu", 2, "__shared__ float tile[32];"},
                                                             {"include/h.cuh", 7, ""}}));
  const core::CompileFailed log{"src/a.cu(1): error: one\nsrc/a.cu(1): error: two\nsrc/a.cu(90): error: three"};
  EXPECT_EQ(agents::LinesOf(candidate, log, "src/a.cu"),
            (std::vector<core::DiagnosedLine>{{"src/a.cu", 1, "int a;"}, {"src/a.cu", 90, ""}}));

  core::WrongResult wrong{core::Check::kComparison, "odd", "out[3] = 1, expected 2"};
  wrong.sample = core::WrongSample{.wrong = 31, .elements = 64, .pattern = "the last 31", .examples = {}};
  const core::Diagnosis of_wrong = agents::Diagnose(candidate, wrong, "src/a.cu");
  ASSERT_TRUE(of_wrong.sample);
  EXPECT_EQ(of_wrong.sample->pattern, "the last 31");
}

}  // namespace
}  // namespace warpwright
