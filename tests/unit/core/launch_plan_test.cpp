#include "core/launch_plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace warpwright {
namespace {

core::LaunchPlan ValidPlan() {
  core::LaunchPlan plan;
  plan.buffers = {{core::PlanBuffer::Kind::kArgument, "out", 4096},
                  {core::PlanBuffer::Kind::kWorkspace, "workspace 0", 256}};
  core::KernelLaunch launch;
  launch.kernel = "k<float>";
  launch.grid = {4, 1, 1};
  launch.block = {256, 1, 1};
  launch.parameters = {{std::vector<std::byte>(8), {{0, {0, 4096}}}}, {std::vector<std::byte>(4), {}}};
  plan.ops = {launch, core::MemsetOp{{0, 0}, 0, 4, 4096, 0}, core::CopyOp{{1, 0}, {0, 128}, 256, 0},
              core::SymbolCopyOp{"table", 0, {0, 128}, 256, 0, true}};
  return plan;
}

struct BadPlan {
  const char* name;
  std::function<void(core::LaunchPlan&)> spoil;
  const char* message;
};
class BadPlans : public testing::TestWithParam<BadPlan> {};

TEST(LaunchPlan, ValidIsAccepted) { EXPECT_TRUE(core::ValidatePlan(ValidPlan())); }

TEST(LaunchPlan, SetUpMayPrepareWorkspaces) {
  core::LaunchPlan plan = ValidPlan();
  plan.setup = {core::MemsetOp{{1, 0}, 0, 4, 256, 0}, core::SymbolCopyOp{"table", 0, {1, 0}, 256, 0, true},
                core::SymbolUploadOp{"table", 0, std::vector<std::byte>(4), 0}, core::EventOp{}};
  EXPECT_TRUE(core::ValidatePlan(plan));
}

TEST_P(BadPlans, AreRefused) {
  core::LaunchPlan plan = ValidPlan();
  GetParam().spoil(plan);
  const Status status = core::ValidatePlan(plan);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find(GetParam().message), std::string::npos) << status.error().message;
}
core::KernelLaunch& Launch(core::LaunchPlan& plan) { return std::get<core::KernelLaunch>(plan.ops[0]); }
core::SymbolCopyOp& SymbolCopy(core::LaunchPlan& plan) { return std::get<core::SymbolCopyOp>(plan.ops[3]); }
INSTANTIATE_TEST_SUITE_P(
    All, BadPlans,
    testing::Values(
        BadPlan{"threads", [](core::LaunchPlan& p) { Launch(p).block = {1024, 2, 1}; }, "1,024 threads"},
        BadPlan{"empty", [](core::LaunchPlan& p) { Launch(p).grid.x = 0; }, "empty grid"},
        BadPlan{"grid", [](core::LaunchPlan& p) { Launch(p).grid.y = 70000; }, "beyond the limits"},
        BadPlan{"name", [](core::LaunchPlan& p) { Launch(p).kernel.clear(); }, "kernel name"},
        BadPlan{"buffer", [](core::LaunchPlan& p) { Launch(p).parameters[0].pointers[0].buffer = 2; },
                "unknown buffer"},
        BadPlan{"inside", [](core::LaunchPlan& p) { Launch(p).parameters[1].pointers[0] = {0, 0}; },
                "outside its parameter"},
        BadPlan{"memset", [](core::LaunchPlan& p) { std::get<core::MemsetOp>(p.ops[1]).destination.offset = 4; },
                "leaves the buffer"},
        BadPlan{"negative", [](core::LaunchPlan& p) { std::get<core::MemsetOp>(p.ops[1]).destination.offset = -4; },
                "leaves the buffer"},
        BadPlan{"unit", [](core::LaunchPlan& p) { std::get<core::MemsetOp>(p.ops[1]).unit = 3; }, "unknown width"},
        BadPlan{"huge", [](core::LaunchPlan& p) { std::get<core::CopyOp>(p.ops[2]).bytes = ~0ull; },
                "leaves the buffer"},
        BadPlan{"symbol_copy", [](core::LaunchPlan& p) { SymbolCopy(p).bytes = 4000; }, "leaves the buffer"},
        BadPlan{"symbol_copy_from", [](core::LaunchPlan& p) { SymbolCopy(p) = {"table", 0, {1, -4}, 4, 0, false}; },
                "leaves the buffer"},
        BadPlan{"symbol_copy_buffer", [](core::LaunchPlan& p) { SymbolCopy(p).buffer.buffer = 2; }, "unknown buffer"},
        BadPlan{"symbol_copy_name", [](core::LaunchPlan& p) { SymbolCopy(p).symbol.clear(); }, "without a name"},
        BadPlan{"many", [](core::LaunchPlan& p) { p.ops.resize(5000, p.ops[1]); }, "4,096 operations"},
        BadPlan{"prepared_launch", [](core::LaunchPlan& p) { p.setup = {p.ops[0]}; }, "works on its arguments"},
        BadPlan{"prepared_memset", [](core::LaunchPlan& p) { p.setup = {p.ops[1]}; }, "works on its arguments"},
        BadPlan{"prepared_copy", [](core::LaunchPlan& p) { p.setup = {p.ops[2]}; }, "works on its arguments"},
        BadPlan{"prepared_symbol_copy", [](core::LaunchPlan& p) { p.setup = {p.ops[3]}; }, "works on its arguments"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpwright
