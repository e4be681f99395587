// The field lists of core/ are complete, and each value makes the round trip with every field set. Adding a member
// without its line in the list fails here.
#include <gtest/gtest.h>

#include <limits>

#include "core/computation_fields.h"
#include "core/equivalence_fields.h"
#include "core/execution_fields.h"
#include "core/inspection_fields.h"
#include "core/lifting_fields.h"
#include "core/machine_fields.h"
#include "core/paired_timing_fields.h"
#include "core/plan_fields.h"
#include "core/source_requests_fields.h"
#include "tests/support/described.h"

namespace warpwright {
namespace {

using Values = testing::TypeList<
    core::LineCounters, core::Occupancy, core::TimeBreakdown, core::LaunchReport, core::Fault, core::TimingSummary,
    core::CaseMeasurement, core::CompileFailed, core::Refused, core::WrongResult, core::Faulted, core::Measured,
    core::Prediction, core::Plan, core::ParameterInfo, core::AccessInfo, core::LoopInfo, core::StaticFeatures,
    core::KernelInfo, core::EntryInfo, core::Inspection, core::Problem, core::GpuProcess, core::GpuState,
    core::GpuFacts, core::ToolkitPart, core::HostCompilerPart, core::SandboxPart, core::NvmlPart, core::DriverPart,
    core::DevicePart, core::NvrtcPart, core::CuptiPart, core::CountersPart, core::Machine, Error, core::BuildOptions,
    core::SourceRef, core::Dim3, core::DevicePointer, core::ScalarArgument, core::LaunchSpec, core::KernelSpec,
    core::BufferContent, core::ExecuteOptions, core::TimingOptions, core::RewriteRequest, core::SpliceRequest,
    core::ExecuteRequest, core::TimeRequest, core::Rewritten, core::RewriteRefusal, core::GuardViolation, core::CodeUse,
    core::FoundUse, core::Executed, core::OutputDeviation, core::TimedPair, core::SampledPair, core::Timed,
    core::BufferArgument, core::Argument, core::Affine::Term, core::Affine, core::Guard, core::Constant,
    core::ScalarRead, core::SizeValue, core::IndexValue, core::TensorRead, core::Reduce::Variable, core::Reduce,
    core::Nary, core::Call, core::Compare, core::Logic, core::Select, core::Convert, core::Stage, core::TensorArgument,
    core::Computation, core::LiftShape, core::DividedSize, core::LiftRequest, core::NotLifted, core::Lifted,
    core::EquivalenceRequest, core::Equal, core::Difference, core::Different, core::NotComparable, core::Equivalence,
    core::Chip, core::ScheduledCase, core::Scheduling>;
TEST(Described, EveryMemberTravels) { Values::ExpectAllDescribed(); }

template <typename Variant, size_t I = 0>
void EveryAlternative() {
  Variant value;
  testing::Filler().Fill(value.template emplace<I>());
  testing::ExpectComesBack(value);
  if constexpr (I + 1 < std::variant_size_v<Variant>) EveryAlternative<Variant, I + 1>();
}
TEST(Alternatives, Travel) {
  EveryAlternative<core::Verdict>();
  EveryAlternative<core::RewriteOutcome>();
  EveryAlternative<core::SpliceOutcome>();
  EveryAlternative<core::ExecuteOutcome>();
  EveryAlternative<core::TimeOutcome>();
  EveryAlternative<decltype(core::Argument::kind)>();
  EveryAlternative<core::Node>();
  EveryAlternative<core::EquivalenceOutcome>();
}

template <typename E>
void EveryNameIsParsed() {
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i) {
    const auto value = static_cast<E>(i);
    EXPECT_NE(Name(value), "?") << i;
    EXPECT_EQ(base::ParseName<E>(Name(value)), value) << i;
  }
  EXPECT_FALSE(base::ParseName<E>("?"));
}
TEST(Names, OfEveryEnumeration) {
  EveryNameIsParsed<core::TimingDecision>();
  EveryNameIsParsed<core::Fault::Kind>();
  EveryNameIsParsed<core::DType>();
  EveryNameIsParsed<core::Role>();
  EveryNameIsParsed<core::AccessPattern>();
  EveryNameIsParsed<core::OperationClass>();
  EveryNameIsParsed<core::EntryInfo::Kind>();
  EveryNameIsParsed<ErrorCode>();
  EveryNameIsParsed<core::Allow>();
  EveryNameIsParsed<core::CxxStandard>();
  EveryNameIsParsed<core::BuildFlag>();
  EveryNameIsParsed<core::Perturbation>();
  EveryNameIsParsed<core::DifferenceKind>();
  EveryNameIsParsed<core::PageGuard>();
  EveryNameIsParsed<core::CounterDepth>();
  EveryNameIsParsed<core::Affine::Part>();
  EveryNameIsParsed<core::ReduceOp>();
  EveryNameIsParsed<core::Comparison>();
  EveryNameIsParsed<core::Function>();
  EveryNameIsParsed<core::Logic::Op>();
}

TEST(Scalars, KeepTheirTypeAndEveryValue) {
  const double infinity = std::numeric_limits<double>::infinity();
  const core::ScalarValue values[] = {int64_t{1},
                                      1.0,
                                      std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max(),
                                      1e300,
                                      5e-324,
                                      -0.0,
                                      infinity,
                                      -infinity};
  for (const core::ScalarValue& value : values) {
    const auto back = base::DecodeJson<core::ScalarValue>(base::EncodeJson(value));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, value);
  }
}

TEST(Mistakes, AreSaidWithTheirPlace) {
  core::Measured measured;
  measured.cases.resize(3);
  measured.cases[2].launches.resize(1);
  measured.cases[2].launches[0].lines.resize(1);
  const std::string good = base::EncodeJson(core::Verdict(measured));
  const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"\"registers\":0", "\"registers\":\"many\"", "cases[2].launches[0].registers: not an integer"},
      {"\"registers\":0", "\"registers\":0.5", "cases[2].launches[0].registers: not an integer"},
      {"\"registers\":0", "\"registers\":99999999999", "cases[2].launches[0].registers: an integer out of range"},
      {"\"registers\":0", "\"registers\":18446744073709551615",
       "cases[2].launches[0].registers: an integer out of range"},
      {"\"blocks_run\":0", "\"blocks_run\":-1", "cases[2].launches[0].blocks_run: an integer out of range"},
      {"\"registers\":0,", "", "cases[2].launches[0]: 'registers' is missing"},
      {"\"total_us\":0.0", "\"total_us\":\"long\"", "cases[2].launches[0].time.total_us: not a number"},
      {"\"limiter\":\"\"", "\"limiter\":null", "cases[2].launches[0].occupancy.limiter: not text"},
      {"\"counters\":{}", "\"counters\":{\"sheep\":1}", "cases[2].launches[0].counters.sheep: no such counter"},
      {"\"counters\":{}", "\"counters\":[]", "cases[2].launches[0].counters: not an object"},
      {"\"line\":0", "\"line\":{}", "cases[2].launches[0].lines[0].line: not an integer"},
      {"\"sampled\":false", "\"sampled\":0", "cases[0].sampled: neither true nor false"},
      {"\"checks\":[]", "\"checks\":{}", "checks: not a list"},
      {"\"checks\":[]", "\"checks\":[\"a\",1]", "checks[1]: not text"},
      {"\"modelled\":true", "\"decision\":\"faaast\",\"modelled\":true", "decision: unknown 'faaast'"},
      {"\"verdict\":\"measured\"", "\"verdict\":\"happy\"", "verdict: unknown 'happy'"},
      {"\"verdict\":\"measured\"", "\"verdict\":1", "verdict: not text"},
      {"\"verdict\":\"measured\"", "\"verdicts\":1", "'verdict' is missing"},
  };
  for (const auto& row : rows) {
    std::string text = good;
    const size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from << "\n" << text;
    const auto read = base::DecodeJson<core::Verdict>(text.replace(at, std::string_view(row.from).size(), row.to));
    ASSERT_FALSE(read) << row.to;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(read.error().message, row.message);
  }
  EXPECT_TRUE(base::DecodeJson<core::Verdict>(good));
}

}  // namespace
}  // namespace warpwright
