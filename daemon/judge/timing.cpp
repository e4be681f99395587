#include "judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "base/random.h"

namespace warpwright::judge {
namespace {

constexpr core::TimingLook kQuickLook = {6, 0.025};
constexpr int kQuickPairs = 4, kQuickLongPairs = 2, kFewestPairs = 4, kMostPairs = 10;
constexpr double kLongUs = 1e3, kVeryLongUs = 2e4;  // long kernels vary less, and cost more
// What a look of ten blocks may take, and what a sample takes in addition to the kernel: contents, poison, flushed
// caches, a comparison.
constexpr double kLookUs = 3e6, kSampleUs = 1500, kShortBatchUs = 60, kBytesPerUs = 5e5;
constexpr double kDriftFactor = 4, kFewElements = 64;
constexpr double kSuspiciousGain = 10;
constexpr double kMaxSmallOutputFactor = 64;  // outputs may come out this many times smaller than usual
constexpr uint64_t kTimingStream = 0x74696d65;

double Mean(const core::TimingOverall& overall) { return std::exp(overall.log_ratio); }

// Independent of the order of the elements: the device rotates them.
uint64_t UnorderedDigest(const base::Bytes& bytes, size_t size) {
  std::atomic<uint64_t> sum = 0;
  base::ParallelFor(bytes.size() / size, [&](size_t begin, size_t end) {
    uint64_t part = 0;
    for (size_t at = begin * size; at < end * size; at += size) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, size);
      word = (word ^ (word >> 32)) * 0x9e3779b97f4a7c15ULL;
      part += (word ^ (word >> 29)) * 0xbf58476d1ce4e5b9ULL;
    }
    sum += part;
  });
  return sum;
}

double Rms(core::DType dtype, std::span<const std::byte> bytes) {
  double squares = 0, count = 0;
  for (size_t i = 0; i < bytes.size() / core::SizeOf(dtype); ++i) {
    const double x = core::LoadAsDouble(dtype, bytes.data(), i);
    if (!std::isfinite(x)) continue;
    squares += x * x;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

std::vector<const core::BufferArgument*> BuffersOf(const core::KernelSpec& spec) {
  std::vector<const core::BufferArgument*> buffers;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) buffers.push_back(buffer);
  return buffers;
}

uint64_t BytesOf(const std::vector<core::BufferContent>& buffers) {
  uint64_t bytes = 0;
  for (const core::BufferContent& buffer : buffers) bytes += buffer.bytes.size();
  return bytes;
}

// Poison that neither side wrote differs from that of the trusted process.
void SparePoison(const OutputReference& reference, size_t size, const base::Bytes& original, base::Bytes& candidate) {
  if (reference.unwritten.empty()) return;
  std::vector<std::byte> spared = candidate.Copy();
  for (size_t e = 0; e < reference.unwritten.size(); ++e)
    if (reference.unwritten[e] && std::memcmp(candidate.data() + e * size, original.data() + e * size, size) == 0)
      std::memcpy(spared.data() + e * size, reference.bytes.data() + e * size, size);
  candidate = std::move(spared);
}

}  // namespace

int PairsPerBlock(VerificationLevel effort, double original_us, uint64_t bytes) {
  const bool very_long = original_us >= kVeryLongUs;
  if (effort == VerificationLevel::kQuick) return very_long ? 1 : original_us < kLongUs ? kQuickPairs : kQuickLongPairs;
  const double sample = kSampleUs + std::max(original_us, kShortBatchUs) + static_cast<double>(bytes) / kBytesPerUs;
  const double fewest = very_long ? 1 : kFewestPairs;
  return static_cast<int>(std::clamp(kLookUs / 10 / (2 * sample), fewest, double{kMostPairs}));
}

void PairedTiming::AddVerified(const std::string& case_name, const TrialReference& reference,
                               const std::vector<base::Bytes>& buffers) {
  DeviationLimit& limit = limits_[case_name];
  limit.relative = std::max({limit.relative, kDriftFactor * RelativeDifference(reference, buffers),
                             // Without its truth the table would speak, which may allow more.
                             reference.depth > Depth::kBytes ? state_.AllowedDifference(reference) : 0.0});
  for (const OutputLayout& layout : reference.layouts) {
    if (!core::IsFloat(layout.dtype)) continue;
    double elements = 1;
    for (const int64_t extent : layout.shape) elements *= static_cast<double>(extent);
    limit.relative = std::max(limit.relative, core::MachineEpsilon(layout.dtype));
    if (elements >= kFewElements) continue;
    limit.small = true;
    for (size_t o = 0; o < reference.layouts.size(); ++o)
      if (reference.layouts[o].name == layout.name) {
        double& usual = limit.usual_rms[layout.name];
        usual = std::max(usual, Rms(layout.dtype, reference.references[o].bytes));
      }
  }
}

double PairedTiming::SmallOutputFactor(const Timing& timing, const core::SampledPair& kept) const {
  const DeviationLimit limit = LimitOf(timing.c->name);
  double luck = 1;
  size_t index = 0;
  for (const core::Argument& argument : state_.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const auto usual = limit.usual_rms.find(argument.name);
    if (usual == limit.usual_rms.end() || i >= kept.original.size()) continue;
    const double here = Rms(buffer->dtype, kept.original[i]);
    luck = std::max(luck, here > 0 ? std::min(kMaxSmallOutputFactor, usual->second / here) : kMaxSmallOutputFactor);
  }
  return luck;
}

// Cases that could not be verified get the limits of the others.
PairedTiming::DeviationLimit PairedTiming::LimitOf(const std::string& case_name) const {
  if (const auto found = limits_.find(case_name); found != limits_.end()) return found->second;
  DeviationLimit largest;
  for (const auto& [name, limit] : limits_) {
    largest.relative = std::max(largest.relative, limit.relative);
    largest.small = largest.small || limit.small;
    for (const auto& [output, rms] : limit.usual_rms)
      largest.usual_rms[output] = std::max(largest.usual_rms[output], rms);
  }
  return largest;
}

core::TimingRules PairedTiming::Rules() const {
  core::TimingRules rules;
  if (state_.options.chip) rules.nominal_mhz = state_.options.chip->clock_ghz * 1e3;
  return rules;
}

uint64_t PairedTiming::NextSecret() {
  const bool search = effort_ == VerificationLevel::kQuick;  // whose candidates share the original's results
  const uint64_t secret = state_.options.secret_seed ? *state_.options.secret_seed
                          : search                   ? state_.search_secret.value()
                                                     : base::SecretSeed();
  return base::CounterRandom(secret, kTimingStream).Bits(passes_++);
}

std::vector<PairedTiming::Timing> PairedTiming::TimedCases(core::Measured& measured) const {
  std::vector<Timing> timings;
  const auto& originals = std::get<core::Measured>(state_.baseline->original).cases;
  for (core::CaseMeasurement& wanted : measured.cases) {
    if (!(wanted.weight > 0)) continue;
    Timing timing;
    timing.measured = &wanted;
    timing.original = &*std::find_if(originals.begin(), originals.end(),
                                     [&](const core::CaseMeasurement& m) { return m.case_name == wanted.case_name; });
    timing.c = &*std::find_if(state_.spec.cases.begin(), state_.spec.cases.end(),
                              [&](const core::Case& c) { return c.name == wanted.case_name; });
    timings.push_back(std::move(timing));
  }
  return timings;
}

Failure PairedTiming::CheckDeviation(const Timing& timing, const std::vector<core::TimedPair>& pairs,
                                     int launches_per_sample, double luck) const {
  const DeviationLimit limit = LimitOf(timing.c->name);
  const auto wrong = [&](size_t pair, const std::string& what) {
    return core::WrongResult{core::Check::kTimedOutput, timing.c->name,
                             fmt::format("in timed pair {}, {}", timing.pairs.size() + pair, what)};
  };
  std::vector<double> differences;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const core::OutputDeviation& drift = pairs[i].drift;
    if (drift.unwritten > 0) return wrong(i, fmt::format("{} elements were not written", drift.unwritten));
    if (drift.different_class > 0)
      return wrong(i, fmt::format("{} elements are not finite where the original's are, or the other way round",
                                  drift.different_class));
    const double relative = std::isnan(drift.relative_rms) ? INFINITY : drift.relative_rms;
    if (!limit.small && !(relative <= limit.relative))
      return wrong(i, fmt::format("the outputs are off by {:.3g} of their size; verification allowed {:.3g}", relative,
                                  limit.relative));
    differences.push_back(relative);
  }
  if (!limit.small || differences.empty()) return std::nullopt;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  const double allowed = limit.relative * luck * std::max(1, launches_per_sample);
  if (*middle <= allowed) return std::nullopt;
  return core::WrongResult{
      core::Check::kTimedOutput, timing.c->name,
      fmt::format("half of the timed pairs are off by {:.3g} of their size or more; verification allowed {:.3g}",
                  *middle, allowed)};
}

Result<Failure> PairedTiming::CheckKept(const Timing& timing, const std::vector<core::BufferContent>& sent,
                                        core::SampledPair& kept) {
  const Trial trial{core::Check::kTimedOutput, *timing.c, InputVariant::kBase, timing.seed};
  const auto buffers = BuffersOf(state_.spec);
  std::vector<core::BufferContent> inputs = sent;
  bool known = true;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (kept.original.size() != sent.size() || kept.candidate.size() != sent.size() ||
        kept.original[i].size() != sent[i].bytes.size() || kept.candidate[i].size() != sent[i].bytes.size())
      return Fail(ErrorCode::kCorrupt, "the worker returned timed buffers of other sizes than it was sent");
    known = known && buffers[i]->role != core::Role::kInOut;
    if (buffers[i]->role != core::Role::kIn) continue;
    const size_t size = core::SizeOf(buffers[i]->dtype);
    if (kept.candidate[i] != kept.original[i] ||
        UnorderedDigest(kept.original[i], size) != UnorderedDigest(sent[i].bytes, size))
      return Failure(Wrong(core::Check::kInputHash, trial,
                           fmt::format("the input {} was changed in a timed launch", sent[i].name)));
    inputs[i].bytes = kept.original[i];
  }
  std::shared_ptr<const TrialReference> reference;
  if (known) {
    const std::string name =
        effort_ == VerificationLevel::kQuick ? fmt::format("timed pair {}", kept.pair) : std::string();
    WW_ASSIGN(const OracleResult answer,
              state_.oracle.QueryWithContents(trial, std::move(inputs), name, Depth::kBytes));
    if (const auto* found = std::get_if<std::shared_ptr<const TrialReference>>(&answer)) reference = *found;
  }
  if (reference == nullptr) {
    WW_ASSIGN(const OracleResult own, state_.oracle.Query(trial));  // for the layouts
    const auto* found = std::get_if<std::shared_ptr<const TrialReference>>(&own);
    if (found == nullptr) return Fail(ErrorCode::kIo, "the original ran before and does not run now");
    TrialReference timed = **found;
    for (size_t o = 0; o < timed.outputs.size(); ++o) {
      timed.references[o].bytes = kept.original[timed.outputs[o]];
      timed.references[o].ForgetTruth();
      auto& conditioning = timed.references[o].conditioning;  // of other elements: these were rotated
      if (!conditioning.empty())
        std::fill(conditioning.begin(), conditioning.end(),
                  *std::max_element(conditioning.begin(), conditioning.end()));
    }
    reference = std::make_shared<const TrialReference>(std::move(timed));
  }
  for (size_t o = 0; o < reference->outputs.size(); ++o)
    SparePoison(reference->references[o], core::SizeOf(reference->layouts[o].dtype),
                kept.original[reference->outputs[o]], kept.candidate[reference->outputs[o]]);
  WW_ASSIGN(const auto mismatch, state_.CompareInDepth(trial, reference, kept.candidate));
  if (mismatch)
    return Failure(
        Wrong(core::Check::kTimedOutput, trial, "in a timed launch, " + mismatch->message, mismatch->sample));
  return Failure();
}

Result<Failure> PairedTiming::AddBlocks(Timing& timing, int first_block, int blocks) {
  core::TimeRequest request;
  request.original = state_.original;
  request.candidate = candidate_;
  request.spec = state_.spec;
  request.case_name = timing.c->name;
  request.scalars = timing.c->scalars;
  request.device = state_.device;
  WW_ASSIGN(const auto inputs,
            state_.oracle.InputsOf({core::Check::kTimedOutput, *timing.c, InputVariant::kBase, timing.seed}));
  request.buffers = *inputs;
  if (timing.pairs_per_block == 0)
    timing.pairs_per_block = PairsPerBlock(effort_, timing.original->time_us, BytesOf(request.buffers));
  request.options.seed = timing.seed;
  request.options.first_block = first_block;
  request.options.blocks = blocks;
  request.options.pairs_per_block = timing.pairs_per_block;
  request.options.launches_per_sample = timing.launches_per_sample;
  request.options.original_us = timing.original->time_us;
  request.options.hot = effort_ == VerificationLevel::kFull && first_block == 0;
  WW_ASSIGN(core::TimeOutcome outcome, evaluator_.Time(request));
  if (auto* failed = std::get_if<core::CompileFailed>(&outcome)) return Failure(std::move(*failed));
  if (auto* refused = std::get_if<core::Refused>(&outcome)) return Failure(std::move(*refused));
  if (auto* faulted = std::get_if<core::Faulted>(&outcome)) {
    faulted->case_name = timing.c->name;
    return Failure(std::move(*faulted));
  }
  core::Timed& timed = std::get<core::Timed>(outcome);
  const auto in_range = [&](const core::TimedPair& p) {
    return p.block >= first_block && p.block < first_block + blocks;
  };
  if (timed.pairs.size() != static_cast<size_t>(blocks) * static_cast<size_t>(timing.pairs_per_block) ||
      !std::all_of(timed.pairs.begin(), timed.pairs.end(), in_range) || timed.kept.empty())
    return Fail(ErrorCode::kCorrupt, "the worker timed other pairs than it was asked to");
  if (!timed.guards.empty())
    return Failure(core::WrongResult{
        core::Check::kGuardBands, timing.c->name,
        fmt::format("{} bytes outside {} were written in a timed launch, first at byte {}", timed.guards.front().bytes,
                    timed.guards.front().buffer, timed.guards.front().offset)});
  double luck = 1;
  for (const core::SampledPair& kept : timed.kept) luck = std::max(luck, SmallOutputFactor(timing, kept));
  if (auto failure = CheckDeviation(timing, timed.pairs, timed.launches_per_sample, luck)) return failure;
  for (core::SampledPair& kept : timed.kept) {
    WW_ASSIGN(Failure failure, CheckKept(timing, request.buffers, kept));
    if (failure) return failure;
  }
  timing.launches_per_sample = timed.launches_per_sample;
  if (request.options.hot) {
    timing.hot_original_us = timed.hot_original_us;
    timing.hot_candidate_us = timed.hot_candidate_us;
  }
  timing.pairs.insert(timing.pairs.end(), timed.pairs.begin(), timed.pairs.end());
  return Failure();
}

// All cases, look by look, until their mean is decided.
Result<Failure> PairedTiming::Pass(uint64_t secret, std::vector<Timing>& timings, core::TimingOverall& overall) {
  const core::TimingRules rules = Rules();
  const std::span<const core::TimingLook> looks =
      effort_ == VerificationLevel::kQuick ? std::span(&kQuickLook, 1) : core::TimingLooks();
  for (size_t i = 0; i < timings.size(); ++i) {
    Timing fresh;
    fresh.measured = timings[i].measured;
    fresh.original = timings[i].original;
    fresh.c = timings[i].c;
    fresh.seed = base::CounterRandom(secret, kTimingStream).Bits(i);
    timings[i] = std::move(fresh);
  }
  int done = 0;
  for (const core::TimingLook& look : looks) {
    std::vector<core::WeightedTiming> cases;
    for (Timing& timing : timings) {
      WW_ASSIGN(Failure failure, AddBlocks(timing, done, look.blocks - done));
      if (failure) return failure;
      timing.summary = core::Summarize(timing.pairs, rules, look.alpha);
      timing.summary.hot_original_us = timing.hot_original_us;
      timing.summary.hot_candidate_us = timing.hot_candidate_us;
      cases.push_back({timing.measured->weight, timing.summary});
    }
    done = look.blocks;
    overall = core::Combine(cases, rules, look.alpha);
    if (overall.decision != core::TimingDecision::kInconclusive) break;
  }
  for (Timing& timing : timings) {
    timing.measured->timing = timing.summary;
    if (timing.summary.pairs > 0) timing.measured->time_us = timing.summary.candidate_us;
  }
  return Failure();
}

Result<Failure> PairedTiming::Run(core::Measured& measured) {
  std::vector<Timing> timings = TimedCases(measured);
  measured.decision = core::TimingDecision::kInconclusive;
  if (timings.empty()) {
    measured.notes.emplace_back("timing: no case has a weight");
    return Failure();
  }
  core::TimingOverall overall;
  WW_ASSIGN(Failure failure, Pass(NextSecret(), timings, overall));
  if (failure) return failure;
  if (effort_ == VerificationLevel::kFull && overall.decision == core::TimingDecision::kFaster) {
    const core::TimingOverall first = overall;
    if (state_.options.fresh_worker) state_.options.fresh_worker();
    WW_ASSIGN(failure, Pass(NextSecret(), timings, overall));
    if (failure) return failure;
    measured.notes.push_back(fmt::format("timing: {:.3f}x in a first process, {:.3f}x in a second with other seeds",
                                         Mean(first), Mean(overall)));
  }
  measured.decision = overall.decision;
  measured.checks.push_back(core::Check::kTimedOutput);
  for (const Timing& timing : timings) {
    if (state_.options.chip) {
      failure =
          CheckRooflineFloor(*state_.options.chip, state_.spec, *timing.c, *timing.original, timing.measured->time_us);
      if (failure) return failure;
    }
    if (const double gain = std::exp(timing.summary.log_ratio); gain > kSuspiciousGain)
      measured.notes.push_back(fmt::format("review: case {} is {:.1f} times as fast, which is rare for the same work",
                                           timing.c->name, gain));
  }
  if (state_.options.chip) measured.checks.push_back(core::Check::kRooflineFloor);
  return Failure();
}

}  // namespace warpwright::judge
