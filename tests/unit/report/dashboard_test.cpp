#include "report/dashboard.h"
#include "base/utf8.h"

#include <gtest/gtest.h>

#include "report/job_summary.h"
#include "report/markdown.h"
#include "tests/support/golden.h"
#include "tests/unit/report/samples.h"

namespace warpwright {
namespace {

report::DashboardJob Job(std::string kernel, std::string reason = {}) {
  report::DashboardJob job;
  job.kernel = std::move(kernel);
  job.device = "cuda:0";
  job.commit = "0123456789abcdef";
  job.since = "2026-11-21T13:40:07Z";
  job.reason = std::move(reason);
  return job;
}

report::DashboardInput SampleDashboard() {
  report::DashboardInput in;
  in.repository = "example/kernels";
  in.version = "0.1.0";
  in.running = {Job("softmax")};
  in.running[0].round = 3;
  in.queued = {Job("gelu"), Job("layernorm", "softmax runs on cuda:0")};
  in.open = {Job("rmsnorm"), Job("rope"), Job("swiglu")};
  in.open[0].gain = 1.64;
  in.open[0].gain_low = 1.58;
  in.open[0].gain_high = 1.70;
  in.open[0].modelled = false;
  in.open[0].pull_request_url = "https://github.com/example/kernels/pull/7";
  in.waiting = {Job("matmul", "3 of 3 pull requests are open")};
  in.waiting[0].gain = 5.7;
  in.failed = {Job("scan", "src/scan.cu:12: it reads device memory back | closes #1 @octocat")};
  in.unchanged = {Job("argmax", "no improvement found in 4 rounds")};
  in.open[1].gain = 1.21;
  in.open[1].pull_request_url = "https://github.com/example/kernels/pull/8";
  in.open[2].gain = 1.1;
  in.open[2].pull_request_url = "https://github.com/example/kernels/pull/9";
  in.merged = {Job("transpose"), Job("row_sum"), Job("gather"), Job("argmin")};
  in.merged[0].gain = 2.5;
  in.merged[0].pull_request_url = "https://github.com/example/kernels/pull/3";
  in.merged[1].gain = 1.6;
  in.merged[2].gain = 2.5;
  in.merged[1].modelled = in.merged[2].modelled = false;
  in.merged[3].gain = 3.6;
  in.regressed = {Job("gelu", "1.31 times slower since 4be2f1a \"Use int64 indices\"")};
  in.learned = {{"row_parallel", 14, 12, 6.1}, {"launch_retune", 60, 4, 1.07}, {"tile_matmul", 2, 0, 1}};
  in.ignored = {"histogram"};
  in.open_pull_requests = 3;
  in.max_open = 3;
  in.opened_today = 1;
  in.max_per_day = 5;
  in.gpu_minutes_today = 12.3;
  in.gpu_minutes_total = 456.7;
  in.models_today = {.questions = 3, .names = {}, .dollars = 0.25, .unknown = 1, .gains = 0};
  in.models_total = {.questions = 40, .names = {}, .dollars = 6, .unknown = 1, .gains = 5};
  return in;
}

TEST(Dashboard, IsGolden) { ExpectGolden("dashboard.md", report::RenderDashboard(SampleDashboard()).body); }

TEST(Dashboard, ShowsWhatWasMergedWhatRegressedAndWhatWasLearned) {
  const std::string body = report::RenderDashboard(SampleDashboard()).body;
  for (const char* part : {"### Merged (4)", "| 2.50x, modelled |",
                           "gains is 2.00x of the 2 that were measured, and 3.00x of the 2 that were modelled.",
                           "### Slower than before (1)", "1.31 times slower since", "### What was learned (3 methods)",
                           "| `row_parallel` | 14 | 12 | 6.10x |", "| `tile_matmul` | 2 | 0 |  |"})
    EXPECT_NE(body.find(part), std::string::npos) << part << "\n" << body;
}

TEST(Dashboard, AnUnknownCostOfModelsIsNotZero) {
  struct Row {
    report::ModelUse total;
    const char *cost, *per_gain;
  };
  for (const Row& row :
       {Row{{}, "$0.00 | $0.00 |", nullptr},
        Row{{.questions = 4, .names = {}, .dollars = 6, .unknown = 0, .gains = 5}, "$6.00 |", "$1.20 |"},
        Row{{.questions = 4, .names = {}, .dollars = 6, .unknown = 0, .gains = 0}, "$6.00 |", "none was taken |"},
        Row{{.questions = 4, .names = {}, .dollars = 6, .unknown = 1, .gains = 5},
            "$6.00 and 1 answer of unknown cost |",
            "unknown |"},
        Row{{.questions = 4, .names = {}, .dollars = 0, .unknown = 4, .gains = 5}, "cost unknown |", "unknown |"}}) {
    report::DashboardInput in;
    in.models_total = row.total;
    const std::string body = report::RenderDashboard(in).body;
    EXPECT_NE(body.find(row.cost), std::string::npos) << body;
    EXPECT_EQ(body.find("each version that was taken") != std::string::npos, row.per_gain != nullptr) << body;
    EXPECT_NE(body.find(row.per_gain != nullptr ? row.per_gain : ""), std::string::npos) << body;
  }
}

TEST(Dashboard, EqualStatesGiveEqualBodies) {
  EXPECT_EQ(report::RenderDashboard(SampleDashboard()).body, report::RenderDashboard(SampleDashboard()).body);
  EXPECT_EQ(report::RenderDashboard({}).body.rfind(report::kDashboardMarker, 0), 0u);
}

// A limit that holds something back is always visible.
TEST(Dashboard, WaitingWorkIsVisible) {
  const std::string body = report::RenderDashboard(SampleDashboard()).body;
  EXPECT_NE(body.find("### Waiting because of a limit (1)"), std::string::npos);
  EXPECT_NE(body.find("3 of 3 pull requests are open"), std::string::npos);
  EXPECT_NE(body.find("3 of 3 pull requests open, 1 of 5 opened today"), std::string::npos);
  EXPECT_NE(body.find("### Open pull requests (3)"), std::string::npos) << "as many as are listed";
}

TEST(Dashboard, StaysSmallAndInactive) {
  report::DashboardInput in = SampleDashboard();
  for (int i = 0; i < 500; ++i) {
    for (auto* jobs : {&in.running, &in.queued, &in.waiting, &in.failed, &in.unchanged})
      jobs->push_back(Job("k" + std::to_string(i), std::string(500, '@')));
    in.ignored.push_back(std::string(300, '`'));
  }
  in.last_error = "<b>@octocat</b>";
  const std::string body = report::RenderDashboard(in).body;
  EXPECT_LE(base::CodePoints(body), report::kMaxBodyCharacters);
  EXPECT_EQ(body.find("@octocat"), std::string::npos);
  EXPECT_EQ(body.find("<b>"), std::string::npos);
}

report::KernelSummary Improved() {
  return {MeasuredLayerNorm(), MeasuredProvenance(), "https://github.com/example/kernels/pull/7", "created"};
}
report::KernelSummary Unchanged(const std::string& name) {
  report::KernelSummary kernel{UnchangedLayerNorm(), {}, "", ""};
  kernel.explanation.kernel = name;
  return kernel;
}

// The check fails for it, so the summary says it first.
TEST(JobSummary, SaysWhatTheChangeMadeSlower) {
  std::vector<report::KernelSummary> kernels = {Unchanged("scan"), Improved()};
  kernels[0].regression = 1.31;
  kernels[1].regression = 2;
  kernels[0].slower_than = kernels[1].slower_than = "origin/main";
  const std::string text = report::RenderJobSummary(kernels);
  EXPECT_EQ(text.rfind("# warpwright: 1 of 2 kernels faster, 2 slower than before", 0), 0u) << text;
  EXPECT_NE(text.find("| `scan` | **1.31 times slower than in origin/main**; no improvement found |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("> This change made it 2.00 times slower than in origin/main. Both versions were timed in pairs, "
                      "one after the other; the faster version below is proposed against the new one."),
            std::string::npos)
      << text;
  EXPECT_NE(report::RenderFailures(kernels).find(
                "::error file=src/layernorm.cu,title=scan became slower::1.31 times slower than in origin/main\n"),
            std::string::npos)
      << report::RenderFailures(kernels);
  ExpectGolden("job-summary-regression.md", report::RenderJobSummary({kernels[0]}));
}

TEST(JobSummary, ShowsAllKernelsImprovedFirst) {
  const std::string text = report::RenderJobSummary({Unchanged("scan"), Improved()});
  EXPECT_EQ(text.rfind("# warpwright: 1 of 2 kernels faster", 0), 0u);
  EXPECT_LT(text.find("| `layernorm` | **1.64x faster** |"), text.find("| `scan` | no improvement found |"));
  EXPECT_NE(text.find("<https://github.com/example/kernels/pull/7> created"), std::string::npos);
  EXPECT_NE(report::RenderJobSummary({}).find("No kernel changed."), std::string::npos);
}

TEST(JobSummary, StaysUnderTheLimit) {
  std::vector<report::KernelSummary> kernels(60, {HugeExplanation(), MeasuredProvenance(), "", ""});
  const std::string text = report::RenderJobSummary(kernels);
  EXPECT_LE(text.size(), report::kMaxSummaryBytes);
  EXPECT_NE(text.find("are left out"), std::string::npos);
}

TEST(WorkflowCommands, AreEscaped) {
  using report::NoteLevel;
  EXPECT_EQ(report::WorkflowCommand(NoteLevel::kNotice, "a,b:c.cu", 3, "50% off, now: x", "one\ntwo\r100%"),
            "::notice file=a%2Cb%3Ac.cu,line=3,title=50%25 off%2C now%3A x::one%0Atwo 100%25\n");
  EXPECT_EQ(report::WorkflowCommand(NoteLevel::kError, "a.cu", 0, "t", "m"), "::error file=a.cu,title=t::m\n");
  EXPECT_EQ(report::WorkflowCommand(NoteLevel::kNotice, "a.cu", 1, "t", "x\n::set-env name=A::b"),
            "::notice file=a.cu,line=1,title=t::x%0A::set-env name=A::b\n");
}

TEST(WorkflowCommands, AtMostTenOfAKindAndTheLastSaysSo) {
  const std::string few = report::RenderAnnotations({Unchanged("a")});
  EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), 4);
  const std::string many = report::RenderAnnotations({Unchanged("a"), Unchanged("b"), Unchanged("c"), Unchanged("d")});
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 10);
  EXPECT_NE(many.find("7 more notes of this kind"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
