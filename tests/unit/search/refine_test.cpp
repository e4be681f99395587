// The loop on a scripted device: what it reports, what it stores, and how it resumes after a failure of warpwright.
#include "search/refine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "report/explain.h"
#include "report/pull_request.h"
#include "tests/support/rewriting_device.h"
#include "tests/unit/judge/judge_bench.h"
#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

constexpr const char* kNote = "no permission to read counters: call: CUPTI_ERROR_X (35): set an option of the driver";

class NoExperience final : public memory::ExperienceStore {
 public:
  Status Append(const memory::Experience&) override { return {}; }
  Result<memory::ExperienceMatches> Query(const memory::ExperienceKey&) override { return memory::ExperienceMatches{}; }
};

// Fails all executions from `lost_at` on.
class Device final : public RewritingDevice {
 public:
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    if (++executions > lost_at) return Fail(ErrorCode::kIo, "the GPU is lost", "look at dmesg");
    evaluated.insert(request.source.text);
    return RewritingDevice::Execute(request);
  }

  std::set<std::string> evaluated;  // texts
  size_t executions = 0, lost_at = SIZE_MAX;
};

void TwiceUncounted(FakeRun& run) {
  Twice(run);
  run.notes = {kNote};
}

struct Workplace {
  Workplace() : folder(*base::TemporaryDirectory::Create("refine")) {
    trusted.kernels.Add("original", TwiceUncounted, 400);
    candidates.kernels.Add("// ", TwiceUncounted, 400);
    task.spec = ElementwiseSpec(core::DType::kF32, 1000);
    task.original = MarkedSource("original");
    task.device = "sim:h200";
    task.chip.id = "h200";
    task.chip.arch = "sm_90";
    task.chip.multiprocessors = 132;
    task.chip.clock_ghz = 1.7;
    task.chip.dram_bytes_per_second = 4e12;
    task.policy.max_rounds = 3;
  }

  // Like a new process, on the same trajectory.
  Result<search::RefineResult> Run() {
    judge::JudgeOptions options;
    options.repository = folder.path();
    options.secret_seed = 4711;
    options.max_long_bytes = 1 << 20;
    judge::Judge judge(task.spec, task.original, task.device, trusted, options);
    auto trajectory = memory::Trajectory::Open(folder.path() / "trajectory.sqlite");
    if (!trajectory) return Fail(trajectory.error());
    NoExperience experience;
    const base::SystemClock clock;
    const auto say = [&](const std::string& text) { said.push_back(text); };
    const auto note = [&](const std::string& text) { notices.push_back(text); };
    auto refined = search::Refine(task, {.judge = judge,
                                         .candidates = candidates,
                                         .skills = BuiltIn(),
                                         .experience = experience,
                                         .trajectory = *trajectory,
                                         .clock = clock,
                                         .fresh_worker = {},
                                         .progress = say,
                                         .tools = {},
                                         .warn = note});
    if (const auto tasks = trajectory->Tasks(); tasks && !tasks->empty())
      if (auto seen = trajectory->View(tasks->front().id)) view = std::move(*seen);
    return refined;
  }

  base::TemporaryDirectory folder;
  Device trusted, candidates;
  search::RefineTask task;
  memory::TrajectoryView view;
  std::vector<std::string> said, notices;
};

TEST(Refine, WhatCouldNotBeCountedIsSaidOnceAndReachesEveryReader) {
  Workplace place;
  const auto refined = place.Run();
  ASSERT_TRUE(refined) << refined.error().Format();
  EXPECT_GT(refined->counts.evaluations, 1);
  EXPECT_EQ(place.notices, std::vector<std::string>{place.task.spec.name + ": counters: " + kNote});
  report::Explanation e = report::Explain(place.view, {});
  EXPECT_EQ(e.counter_notes, std::vector<std::string>{kNote});
  EXPECT_EQ(std::count_if(e.checks.begin(), e.checks.end(),
                          [](const std::string& check) { return check.starts_with("counters"); }),
            0);
  EXPECT_NE(report::RenderMarkdown(e).find("Counters are missing: no permission to read counters"), std::string::npos);
  EXPECT_NE(report::RenderHtml(e).find("<strong>Counters are missing:</strong> no permission to read counters"),
            std::string::npos);
  EXPECT_NE(report::RenderCheck(e, {}).summary.find("**Counters are missing**: no permission to read counters"),
            std::string::npos);
  e.outcome = core::TaskOutcome::kImproved;
  EXPECT_NE(report::RenderCheck(e, {}).text.find("- **Counters are missing**: no permission to read counters"),
            std::string::npos);
  EXPECT_NE(report::RenderPullRequest(e, {}).body.find("- **Counters are missing**: no permission to read counters"),
            std::string::npos);
}

// The device is lost in the middle of some evaluation. The error is attributed to warpwright and not to the candidate,
// it finishes nothing, and the next run on the same trajectory ends like an undisturbed one, without judging again what
// was judged.
TEST(Refine, ALostDeviceIsAnErrorAndTheNextRunGoesOn) {
  Workplace undisturbed;
  const auto expected = undisturbed.Run();
  ASSERT_TRUE(expected) << expected.error().Format();
  const size_t executions = undisturbed.candidates.executions;
  ASSERT_GT(executions, 10u);
  const auto verdicts = [](const memory::TrajectoryView& view) {
    std::map<std::string, std::string> found;  // by candidate
    for (const memory::StepView& step : view.steps)
      if (step.record.kind == memory::StepKind::kEvaluate && step.outcome && step.outcome->verdict)
        found[step.record.candidate] = core::VerdictName(*step.outcome->verdict);
    return found;
  };
  for (const size_t lost_at : {size_t{0}, size_t{1}, executions / 3, executions / 2, executions - 1}) {
    Workplace place;
    place.candidates.lost_at = lost_at;
    const auto lost = place.Run();
    ASSERT_FALSE(lost) << lost_at;
    EXPECT_EQ(lost.error().message, "the GPU is lost");
    EXPECT_EQ(lost.error().remedy, "look at dmesg");
    EXPECT_FALSE(place.view.task.result) << "an error of ours finishes no task";
    const auto judged = verdicts(place.view);
    for (const auto& [candidate, verdict] : judged) EXPECT_EQ(verdict, "measured") << lost_at;

    place.candidates.lost_at = SIZE_MAX;
    place.candidates.evaluated.clear();
    const auto resumed = place.Run();
    ASSERT_TRUE(resumed) << resumed.error().Format();
    EXPECT_EQ(resumed->result.outcome, expected->result.outcome);
    EXPECT_EQ(resumed->result.message, expected->result.message);
    EXPECT_EQ(verdicts(place.view), verdicts(undisturbed.view)) << lost_at;
    EXPECT_EQ(resumed->counts, expected->counts) << lost_at;
    for (const std::string& text : place.candidates.evaluated)
      EXPECT_EQ(judged.count(base::Sha256(text)), 0u) << "judged twice:\n" << text;
  }
}

}  // namespace
}  // namespace warpwright
