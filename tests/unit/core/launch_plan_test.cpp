#include "core/launch_plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace warpwright {
namespace {

LaunchPlan ValidPlan() {
  LaunchPlan plan;
  plan.buffers = {{PlanBuffer::Kind::kArgument, "out", 4096}, {PlanBuffer::Kind::kWorkspace, "workspace 0", 256}};
  KernelLaunch launch;
  launch.kernel = "k<float>";
  launch.grid = {4, 1, 1};
  launch.block = {256, 1, 1};
  launch.parameters = {{std::vector<std::byte>(8), {{0, {0, 4096}}}}, {std::vector<std::byte>(4), {}}};
  plan.ops = {launch, MemsetOp{{0, 0}, 0, 4, 4096, 0}, CopyOp{{1, 0}, {0, 128}, 256, 0}};
  return plan;
}

struct BadPlan {
  const char* name;
  std::function<void(LaunchPlan&)> spoil;
  const char* message;
};
class BadPlans : public testing::TestWithParam<BadPlan> {};

TEST(LaunchPlan, ValidIsAccepted) { EXPECT_TRUE(ValidatePlan(ValidPlan())); }

TEST(LaunchPlan, SetUpMayPrepareWorkspaces) {
  LaunchPlan plan = ValidPlan();
  plan.setup = {MemsetOp{{1, 0}, 0, 4, 256, 0}};
  EXPECT_TRUE(ValidatePlan(plan));
}

TEST_P(BadPlans, AreRefused) {
  LaunchPlan plan = ValidPlan();
  GetParam().spoil(plan);
  const Status status = ValidatePlan(plan);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find(GetParam().message), std::string::npos) << status.error().message;
}
KernelLaunch& Launch(LaunchPlan& plan) { return std::get<KernelLaunch>(plan.ops[0]); }
INSTANTIATE_TEST_SUITE_P(
    All, BadPlans,
    testing::Values(
        BadPlan{"threads", [](LaunchPlan& p) { Launch(p).block = {1024, 2, 1}; }, "1,024 threads"},
        BadPlan{"empty", [](LaunchPlan& p) { Launch(p).grid.x = 0; }, "empty grid"},
        BadPlan{"grid", [](LaunchPlan& p) { Launch(p).grid.y = 70000; }, "beyond the limits"},
        BadPlan{"name", [](LaunchPlan& p) { Launch(p).kernel.clear(); }, "kernel name"},
        BadPlan{"buffer", [](LaunchPlan& p) { Launch(p).parameters[0].pointers[0].buffer = 2; }, "unknown buffer"},
        BadPlan{"inside", [](LaunchPlan& p) { Launch(p).parameters[1].pointers[0] = {0, 0}; }, "outside its parameter"},
        BadPlan{"memset", [](LaunchPlan& p) { std::get<MemsetOp>(p.ops[1]).destination.offset = 4; }, "leaves the buffer"},
        BadPlan{"negative", [](LaunchPlan& p) { std::get<MemsetOp>(p.ops[1]).destination.offset = -4; }, "leaves the buffer"},
        BadPlan{"unit", [](LaunchPlan& p) { std::get<MemsetOp>(p.ops[1]).unit = 3; }, "unknown width"},
        BadPlan{"huge", [](LaunchPlan& p) { std::get<CopyOp>(p.ops[2]).bytes = ~0ull; }, "leaves the buffer"},
        BadPlan{"many", [](LaunchPlan& p) { p.ops.resize(5000, p.ops[1]); }, "4,096 operations"},
        BadPlan{"prepared_launch", [](LaunchPlan& p) { p.setup = {p.ops[0]}; }, "works on its arguments"},
        BadPlan{"prepared_memset", [](LaunchPlan& p) { p.setup = {p.ops[1]}; }, "works on its arguments"},
        BadPlan{"prepared_copy", [](LaunchPlan& p) { p.setup = {p.ops[2]}; }, "works on its arguments"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpwright
