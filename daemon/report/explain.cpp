#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright {
namespace {

constexpr size_t kShort = 10;  // digits of a hash that people see
constexpr size_t kMaxCounters = 10;

std::string Short(const std::string& hash) { return hash.substr(0, kShort); }

std::string Describe(const std::map<std::string, std::string>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

const Measured* MeasuredOf(const StepView& step) {
  if (!step.outcome || !step.outcome->verdict) return nullptr;
  return std::get_if<Measured>(&*step.outcome->verdict);
}

const StepView* FindStep(const TrajectoryView& view, StepKind kind, int round) {
  const StepView* found = nullptr;
  for (const auto& step : view.steps)
    if (step.record.kind == kind && (kind != StepKind::kAccept || step.record.round == round)) found = &step;
  return found;
}

// The hottest launch of the case that costs most.
const LaunchReport* Hottest(const Measured& measured, double* min_time = nullptr) {
  const CaseMeasurement* costliest = nullptr;
  for (const auto& c : measured.cases)
    if (!c.launches.empty() && (costliest == nullptr || c.weight * c.time_us > costliest->weight * costliest->time_us)) costliest = &c;
  if (costliest == nullptr) return nullptr;
  if (min_time != nullptr) *min_time = costliest->time_us;
  return &*std::max_element(costliest->launches.begin(), costliest->launches.end(),
                            [](const auto& a, const auto& b) { return a.time.total_us < b.time.total_us; });
}

RooflinePoint PointOf(const LaunchReport& launch) {
  const auto flops = static_cast<double>(launch.counters.flops_fp16 + launch.counters.flops_fp32 + launch.counters.flops_fp64);
  const auto bytes = static_cast<double>(launch.counters.dram_read_bytes + launch.counters.dram_write_bytes);
  return {bytes > 0 ? flops / bytes : 0, launch.time.total_us > 0 ? flops / launch.time.total_us / 1e3 : 0};
}

// The evidence that changed most, in the order of the field list among equals.
std::vector<CounterRow> ChangedNumbers(const std::map<std::string, double>& before, const std::map<std::string, double>& after) {
  struct Change {
    CounterRow row;
    double size;
  };
  static const std::set<std::string> shown = {
      "dram_throughput_pct",      "load_sectors_per_request", "store_sectors_per_request", "load_efficiency_pct", "store_efficiency_pct",
      "achieved_occupancy_pct",   "issue_utilization_pct",    "fp32_pct",                  "memory_excess",       "l1_hit_pct",
      "l2_hit_pct",               "bank_conflict_pct",        "warp_efficiency_pct",       "latency_pct",         "access_bytes",
      "registers_per_thread",     "shared_bytes_per_block",   "waves",                     "atomic_pct",          "l1_throughput_pct"};
  std::vector<Change> changes;
  for (const auto& field : EvidenceFields()) {
    const std::string name(field.name);
    const auto b = before.find(name), a = after.find(name);
    if (shown.count(name) == 0 || b == before.end() || a == after.end() || b->second == a->second) continue;
    const double low = std::min(b->second, a->second), high = std::max(b->second, a->second);
    if (high < 1e-9 || (high - low) / high < 0.02) continue;
    changes.push_back({{name, std::string(field.unit), b->second, a->second}, std::log((high + 1) / (low + 1))});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) { return x.size > y.size; });
  std::vector<CounterRow> rows;
  for (const auto& change : changes)
    if (rows.size() < kMaxCounters) rows.push_back(change.row);
  return rows;
}

void AddCases(Explanation& e, const Measured& before, const Measured& after) {
  for (const auto& b : before.cases)
    for (const auto& a : after.cases)
      if (a.case_name == b.case_name) e.cases.push_back({a.case_name, b.time_us, a.time_us, a.sampled || b.sampled});
}

AttemptRow RowOf(const StepView& step, const std::map<std::string, double>& time_of, double original_time,
                 const std::set<std::string>& bases) {
  const auto& record = step.record;
  AttemptRow row;
  row.round = record.round;
  row.parent = Short(record.base);
  row.method = record.method;
  row.parameters = Describe(record.parameters);
  if (!step.outcome) {
    row.outcome = "interrupted";
    return row;
  }
  row.message = step.outcome->summary;
  if (record.kind == StepKind::kRewrite) {
    row.outcome = "not applicable";
    return row;
  }
  row.id = Short(record.candidate);
  if (record.attempt > 0) row.method += fmt::format(" (repair {})", record.attempt);
  if (step.outcome->verdict) row.outcome = std::string(VerdictName(*step.outcome->verdict));
  if (MeasuredOf(step) != nullptr) {
    const auto time = time_of.find(record.candidate);
    row.gain = time != time_of.end() && time->second > 0 ? original_time / time->second : step.outcome->gain;
    row.accepted = bases.count(record.candidate) != 0;
  }
  return row;
}

// "round 1, row_parallel: why [1] [2]. [1] load_efficiency_pct = 12 %; [2] ..."
std::string PlanLine(const StepRecord& record) {
  std::string line = record.round > 0 ? fmt::format("round {}, {}: {}", record.round, record.method, record.reason)
                                      : fmt::format("from experience, {}: {}", record.method, record.reason);
  for (size_t i = 0; i < record.evidence.size() && i < 5; ++i) line += fmt::format("{} [{}] {}", i == 0 ? "" : ";", i + 1, record.evidence[i]);
  return line;
}

}  // namespace

Explanation Explain(const TrajectoryView& view, const ExplainContext& context) {
  Explanation e;
  e.kernel = view.task.key.kernel;
  e.file = context.file;
  e.entry = context.entry;
  e.device = view.task.key.device;
  e.chip_name = context.chip.name;
  e.base_commit = context.base_commit;
  e.version = context.version;
  e.toolchain = context.toolchain;
  e.original_hash = view.task.key.base_hash;
  e.evaluations = view.task.evaluations;
  if (view.task.result) {
    e.outcome = view.task.result->outcome;
    e.outcome_reason = e.outcome == "improved" ? "" : view.task.result->message;
    e.gain = view.task.result->gain;
    e.result_hash = view.task.result->best_hash;
  } else {
    e.outcome = "unfinished";
  }

  const StepView* baseline = FindStep(view, StepKind::kBaseline, 0);
  const StepView* accepted = FindStep(view, StepKind::kAccept, -1);
  const Measured* before = baseline != nullptr ? MeasuredOf(*baseline) : nullptr;
  const Measured* after = accepted != nullptr && accepted->outcome && accepted->outcome->accepted ? MeasuredOf(*accepted) : nullptr;
  if (before != nullptr) e.modelled = before->modelled;

  // Gains over the original: each evaluation knows the speed-up over its base only, but also the measured times.
  std::map<std::string, double> speed_of;
  std::set<std::string> bases, plans;
  std::set<int> rounds;
  for (const auto& step : view.steps) {
    if (step.record.kind == StepKind::kAccept && step.record.round >= 0) bases.insert(step.record.candidate);
    if (step.record.kind != StepKind::kEvaluate) continue;
    rounds.insert(step.record.round);
    if (const Measured* measured = MeasuredOf(step); measured != nullptr && before != nullptr)
      speed_of[step.record.candidate] = 1 / Speedup(*before, *measured);
    if (step.outcome) e.seconds += step.outcome->seconds;
  }
  rounds.erase(0);
  e.rounds = static_cast<int>(rounds.size());
  for (const auto& step : view.steps) {
    if (step.record.kind != StepKind::kEvaluate && step.record.kind != StepKind::kRewrite) continue;
    e.attempts.push_back(RowOf(step, speed_of, 1.0, bases));
    const auto& row = e.attempts.back();
    if (plans.insert(fmt::format("{} {}", row.round, step.record.method)).second) e.plans.push_back(PlanLine(step.record));
    if (!row.accepted) continue;
    e.steps.push_back(row.method + (row.parameters.empty() ? "" : " (" + row.parameters + ")") + ": " + row.message + ".");
    for (const auto& p : step.outcome->prediction) e.predictions.push_back({p.name, p.up ? 1 : -1, p.before, p.after, p.held});
  }
  if (before == nullptr) return e;
  if (const LaunchReport* hottest = Hottest(*before)) e.point_before = PointOf(*hottest);
  e.peak_gflops = 2 * context.chip.fp32_lanes * context.chip.multiprocessors * context.chip.clock_ghz;
  e.peak_gbytes = context.chip.dram_bytes_per_second / 1e9;
  if (after == nullptr) return e;
  AddCases(e, *before, *after);
  e.checks = after->checks;
  e.checks.insert(e.checks.end(), after->notes.begin(), after->notes.end());
  if (const LaunchReport* hottest = Hottest(*after)) e.point_after = PointOf(*hottest);
  e.counters = ChangedNumbers(accepted->outcome->before, accepted->outcome->after);
  const auto share = [](const std::map<std::string, double>& numbers) {
    const auto found = numbers.find("roofline_pct");
    return found != numbers.end() ? found->second / 100 : 0.0;
  };
  e.roofline_share_before = share(accepted->outcome->before);
  e.roofline_share_after = share(accepted->outcome->after);
  e.reproduce = {fmt::format("git checkout {}", e.base_commit.empty() ? "BASE" : e.base_commit.substr(0, 12)),
                 fmt::format("git checkout warpwright/{} -- {}", e.kernel, e.file),
                 fmt::format("warpwright verify --kernel {} --device {}", e.kernel, e.device)};
  return e;
}

}  // namespace warpwright
