// The lists of fields of core/: complete, and each value there and back with every field set. Adding a member without
// its line in the list fails here.
#include <gtest/gtest.h>

#include <limits>

#include "core/evaluator_fields.h"
#include "core/machine_fields.h"
#include "core/plan_fields.h"
#include "tests/support/described.h"

namespace warpwright {
namespace {

template <typename T>
class Described : public ::testing::Test {};
using Types =
    ::testing::Types<LineCounters, Occupancy, TimeBreakdown, LaunchReport, Fault, TimingSummary, CaseMeasurement,
                     CompileFailed, Refused, WrongResult, Faulted, Measured, Prediction, Plan, ParameterInfo,
                     AccessInfo, LoopInfo, StaticFeatures, KernelInfo, EntryInfo, Inspection, Trouble, GpuProcess,
                     GpuState, GpuFacts, Machine::ToolkitPart, Machine::HostCompilerPart, Machine::SandboxPart,
                     Machine::NvmlPart, Machine::DriverPart, Machine::DevicePart, Machine::NvrtcPart,
                     Machine::CuptiPart, Machine::CountersPart, Machine, Error, SourceRef, Dim3, ScalarArgument,
                     LaunchSpec, KernelSpec, BufferContent, ExecuteOptions, TimingOptions, RewriteRequest,
                     SpliceRequest, ExecuteRequest, TimeRequest, Rewritten, RewriteRefusal, GuardViolation,
                     PrecisionUse, Executed, TimedDrift, TimedPair, KeptPair, Timed, BufferArgument, Argument>;
TYPED_TEST_SUITE(Described, Types);
TYPED_TEST(Described, EveryMemberTravels) { testing::ExpectDescribed<TypeParam>(); }

template <typename Variant, size_t I = 0>
void EveryAlternative() {
  Variant value;
  testing::Filler().Fill(value.template emplace<I>());
  testing::ExpectComesBack(value);
  if constexpr (I + 1 < std::variant_size_v<Variant>) EveryAlternative<Variant, I + 1>();
}
TEST(Alternatives, Travel) {
  EveryAlternative<Verdict>();
  EveryAlternative<RewriteOutcome>();
  EveryAlternative<SpliceOutcome>();
  EveryAlternative<ExecuteOutcome>();
  EveryAlternative<TimeOutcome>();
  EveryAlternative<decltype(Argument::kind)>();
}

template <typename E>
void EveryNameIsParsed() {
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i) {
    const auto value = static_cast<E>(i);
    EXPECT_NE(Name(value), "?") << i;
    EXPECT_EQ(ParseName<E>(Name(value)), value) << i;
  }
  EXPECT_FALSE(ParseName<E>("?"));
}
TEST(Names, OfEveryEnumeration) {
  EveryNameIsParsed<TimingDecision>();
  EveryNameIsParsed<Fault::Kind>();
  EveryNameIsParsed<DType>();
  EveryNameIsParsed<Role>();
  EveryNameIsParsed<AccessPattern>();
  EveryNameIsParsed<OperationClass>();
  EveryNameIsParsed<EntryInfo::Kind>();
  EveryNameIsParsed<ErrorCode>();
  EveryNameIsParsed<Allow>();
  EveryNameIsParsed<Perturbation>();
  EveryNameIsParsed<ExactMemory>();
  EveryNameIsParsed<CounterDepth>();
}

TEST(Scalars, KeepTheirTypeAndEveryValue) {
  const double infinity = std::numeric_limits<double>::infinity();
  const ScalarValue values[] = {int64_t{1},
                                1.0,
                                std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max(),
                                1e300,
                                5e-324,
                                -0.0,
                                infinity,
                                -infinity};
  for (const ScalarValue& value : values) {
    const auto back = DecodeJson<ScalarValue>(EncodeJson(value));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, value);
  }
}

TEST(Mistakes, AreSaidWithTheirPlace) {
  Measured measured;
  measured.cases.resize(3);
  measured.cases[2].launches.resize(1);
  measured.cases[2].launches[0].lines.resize(1);
  const std::string good = EncodeJson(Verdict(measured));
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
    const auto read = DecodeJson<Verdict>(text.replace(at, std::string_view(row.from).size(), row.to));
    ASSERT_FALSE(read) << row.to;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(read.error().message, row.message);
  }
  EXPECT_TRUE(DecodeJson<Verdict>(good));
}

}  // namespace
}  // namespace warpwright
