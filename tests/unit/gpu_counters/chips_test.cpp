// CUPTI's host half supports chips that are not present: names and costs of what we count are checked against it.
#include <set>

#include "tests/unit/gpu_counters/support.h"

namespace warpwright::gpu {
namespace {

constexpr const char* kReadBytes[] = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
constexpr const char* kOpReadBytes[] = {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"};
constexpr const char* kHalfPipe = "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kHalfInFma = "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kGmma = "smsp__warps_issue_stalled_gmma.sum";
constexpr const char* kImc = "smsp__warps_issue_stalled_imc_miss.sum";

// Passes as CUPTI 13.0 (API 130001) schedules them, by the host half alone. They are limits: a change of the tables
// that costs more must be noticed.
struct ChipRow {
  const char* chip;
  size_t core, candidate, speed_of_light;
  std::set<std::string> absent;  // of all tiers
};
void PrintTo(const ChipRow& row, std::ostream* out) { *out << row.chip; }
const ChipRow kChips[] = {
    {"GA100", 1, 6, 12, {kOpReadBytes[0], kOpReadBytes[1], kHalfInFma, kGmma}},
    {"GA102", 1, 6, 14, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kGmma}},
    {"AD102", 1, 6, 14, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kGmma}},
    {"AD104", 1, 6, 14, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kGmma}},
    {"GH100", 1, 6, 17, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe}},
    {"GB100", 1, 6, 15, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kGmma, kImc}},
    {"GB110", 1, 6, 17, {kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kGmma, kImc}},
    {"GB202", 1, 7, 16, {kReadBytes[0], kReadBytes[1], kHalfPipe, kGmma, kImc}},
};

class Chips : public testing::TestWithParam<ChipRow> {};

TEST_P(Chips, HasEveryMetricButTheListedOnes) {
  WW_NEED_CUPTI(cupti);
  const auto host = CuptiHost::Create(cupti, GetParam().chip, {}, MetricsOf(CounterTier::kSpeedOfLight));
  ASSERT_TRUE(host) << host.error().Format();
  EXPECT_EQ(std::set<std::string>(host->unknown().begin(), host->unknown().end()), GetParam().absent);
  // Metrics that replace each other are not missed if one of them exists: what remains are kinds of stalls that a chip
  // does not have.
  std::set<std::string> without_others = GetParam().absent;
  for (const char* name : {kReadBytes[0], kReadBytes[1], kOpReadBytes[0], kOpReadBytes[1], kHalfPipe, kHalfInFma})
    without_others.erase(name);
  const auto missed = Missed(host->unknown());
  EXPECT_EQ(std::set<std::string>(missed.begin(), missed.end()), without_others);
}

TEST(Missed, IsWhatNoOtherMetricGives) {
  const std::string fma = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
                    shown = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
  const struct {
    std::vector<std::string> absent, missed;
  } rows[] = {{{}, {}},
              {{kOpReadBytes[0]}, {}},
              {{kReadBytes[0]}, {}},
              {{kReadBytes[0], kOpReadBytes[0]}, {kReadBytes[0], kOpReadBytes[0]}},
              {{kReadBytes[0], kOpReadBytes[1]}, {}},
              {{kHalfPipe, kOpReadBytes[0], kOpReadBytes[1]}, {}},
              {{kHalfPipe, kHalfInFma, fma}, {kHalfPipe, kHalfInFma, fma}},
              {{shown, "no__such_metric.sum"}, {shown, "no__such_metric.sum"}}};
  for (const auto& row : rows) EXPECT_EQ(Missed(row.absent), row.missed);
}

TEST_P(Chips, CostsNoMoreThanTheListedPasses) {
  WW_NEED_CUPTI(cupti);
  const std::pair<CounterTier, size_t> tiers[] = {{CounterTier::kCore, GetParam().core},
                                                  {CounterTier::kCandidate, GetParam().candidate},
                                                  {CounterTier::kSpeedOfLight, GetParam().speed_of_light}};
  for (const auto& [tier, limit] : tiers) {
    const auto host = CuptiHost::Create(cupti, GetParam().chip, {}, MetricsOf(tier));
    ASSERT_TRUE(host) << host.error().Format();
    EXPECT_LE(host->passes(), limit) << "tier " << static_cast<int>(tier) << ", " << host->metrics().size()
                                     << " metrics";
    EXPECT_GE(host->passes(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Supported, Chips, testing::ValuesIn(kChips),
                         [](const auto& row) { return std::string(row.param.chip); });

TEST(Tiers, EachContainsTheOneBefore) {
  std::set<std::string> before;
  for (const auto tier : {CounterTier::kCore, CounterTier::kCandidate, CounterTier::kSpeedOfLight}) {
    const auto list = MetricsOf(tier);
    const std::set<std::string> set(list.begin(), list.end());
    EXPECT_EQ(set.size(), list.size()) << "a metric stands twice";
    EXPECT_TRUE(std::includes(set.begin(), set.end(), before.begin(), before.end()));
    EXPECT_GT(set.size(), before.size());
    EXPECT_EQ(set.contains(gpu::kThreadInstructionsMetric), tier == CounterTier::kCore);
    before = set;
    before.erase(gpu::kThreadInstructionsMetric);
  }
}

TEST(Host, DropsAndNamesWhatTheChipLacks) {
  WW_NEED_CUPTI(cupti);
  const std::vector<std::string> wanted = {"dram__bytes_read.sum", "launch__registers_per_thread",
                                           "dram__bytes_read.bogus", "gpu__time_duration.sum"};
  const auto host = CuptiHost::Create(cupti, "GH100", {}, wanted);
  ASSERT_TRUE(host) << host.error().Format();
  EXPECT_EQ(host->metrics(), (std::vector<std::string>{wanted[0], wanted[3]}));
  EXPECT_EQ(host->unknown(), (std::vector<std::string>{wanted[1], wanted[2]}));
  EXPECT_FALSE(host->config().empty());
}

TEST(Host, RefusesUnknownChipsAndEmptySchedules) {
  WW_NEED_CUPTI(cupti);
  const std::vector<std::string> none = {"no__such_metric.sum"}, one = {"gpu__time_duration.sum"};
  const auto unknown_chip = CuptiHost::Create(cupti, "GX999", {}, one);
  ASSERT_FALSE(unknown_chip);
  EXPECT_NE(unknown_chip.error().message.find("GX999"), std::string::npos);
  EXPECT_FALSE(unknown_chip.error().remedy.empty());
  const auto empty = CuptiHost::Create(cupti, "GH100", {}, none);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kUnsupported);
}

TEST(Host, Moves) {
  WW_NEED_CUPTI(cupti);
  const std::vector<std::string> one = {"gpu__time_duration.sum"};
  auto a = CuptiHost::Create(cupti, "GH100", {}, one), b = CuptiHost::Create(cupti, "GA100", {}, one);
  ASSERT_TRUE(a && b);
  CuptiHost moved = std::move(*a);
  moved = std::move(*b);
  EXPECT_EQ(moved.passes(), 1u);
  EXPECT_EQ(moved.metrics(), one);
}

// Which results mean "no counters here" (kEnvironment, with a remedy), and which are failures.
TEST(Library, SortsErrors) {
  WW_NEED_CUPTI(cupti);
  const struct {
    CUptiResult result;
    ErrorCode code, code_when_enabling;
    const char* remedy;
  } rows[] = {
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, ErrorCode::kEnvironment, ErrorCode::kEnvironment,
       "NVreg_RestrictProfilingToAdminUsers=0"},
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, ErrorCode::kEnvironment, ErrorCode::kEnvironment, "CAP_PERFMON"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, ErrorCode::kEnvironment, ErrorCode::kEnvironment,
       "CAP_SYS_ADMIN"},
      {CUPTI_ERROR_HARDWARE_BUSY, ErrorCode::kEnvironment, ErrorCode::kEnvironment, "other profiler"},
      {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, ErrorCode::kEnvironment, ErrorCode::kEnvironment, "without counters"},
      {CUPTI_ERROR_UNKNOWN, ErrorCode::kIo, ErrorCode::kEnvironment, ""},
      {CUPTI_ERROR_INVALID_PARAMETER, ErrorCode::kIo, ErrorCode::kIo, ""}};
  for (const auto& row : rows) {
    const Status plain = cupti.Check(row.result, "call"), enabling = cupti.CheckEnable(row.result, "call");
    ASSERT_FALSE(plain);
    ASSERT_FALSE(enabling);
    EXPECT_EQ(plain.error().code, row.code) << plain.error().message;
    EXPECT_EQ(enabling.error().code, row.code_when_enabling) << enabling.error().message;
    EXPECT_NE(plain.error().remedy.find(row.remedy), std::string::npos) << plain.error().remedy;
    EXPECT_NE(plain.error().message.find("(" + std::to_string(row.result) + ")"), std::string::npos)
        << plain.error().message;
  }
  EXPECT_TRUE(cupti.Check(CUPTI_SUCCESS, "call"));
  EXPECT_GE(cupti.version, 24u) << "the API version of CUDA 12.6";
}

}  // namespace
}  // namespace warpwright::gpu
