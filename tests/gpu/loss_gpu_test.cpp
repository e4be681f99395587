// A real GPU is taken away in the middle of an optimization (tests/gpu/lose_gpu.cpp, loaded before the candidates'
// worker), and given back.
//
//   WW_WORKER    warpwright-worker; unless given, that of the build folder, or the one beside this program
//   WW_LOSE_GPU  liblose_gpu.so; unless given, the one beside this program
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "config/gpu_chip.h"
#include "config/manifest.h"
#include "gpu/context.h"
#include "search/refine.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = R"(version: 1
kernels:
  - name: row_sum
    file: row_sum.cu
    entry: row_sum
    args:
      out: {buffer: f32, shape: [N], role: out}
      x: {buffer: f32, shape: [N, C], role: in}
      N: {scalar: i32}
      C: {scalar: i32}
    cases:
      - {N: 2048, C: 4096}
)";
constexpr const char* kSource = R"(#include <cuda_runtime.h>

__global__ void row_sum_kernel(float* out, const float* x, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0.0f;
  for (int i = 0; i < C; ++i) sum += x[(size_t)row * C + i];
  out[row] = sum;
}

void row_sum(float* out, const float* x, int N, int C) {
  row_sum_kernel<<<(N + 127) / 128, 128>>>(out, x, N, C);
}
)";

fs::path Program(const char* variable, const fs::path& built, const char* name) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') return given;
  std::error_code error;
  if (fs::exists(built, error)) return built;
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

// Passes on, and keeps what was executed.
class Watched final : public core::Evaluator {
 public:
  explicit Watched(core::Evaluator& inner) : inner_(inner) {}
  Result<core::Inspection> Inspect(const core::SourceRef& source) override { return inner_.Inspect(source); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override { return inner_.Rewrite(request); }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override { return inner_.Splice(request); }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    executed.insert(base::Sha256(request.source.text));
    return inner_.Execute(request);
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override { return inner_.Time(request); }

  std::set<std::string> executed;  // hashes

 private:
  core::Evaluator& inner_;
};

class NoExperience final : public memory::ExperienceStore {
 public:
  Status Append(const memory::Experience&) override { return {}; }
  Result<memory::ExperienceMatches> Query(const memory::ExperienceKey&) override { return memory::ExperienceMatches{}; }
};

struct Outcome {
  Result<search::RefineResult> refined = Fail(ErrorCode::kIo, "not run");
  memory::TrajectoryView view;
  std::set<std::string> executed;
  int evaluations = 0;  // that were finished with a verdict, as it was said
};

class LossGpu : public testing::Test {
 protected:
  void SetUp() override {
    auto context = gpu::Context::Create(0);
    if (!context) GTEST_SKIP() << context.error().Format();
    facts_ = context->facts();
    chip_ = context->chip();
    worker_ = Program("WW_WORKER", fs::path(WW_BINARY_DIR) / "daemon/cli/warpwright-worker", "warpwright-worker");
    const fs::path library =
        Program("WW_LOSE_GPU", fs::path(WW_BINARY_DIR) / "tests/gpu/liblose_gpu.so", "liblose_gpu.so");
    for (const fs::path& needed : {worker_, library}) ASSERT_TRUE(fs::exists(needed)) << needed << " is missing";
    for (const char* folder : {"tree", "cache"}) fs::create_directories(folder_->path() / folder);
    ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "tree" / config::kManifestName, kManifest));
    ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "tree/row_sum.cu", kSource));
    // The worker's environment is minimal: what the library wants is set here.
    const fs::path wrapper = folder_->path() / "worker.sh";
    ASSERT_TRUE(base::WriteFileAtomically(
        wrapper, fmt::format("#!/bin/sh\nexport LD_PRELOAD='{}' WW_LOSE_FILE='{}' WW_LOSE_AT=100 "
                             "WW_LOSE_WITH=${{WW_LOSE_WITH:-214}}\nexec '{}' \"$@\"\n",
                             library.string(), Lost().string(), worker_.string())));
    ASSERT_EQ(::chmod(wrapper.c_str(), 0755), 0);
    losing_ = wrapper;
  }

  // In the cache, which the worker's sandbox can see.
  fs::path Lost() const { return folder_->path() / "cache" / "lost"; }

  worker::WorkerCommand Command(const fs::path& program) const {
    worker::WorkerCommand command;
    command.argv = {program.string(),
                    "--cache",
                    (folder_->path() / "cache").string(),
                    "--readable",
                    (folder_->path() / "tree").string(),
                    "--gpu"};
    command.log = folder_->path() / "worker.log";
    return command;
  }

  // As a process of its own would. The GPU goes once `lose_after` evaluations are finished.
  Outcome Run(const std::string& trajectory_name, int lose_after) {
    Outcome outcome;
    const auto manifest = config::LoadManifest(folder_->path() / "tree");
    const auto skills = skills::LoadBuiltInSkills();
    auto trajectory = memory::Trajectory::Open(folder_->path() / trajectory_name);
    EXPECT_TRUE(manifest && skills && trajectory);
    if (!manifest || !skills || !trajectory) return outcome;
    worker::WorkerEvaluator trusted(Command(worker_)), candidates(Command(losing_));
    Watched watched(candidates);
    search::RefineTask task;
    task.spec = manifest->kernels.front();
    task.original = {(folder_->path() / "tree").string(), "row_sum.cu", kSource};
    task.policy = manifest->policy;
    task.policy.max_rounds = 2;
    task.chip = chip_;
    task.device = "cuda";
    judge::JudgeOptions options;
    options.repository = folder_->path() / "tree";
    options.chip = chip_;
    options.fresh_worker = [&] { candidates.Restart(); };
    judge::Judge judge(task.spec, task.original, task.device, trusted, options);
    NoExperience experience;
    const base::SystemClock clock;
    const auto say = [&](const std::string& text) {
      std::printf("  %s\n", text.c_str());
      if (text.find("): ") != std::string::npos && ++outcome.evaluations == lose_after)
        (void)base::WriteFileAtomically(Lost(), "");
    };
    const search::RefineServices services{.judge = judge,
                                          .candidates = watched,
                                          .skills = *skills,
                                          .experience = experience,
                                          .trajectory = *trajectory,
                                          .clock = clock,
                                          .fresh_worker = [&] { candidates.Restart(); },
                                          .progress = say,
                                          .tools = {},
                                          .warn = {}};
    outcome.refined = search::Refine(task, services);
    outcome.executed = watched.executed;
    if (const auto tasks = trajectory->Tasks(); tasks && !tasks->empty())
      if (auto view = trajectory->View(tasks->front().id)) outcome.view = std::move(*view);
    return outcome;
  }

  static std::map<std::string, std::string> Verdicts(const memory::TrajectoryView& view) {
    std::map<std::string, std::string> found;  // by candidate
    for (const memory::StepView& step : view.steps)
      if (step.record.kind == memory::StepKind::kEvaluate && step.outcome && step.outcome->verdict)
        found[step.record.candidate] = core::VerdictName(*step.outcome->verdict);
    return found;
  }

  Result<base::TemporaryDirectory> folder_ = base::TemporaryDirectory::Create("loss");
  core::GpuFacts facts_;
  core::Chip chip_;
  fs::path worker_, losing_;
};

TEST_F(LossGpu, IsAnErrorAndTheNextRunGoesOn) {
  const Outcome undisturbed = Run("undisturbed.sqlite", 0);
  ASSERT_TRUE(undisturbed.refined) << undisturbed.refined.error().Format();
  ASSERT_EQ(undisturbed.refined->result.outcome, core::TaskOutcome::kImproved) << undisturbed.refined->result.message;
  const auto all = Verdicts(undisturbed.view);
  ASSERT_GT(all.size(), 3u);

  const Outcome lost = Run("trajectory.sqlite", 2);
  ASSERT_FALSE(lost.refined) << "the library took no GPU away: " << Name(lost.refined->result.outcome);
  const Error& error = lost.refined.error();
  std::printf("%s\n", error.Format().c_str());
  EXPECT_EQ(error.code, ErrorCode::kEnvironment);
  EXPECT_NE(error.message.find(fmt::format("the {} (GPU-{}) was lost", facts_.name, facts_.uuid)), std::string::npos)
      << error.message;
  EXPECT_NE(error.message.find("CUDA_ERROR_ECC_UNCORRECTABLE (214)"), std::string::npos) << error.message;
  EXPECT_NE(error.remedy.find("Xid"), std::string::npos) << error.remedy;
  EXPECT_FALSE(lost.view.task.result) << "a lost GPU finishes no task";
  const auto judged = Verdicts(lost.view);
  EXPECT_EQ(judged.size(), 2u);
  for (const auto& [candidate, verdict] : judged) {
    const auto known = all.find(candidate);
    EXPECT_TRUE(known != all.end() && known->second == verdict) << candidate << ": " << verdict;
  }

  ASSERT_TRUE(fs::remove(Lost()));
  const Outcome resumed = Run("trajectory.sqlite", 0);
  ASSERT_TRUE(resumed.refined) << resumed.refined.error().Format();
  EXPECT_EQ(resumed.refined->result.outcome, undisturbed.refined->result.outcome);
  // Which of two equally fast candidates wins is a matter of microseconds: that it is as fast is not.
  EXPECT_NEAR(resumed.refined->result.gain / undisturbed.refined->result.gain, 1, 0.15);
  const auto finished = Verdicts(resumed.view);
  EXPECT_GT(finished.size(), judged.size());
  for (const auto& [candidate, verdict] : judged) {
    EXPECT_EQ(finished.count(candidate), 1u);
    // The winner is judged once more, fully, as in every run.
    EXPECT_TRUE(candidate == resumed.refined->result.best_hash || resumed.executed.count(candidate) == 0)
        << "evaluated again: " << candidate;
  }
}

}  // namespace
}  // namespace warpwright
