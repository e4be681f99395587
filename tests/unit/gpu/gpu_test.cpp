#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "config/chip_file.h"
#include "config/gpu_chip.h"
#include "gpu/context.h"
#include "gpu/execution.h"
#include "gpu/lease.h"
#include "gpu/module.h"

namespace warpwright {
namespace {

using gpu::DescribeLaunch;
using gpu::FindPtxVariables;
using gpu::GpuIndex;
using gpu::Lease;

struct IndexRow {
  const char* name;
  int index;  // -1: refused
};
class GpuIndexTest : public testing::TestWithParam<IndexRow> {};
TEST_P(GpuIndexTest, Reads) {
  const auto index = GpuIndex(GetParam().name);
  EXPECT_EQ(index.value_or(-1), GetParam().index);
}
INSTANTIATE_TEST_SUITE_P(All, GpuIndexTest,
                         testing::Values(IndexRow{"cuda", 0}, IndexRow{"cuda:0", 0}, IndexRow{"cuda:12", 12},
                                         IndexRow{"cuda:", -1}, IndexRow{"cuda:-1", -1}, IndexRow{"cuda:1x", -1},
                                         IndexRow{"gpu", -1}, IndexRow{"", -1}));

struct VariablesRow {
  const char* what;
  const char* ptx;
  std::vector<std::string> global, constant;
};
class PtxVariablesTest : public testing::TestWithParam<VariablesRow> {};
TEST_P(PtxVariablesTest, Finds) {
  const auto found = FindPtxVariables(GetParam().ptx);
  EXPECT_EQ(found.global, GetParam().global) << GetParam().what;
  EXPECT_EQ(found.constant, GetParam().constant) << GetParam().what;
}
INSTANTIATE_TEST_SUITE_P(
    All, PtxVariablesTest,
    testing::Values(
        VariablesRow{"a counter",
                     ".version 9.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 counter;\n",
                     {"counter"},
                     {}},
        VariablesRow{"an array", ".global .align 16 .b8 table[4096];\n", {"table"}, {}},
        VariablesRow{"with braces in its initializer",
                     ".global .align 4 .b8 t[4] = {1, 2, 3, 4};\n.global .align 4 .f32 s = 0f3F800000;\n",
                     {"t", "s"},
                     {}},
        VariablesRow{"constants", ".const .align 4 .b8 taps[36];\n", {}, {"taps"}},
        VariablesRow{"what is declared in a function is not at module scope",
                     ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<2>;\n.shared .align 4 .b8 "
                     "s[16];\nld.global.u32 %r1, [%rd1];\nret;\n}\n"
                     ".global .align 4 .u32 later;\n",
                     {"later"},
                     {}},
        VariablesRow{
            "in comments and strings",
            "// .global .u32 a;\n.file 1 \"x; .global .u32 b;\"\n.global .align 4 .u32 c; // .global .u32 d;\n",
            {"c"},
            {}},
        VariablesRow{"shared memory of the module", ".extern .shared .align 16 .b8 dynamic[];\n", {}, {}}));

// Another process that takes a lease of `uuid`, says so, and ends when it is told to, without giving it back.
class OtherHolder {
 public:
  OtherHolder(const std::string& uuid, Lease::Use use) {
    int told[2], go[2];
    if (::pipe(told) != 0 || ::pipe(go) != 0) ::abort();
    child_ = ::fork();
    if (child_ == 0) {
      auto lease = Lease::Open(uuid);
      if (!lease) ::_exit(1);
      auto held = lease->Take(use, {});
      if (!held) ::_exit(2);
      char byte = 'h';
      if (::write(told[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(3);
      ::_exit(0);
    }
    told_ = told[0];
    go_ = go[1];
  }
  ~OtherHolder() {
    End();
    int status = 0;
    ::waitpid(child_, &status, 0);
    EXPECT_EQ(status, 0);
  }
  void AwaitItHolds() {
    char byte = 0;
    ASSERT_EQ(::read(told_, &byte, 1), 1);
  }
  void End() {
    if (std::exchange(ended_, true)) return;
    ASSERT_EQ(::write(go_, "g", 1), 1);
  }

 private:
  pid_t child_ = 0;
  int told_ = -1, go_ = -1;
  bool ended_ = false;
};

class LeaseTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* folder : {"/run/lock", "/tmp"})
      for (const char* file : {".lock", ".seat0", ".seat1", ".seat2", ".seat3"})
        ::unlink((std::string(folder) + "/warpwright-gpu-" + uuid_ + file).c_str());
  }
  const std::string uuid_ = "test-" + std::to_string(::getpid());
};

struct LeaseRow {
  Lease::Use held, asked;
  bool waits;
};
class LeaseUseTest : public LeaseTest, public testing::WithParamInterface<LeaseRow> {};
TEST_P(LeaseUseTest, WaitsForOthersUntilTheyEnd) {
  auto lease = Lease::Open(uuid_);
  ASSERT_TRUE(lease) << lease.error().Format();
  OtherHolder other(uuid_, GetParam().held);
  other.AwaitItHolds();
  bool waited = false;
  {
    const auto held = lease->Take(GetParam().asked, [&] {
      waited = true;
      other.End();
    });
    ASSERT_TRUE(held);
  }
  EXPECT_EQ(waited, GetParam().waits);
  other.End();
  waited = false;
  if (!GetParam().waits) return;
  const auto again = lease->Take(GetParam().asked, [&] { waited = true; });
  EXPECT_TRUE(again);
  EXPECT_FALSE(waited) << "it was given back";
}
INSTANTIATE_TEST_SUITE_P(All, LeaseUseTest,
                         testing::Values(LeaseRow{Lease::Use::kAlone, Lease::Use::kAlone, true},
                                         LeaseRow{Lease::Use::kAlone, Lease::Use::kShared, true},
                                         LeaseRow{Lease::Use::kShared, Lease::Use::kAlone, true},
                                         LeaseRow{Lease::Use::kShared, Lease::Use::kShared, false}));

TEST_F(LeaseTest, HasAsManySeatsAsItSaysAndNoMore) {
  std::vector<std::unique_ptr<OtherHolder>> others;
  for (int i = 0; i < gpu::kLeaseSeats; ++i) {
    others.push_back(std::make_unique<OtherHolder>(uuid_, Lease::Use::kShared));
    others.back()->AwaitItHolds();
  }
  auto lease = Lease::Open(uuid_);
  ASSERT_TRUE(lease) << lease.error().Format();
  bool waited = false;
  const auto held = lease->Take(Lease::Use::kShared, [&] {
    waited = true;
    for (auto& other : others) other->End();
  });
  EXPECT_TRUE(held);
  EXPECT_TRUE(waited);
}

TEST(ChipOf, TakesTheListedChipByItsName) {
  core::GpuFacts gpu;
  gpu.name = "NVIDIA H200";
  gpu.compute_major = 9;
  const auto chip = config::ChipOf(gpu);
  ASSERT_TRUE(chip);
  EXPECT_EQ(chip->id, "h200");
}

TEST(ChipOf, ScalesTheFiguresOfItsArchitectureForOneThatIsNotListed) {
  core::GpuFacts gpu;
  gpu.name = "NVIDIA H20 (test)";
  gpu.compute_major = 9;
  gpu.multiprocessors = 66;
  gpu.clock_khz = 1'500'000;
  gpu.l2_bytes = 30 << 20;
  gpu.memory_clock_khz = 2'000'000;
  gpu.bus_width_bits = 4096;
  const auto chip = config::ChipOf(gpu), h200 = config::LoadChip("h200");
  ASSERT_TRUE(chip && h200);
  EXPECT_EQ(chip->id, "nvidia-h20-test");
  EXPECT_EQ(chip->multiprocessors, 66);
  EXPECT_DOUBLE_EQ(chip->clock_ghz, 1.5);
  EXPECT_DOUBLE_EQ(chip->l2_bytes_per_second, h200->l2_bytes_per_second / 2);
  EXPECT_NEAR(chip->dram_bytes_per_second, 0.89 * 2.048e12, 1e9);
}

TEST(ChipOf, KnowsNothingOfOtherArchitectures) {
  core::GpuFacts gpu;
  gpu.name = "NVIDIA Old";
  gpu.compute_major = 3;
  const auto chip = config::ChipOf(gpu);
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, ErrorCode::kEnvironment);
}

// Evidence is derived from it: a grid wrongly reported as not filling the chip misleads the planner.
TEST(DescribeLaunch, SaysHowTheGridFillsTheChip) {
  const auto chip = config::LoadChip("h200");
  ASSERT_TRUE(chip);
  core::KernelResources resources;
  resources.registers = 32;
  resources.static_shared_bytes = 1024;
  core::KernelLaunch launch;
  launch.kernel = "k";
  launch.block = {256, 1, 1};
  launch.dynamic_shared_bytes = 1024;
  struct Row {
    uint32_t grid;
    double waves;
    core::OccupancyLimiter limiter;
  };
  for (const Row& row : {Row{132, 0.125, core::OccupancyLimiter::kGrid}, Row{1056, 1, core::OccupancyLimiter::kWarps},
                         Row{10560, 10, core::OccupancyLimiter::kWarps}}) {
    launch.grid = {row.grid, 1, 1};
    const core::LaunchReport report = DescribeLaunch(*chip, launch, &resources);
    EXPECT_EQ(report.threads_per_block, 256);
    EXPECT_EQ(report.blocks_total, row.grid);
    EXPECT_EQ(report.shared_bytes_per_block, 2048u);
    EXPECT_EQ(report.occupancy.blocks_per_multiprocessor, 8);
    EXPECT_DOUBLE_EQ(report.occupancy.theoretical, 1);
    EXPECT_DOUBLE_EQ(report.occupancy.waves, row.waves);
    EXPECT_EQ(report.occupancy.limiter, row.limiter);
  }
  EXPECT_EQ(DescribeLaunch(*chip, launch, nullptr).occupancy.waves, 0);
}

}  // namespace
}  // namespace warpwright
