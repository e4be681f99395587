// lift on an evaluator with prepared answers.
#include "app/lift.h"

#include <future>
#include <memory>
#include <utility>

#include "tests/unit/app/app_bench.h"

namespace warpwright {
namespace {

class LiftingDevice final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override { return Unused(); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest&) override { return Unused(); }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override { return Unused(); }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override { return Unused(); }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override { return Unused(); }
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request) override {
    requests.push_back(request);
    if (request.spec.name == failing) return Fail(ErrorCode::kEnvironment, "the worker is missing");
    if (request.spec.name == blocked) return core::LiftOutcome(core::NotLifted{"branch on data", "line 3", true});
    return core::LiftOutcome(core::Lifted{.computation = {}, .shapes = 3, .verified = true});
  }

  std::vector<core::LiftRequest> requests;
  std::string failing, blocked;

 private:
  static tl::unexpected<Error> Unused() { return Fail(ErrorCode::kUnsupported, "only lifting is asked for"); }
};

class LiftTest : public AppTest {
 protected:
  app::JudgingServices Services() {
    app::JudgingServices services{.trusted = lifting_, .toolchain = toolchain()};
    services.progress.step = [this](const std::string& text) { steps_.push_back(text); };
    return services;
  }
  LiftingDevice lifting_;
  std::vector<std::string> steps_;
};

TEST_F(LiftTest, AsksForEveryKernelOfTheWorkingTree) {
  CommitKernels({"a", "b"});
  repository_.Write("b.cu", "// edited\n");
  lifting_.blocked = "b";
  std::vector<std::string> told;
  const auto kernels = app::LiftKernels(Open(), Services(), [&](const app::LiftedKernel& kernel) {
    told.push_back(kernel.spec.name + (kernel.lifted() != nullptr ? " lifted" : " not lifted"));
  });
  ASSERT_TRUE(kernels) << kernels.error().Format();
  EXPECT_EQ(told, (std::vector<std::string>{"a lifted", "b not lifted"}));
  EXPECT_EQ(steps_, (std::vector<std::string>{"lifting a", "lifting b"}));
  ASSERT_EQ(kernels->size(), 2u);
  ASSERT_EQ(lifting_.requests.size(), 2u);
  for (const core::LiftRequest& request : lifting_.requests) {
    EXPECT_EQ(request.device, "sim:h200");
    EXPECT_GT(request.shapes.size(), 3u) << "for unification and a check";
    EXPECT_LE(request.shapes.size(), 9u);
    for (const core::LiftShape& shape : request.shapes) EXPECT_EQ(shape.buffers.size(), 2u);
  }
  EXPECT_EQ(lifting_.requests[1].source.text, "// edited\n");
  EXPECT_EQ(lifting_.requests[1].source.file, "b.cu");
}

TEST_F(LiftTest, OnlyTheWantedKernels) {
  CommitKernels({"a", "b", "c"});
  const auto kernels = app::LiftKernels(Open({"b"}), Services());
  ASSERT_TRUE(kernels) << kernels.error().Format();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ(kernels->at(0).spec.name, "b");
  EXPECT_EQ(app::LiftKernels(Open({"d"}), Services()).error().code, ErrorCode::kUsage);
}

TEST_F(LiftTest, FailuresOfTheWorkerAndTheToolchainAreErrors) {
  CommitKernels({"a"});
  lifting_.failing = "a";
  EXPECT_EQ(app::LiftKernels(Open(), Services()).error().message, "the worker is missing");
  toolchain_ = Fail(ErrorCode::kEnvironment, "no NVRTC");
  lifting_.requests.clear();
  EXPECT_EQ(app::LiftKernels(Open(), Services()).error().message, "no NVRTC");
  EXPECT_TRUE(lifting_.requests.empty());
}

TEST_F(LiftTest, AGpuWithoutAChipFileIsStoodInFor) {
  CommitKernels({"a"});
  const app::Workspace workspace = Open();
  const core::KernelSpec spec = workspace.ManifestOfWorkingTree()->kernels.at(0);
  app::TargetDevice device{.name = "cuda", .chip = {}, .gpu = core::GpuFacts()};
  for (const auto& [chip, simulated] : {std::pair("a100", "sim:a100"), {"some_other", "sim:h200"}, {"", "sim:h200"}}) {
    device.chip.id = chip;
    ASSERT_TRUE(app::LiftKernel(device, spec, {"/", "a.cu", ""}, lifting_, {.seconds = 7}));
    EXPECT_EQ(lifting_.requests.back().device, simulated);
    EXPECT_EQ(lifting_.requests.back().seconds_limit, 7);
  }
}

TEST_F(LiftTest, NothingIsAskedWithoutAShape) {
  CommitKernels({"a"});
  const app::Workspace workspace = Open();
  const core::KernelSpec spec = workspace.ManifestOfWorkingTree()->kernels.at(0);
  const auto outcome = app::LiftKernel(workspace.device(), spec, {"/", "a.cu", ""}, lifting_, {.bytes = 1});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<core::NotLifted>(*outcome).blocker, "no shape");
  EXPECT_TRUE(lifting_.requests.empty());
}

// Ends when it is abandoned, as a worker does that is killed.
class EndlessDevice final : public core::Evaluator {
 public:
  explicit EndlessDevice(std::shared_future<void> abandoned) : abandoned_(std::move(abandoned)) {}
  Result<core::Inspection> Inspect(const core::SourceRef&) override { return Ended(); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest&) override { return Ended(); }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override { return Ended(); }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override { return Ended(); }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override { return Ended(); }
  Result<core::LiftOutcome> Lift(const core::LiftRequest&) override { return Ended(); }

 private:
  tl::unexpected<Error> Ended() const {
    abandoned_.wait();
    return Fail(ErrorCode::kEnvironment, "the worker was ended");
  }
  std::shared_future<void> abandoned_;
};

TEST_F(LiftTest, WhatTakesTooLongBesideATaskIsGivenUp) {
  CommitKernels({"a"});
  const app::Workspace workspace = Open();
  const core::KernelSpec spec = workspace.ManifestOfWorkingTree()->kernels.at(0);
  const core::SourceRef source{"/", "a.cu", ""};
  const app::TargetDevice device;
  std::promise<void> abandon;
  const std::shared_future<void> ends = abandon.get_future().share();
  bool abandoned = false;
  int started = 0;
  const core::ProcessSource another = [&]() -> Result<core::OtherProcess> {
    ++started;
    return core::OtherProcess{std::make_unique<EndlessDevice>(ends), [&] {
                                if (!std::exchange(abandoned, true)) abandon.set_value();
                              }};
  };
  app::LiftOnce lifted(device, spec, source, lifting_, another, std::chrono::seconds(0));
  const auto outcome = lifted.Get();
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<core::NotLifted>(*outcome));
  EXPECT_EQ(std::get<core::NotLifted>(*outcome).blocker, "time limit");
  EXPECT_TRUE(lifting_.requests.empty());
  // The segments of its launcher are another process's.
  EXPECT_EQ(started, 2);
  const auto segments = lifted.GetSegments();
  ASSERT_TRUE(segments);
  EXPECT_TRUE(segments->empty());
}

TEST_F(LiftTest, TasksOfManyMinutesHaveMoreForIt) {
  CommitKernels({"a"});
  const app::Workspace workspace = Open();
  const core::KernelSpec spec = workspace.ManifestOfWorkingTree()->kernels.at(0);
  const core::SourceRef source{"/", "a.cu", ""};
  const app::TargetDevice device;
  for (const auto& [longest_s, processor_s] : {std::pair{25, 20.0}, {100, 50.0}, {600, 120.0}}) {
    lifting_.requests.clear();
    app::LiftOnce lifted(device, spec, source, lifting_, nullptr, std::chrono::seconds(longest_s));
    ASSERT_TRUE(lifted.Get());
    ASSERT_FALSE(lifting_.requests.empty());
    EXPECT_EQ(lifting_.requests.front().seconds_limit, processor_s) << longest_s;
  }
}

}  // namespace
}  // namespace warpwright
