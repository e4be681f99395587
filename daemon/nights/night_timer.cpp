#include "nights/night_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/random.h"
#include "core/median.h"
#include "judge/inputs.h"

namespace warpwright::nights {
namespace {

constexpr int kAloneBlocks = 10, kPairsPerBlock = 6;
constexpr uint64_t kSeedStream = 0x6e69676874;

std::string Reason(const core::CompileFailed& failed) {
  return "it does not compile: " + failed.log.substr(0, failed.log.find('\n'));
}
std::string Reason(const core::Refused& refused) { return fmt::format("{}: {}", refused.check.text(), refused.reason); }
std::string Reason(const core::Faulted& faulted) { return fmt::format("it faults: {}", faulted.fault.message); }

uint64_t BytesOf(const core::KernelSpec& spec, const core::Case& c) {
  uint64_t bytes = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) continue;  // MakeInputs reports why
    uint64_t size = core::SizeOf(buffer->dtype);
    for (const int64_t extent : *shape) size *= static_cast<uint64_t>(extent);
    bytes += size;
  }
  return bytes;
}

// The statistics of one side over the blocks: as core/timing.h computes them for a ratio, here for a time. The same
// pairs are included.
NightTime TimeOf(const core::Case& c, const std::vector<core::TimedPair>& pairs, const core::TimingRules& rules,
                 bool candidate) {
  NightTime time;
  time.name = c.name;
  time.weight = c.weight;
  std::map<int, std::vector<double>> blocks;
  std::vector<double> all, clocks;
  for (const core::TimedPair& pair : pairs) {
    if (core::Summarize(std::span(&pair, 1), rules, 0.01).pairs == 0) {  // throttled, or its clocks differ
      ++time.discarded;
      continue;
    }
    const double us = candidate ? pair.candidate_us : pair.original_us,
                 mhz = candidate ? pair.candidate_mhz : pair.original_mhz;
    blocks[pair.block].push_back(std::log(us));
    all.push_back(us);
    if (mhz > 0) clocks.push_back(mhz);
  }
  time.samples = static_cast<int>(all.size());
  if (all.empty()) return time;
  time.median_us = core::Median(all);
  if (!clocks.empty()) time.mhz = core::Median(clocks);
  double sum = 0, squares = 0;
  std::vector<double> medians;
  for (auto& [index, values] : blocks) medians.push_back(core::Median(values));
  for (const double value : medians) sum += value;
  time.log_mean = sum / static_cast<double>(medians.size());
  for (const double value : medians) squares += (value - time.log_mean) * (value - time.log_mean);
  if (medians.size() > 1)
    time.log_error = std::sqrt(squares / static_cast<double>(medians.size() * (medians.size() - 1)));
  return time;
}

}  // namespace

struct NightTimer::CasePairs {
  const core::Case* c = nullptr;
  uint64_t seed = 0;
  int blocks = 0, launches_per_sample = 0;
  std::vector<core::TimedPair> pairs;
};

// The cases with a weight on this kind of device; if none has one, all cases.
std::vector<const core::Case*> NightTimer::CasesOf(const core::KernelSpec& spec) const {
  const core::DeviceKind kind = modelled() ? core::DeviceKind::kSim : core::DeviceKind::kCuda;
  std::vector<const core::Case*> weighted, all;
  for (const core::Case& c : spec.cases) {
    if (!c.on.contains(kind) || (modelled() && BytesOf(spec, c) > options_.max_case_bytes)) continue;
    all.push_back(&c);
    if (c.weight > 0) weighted.push_back(&c);
  }
  return weighted.empty() ? all : weighted;
}

core::TimingRules NightTimer::Rules() const {
  core::TimingRules rules;
  rules.min_effect = options_.threshold - 1;
  if (options_.chip) rules.nominal_mhz = options_.chip->clock_ghz * 1e3;
  return rules;
}

uint64_t NightTimer::NextSeed() {
  return base::CounterRandom(options_.secret_seed ? *options_.secret_seed : base::SecretSeed(), kSeedStream)
      .Bits(passes_++);
}

Result<NightTimer::Outcome<NightTimes>> NightTimer::Model(const core::KernelSpec& spec, const core::SourceRef& source) {
  const std::string key = fmt::format("{}\n{}\n{}", source.root, source.file, spec.name);
  if (const auto known = modelled_.find(key); known != modelled_.end()) return known->second;
  NightTimes times;
  for (const core::Case* c : CasesOf(spec)) {
    core::ExecuteRequest request;
    request.source = source;
    request.spec = spec;
    request.case_name = c->name;
    request.scalars = c->scalars;
    request.device = options_.device;
    request.options.counters = true;
    request.options.keep_outputs = false;
    request.options.sample_instructions = c->on.contains(core::DeviceKind::kCuda) ? options_.sample_instructions : 0;
    WW_ASSIGN(request.buffers,
              judge::MakeInputs(spec, *c, judge::InputVariant::kBase, request.options.seed, options_.tree));
    WW_ASSIGN(const core::ExecuteOutcome outcome, evaluator_.Execute(request));
    if (const auto* run = std::get_if<core::Executed>(&outcome)) {
      if (run->time_us > 0)
        times.push_back({.name = c->name,
                         .weight = c->weight > 0 ? c->weight : 1,
                         .median_us = run->time_us,
                         .log_mean = std::log(run->time_us),
                         .samples = 1});
      continue;
    }
    return NotRunnable{std::visit(Overload{[](const core::Executed&) { return std::string(); },
                                           [](const auto& failed) { return Reason(failed); }},
                                  outcome)};
  }
  if (times.empty()) return NotRunnable{"no case of the manifest can be timed on " + options_.device};
  modelled_[key] = times;
  return times;
}

Result<NightTimer::Outcome<NightComparison>> NightTimer::CompareModelled(const core::KernelSpec& spec,
                                                                         const core::SourceRef& reference,
                                                                         const core::SourceRef& present) {
  WW_ASSIGN(auto before, Model(spec, reference));
  if (const auto* failed = std::get_if<NotRunnable>(&before)) return NotRunnable{failed->reason, true};
  WW_ASSIGN(auto after, Model(spec, present));
  if (const auto* failed = std::get_if<NotRunnable>(&after)) return *failed;
  NightComparison comparison;
  comparison.reference = std::get<NightTimes>(std::move(before));
  comparison.present = std::get<NightTimes>(std::move(after));
  comparison.paired.modelled = true;
  comparison.alpha = core::TimingLooks().front().alpha;
  core::TimingRules rules = Rules();
  std::vector<core::WeightedTiming> weighted;
  for (size_t i = 0; i < comparison.present.size(); ++i) {
    const NightTime &then = comparison.reference[i], &now = comparison.present[i];
    core::TimingSummary summary;
    summary.log_ratio = summary.lower = summary.upper = summary.decision_lower = summary.decision_upper =
        then.log_mean - now.log_mean;
    summary.original_us = then.median_us;
    summary.candidate_us = now.median_us;
    summary.blocks = 2;  // any number: there is no spread
    summary.pairs = 1;
    comparison.paired.cases.push_back({now.name, now.weight, summary});
    weighted.push_back({now.weight, summary});
  }
  comparison.paired.overall = core::Combine(weighted, rules, comparison.alpha);
  comparison.judgement = JudgeCode(comparison.paired, options_.threshold, comparison.alpha);
  return comparison;
}

Result<std::optional<NotRunnable>> NightTimer::AddBlocks(const core::KernelSpec& spec, const core::SourceRef& reference,
                                                         const core::SourceRef& present, CasePairs& pairs, int blocks) {
  core::TimeRequest request;
  request.original = reference;
  request.candidate = present;
  request.spec = spec;
  request.case_name = pairs.c->name;
  request.scalars = pairs.c->scalars;
  request.device = options_.device;
  WW_ASSIGN(request.buffers, judge::MakeInputs(spec, *pairs.c, judge::InputVariant::kBase, pairs.seed, options_.tree));
  request.options.seed = pairs.seed;
  request.options.first_block = pairs.blocks;
  request.options.blocks = blocks - pairs.blocks;
  request.options.pairs_per_block = kPairsPerBlock;
  request.options.launches_per_sample = pairs.launches_per_sample;
  request.options.kept_pairs = 0;
  WW_ASSIGN(core::TimeOutcome outcome, evaluator_.Time(request));
  auto* timed = std::get_if<core::Timed>(&outcome);
  if (timed == nullptr)
    return std::optional(NotRunnable{std::visit(
        Overload{[](const core::Timed&) { return std::string(); }, [](const auto& failed) { return Reason(failed); }},
        outcome)});
  pairs.launches_per_sample = timed->launches_per_sample;
  pairs.blocks = blocks;
  pairs.pairs.insert(pairs.pairs.end(), timed->pairs.begin(), timed->pairs.end());
  return std::optional<NotRunnable>();
}

Result<NightTimer::Outcome<NightComparison>> NightTimer::ComparePass(const core::KernelSpec& spec,
                                                                     const core::SourceRef& reference,
                                                                     const core::SourceRef& present) {
  const core::TimingRules rules = Rules();
  const uint64_t seed = NextSeed();
  std::vector<CasePairs> cases;
  for (const core::Case* c : CasesOf(spec)) {
    cases.emplace_back().c = c;
    cases.back().seed = base::CounterRandom(seed, kSeedStream).Bits(cases.size());
  }
  if (cases.empty()) return NotRunnable{"no case of the manifest can be timed on " + options_.device};
  NightComparison comparison;
  for (const core::TimingLook& look : core::TimingLooks()) {
    comparison.paired.cases.clear();
    comparison.alpha = look.alpha;
    std::vector<core::WeightedTiming> weighted;
    for (CasePairs& pairs : cases) {
      WW_ASSIGN(const auto failed, AddBlocks(spec, reference, present, pairs, look.blocks));
      if (failed) return *failed;
      const double weight = pairs.c->weight > 0 ? pairs.c->weight : 1;
      comparison.paired.cases.push_back({pairs.c->name, weight, core::Summarize(pairs.pairs, rules, look.alpha)});
      weighted.push_back({weight, comparison.paired.cases.back().summary});
    }
    comparison.paired.overall = core::Combine(weighted, rules, look.alpha);
    comparison.judgement = JudgeCode(comparison.paired, options_.threshold, look.alpha);
    if (comparison.judgement.decision != CodeDecision::kUnclear) break;
  }
  for (const CasePairs& pairs : cases) {
    comparison.reference.push_back(TimeOf(*pairs.c, pairs.pairs, rules, false));
    comparison.present.push_back(TimeOf(*pairs.c, pairs.pairs, rules, true));
  }
  return comparison;
}

Result<std::variant<NightTimes, NotRunnable>> NightTimer::Measure(const core::KernelSpec& spec,
                                                                  const core::SourceRef& source) {
  if (modelled()) return Model(spec, source);
  const core::TimingRules rules = Rules();
  const uint64_t seed = NextSeed();
  NightTimes times;
  for (const core::Case* c : CasesOf(spec)) {
    CasePairs pairs;
    pairs.c = c;
    pairs.seed = base::CounterRandom(seed, kSeedStream).Bits(times.size());
    WW_ASSIGN(const auto failed, AddBlocks(spec, source, source, pairs, kAloneBlocks));
    if (failed) return *failed;
    times.push_back(TimeOf(*c, pairs.pairs, rules, true));
    if (times.back().samples == 0)
      return NotRunnable{
          fmt::format("case {}: every pair was discarded, since the clocks dropped or differed", c->name)};
  }
  if (times.empty()) return NotRunnable{"no case of the manifest can be timed on " + options_.device};
  return times;
}

Result<std::variant<NightComparison, NotRunnable>> NightTimer::Compare(const core::KernelSpec& spec,
                                                                       const core::SourceRef& reference,
                                                                       const core::SourceRef& present) {
  ++comparisons_;
  if (modelled()) return CompareModelled(spec, reference, present);
  WW_ASSIGN(auto first, ComparePass(spec, reference, present));
  if (std::holds_alternative<NotRunnable>(first)) {
    WW_ASSIGN(const auto alone, Measure(spec, present));  // which of the two is to blame
    if (const auto* failed = std::get_if<NotRunnable>(&alone)) return *failed;
    return NotRunnable{std::get<NotRunnable>(first).reason, true};
  }
  if (std::get<NightComparison>(first).judgement.decision != CodeDecision::kSlower) return first;
  if (options_.fresh_worker) options_.fresh_worker();
  return ComparePass(spec, reference, present);
}

}  // namespace warpwright::nights
