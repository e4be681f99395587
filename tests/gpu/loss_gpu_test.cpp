// A real GPU is taken away in the middle of an optimization (tests/gpu/lose_gpu.cpp, loaded before the candidates' worker), and given back.
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
class Watched final : public Evaluator {
 public:
  explicit Watched(Evaluator& inner) : inner_(inner) {}
  Result<Inspection> Inspect(const SourceRef& source) override { return inner_.Inspect(source); }
  Result<RewriteOutcome> Rewrite(const RewriteRequest& request) override { return inner_.Rewrite(request); }
  Result<SpliceOutcome> Splice(const SpliceRequest& request) override { return inner_.Splice(request); }
  Result<ExecuteOutcome> Execute(const ExecuteRequest& request) override {
    executed.insert(Sha256(request.source.text));
    return inner_.Execute(request);
  }
  Result<TimeOutcome> Time(const TimeRequest& request) override { return inner_.Time(request); }

  std::set<std::string> executed;  // hashes

 private:
  Evaluator& inner_;
};

class NoExperience final : public ExperienceStore {
 public:
  Status Append(const Experience&) override { return {}; }
  Result<ExperienceAnswer> Query(const ExperienceKey&) override { return ExperienceAnswer{}; }
};

struct Outcome {
  Result<RefineResult> refined = Fail(ErrorCode::kIo, "not run");
  TrajectoryView view;
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
    const fs::path library = Program("WW_LOSE_GPU", fs::path(WW_BINARY_DIR) / "tests/gpu/liblose_gpu.so", "liblose_gpu.so");
    for (const fs::path& needed : {worker_, library}) ASSERT_TRUE(fs::exists(needed)) << needed << " is missing";
    for (const char* folder : {"tree", "cache"}) fs::create_directories(folder_->path() / folder);
    ASSERT_TRUE(WriteFileAtomically(folder_->path() / "tree" / kManifestName, kManifest));
    ASSERT_TRUE(WriteFileAtomically(folder_->path() / "tree/row_sum.cu", kSource));
    // The worker's environment is minimal: what the library wants is set here.
    const fs::path wrapper = folder_->path() / "worker.sh";
    ASSERT_TRUE(WriteFileAtomically(wrapper, fmt::format("#!/bin/sh\nexport LD_PRELOAD='{}' WW_LOSE_FILE='{}' WW_LOSE_AT=100 WW_LOSE_WITH=${{WW_LOSE_WITH:-214}}\nexec '{}' \"$@\"\n",
                                                         library.string(), Lost().string(), worker_.string())));
    ASSERT_EQ(::chmod(wrapper.c_str(), 0755), 0);
    losing_ = wrapper;
  }

  // In the cache, which the worker's sandbox can see.
  fs::path Lost() const { return folder_->path() / "cache" / "lost"; }

  WorkerCommand Command(const fs::path& program) const {
    WorkerCommand command;
    command.argv = {program.string(), "--cache", (folder_->path() / "cache").string(), "--readable", (folder_->path() / "tree").string(), "--gpu"};
    command.log = folder_->path() / "worker.log";
    return command;
  }

  // As a process of its own would. The GPU goes once `lose_after` evaluations are finished.
  Outcome Run(const std::string& trajectory_name, int lose_after) {
    Outcome outcome;
    const auto manifest = LoadManifest(folder_->path() / "tree");
    const auto skills = LoadBuiltInSkills();
    auto trajectory = Trajectory::Open(folder_->path() / trajectory_name);
    EXPECT_TRUE(manifest && skills && trajectory);
    if (!manifest || !skills || !trajectory) return outcome;
    WorkerEvaluator trusted(Command(worker_)), candidates(Command(losing_));
    Watched watched(candidates);
    RefineTask task;
    task.spec = manifest->kernels.front();
    task.original = {(folder_->path() / "tree").string(), "row_sum.cu", kSource};
    task.policy = manifest->policy;
    task.policy.max_rounds = 2;
    task.chip = chip_;
    task.device = "cuda";
    JudgeOptions options;
    options.repository = folder_->path() / "tree";
    options.chip = chip_;
    options.fresh_worker = [&] { candidates.Restart(); };
    Judge judge(task.spec, task.original, task.device, trusted, options);
    NoExperience experience;
    const SystemClock clock;
    const auto say = [&](const std::string& text) {
      std::printf("  %s\n", text.c_str());
      if (text.find("): ") != std::string::npos && ++outcome.evaluations == lose_after) (void)WriteFileAtomically(Lost(), "");
    };
    const RefineServices services{.judge = judge, .candidates = watched, .skills = *skills, .experience = experience,
                                  .trajectory = *trajectory, .clock = clock, .fresh_worker = [&] { candidates.Restart(); },
                                  .progress = say, .tools = {}, .notice = {}};
    outcome.refined = Refine(task, services);
    outcome.executed = watched.executed;
    if (const auto tasks = trajectory->Tasks(); tasks && !tasks->empty())
      if (auto view = trajectory->View(tasks->front().id)) outcome.view = std::move(*view);
    return outcome;
  }

  static std::map<std::string, std::string> Verdicts(const TrajectoryView& view) {
    std::map<std::string, std::string> found;  // by candidate
    for (const StepView& step : view.steps)
      if (step.record.kind == StepKind::kEvaluate && step.outcome && step.outcome->verdict) found[step.record.candidate] = VerdictName(*step.outcome->verdict);
    return found;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::Create("loss");
  GpuFacts facts_;
  Chip chip_;
  fs::path worker_, losing_;
};

TEST_F(LossGpu, IsAnErrorAndTheNextRunGoesOn) {
  const Outcome undisturbed = Run("undisturbed.sqlite", 0);
  ASSERT_TRUE(undisturbed.refined) << undisturbed.refined.error().Format();
  ASSERT_EQ(undisturbed.refined->result.outcome, "improved") << undisturbed.refined->result.message;
  const auto all = Verdicts(undisturbed.view);
  ASSERT_GT(all.size(), 3u);

  const Outcome lost = Run("trajectory.sqlite", 2);
  ASSERT_FALSE(lost.refined) << "the library took no GPU away: " << lost.refined->result.outcome;
  const Error& error = lost.refined.error();
  std::printf("%s\n", error.Format().c_str());
  EXPECT_EQ(error.code, ErrorCode::kEnvironment);
  EXPECT_NE(error.message.find(fmt::format("the {} (GPU-{}) was lost", facts_.name, facts_.uuid)), std::string::npos) << error.message;
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
    EXPECT_TRUE(candidate == resumed.refined->result.best_hash || resumed.executed.count(candidate) == 0) << "evaluated again: " << candidate;
  }
}

}  // namespace
}  // namespace warpwright
