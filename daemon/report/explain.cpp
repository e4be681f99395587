#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/hash.h"
#include "base/shell.h"
#include "core/evidence.h"
#include "core/original_remedy.h"
#include "memory/lift_json.h"
#include "memory/lineage.h"
#include "report/format.h"
#include "report/review_notes.h"

namespace warpwright::report {
namespace {

constexpr size_t kShort = 10;       // digits of a hash that are displayed
constexpr size_t kMaxCounters = 4;  // of a step

std::string Short(const std::string& hash) { return hash.substr(0, kShort); }

std::string Describe(const std::map<std::string, std::string>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

const core::Measured* MeasuredOf(const memory::StepView& step) {
  if (!step.outcome || !step.outcome->verdict) return nullptr;
  return std::get_if<core::Measured>(&*step.outcome->verdict);
}

const memory::StepView* FindStep(const memory::TrajectoryView& view, memory::StepKind kind, int round) {
  const memory::StepView* found = nullptr;
  for (const auto& step : view.steps)
    if (step.record.kind == kind && (kind != memory::StepKind::kAccept || step.record.round == round)) found = &step;
  return found;
}

// The result in a later version of its file, which is `text`, and what it replaced there.
struct CarriedSteps {
  const memory::StepView *original = nullptr, *result = nullptr;
};
CarriedSteps FindCarried(const memory::TrajectoryView& view, const std::string& text) {
  CarriedSteps found;
  const std::string hash = base::Sha256(text);
  for (const auto& step : view.steps)
    if (step.record.kind == memory::StepKind::kCarry && step.record.candidate == hash && MeasuredOf(step) != nullptr)
      found.result = &step;
  if (found.result == nullptr) return found;
  for (const auto& step : view.steps)
    if (step.record.kind == memory::StepKind::kCarry && step.record.method == memory::kCarriedFrom &&
        step.record.base == found.result->record.base)
      found.original = &step;
  return found.original != nullptr && MeasuredOf(*found.original) != nullptr ? found : CarriedSteps{};
}

// None if it was not asked for, or an older version stored it in another way.
std::optional<Formula> Computes(const memory::TrajectoryView& view) {
  const memory::StepView* step = FindStep(view, memory::StepKind::kLift, 0);
  if (step == nullptr || !step->outcome) return std::nullopt;
  const auto lifted = memory::DecodeLift(step->outcome->data);
  return lifted ? std::optional(FormulaOf(*lifted)) : std::nullopt;
}

// The hottest launch of the most expensive case.
const core::LaunchReport* Hottest(const core::Measured& measured, double* min_time = nullptr) {
  const core::CaseMeasurement* costliest = nullptr;
  for (const auto& c : measured.cases)
    if (!c.launches.empty() && (costliest == nullptr || c.weight * c.time_us > costliest->weight * costliest->time_us))
      costliest = &c;
  if (costliest == nullptr) return nullptr;
  if (min_time != nullptr) *min_time = costliest->time_us;
  return &*std::max_element(costliest->launches.begin(), costliest->launches.end(),
                            [](const auto& a, const auto& b) { return a.time.total_us < b.time.total_us; });
}

RooflinePoint PointOf(const core::LaunchReport& launch) {
  const auto flops = static_cast<double>(launch.counters.flops_fp16 + launch.counters.flops_fp32 +
                                         launch.counters.flops_fp64 + launch.counters.flops_tensor);
  const auto bytes = static_cast<double>(launch.counters.dram_read_bytes + launch.counters.dram_write_bytes);
  return {bytes > 0 ? flops / bytes : 0, launch.time.total_us > 0 ? flops / launch.time.total_us / 1e3 : 0};
}

// A step that was taken, with the figures that its causes cite: without a cause, none explains it.
TakenStep StepOf(const AttemptRow& row, const memory::StepOutcome& outcome, double gain_before) {
  TakenStep step{.method = row.method,
                 .parameters = row.parameters,
                 .does = row.message,
                 .gain_before = gain_before,
                 .gain_after = row.gain.value_or(gain_before),
                 .causes = {},
                 .counters = {},
                 .predicted = static_cast<int>(outcome.prediction.size())};
  std::vector<std::string> cited;
  for (const skills::SupportedCause& cause : outcome.causes) {
    step.causes.push_back(cause.sentence);
    cited.insert(cited.end(), cause.cites.begin(), cause.cites.end());
  }
  for (const skills::PredictionResult& p : outcome.prediction) {
    step.held += p.held ? 1 : 0;
    const bool shown = std::find(cited.begin(), cited.end(), p.name) != cited.end();
    if (shown && step.counters.size() < kMaxCounters)
      step.counters.push_back({p.name, p.before, p.after, MoveOf(p.name, p.before, p.after, p.up)});
  }
  return step;
}

CaseRow RowOf(const core::CaseMeasurement& before, const core::CaseMeasurement& after) {
  CaseRow row;
  row.name = after.case_name;
  row.before_us = before.time_us;
  row.after_us = after.time_us;
  row.sampled = after.sampled || before.sampled;
  row.weight = after.weight;
  if (after.timing) {
    const core::TimingSummary& t = *after.timing;
    if (t.pairs > 0) row.before_us = t.original_us;
    row.timing = GainInterval{std::exp(t.lower), std::exp(t.log_ratio), std::exp(t.upper)};
    row.decision = t.decision;
    row.hot_before_us = t.hot_original_us;
    row.hot_after_us = t.hot_candidate_us;
    row.pairs = t.pairs;
    row.discarded = t.discarded;
  }
  return row;
}

// The mean over the cases by weight, with the interval that follows from their standard errors and the fewest blocks of
// any.
std::optional<GainInterval> IntervalOver(const core::Measured& after) {
  double weights = 0, mean = 0, variance = 0;
  int blocks = 0;
  for (const auto& c : after.cases) {
    if (!(c.weight > 0)) continue;
    if (!c.timing || c.timing->blocks < 2) return std::nullopt;
    weights += c.weight;
    mean += c.weight * c.timing->log_ratio;
    variance += c.weight * c.weight * c.timing->standard_error * c.timing->standard_error;
    blocks = blocks == 0 ? c.timing->blocks : std::min(blocks, c.timing->blocks);
  }
  if (!(weights > 0)) return std::nullopt;
  const double center = mean / weights, half = core::StudentQuantile(0.025, blocks - 1) * std::sqrt(variance) / weights;
  return GainInterval{std::exp(center - half), std::exp(center), std::exp(center + half)};
}

void AddCases(Explanation& e, const core::Measured& before, const core::Measured& after) {
  double weights = 0, log_before = 0;
  for (const auto& b : before.cases)
    for (const auto& a : after.cases)
      if (a.case_name == b.case_name) {
        e.cases.push_back(RowOf(b, a));
        const CaseRow& row = e.cases.back();
        if (!(row.weight > 0) || !(row.before_us > 0)) continue;
        weights += row.weight;
        log_before += row.weight * std::log(row.before_us);
      }
  e.interval = IntervalOver(after);
  if (!(weights > 0) || !(e.gain > 0)) return;
  e.before_us = std::exp(log_before / weights);
  e.after_us = e.before_us / e.gain;
}

// What the accepted step says of the roofline; it holds for the base that was searched from.
void AddRoofline(Explanation& e, const memory::StepOutcome& accepted) {
  const auto number = [](const std::map<std::string, double>& numbers, const char* name) {
    const auto found = numbers.find(name);
    return found != numbers.end() ? found->second : 0.0;
  };
  e.roofline_share_before = number(accepted.before, "roofline_pct") / 100;
  e.roofline_share_after = number(accepted.after, "roofline_pct") / 100;
  e.roofline_of_formula = number(accepted.after, "formula_known") != 0;
  e.counted_roofline_share_after = number(accepted.after, "counted_roofline_pct") / 100;
}

std::string LineOf(const std::string& text, int wanted) {
  std::istringstream lines(text);
  std::string line;
  for (int at = 0; at < wanted; ++at)
    if (!std::getline(lines, line)) return {};
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : line.substr(first);
}

// Where the kernel spends its time: by samples if the device takes them, else by the sectors that lines move, else by
// instructions.
std::vector<HotLine> HotLines(const core::LaunchReport& launch, const Explanation& e, const std::string& text) {
  constexpr size_t kLines = 3;
  constexpr double kLeastShare = 0.05;
  double samples = 0, sectors = 0, instructions = 0;
  for (const auto& line : launch.lines) {
    samples += static_cast<double>(line.samples);
    sectors += static_cast<double>(line.global_sectors);
    instructions += static_cast<double>(line.warp_instructions);
  }
  std::vector<HotLine> hot;
  for (const auto& line : launch.lines) {
    if (line.file != e.file && !e.file.empty()) continue;
    HotLine row;
    row.line = line.line;
    row.text = LineOf(text, line.line);
    if (samples > 0) {
      row.share = static_cast<double>(line.samples) / samples;
      const auto stall = std::max_element(line.stalls.begin(), line.stalls.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      row.what = stall == line.stalls.end() || stall->second == 0
                     ? "of the samples"
                     : "of the samples, mostly " + StallWords(stall->first);
    } else if (sectors > 0) {
      row.share = static_cast<double>(line.global_sectors) / sectors;
      row.what = "of the global memory traffic";
    } else if (instructions > 0) {
      row.share = static_cast<double>(line.warp_instructions) / instructions;
      row.what = "of the instructions";
    }
    if (row.share >= kLeastShare) hot.push_back(std::move(row));
  }
  std::stable_sort(hot.begin(), hot.end(), [](const HotLine& a, const HotLine& b) { return a.share > b.share; });
  if (hot.size() > kLines) hot.resize(kLines);
  return hot;
}

std::vector<std::string> Relaxations(const ExplainContext& context) {
  std::vector<std::string> found;
  for (const core::Allow allow : context.allow) found.push_back("allow: " + std::string(core::Name(allow)));
  if (context.tolerance.relative) found.push_back(fmt::format("tolerance: relative {:g}", *context.tolerance.relative));
  return found;
}

AttemptOutcome OutcomeOf(core::VerdictKind kind) {
  switch (kind) {
    case core::VerdictKind::kCompileFailed: return AttemptOutcome::kCompileFailed;
    case core::VerdictKind::kRefused: return AttemptOutcome::kRefused;
    case core::VerdictKind::kWrongResult: return AttemptOutcome::kWrongResult;
    case core::VerdictKind::kFaulted: return AttemptOutcome::kFaulted;
    case core::VerdictKind::kMeasured: return AttemptOutcome::kMeasured;
  }
  return AttemptOutcome::kUnknown;
}

// "wrong result (comparison, case a): out[3] ..." beside "wrong result" as "comparison, case a: out[3] ...".
std::string WithoutVerdict(std::string message, const std::string& verdict) {
  if (verdict.empty() || !message.starts_with(verdict + " (")) return message;
  message.erase(0, verdict.size() + 2);
  if (const size_t end = message.find(')'); end != std::string::npos) message.erase(end, 1);
  return message;
}

AttemptRow RowOf(const memory::StepView& step, const std::map<std::string, double>& time_of, double original_time,
                 const memory::Lineage& lineage) {
  const auto& record = step.record;
  AttemptRow row;
  row.round = record.round;
  row.parent = Short(record.base);
  row.method = record.method;
  row.parameters = Describe(record.parameters);
  if (!step.outcome) {
    row.outcome = AttemptOutcome::kInterrupted;
    return row;
  }
  row.message = step.outcome->summary;
  if (record.kind == memory::StepKind::kRewrite) {
    row.outcome = AttemptOutcome::kNotApplicable;
    return row;
  }
  row.id = Short(record.candidate);
  if (record.attempt > 0) row.method += fmt::format(" (repair {})", record.attempt);
  if (step.outcome->verdict) row.outcome = OutcomeOf(core::KindOf(*step.outcome->verdict));
  row.message = WithoutVerdict(std::move(row.message), VerdictWords(row));
  if (MeasuredOf(step) != nullptr) {
    const auto time = time_of.find(record.candidate);
    row.gain = time != time_of.end() && time->second > 0 ? original_time / time->second : step.outcome->gain;
    row.accepted = lineage.kept.count(record.candidate) != 0;
  }
  if (const auto refused = lineage.refused.find(record.candidate); refused != lineage.refused.end() && row.gain) {
    row.outcome = AttemptOutcome::kNotAccepted;
    row.message = fmt::format("{} in the search; the full verification: {}", FormatGain(*row.gain), refused->second);
    row.gain.reset();
  }
  return row;
}

// Of failed versions, by their hash: why they were not repaired, or not any more.
std::map<std::string, std::string> WhyUnmended(const memory::TrajectoryView& view) {
  std::map<std::string, std::string> unmended;
  for (const auto& step : view.steps)
    if (step.record.kind == memory::StepKind::kRepair && step.outcome && step.outcome->candidate.empty())
      unmended[step.record.candidate] = step.outcome->summary;
  return unmended;
}

// "round 1, row_parallel: why [1] [2]. [1] load_efficiency_pct = 12 %; [2] ..."
std::string PlanLine(const memory::StepRecord& record, int round) {
  const std::string when = round > 0    ? fmt::format("round {}, {}", round, record.method)
                           : round == 0 ? "from experience, " + record.method
                                        : record.method + ", which does not apply";
  std::string line = when + ": " + record.reason;
  for (size_t i = 0; i < record.evidence.size() && i < 5; ++i)
    line += fmt::format("{} [{}] {}", i == 0 ? "" : ";", i + 1, record.evidence[i]);
  return line;
}

}  // namespace

std::string_view Name(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kUnknown: return "";
    case AttemptOutcome::kCompileFailed: return Name(core::VerdictKind::kCompileFailed);
    case AttemptOutcome::kRefused: return Name(core::VerdictKind::kRefused);
    case AttemptOutcome::kWrongResult: return Name(core::VerdictKind::kWrongResult);
    case AttemptOutcome::kFaulted: return Name(core::VerdictKind::kFaulted);
    case AttemptOutcome::kMeasured: return Name(core::VerdictKind::kMeasured);
    case AttemptOutcome::kNotApplicable: return "not applicable";
    case AttemptOutcome::kInterrupted: return "interrupted";
    case AttemptOutcome::kNotAccepted: return "refused in the end";
  }
  return "";
}

Explanation Explain(const memory::TrajectoryView& view, const ExplainContext& context) {
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
  e.base_blob = context.base_blob.empty() ? e.original_hash : context.base_blob;
  const memory::TaskKey& key = view.task.key;
  e.run_id =
      base::Hasher().Add(key.kernel).Add(key.base_hash).Add(key.device).Add(key.config_digest).Finish().substr(0, 16);
  e.relaxations = Relaxations(context);
  e.models = context.models;
  e.counts = view.task.counts;
  if (view.task.result) {
    e.outcome = view.task.result->outcome;
    e.outcome_reason = e.outcome == core::TaskOutcome::kImproved ? "" : view.task.result->message;
    e.gain = view.task.result->gain;
    e.result_hash = view.task.result->best_hash;
  } else {
    e.outcome = core::TaskOutcome::kUnfinished;
  }

  e.computes = Computes(view);

  const memory::StepView* baseline = FindStep(view, memory::StepKind::kBaseline, 0);
  const memory::StepView* accepted = FindStep(view, memory::StepKind::kAccept, memory::kFinalRound);
  const core::Measured* before = baseline != nullptr ? MeasuredOf(*baseline) : nullptr;
  const core::Measured* after =
      accepted != nullptr && accepted->outcome && accepted->outcome->accepted ? MeasuredOf(*accepted) : nullptr;
  const CarriedSteps carried = FindCarried(view, context.result_text);
  if (before != nullptr) e.modelled = before->modelled;

  // Gains over the original: each evaluation knows the speed-up over its base only, but also the measured times.
  std::map<std::string, double> speed_of;
  const memory::Lineage lineage = memory::LineageOf(view);
  std::set<std::string> plans;
  std::set<int> rounds = {0};  // that count
  for (const auto& step : view.steps) {
    if (step.record.kind != memory::StepKind::kEvaluate) continue;
    rounds.insert(step.record.round);
    if (const core::Measured* measured = MeasuredOf(step); measured != nullptr && before != nullptr)
      speed_of[step.record.candidate] = 1 / core::Speedup(*before, *measured);
    if (step.outcome) e.seconds += step.outcome->seconds;
  }
  const std::map<std::string, std::string> unmended = WhyUnmended(view);
  std::map<std::string, int> judged_in;  // the first round, by the candidate's hash
  for (const auto& step : view.steps) {
    if (step.record.kind != memory::StepKind::kEvaluate && step.record.kind != memory::StepKind::kRewrite) continue;
    e.attempts.push_back(RowOf(step, speed_of, 1.0, lineage));
    auto& row = e.attempts.back();
    if (!rounds.contains(row.round)) row.round = kNoRound;
    if (const auto version = view.candidates.find(step.record.candidate);
        version != view.candidates.end() && version->second.origin) {
      row.agent = core::Name(version->second.origin->agent);
      row.question = Short(version->second.origin->question);
    }
    if (const auto why = unmended.find(step.record.candidate); why != unmended.end() && !row.gain && !row.id.empty())
      row.message += "; " + why->second;
    if (step.record.kind == memory::StepKind::kEvaluate && step.outcome) {
      const auto [first, is_new] = judged_in.emplace(step.record.candidate, row.round);
      if (!is_new && row.outcome != AttemptOutcome::kNotAccepted) row.repeats_round = first->second;
    }
    if (plans.insert(fmt::format("{} {}", row.round, step.record.method)).second)
      e.plans.push_back(PlanLine(step.record, row.round));
    if (!row.accepted) continue;
    for (auto& precondition : Preconditions(step.record.method, row.message))
      if (std::find(e.preconditions.begin(), e.preconditions.end(), precondition) == e.preconditions.end())
        e.preconditions.push_back(std::move(precondition));
    e.steps.push_back(StepOf(row, *step.outcome, e.steps.empty() ? 1 : e.steps.back().gain_after));
    for (const auto& p : step.outcome->prediction)
      e.predictions.push_back(
          {.field = p.name, .direction = p.up ? 1 : -1, .before = p.before, .after = p.after, .held = p.held});
  }
  for (const auto& step : view.steps)
    if (step.record.kind == memory::StepKind::kAsk)
      e.conversation.push_back(fmt::format("{}, question {}: {}", step.record.method, Short(step.record.candidate),
                                           step.outcome ? step.outcome->summary : "waits for an answer"));
  if (before == nullptr) {
    if (baseline != nullptr && baseline->outcome && baseline->outcome->verdict)
      e.remedy = core::RemedyForOriginal(*baseline->outcome->verdict);
    return e;
  }
  if (carried.result != nullptr && after != nullptr) {  // the search is that of the old base, and so are its gains
    before = MeasuredOf(*carried.original);
    after = MeasuredOf(*carried.result);
    e.carried = true;
    e.gain = core::Speedup(*before, *after);
    e.original_hash = carried.original->record.candidate;
    if (context.base_blob.empty()) e.base_blob = e.original_hash;
    e.result_hash = carried.result->record.candidate;
  }
  SortNotes(before->notes, e);
  if (const core::LaunchReport* hottest = Hottest(*before)) {
    e.point_before = PointOf(*hottest);
    e.hot_before = HotLines(*hottest, e, context.original_text);
  }
  e.peak_gflops = 2 * context.chip.fp32_lanes * context.chip.multiprocessors * context.chip.clock_ghz;
  e.peak_gbytes = context.chip.dram_bytes_per_second / 1e9;
  if (after == nullptr) return e;
  AddCases(e, *before, *after);
  for (const core::CheckName& check : after->checks) e.checks.push_back(check.text());
  SortNotes(after->notes, e);
  if (BitIdentical(e).value_or(false)) SaySameBits(e);
  e.check_table = CheckTable(after->checks, after->notes, e);
  if (const core::LaunchReport* hottest = Hottest(*after)) {
    e.point_after = PointOf(*hottest);
    e.hot_after = HotLines(*hottest, e, context.result_text);
  }
  if (!e.carried) AddRoofline(e, *accepted->outcome);
  e.reproduce = {
      fmt::format("git checkout {}", e.base_commit.empty() ? "BASE" : e.base_commit.substr(0, 12)),
      fmt::format("git checkout {} -- {}", base::ShellWord("warpwright/" + e.kernel), base::ShellWord(e.file)),
      fmt::format("warpwright verify --kernel {} --device {}", base::ShellWord(e.kernel), base::ShellWord(e.device))};
  return e;
}

}  // namespace warpwright::report
