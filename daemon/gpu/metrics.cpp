#include "gpu/metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpwright::gpu {
namespace {

using Values = std::map<std::string, double>;
using Numbers = std::map<std::string_view, double>;

struct TimePart {
  std::string_view name;
  double core::TimeBreakdown::* part;
};
constexpr TimePart kTimeParts[] = {
    {"dram_us", &core::TimeBreakdown::dram_us},       {"l2_us", &core::TimeBreakdown::l2_us},
    {"l1_us", &core::TimeBreakdown::l1_us},           {"shared_us", &core::TimeBreakdown::shared_us},
    {"issue_us", &core::TimeBreakdown::issue_us},     {"fp32_us", &core::TimeBreakdown::fp32_us},
    {"fp64_us", &core::TimeBreakdown::fp64_us},       {"fp16_us", &core::TimeBreakdown::fp16_us},
    {"tensor_us", &core::TimeBreakdown::tensor_us},   {"integer_us", &core::TimeBreakdown::integer_us},
    {"sfu_us", &core::TimeBreakdown::sfu_us},         {"atomic_us", &core::TimeBreakdown::atomic_us},
    {"latency_us", &core::TimeBreakdown::latency_us}, {"overhead_us", &core::TimeBreakdown::overhead_us}};

std::optional<double> Evaluate(const Formula& formula, const Values& values) {
  double sum = 0;
  for (const auto& term : formula.terms) {
    const auto found = values.find(term.metric);
    if (found == values.end()) return std::nullopt;
    sum += term.weight * found->second;
  }
  return sum;
}

Numbers EvaluateAll(const std::vector<Formula>& formulas, const Values& values) {
  Numbers numbers;
  for (const auto& formula : formulas) {
    const auto value = Evaluate(formula, values);
    if (!value) continue;
    const auto [place, added] = numbers.emplace(formula.number, *value);
    if (!added) place->second = std::max(place->second, *value);
  }
  return numbers;
}

void NoteUnmeasured(core::LaunchReport& report, const std::vector<Formula>& formulas, const Numbers& numbers) {
  for (const auto& formula : formulas)
    if (numbers.count(formula.number) == 0) report.unmeasured.emplace(formula.number);
}

bool NeedsAny(const Formula& formula, const std::vector<std::string>& metrics) {
  return std::any_of(formula.terms.begin(), formula.terms.end(), [&](const Formula::Term& term) {
    return std::find(metrics.begin(), metrics.end(), term.metric) != metrics.end();
  });
}

// Whether a formula of the table needs the metric, and no other formula gives the same number without the absent
// metrics.
bool LeavesAGap(const std::vector<Formula>& table, const std::string& metric, const std::vector<std::string>& absent) {
  return std::any_of(table.begin(), table.end(), [&](const Formula& formula) {
    return NeedsAny(formula, {metric}) && std::none_of(table.begin(), table.end(), [&](const Formula& other) {
             return other.number == formula.number && !NeedsAny(other, absent);
           });
  });
}

uint64_t Count(double value) { return value > 0 ? static_cast<uint64_t>(std::llround(value)) : 0; }

void FillCounters(core::LaunchReport& report, const Values& values) {
  const Numbers counters = EvaluateAll(CounterFormulas(), values);
  for (const auto& [name, value] : counters) core::SetField(report.counters, name, Count(value));
  NoteUnmeasured(report, CounterFormulas(), counters);

  const core::Counters& c = report.counters;
  Numbers classes = EvaluateAll(ThreadClassFormulas(), values);
  if (c.warp_instructions == 0 || c.thread_instructions == 0) classes.clear();
  const double lanes =
      static_cast<double>(c.thread_instructions) / static_cast<double>(std::max<uint64_t>(1, c.warp_instructions));
  for (const auto& [name, threads] : classes) core::SetField(report.counters, name, Count(threads / lanes));
  NoteUnmeasured(report, ThreadClassFormulas(), classes);

  for (const auto& [name, reason] : NotOnHardware()) report.unmeasured.emplace(name);
  report.counters.blocks = report.blocks_total;
  report.counters.warps = report.blocks_total * static_cast<uint64_t>((report.threads_per_block + 31) / 32);
}

// Microseconds of each part, by name.
Numbers Parts(double total_us, const Values& values, const core::Chip& chip) {
  Numbers parts;
  for (const auto& [name, percent] : EvaluateAll(ThroughputFormulas(), values))
    parts[name] = std::clamp(percent, 0.0, 100.0) / 100 * total_us;
  const double lane_cycles_per_us = chip.multiprocessors * chip.clock_ghz * 1e3;
  const std::pair<std::string_view, double> lanes[] = {{"fp64_us", chip.fp64_lanes}, {"fp16_us", chip.fp16_lanes}};
  const Numbers results = EvaluateAll(LaneFormulas(), values);
  for (const auto& [name, width] : lanes) {
    const auto found = results.find(name);
    if (found != results.end() && parts.count(name) == 0 && width > 0)
      parts[name] = std::min(total_us, found->second / (width * lane_cycles_per_us));
  }
  return parts;
}

std::optional<double> LatencyShare(const Values& values) {
  const auto latency = Evaluate(LatencyStalls(), values), all = Evaluate(AllStalls(), values);
  if (!latency || !all) return std::nullopt;
  return *all > 0 ? *latency / *all : 0.0;
}

void FillTime(core::LaunchReport& report, const Values& values, const core::Chip& chip) {
  core::TimeBreakdown& time = report.time;
  const auto duration = values.find(kDurationMetric);
  if (time.total_us <= 0 && duration != values.end()) time.total_us = duration->second / 1e3;
  Numbers parts = time.total_us > 0 ? Parts(time.total_us, values, chip) : Numbers{};
  NoteUnmeasured(report, ThroughputFormulas(), parts);

  double busiest_us = 0;
  for (const auto& [name, us] : parts) busiest_us = std::max(busiest_us, us);
  if (const auto share = LatencyShare(values); share && !parts.empty())
    parts["latency_us"] = *share * std::max(0.0, time.total_us - busiest_us);
  else report.unmeasured.emplace("latency_us");
  const double starting_us =
      static_cast<double>(report.blocks_total) * chip.block_launch_cycles / (chip.clock_ghz * 1e3);
  parts["overhead_us"] = std::min(time.total_us, chip.launch_overhead_us + starting_us);

  double largest = 0;
  for (const auto& [name, part] : kTimeParts) {
    const auto found = parts.find(name);
    if (found == parts.end()) continue;
    time.*part = found->second;
    if (found->second > largest && parts.size() > 1) {  // the launch alone says nothing
      largest = found->second;
      time.limiter = name.substr(0, name.size() - 3);  // without "_us"
    }
  }
}

}  // namespace

std::vector<std::string> Missed(const std::vector<std::string>& absent) {
  std::vector<std::string> missed;
  for (const auto& metric : absent) {
    bool used = false, gap = false;
    for (const auto* table : {&CounterFormulas(), &ThreadClassFormulas(), &ThroughputFormulas(), &StallFormulas()}) {
      used = used || std::any_of(table->begin(), table->end(),
                                 [&](const Formula& formula) { return NeedsAny(formula, {metric}); });
      gap = gap || LeavesAGap(*table, metric, absent);
    }
    if (gap || !used) missed.push_back(metric);  // a metric that no formula uses is shown unchanged
  }
  return missed;
}

void Fill(core::LaunchReport& report, const std::map<std::string, double>& values, const core::Chip& chip) {
  report.metrics = values;
  report.unmeasured.clear();
  FillCounters(report, values);
  FillTime(report, values, chip);
  if (const auto active = values.find(kWarpsActiveMetric); active != values.end())
    report.occupancy.achieved = std::clamp(active->second / 100, 0.0, 1.0);
  else report.unmeasured.emplace("achieved_occupancy");
  if (const auto all = Evaluate(AllStalls(), values); all && *all > 0)
    for (const auto& [field, cycles] : EvaluateAll(StallFormulas(), values))
      report.metrics[std::string(field)] = 100 * cycles / *all;
  if (const auto tensor = values.find(kTensorMetric); tensor != values.end())
    report.metrics["tensor_pct"] = tensor->second;
}

bool HasHalfArithmetic(std::string_view ptx) {
  constexpr std::string_view kEnds = " \t\r\n;{}";
  while (!ptx.empty()) {
    const std::string_view word = ptx.substr(0, ptx.find_first_of(kEnds));
    ptx.remove_prefix(std::min(ptx.size(), word.size() + 1));
    const std::string_view operation = word.substr(0, word.find('.')), type = word.substr(word.rfind('.') + 1);
    const bool computes = operation == "add" || operation == "sub" || operation == "mul" || operation == "fma";
    if (computes && (type == "f16" || type == "f16x2" || type == "bf16" || type == "bf16x2")) return true;
  }
  return false;
}

}  // namespace warpwright::gpu
