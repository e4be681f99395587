// Counters on a real GPU: kernels whose counts are known beforehand. Prints what it measured.
#include <chrono>
#include <cstring>
#include <optional>

#include "config/chip_file.h"
#include "core/evidence.h"
#include "gpu/cupti_session.h"
#include "tests/gpu/support.h"

namespace warpwright::gpu {
namespace {

constexpr int kSide = 2048;
constexpr uint64_t kElements = uint64_t{kSide} * kSide;

// `straight` and `padded` differ in one word of padding: 32-way conflicts in a column of shared memory, or none.
// `accumulate` updates in place, so that its result is right only if memory is restored between the passes.
constexpr const char* kSource = R"(
template <int kPadding>
__device__ void turn(float* out, const float* in, int side) {
  __shared__ float tile[32][32 + kPadding];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = in[(y + r) * side + x + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) out[(x + r) * side + y + threadIdx.x] = tile[threadIdx.x][r];
}
__global__ void straight(float* out, const float* in, int side) { turn<0>(out, in, side); }
__global__ void padded(float* out, const float* in, int side) { turn<1>(out, in, side); }
__global__ void accumulate(float* out, const float* in, int side) {
  const int i = (blockIdx.y * gridDim.x + blockIdx.x) * 1024 + threadIdx.y * 128 + threadIdx.x;
  for (int k = 0; k < 128; k += 32) out[i + k] += in[i + k];
}
)";

class CountersGpu : public GpuTest {
 protected:
  void SetUp() override {
    const std::string source = std::string(kSource) + kChase;
    Open(source.c_str(), {"straight", "padded", "accumulate", "chase"}, kElements * 4);
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(Load());
    auto session = CounterSession::Create(context_, device_);
    ASSERT_TRUE(session) << session.error().Format();
    session_.emplace(std::move(*session));
    if (session_->unavailable())
      GTEST_SKIP() << "counters are unavailable: " << session_->unavailable()->reason
                   << "\n  remedy: " << session_->unavailable()->remedy;
  }
  void TearDown() override {
    session_.reset();
    GpuTest::TearDown();
  }

  Status LaunchMatrixKernels() {
    WW_TRY(Launch("straight", kSide / 32, kSide / 32, 32, 8, kSide));
    WW_TRY(Launch("padded", kSide / 32, kSide / 32, 32, 8, kSide));
    WW_TRY(Launch("accumulate", kSide / 32, kSide / 32, 32, 8, kSide));
    return Wait();
  }

  std::vector<float> Download() {
    std::vector<float> values(kElements);
    Must(cuda_->MemcpyDtoHAsync(values.data(), out_, kElements * 4, nullptr), "cuMemcpyDtoHAsync");
    Must(cuda_->CtxSynchronize(), "cuCtxSynchronize");
    return values;
  }
  // Exact in float, different in every row and column.
  static std::vector<float> Matrix() {
    std::vector<float> values(kElements);
    for (uint64_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 8191);
    return values;
  }

  CountedLaunches Count(CounterTier tier, const std::function<Status()>& launch, size_t launches) {
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = session_->Collect(tier, launch, launches);
    EXPECT_TRUE(outcome) << outcome.error().Format();
    if (!outcome) return {};
    if (const auto* no = std::get_if<CountersUnavailable>(&*outcome)) {
      ADD_FAILURE() << "unavailable: " << no->reason << "\n  remedy: " << no->remedy;
      return {};
    }
    auto counted = std::get<CountedLaunches>(*outcome);
    fmt::print("{}: tier {}, {} passes, {} unknown metrics, {:.3f} s\n", session_->chip(), static_cast<int>(tier),
               counted.passes, counted.unknown.size(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    for (const auto& name : counted.unknown) fmt::print("  unknown: {}\n", name);
    return counted;
  }
  core::LaunchReport Report(const char* kernel, const MetricValues& values) {
    const auto chip = config::LoadChip("h200");
    core::LaunchReport report;
    report.kernel = kernel;
    report.threads_per_block = 256;
    report.blocks_total = report.blocks_run = kElements / 1024;
    Fill(report, values, *chip);
    return report;
  }

  std::optional<CounterSession> session_;
};

void Print(const core::LaunchReport& report) {
  fmt::print("{}: {:.2f} us, {} bound\n", report.kernel, report.time.total_us, report.time.limiter);
  for (const auto& field : core::Fields(report.counters))
    if (report.unmeasured.count(std::string(field.name)) == 0) fmt::print("  {:32} {}\n", field.name, field.value);
  for (const auto& [name, value] : report.metrics) fmt::print("  {:90} {:.6g}\n", name, value);
  for (const auto& name : report.unmeasured) fmt::print("  unmeasured: {}\n", name);
}

TEST_F(CountersGpu, CandidateTierCountsWhatTheKernelsDo) {
  Upload(in_, Matrix());
  const auto counted = Count(CounterTier::kCandidate, [&] { return LaunchMatrixKernels(); }, 3);
  ASSERT_EQ(counted.launches.size(), 3u);
  const core::LaunchReport straight = Report("straight", counted.launches[0]),
                           padded = Report("padded", counted.launches[1]),
                           accumulate = Report("accumulate", counted.launches[2]);
  for (const auto* report : {&straight, &padded, &accumulate}) Print(*report);

  EXPECT_GT(straight.counters.shared_bank_conflicts, 10 * (padded.counters.shared_bank_conflicts + 1));
  EXPECT_GT(straight.time.total_us, padded.time.total_us) << "conflicts cost time";
  EXPECT_GT(straight.metrics.at("stall_shared_pct"), padded.metrics.at("stall_shared_pct"));
  for (const auto* report : {&straight, &padded}) {
    const core::Counters& c = report->counters;
    EXPECT_EQ(c.global_load_requests, kElements / 32) << report->kernel;
    EXPECT_EQ(c.global_load_sectors, kElements / 8) << report->kernel << ": four bytes a lane, side by side";
    EXPECT_EQ(c.global_load_bytes, 4 * kElements) << report->kernel;
    EXPECT_EQ(c.global_store_requests, kElements / 32) << report->kernel;
    EXPECT_EQ(c.global_store_bytes, 4 * kElements) << report->kernel;
    EXPECT_EQ(c.shared_requests, 2 * kElements / 32) << report->kernel;
    EXPECT_GE(c.shared_wavefronts, c.shared_requests) << report->kernel;
    EXPECT_EQ(c.flops_fp32, 0u) << report->kernel;
  }
  EXPECT_EQ(accumulate.counters.flops_fp32, kElements) << "one addition an element";
  EXPECT_EQ(accumulate.counters.global_load_bytes, 8 * kElements);
  EXPECT_EQ(accumulate.counters.global_store_bytes, 4 * kElements);
  EXPECT_EQ(accumulate.counters.shared_requests, 0u);
  EXPECT_EQ(accumulate.counters.divergent_branches, 0u);
  EXPECT_NEAR(static_cast<double>(accumulate.counters.thread_instructions) /
                  static_cast<double>(accumulate.counters.warp_instructions),
              32, 0.5);
  for (const auto* report : {&straight, &padded, &accumulate}) {
    EXPECT_GT(report->occupancy.achieved, 0.1) << report->kernel;
    EXPECT_LE(report->time.dram_us, report->time.total_us) << report->kernel;
    EXPECT_GT(report->counters.l2_read_bytes, 2 * kElements) << report->kernel;
    EXPECT_EQ(report->unmeasured.count("latency_us"), 0u) << report->kernel;
  }
}

TEST_F(CountersGpu, ReplayLeavesWhatOneRunLeaves) {
  const std::vector<float> in = Matrix();
  for (const auto tier : {CounterTier::kCore, CounterTier::kCandidate, CounterTier::kSpeedOfLight}) {
    Upload(in_, in);
    const auto counted = Count(tier, [&] { return LaunchMatrixKernels(); }, 3);
    ASSERT_EQ(counted.launches.size(), 3u);
    const std::vector<float> out = Download();
    uint64_t wrong = 0;
    for (uint64_t y = 0; y < kSide; ++y)
      for (uint64_t x = 0; x < kSide; ++x) wrong += out[y * kSide + x] != in[x * kSide + y] + in[y * kSide + x];
    EXPECT_EQ(wrong, 0u) << "of " << kElements << " elements, after " << counted.passes << " passes; out[1] is "
                         << out[1] << ", expected " << in[kSide] + in[1];
  }
}

TEST_F(CountersGpu, APlanGetsCountersAndLines) {
  Upload(in_, Matrix());
  std::vector<core::LaunchReport> reports(3);
  const char* const kernels[] = {"straight", "padded", "accumulate"};
  for (size_t i = 0; i < 3; ++i) {
    reports[i].kernel = kernels[i];
    reports[i].threads_per_block = 256;
    reports[i].blocks_total = reports[i].blocks_run = kElements / 1024;
  }
  int prepared = 0;
  const CountedRun plan{[&]() -> Status { return ++prepared, Wait(); }, [&] { return LaunchMatrixKernels(); },
                        [&] { return Load(); }, 100};
  const auto chip = config::LoadChip("h200");
  ASSERT_TRUE(chip) << chip.error().Format();
  const auto unavailable = CountPlan(*session_, CounterTier::kCandidate, *chip, compiled_, plan, reports);
  ASSERT_TRUE(unavailable) << unavailable.error().Format();
  ASSERT_FALSE(*unavailable) << (*unavailable)->reason << "\n  remedy: " << (*unavailable)->remedy;
  EXPECT_EQ(prepared, 2) << "before counting and before sampling";
  for (const auto& report : reports) {
    fmt::print("{}: {} lines\n", report.kernel, report.lines.size());
    for (const auto& line : report.lines) fmt::print("  {}:{} {} samples\n", line.file, line.line, line.samples);
    EXPECT_GT(report.counters.warp_instructions, 0u) << report.kernel;
    EXPECT_FALSE(report.lines.empty()) << report.kernel;
  }
  if (!reports[0].lines.empty() && !reports[2].lines.empty()) {
    EXPECT_NE(reports[0].lines[0].line, reports[2].lines[0].line) << "each kernel has lines of its own";
  }
}

TEST_F(CountersGpu, PassesAreAsPlanned) {
  if (session_->chip() != "GH100") GTEST_SKIP() << "the numbers are those of GH100, not " << session_->chip();
  Upload(in_, Matrix());
  const std::pair<CounterTier, size_t> rows[] = {
      {CounterTier::kCore, 1}, {CounterTier::kCandidate, 6}, {CounterTier::kSpeedOfLight, 17}};
  for (const auto& [tier, passes] : rows) {
    const auto counted = Count(tier, [&] { return LaunchMatrixKernels(); }, 3);
    EXPECT_LE(counted.passes, passes);
    const auto host = CuptiHost::Create(**LoadCupti(), session_->chip(), {}, MetricsOf(tier));
    ASSERT_TRUE(host) << host.error().Format();
    for (const auto& values : counted.launches) EXPECT_EQ(values.size(), host->metrics().size()) << "some had no value";
    for (const auto& name : counted.unknown)
      EXPECT_EQ(name.rfind("dram__", 0), std::string::npos) << name << " has another";
  }
}

TEST_F(CountersGpu, AFailingLaunchIsTheCallersError) {
  const auto failed =
      session_->Collect(CounterTier::kCore, [] { return Fail(ErrorCode::kEnvironment, "on purpose"); }, 1);
  ASSERT_FALSE(failed) << "an error of the launch must not look like counters that are unavailable";
  EXPECT_EQ(failed.error().message, "on purpose");
  const auto miscounted = session_->Collect(CounterTier::kCore, [&] { return LaunchMatrixKernels(); }, 4);
  ASSERT_TRUE(miscounted) << miscounted.error().Format();
  ASSERT_TRUE(std::holds_alternative<CountersUnavailable>(*miscounted));
  fmt::print("{}\n", std::get<CountersUnavailable>(*miscounted).reason);
  EXPECT_EQ(Count(
                CounterTier::kCore, [&] { return LaunchMatrixKernels(); }, 3)
                .launches.size(),
            3u)
      << "the session goes on";
}

TEST_F(CountersGpu, SamplingNamesTheHotLine) {
  Upload(in_, Chain());
  const auto run = [&] { return RunChase(); };
  ASSERT_TRUE(run());  // warm
  const auto outcome = session_->Sample(compiled_, {[&] { return Load(); }, run, 1000});
  ASSERT_TRUE(outcome) << outcome.error().Format();
  if (const auto* no = std::get_if<CountersUnavailable>(&*outcome))
    FAIL() << no->reason << "\n  remedy: " << no->remedy;
  const auto& sampled = std::get<SampledLines>(*outcome);
  const auto& lines = sampled.kernels.at(compiled_.Find("chase")->symbol);
  fmt::print("{} samples, {} dropped, {} not attributed, overflow {}\n", sampled.samples, sampled.dropped,
             sampled.foreign, sampled.overflow);
  uint64_t all = 0;
  for (const auto& line : lines) {
    all += line.samples;
    fmt::print("  {}:{} {} samples:", line.file, line.line, line.samples);
    for (const auto& [reason, count] : line.stalls) fmt::print(" {} {}", reason, count);
    fmt::print("\n");
  }
  ASSERT_FALSE(lines.empty()) << "no samples of the kernel";
  EXPECT_EQ(lines[0].file, "src/kernels.cu");
  // The wait shows where the loaded value is used: in the load's own line, for the next step's address is made from it.
  EXPECT_EQ(lines[0].line, HotLine(std::string(kSource) + kChase));
  EXPECT_GT(lines[0].samples, all / 2);
  EXPECT_GT(lines[0].stalls.count("long_scoreboard") != 0 ? lines[0].stalls.at("long_scoreboard") : 0,
            lines[0].samples / 2);
  EXPECT_EQ(Count(CounterTier::kCore, run, 1).launches.size(), 1u) << "counting goes on after sampling";
}

// One module after the other, with kernels of one name: each one's samples lead to its own lines.
TEST_F(CountersGpu, LinesAreThoseOfTheModuleThatWasSampled) {
  Upload(in_, Chain());
  const std::string sources[] = {std::string(kSource) + kChase, std::string("\n\n") + kChase,
                                 std::string("\n\n\n\n") + kSource + kChase};
  for (const std::string& source : sources) {
    while (!modules_.empty()) Unload();
    Compile(source.c_str(), {"chase"});
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_TRUE(Load());
    const auto outcome = session_->Sample(compiled_, {[&] { return Load(); }, [&] { return RunChase(); }, 1000});
    ASSERT_TRUE(outcome) << outcome.error().Format();
    const auto& sampled = std::get<SampledLines>(*outcome);
    const auto lines = sampled.kernels.find(compiled_.Find("chase")->symbol);
    uint64_t hot = 0;
    if (lines != sampled.kernels.end())
      for (const auto& line : lines->second) hot += line.line == HotLine(source) ? line.samples : 0;
    fmt::print("{} samples, {} in the hot line\n", sampled.samples, hot);
    EXPECT_GT(2 * hot, sampled.samples);
  }
}

}  // namespace
}  // namespace warpwright::gpu
