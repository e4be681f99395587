#include "tests/support/synthetic_snapshot.h"

#include <array>

#include "base/clock.h"

namespace warpwright::testing {
namespace {

std::string Ago(int seconds) {
  return base::FormatUtc(std::chrono::system_clock::now() - std::chrono::seconds(seconds));
}

service::JobSnapshot MakeJob(int64_t id, const char* kernel, service::JobPhase phase) {
  service::JobSnapshot job;
  job.id = id;
  job.repository = "acme/kernels";
  job.kernel = kernel;
  job.phase = phase;
  job.commit = "9f2c1d7e8a01bb129f2c1d7e8a01bb129f2c1d7e";
  job.queued = Ago(600);
  return job;
}

void AddEnded(service::DaemonSnapshot& snapshot) {
  using enum core::TaskOutcome;
  constexpr std::array kKernels = {"softmax", "gelu_half", "layernorm", "rope", "welford", "mandelbrot"};
  constexpr std::array kOutcomes = {kImproved, kUnchanged, kImproved, kRefused,
                                    kImproved, kError,     kImproved, kUnchanged};
  service::JobSnapshot superseded = MakeJob(101, "topk", service::JobPhase::kDone);
  superseded.outcome = kSuperseded;
  superseded.message = "the kernel changed again";
  superseded.finished = Ago(2000);
  snapshot.jobs.push_back(superseded);
  for (int i = 0; i < 40; ++i) {
    service::JobSnapshot job =
        MakeJob(100 - i, kKernels[static_cast<size_t>(i) % kKernels.size()], service::JobPhase::kDone);
    job.outcome = kOutcomes[static_cast<size_t>(i) % kOutcomes.size()];
    job.finished = Ago(3000 + i * 9000);
    if (job.outcome == kImproved) {
      job.gain = 1.06 + (i * 37 % 17) / 12.0;
      job.gain_low = job.gain - 0.03;
      job.gain_high = job.gain + 0.04;
      job.modelled = i % 5 == 0;
      job.branch = "warpwright/" + job.kernel;
      if (i % 4 == 0) job.pull_request_url = "https://github.com/acme/kernels/pull/" + std::to_string(90 - i);
    } else {
      job.message = job.outcome == kRefused ? "the launcher calls cublasSgemm, which cannot be recorded"
                    : job.outcome == kError ? "the worker ended before it answered: signal 9"
                                            : "no improvement in 10 rounds";
    }
    job.trajectory_task = job.outcome == kError ? 0 : 1;
    snapshot.jobs.push_back(std::move(job));
  }
}

service::RepositorySnapshot MakeRepository(const char* name, int open) {
  service::RepositorySnapshot repository;
  repository.name = name;
  repository.url = std::string("https://github.com/") + name + ".git";
  repository.tips = {{"main", "9f2c1d7e8a01bb129f2c1d7e8a01bb129f2c1d7e"}};
  repository.last_seen = Ago(12);
  repository.open_pull_requests = open;
  repository.opened_today = 2;
  repository.max_open = 10;
  repository.max_per_day = 20;
  return repository;
}

}  // namespace

service::DaemonSnapshot IdleSnapshot() {
  service::DaemonSnapshot snapshot;
  snapshot.version = "0.4.0";
  snapshot.started = Ago(200'000);
  snapshot.now = Ago(0);
  snapshot.ready = true;
  snapshot.gauges = {{"queue_depth", 0}, {"resident_bytes", 41e6}};
  snapshot.spend = {{"gpu_minutes_today", 0}, {"gpu_minutes_total", 0}, {"model_dollars_today", 0}};
  return snapshot;
}

service::DaemonSnapshot BusySnapshot() {
  service::DaemonSnapshot snapshot = IdleSnapshot();
  for (const auto& [id, kernel] :
       std::array<std::pair<int64_t, const char*>, 3>{{{125, "row_sum"}, {124, "dequantize_q4"}, {123, "rope"}}})
    snapshot.jobs.push_back(MakeJob(id, kernel, service::JobPhase::kQueued));
  service::JobSnapshot running = MakeJob(120, "layernorm_forward", service::JobPhase::kRunning);
  running.device = "cuda:0";
  running.started = Ago(412);
  running.progress = "round 3: vectorize_loads (width=4): 1.08x";
  running.trajectory_task = 7;
  running.modelled = false;
  snapshot.jobs.push_back(running);
  running = MakeJob(121, "softmax_online", service::JobPhase::kRunning);
  running.device = "sim:h200";
  running.started = Ago(35);
  snapshot.jobs.push_back(running);
  snapshot.jobs.push_back(MakeJob(119, "gemm_bf16", service::JobPhase::kPublishing));
  service::JobSnapshot waiting = MakeJob(118, "argmax_rows", service::JobPhase::kWaiting);
  waiting.message = "10 of 10 pull requests are open: merge or close one";
  snapshot.jobs.push_back(waiting);
  AddEnded(snapshot);
  snapshot.repositories = {MakeRepository("acme/kernels", 3), MakeRepository("acme/attention", 10),
                           MakeRepository("lab/stencils", 0)};
  snapshot.repositories[1].ignored = {"legacy_scan", "old_gemm"};
  snapshot.repositories[2].last_error = "resolve address for git.lab.example: Name or service not known";
  snapshot.counters = {{"jobs_total", {{"improved", 41}, {"unchanged", 60}, {"refused", 9}, {"error", 3}}},
                       {"deliveries_total", {{"accepted", 1200}, {"seen", 4}}},
                       {"ref_moves_total", {{"acme/kernels", 71}}}};
  snapshot.gauges = {{"queue_depth", 3},
                     {"resident_bytes", 41e6},
                     {"last_success_timestamp_seconds", 1.7953e9},
                     {"deliveries_waiting", 0}};
  snapshot.spend = {{"gpu_minutes_today", 137.4},     {"gpu_minutes_total", 9120},      {"model_dollars_today", 1.234},
                    {"model_dollars_total", 88.1},    {"model_questions_today", 9},     {"model_questions_total", 640},
                    {"model_unknown_costs_today", 2}, {"model_unknown_costs_total", 2}, {"model_gains_total", 11}};
  snapshot.experiences = 4312;
  return snapshot;
}

service::DaemonSnapshot SnapshotOf(const std::string& text) {
  service::DaemonSnapshot snapshot = BusySnapshot();
  for (service::JobSnapshot& job : snapshot.jobs)
    job.repository = job.kernel = job.message = job.device = job.branch = job.progress = job.pull_request_url = text;
  for (service::RepositorySnapshot& repository : snapshot.repositories) {
    repository.name = repository.url = repository.last_error = text;
    repository.tips = {{text, text}};
    repository.ignored = {text};
  }
  snapshot.not_ready = {text};
  snapshot.ready = false;
  snapshot.counters = {{text, {{text, 1}}}};
  return snapshot;
}

memory::TrajectoryView BusyTrajectory(const std::string& method) {
  memory::TrajectoryView view;
  view.task.id = 7;
  view.task.key = {"layernorm_forward", "base", "cuda:0", "config"};
  view.task.counts.evaluations = 14;
  double best = 100.2;
  const auto add = [&](memory::StepKind kind, int round, const std::string& candidate) -> memory::StepView& {
    memory::StepView step;
    step.id = static_cast<memory::StepId>(view.steps.size()) + 1;
    step.record.kind = kind;
    step.record.round = round;
    step.record.base = "base";
    step.record.candidate = candidate;
    step.started = step.finished = Ago(60);
    view.steps.push_back(step);
    return view.steps.back();
  };
  const auto measured = [](double us) {
    core::Measured result;
    result.modelled = false;
    result.cases = {core::CaseMeasurement{.case_name = "gpt2", .weight = 1, .time_us = us}};
    return result;
  };
  memory::StepView& baseline = add(memory::StepKind::kBaseline, 0, "base");
  baseline.outcome = memory::StepOutcome{};
  baseline.outcome->verdict = measured(best);
  for (int i = 1; i <= 14; ++i) {
    memory::StepView& step = add(memory::StepKind::kEvaluate, 1 + i / 2, "candidate" + std::to_string(i));
    step.record.method = method;
    step.outcome = memory::StepOutcome{};
    step.outcome->candidate = step.record.candidate;
    step.outcome->summary = method + ": what was tried";
    if (i % 5 == 2) {
      step.outcome->verdict = core::WrongResult{core::Check::kComparison, "gpt2", "out[1024] is 0.25, expected 0.31"};
    } else if (i % 7 == 3) {
      step.outcome->verdict = core::CompileFailed{"identifier \"tile\" is undefined"};
    } else {
      constexpr std::array kFactors = {0.93, 1.05, 0.82, 0.99, 1.3, 0.9};
      const double us = best * kFactors[static_cast<size_t>(i) % kFactors.size()];
      step.outcome->verdict = measured(us);
      step.outcome->gain = 100.2 / us;
      step.outcome->time_after_us = us;
      if (us < best * 0.97) {
        best = us;
        const std::string taken = step.record.candidate;
        memory::StepView& accept = add(memory::StepKind::kAccept, 1 + i / 2, taken);
        accept.outcome = memory::StepOutcome{};
        accept.outcome->candidate = taken;
        accept.outcome->accepted = true;
      }
    }
  }
  memory::StepView& asked = add(memory::StepKind::kAsk, 0, "4f2c2a572d45ef24a8f9");
  asked.record.method = "planner";
  asked.record.reason = "# What was measured\n- case gpt2: 100.2 us" + (method == "<script>" ? method : std::string());
  asked.outcome = memory::StepOutcome{};
  asked.outcome->summary = "answered, 120 tokens in, 57 out, $0.0125";
  asked.outcome->data =
      R"({"answer": {"outcome": "answered", "receipt": {"cost_nanodollars": 12500000, "model": "large"}, "text": "{\"plans\": []} )" +
      std::string(method == "<script>" ? "<script>" : "") + R"("}, "question": {}})";
  add(memory::StepKind::kAsk, 0, "cc83aa814b7ea601314e").record.method = "optimizer";
  add(memory::StepKind::kEvaluate, 8, "candidate15").record.method = method;
  return view;
}

}  // namespace warpwright::testing
