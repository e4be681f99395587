// The model against the chip: kernels whose time on an H200 was measured (calibration/).
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "base/file.h"
#include "tests/unit/sim_model/run_kernel.h"

namespace warpwright {
namespace {

struct Row {
  std::string kernel;
  uint32_t grid_x, grid_y, block_x, block_y;
  int n, c;
  size_t out, a, b;  // elements
};
constexpr double kEventOverheadUs = 1.7;  // of the measurements, beyond launch_overhead_us
constexpr uint64_t kBudget = 4'000'000;   // thread instructions per case

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
#define CASE(kernel, gx, gy, bx, by, n, c, out, a, b) {#kernel, gx, gy, bx, by, n, c, out, a, b},
#include "tests/unit/sim_model/calibration/cases.inc"
#undef CASE
  };
  return rows;
}

std::string Key(const Row& row) {
  std::ostringstream key;
  key << row.kernel << ',' << row.grid_x << ',' << row.grid_y << ',' << row.block_x << ',' << row.block_y << ','
      << row.n << ',' << row.c;
  return key.str();
}

// Measured microseconds by key.
std::map<std::string, double> Measured() {
  std::map<std::string, double> times;
  std::ifstream file(std::string(WW_SOURCE_DIR) + "/tests/unit/sim_model/calibration/h200.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const size_t last = line.rfind(','), before = line.rfind(',', last - 1);
    times[line.substr(0, before)] = std::stod(line.substr(last + 1)) - kEventOverheadUs;
  }
  return times;
}

core::LaunchReport Model(core::Device& device, const core::CompiledModule& module, const Row& row) {
  static std::vector<std::byte> kept[3];  // 400 MB of zeroes for the largest rows: allocated once, not for every row
  const size_t elements[] = {row.out, row.a, row.b};
  TestRun run;
  for (int i = 0; i < 3; ++i) {
    kept[i].resize(elements[i] * 4);
    run.Buffer(std::string(1, "oab"[i]), std::move(kept[i]));
  }
  run.contents[0].read_only = false;
  run.Launch(
      row.kernel, {row.grid_x, row.grid_y, 1}, {row.block_x, row.block_y, 1},
      {TestRun::Pointer(0), TestRun::Pointer(1), TestRun::Pointer(2), TestRun::Value(row.n), TestRun::Value(row.c)});
  run.options.counters = true;
  run.options.keep_outputs = false;
  run.options.sample_instructions = kBudget;
  const core::DeviceRun result = run.MustRun(device, module);
  for (int i = 0; i < 3; ++i) kept[i] = run.contents[static_cast<size_t>(i)].bytes.Copy();
  return result.launches.empty() ? core::LaunchReport{} : result.launches[0];
}

TEST(Calibration, ModelledTimesFollowMeasuredOnes) {
  auto source = base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/unit/sim_model/calibration/kernels.cu");
  ASSERT_TRUE(source);
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.push_back(row.kernel);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const core::CompiledModule module = CompileForTest(*source, names, "sm_90");
  const auto device = sim::MakeSimDevice(*config::LoadChip("h200"));
  const std::map<std::string, double> measured = Measured();

  double sum = 0;
  std::map<std::string, double> modelled;
  for (const Row& row : Rows()) {
    ASSERT_TRUE(measured.count(Key(row))) << Key(row);
    const core::LaunchReport report = Model(*device, module, row);
    const double real = measured.at(Key(row)), model = report.time.total_us, error = std::log(model / real);
    modelled[Key(row)] = model;
    sum += std::fabs(error);
    std::printf("%-46s measured %8.1f modelled %8.1f  x%.2f  %s\n", Key(row).c_str(), real, model, model / real,
                report.time.limiter.c_str());
    if (std::getenv("WW_MODEL_DETAILS")) {
      const core::TimeBreakdown& t = report.time;
      std::printf(
          "    dram %.1f l2 %.1f l1 %.1f shared %.1f issue %.1f fp32 %.1f fp64 %.1f int %.1f sfu %.1f latency %.1f "
          "atomic %.1f over %.1f; blocks %lu of %lu occ %.2f\n",
          t.dram_us, t.l2_us, t.l1_us, t.shared_us, t.issue_us, t.fp32_us, t.fp64_us, t.integer_us, t.sfu_us,
          t.latency_us, t.atomic_us, t.overhead_us, static_cast<unsigned long>(report.blocks_run),
          static_cast<unsigned long>(report.blocks_total), report.occupancy.theoretical);
    }
    EXPECT_LT(std::fabs(error), std::log(1.6)) << Key(row);
  }
  const double typical = std::exp(sum / static_cast<double>(Rows().size()));
  std::printf("typical factor between modelled and measured: %.2f\n", typical);
  EXPECT_LT(typical, 1.2);

  // Variants of the same work must be ranked as the chip ranks them, whenever they differ by more than 30 %.
  int pairs = 0;
  for (const Row& x : Rows())
    for (const Row& y : Rows()) {
      if (x.n != y.n || x.c != y.c || x.out != y.out || x.kernel.substr(0, 4) != y.kernel.substr(0, 4)) continue;
      if (measured.at(Key(x)) * 1.3 > measured.at(Key(y))) continue;
      ++pairs;
      EXPECT_LT(modelled[Key(x)], modelled[Key(y)]) << Key(x) << " against " << Key(y);
    }
  EXPECT_GT(pairs, 12);
}

}  // namespace
}  // namespace warpwright
