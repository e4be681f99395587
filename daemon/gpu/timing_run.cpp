#include "gpu/timing_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/random.h"
#include "core/median.h"

namespace warpwright::gpu {
namespace {

constexpr double kShortUs = 20;  // below it, one launch is too short for events
constexpr double kBatchUs = 60;  // target length of a sample of short launches
constexpr int kMaxLaunches = 16;
constexpr size_t kRotation = 4;       // minimum number of buffer sets, if memory permits
constexpr double kMemoryShare = 0.6;  // share of free memory, for all sets
constexpr int kWarmUpLaunches = 3;
constexpr auto kWarmUp = std::chrono::milliseconds(50);
constexpr auto kLongWarmUp = std::chrono::milliseconds(200);  // before a decisive measurement
constexpr int kHotLaunches = 20, kFewestHotLaunches = 3;
constexpr double kHotUs = 5e5;  // for these launches of the original
constexpr uint64_t kGuardBytes = 16u << 10;
// Streams of the counter-based random numbers.
constexpr uint64_t kOrderStream = 11, kKeepStream = 12, kContentsStream = 13, kRotateStream = 14, kMaskStream = 15,
                   kSetStream = 16;

}  // namespace

uint32_t TimingRun::PoisonMask(uint64_t contents_seed, size_t launch) const {
  return static_cast<uint32_t>(base::CounterRandom(contents_seed, kMaskStream).Bits(launch));
}

Result<std::optional<core::Fault>> TimingRun::Load(Side& side, const core::DeviceTimingRequest::Side& from) {
  side.plan = from.plan;
  WW_ASSIGN(auto loaded, LoadedModule::Load(context_, *from.module));
  if (auto* fault = std::get_if<core::Fault>(&loaded)) return std::optional<core::Fault>(std::move(*fault));
  side.module = std::make_unique<LoadedModule>(std::move(std::get<LoadedModule>(loaded)));
  return std::optional<core::Fault>();
}

Status TimingRun::UploadContents() {
  for (const core::BufferContent& content : *request_.buffers) {
    WW_ASSIGN(DeviceMemory memory, DeviceMemory::Allocate(context_, content.bytes.size()));
    WW_TRY(tools_.Upload(memory.address(), content.bytes.data(), content.bytes.size()));
    contents_.push_back(std::move(memory));
  }
  return {};
}

Step TimingRun::Grow(Side& side, size_t sets) {
  Layout layout;
  layout.guard_bytes = kGuardBytes;
  layout.seed = static_cast<uint32_t>(request_.options.seed);
  side.replays.clear();
  side.sets.reserve(sets);
  while (side.sets.size() < sets) {
    WW_ASSIGN(BufferSet set, BufferSet::Allocate(context_, tools_, *side.plan, *request_.buffers, layout));
    side.sets.push_back(std::move(set));
  }
  for (const BufferSet& set : side.sets) {
    WW_ASSIGN(auto replay, Replay::Create(context_, *side.module, *side.plan, set));
    if (auto* fault = std::get_if<core::Fault>(&replay)) return std::move(*fault);
    side.replays.push_back(std::make_unique<Replay>(std::move(std::get<Replay>(replay))));
  }
  return std::nullopt;
}

// From the original alone, before the candidate has run.
Step TimingRun::PlanSample() {
  WW_STEP(Grow(original_, 1));
  launches_ = request_.options.launches_per_sample;
  if (launches_ <= 0) {
    double us = request_.options.original_us;
    std::vector<double> times;
    for (uint64_t i = 0; !(us > 0) && i < 7; ++i) {
      WW_ASSIGN(auto sample, Measure(original_, {0}, request_.options.seed + i));
      if (auto* fault = std::get_if<core::Fault>(&sample)) return std::move(*fault);
      times.push_back(std::get<Sample>(sample).us);
    }
    if (!times.empty()) us = core::Median(times);
    launches_ = us >= kShortUs ? 1 : std::clamp(static_cast<int>(std::ceil(kBatchUs / us)), 2, kMaxLaunches);
  }
  Layout layout;
  layout.guard_bytes = kGuardBytes;
  const double each =
      static_cast<double>(BufferSet::BytesOf(*original_.plan, layout) + BufferSet::BytesOf(*candidate_.plan, layout));
  size_t free = 0, total = 0;
  WW_TRY(context_.driver().Check(context_.driver().MemGetInfo(&free, &total), "cuMemGetInfo"));
  const auto fits = static_cast<size_t>(std::max(1.0, kMemoryShare * static_cast<double>(free) / each));
  launches_ = std::clamp<int>(launches_, 1, static_cast<int>(std::min<size_t>(fits, kMaxLaunches)));
  pool_ = std::min(fits, std::max(static_cast<size_t>(launches_), kRotation));
  timed_.launches_per_sample = launches_;
  WW_STEP(Grow(original_, pool_));
  return Grow(candidate_, pool_);
}

// Contents of one set: inputs rotated, outputs poisoned, everything else as when the module was loaded.
Step TimingRun::Prepare(Side& side, size_t set, uint64_t contents_seed) {
  const CudaDriver& driver = context_.driver();
  const uint32_t mask = PoisonMask(contents_seed, 0);
  const base::CounterRandom rotations(contents_seed, kRotateStream);
  size_t argument = 0;
  for (size_t i = 0; i < side.sets[set].size(); ++i) {
    const CUdeviceptr to = side.sets[set].Address(i);
    const uint64_t bytes = side.sets[set].Bytes(i);
    if (bytes == 0) {
      if (side.plan->buffers[i].kind == core::PlanBuffer::Kind::kArgument) ++argument;
      continue;
    }
    if (side.plan->buffers[i].kind == core::PlanBuffer::Kind::kWorkspace) {
      WW_TRY(tools_.FillPattern(to, bytes, mask ^ static_cast<uint32_t>(i)));
      continue;
    }
    const size_t a = argument++;
    const core::TimedBuffer& role = (*request_.roles)[a];
    if ((*request_.buffers)[a].uninitialized) {
      WW_TRY(tools_.CopyMasked(to, contents_[a].address(), bytes, mask));
      continue;
    }
    const uint64_t size = core::SizeOf(role.dtype), count = bytes / size;
    const uint64_t shift = role.rotates && count > 1 ? rotations.Bits(a) % count * size : 0;
    WW_TRY(driver.Check(driver.MemcpyDtoDAsync(to, contents_[a].address() + shift, bytes - shift, tools_.stream()),
                        "cuMemcpyDtoDAsync"));
    if (shift > 0)
      WW_TRY(driver.Check(driver.MemcpyDtoDAsync(to + bytes - shift, contents_[a].address(), shift, tools_.stream()),
                          "cuMemcpyDtoDAsync"));
  }
  return side.replays[set]->Setup(tools_.stream());
}

Result<std::variant<core::Fault, TimingRun::Sample>> TimingRun::Measure(Side& side, const std::vector<size_t>& sets,
                                                                        uint64_t contents_seed) {
  using Outcome = std::variant<core::Fault, Sample>;
  const CudaDriver& driver = context_.driver();
  const auto work = [&]() -> Step {
    WW_TRY(side.module->Restore(tools_.stream()));
    for (size_t i = 0; i < sets.size(); ++i) WW_STEP(Prepare(side, sets[i], contents_seed + i));
    WW_TRY(tools_.Flush(static_cast<uint32_t>(contents_seed)));
    return context_.Wait(tools_.stream());
  };
  WW_ASSIGN(auto fault, work());
  if (fault) return Outcome(std::move(*fault));
  WW_ASSIGN(Event begin, Event::Create(context_, true));
  WW_ASSIGN(Event end, Event::Create(context_, true));
  WW_TRY(tools_.Stamp(0));
  WW_TRY(tools_.Hold());
  const auto enqueue = [&]() -> Step {
    WW_TRY(driver.Check(driver.EventRecord(begin.get(), tools_.stream()), "cuEventRecord"));
    for (const size_t set : sets) WW_STEP(side.replays[set]->Run(tools_.stream()));
    return context_.Judge(driver.EventRecord(end.get(), tools_.stream()), "cuEventRecord");
  };
  WW_ASSIGN(fault, enqueue());
  if (!context_.lost()) WW_TRY(tools_.Stamp(1));
  tools_.Release();
  if (fault) return Outcome(std::move(*fault));
  WW_ASSIGN(fault, context_.Wait(tools_.stream()));
  if (fault) return Outcome(std::move(*fault));
  float ms = 0;
  WW_TRY(driver.Check(driver.EventElapsedTime(&ms, begin.get(), end.get()), "cuEventElapsedTime"));
  Sample sample;
  sample.us = 1e3 * static_cast<double>(ms) / static_cast<double>(sets.size());
  WW_ASSIGN(sample.mhz, tools_.MegahertzBetweenStamps());
  return Outcome(sample);
}

Result<double> TimingRun::EmptyTime() {
  const CudaDriver& driver = context_.driver();
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) {
    WW_ASSIGN(Event begin, Event::Create(context_, true));
    WW_ASSIGN(Event end, Event::Create(context_, true));
    WW_TRY(tools_.Hold());
    WW_TRY(driver.Check(driver.EventRecord(begin.get(), tools_.stream()), "cuEventRecord"));
    WW_TRY(driver.Check(driver.EventRecord(end.get(), tools_.stream()), "cuEventRecord"));
    tools_.Release();
    WW_TRY(driver.Check(driver.StreamSynchronize(tools_.stream()), "cuStreamSynchronize"));
    float ms = 0;
    WW_TRY(driver.Check(driver.EventElapsedTime(&ms, begin.get(), end.get()), "cuEventElapsedTime"));
    times.push_back(1e3 * static_cast<double>(ms));
  }
  return core::Median(times);
}

// Clocks rise, instruction caches fill; interleaved, so that neither side benefits.
Step TimingRun::WarmUp() {
  const auto span = request_.options.blocks >= core::TimingLooks().front().blocks && request_.options.first_block == 0
                        ? kLongWarmUp
                        : kWarmUp;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kWarmUpLaunches || std::chrono::steady_clock::now() - begin < span; ++i) {
    for (Side* side : {&original_, &candidate_}) {
      WW_STEP(Prepare(*side, 0, request_.options.seed ^ static_cast<uint64_t>(i)));
      WW_STEP(side->replays[0]->Run(tools_.stream()));
      WW_STEP(context_.Wait(tools_.stream()));
    }
  }
  return std::nullopt;
}

Result<core::OutputDeviation> TimingRun::CompareOutputs(const std::vector<size_t>& sets, uint64_t contents_seed) {
  std::vector<std::pair<size_t, size_t>> slots;  // set's position, argument
  for (size_t s = 0; s < sets.size(); ++s)
    for (size_t a = 0; a < request_.roles->size(); ++a)
      if ((*request_.roles)[a].output) slots.emplace_back(s, a);
  WW_TRY(tools_.ResetDeviation(slots.size()));
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const auto [s, a] = slots[slot];
    const core::TimedBuffer& role = (*request_.roles)[a];
    const BufferSet &original = original_.sets[sets[s]], &candidate = candidate_.sets[sets[s]];
    const CUdeviceptr poison = (*request_.buffers)[a].uninitialized ? contents_[a].address() : 0;
    WW_TRY(tools_.AddDeviation(slot, original.Address(a), candidate.Address(a), poison,
                               PoisonMask(contents_seed + s, 0), original.Bytes(a) / core::SizeOf(role.dtype),
                               role.dtype));
  }
  WW_ASSIGN(const auto sums, tools_.ReadDeviation(slots.size()));
  core::OutputDeviation drift;
  for (const auto& sum : sums) {
    const double relative = sum.squared_difference == 0 ? 0
                            : sum.squared_original > 0  ? std::sqrt(sum.squared_difference / sum.squared_original)
                                                        : INFINITY;
    drift.relative_rms = std::max(drift.relative_rms, std::min(relative, 1e300));  // JSON has no infinity
    drift.different_class += sum.different_class;
    drift.unwritten += sum.unwritten;
  }
  return drift;
}

Status TimingRun::Keep(int index, size_t set) {
  core::SampledPair kept;
  kept.pair = index;
  for (auto [side, contents] : {std::pair{&original_, &kept.original}, std::pair{&candidate_, &kept.candidate}})
    for (size_t a = 0; a < request_.buffers->size(); ++a) {
      std::vector<std::byte> bytes(side->sets[set].Bytes(a));
      WW_TRY(tools_.Download(bytes.data(), side->sets[set].Address(a), bytes.size()));
      contents->emplace_back(std::move(bytes));
    }
  timed_.kept.push_back(std::move(kept));
  return {};
}

Step TimingRun::TimePair(int index, int block, bool keep) {
  const auto number = static_cast<uint64_t>(request_.options.first_block) * 1'000'000 + static_cast<uint64_t>(index);
  const uint64_t contents_seed = base::CounterRandom(request_.options.seed, kContentsStream).Bits(number);
  core::TimedPair pair;
  pair.block = block;
  pair.candidate_first = (base::CounterRandom(request_.options.seed, kOrderStream).Bits(number) & 1) != 0;
  // Consecutive positions in the pool, starting at a random one.
  const size_t first = base::CounterRandom(request_.options.seed, kSetStream).Bits(number) % pool_;
  std::vector<size_t> sets;
  for (int i = 0; i < launches_; ++i) sets.push_back((first + static_cast<size_t>(i)) % pool_);
  for (const bool candidate : {pair.candidate_first, !pair.candidate_first}) {
    WW_ASSIGN(auto outcome, Measure(candidate ? candidate_ : original_, sets, contents_seed));
    if (auto* fault = std::get_if<core::Fault>(&outcome)) return std::move(*fault);
    const Sample& sample = std::get<Sample>(outcome);
    (candidate ? pair.candidate_us : pair.original_us) = sample.us;
    (candidate ? pair.candidate_mhz : pair.original_mhz) = sample.mhz;
  }
  WW_ASSIGN(pair.drift, CompareOutputs(sets, contents_seed));
  if (keep) WW_TRY(Keep(index, sets[0]));
  timed_.pairs.push_back(pair);
  return std::nullopt;
}

Step TimingRun::TimePairs() {
  const core::TimingOptions& options = request_.options;
  const int count = options.blocks * options.pairs_per_block;
  std::set<int> kept;
  const base::CounterRandom choice(options.seed, kKeepStream);
  for (uint64_t i = 0; count > 0 && static_cast<int>(kept.size()) < std::min(options.kept_pairs, count); ++i)
    kept.insert(static_cast<int>(choice.Bits(i + 100 * static_cast<uint64_t>(options.first_block)) %
                                 static_cast<uint64_t>(count)));
  for (int i = 0; i < count; ++i) {
    WW_STEP(TimePair(i, options.first_block + i / options.pairs_per_block, kept.contains(i)));
    // Also early: each hold that runs into its time limit costs seconds.
    if (i == 0 || i + 1 == count) WW_STEP(CheckHolds());
  }
  return std::nullopt;
}

// A busy host is our problem. A launcher whose work on other streams waits for what is queued behind the hold is the
// candidate's.
Step TimingRun::CheckHolds() {
  WW_ASSIGN(const bool whole, tools_.NoHoldTimedOut());
  if (whole) return std::nullopt;
  const auto streams = [](const Side& side) {
    std::set<uint32_t> used;
    for (const core::PlanOp& op : side.plan->ops)
      if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) used.insert(launch->stream);
    return used.size();
  };
  if (streams(candidate_) <= std::max<size_t>(1, streams(original_)))
    return Fail(ErrorCode::kTimeout, "the host was too slow to enqueue the timed kernels in one piece",
                "run it on a less busy machine");
  core::Fault fault;
  fault.kind = core::Fault::Kind::kResourceLimit;
  fault.message = "its launches on several streams cannot be enqueued in one piece, and so not be timed";
  return fault;
}

// Back to back on the same buffers: the caches are as warm as they get.
Step TimingRun::TimeHot() {
  const CudaDriver& driver = context_.driver();
  const double each = std::max(1.0, request_.options.original_us);
  const int launches = static_cast<int>(std::clamp(kHotUs / each, double{kFewestHotLaunches}, double{kHotLaunches}));
  for (auto [side, us] :
       {std::pair{&original_, &timed_.hot_original_us}, std::pair{&candidate_, &timed_.hot_candidate_us}}) {
    WW_TRY(side->module->Restore(tools_.stream()));
    WW_STEP(Prepare(*side, 0, request_.options.seed));
    for (int i = 0; i < 3; ++i) WW_STEP(side->replays[0]->Run(tools_.stream()));
    WW_ASSIGN(Event begin, Event::Create(context_, true));
    WW_ASSIGN(Event end, Event::Create(context_, true));
    WW_TRY(tools_.Hold());
    WW_TRY(driver.Check(driver.EventRecord(begin.get(), tools_.stream()), "cuEventRecord"));
    for (int i = 0; i < launches; ++i) WW_STEP(side->replays[0]->Run(tools_.stream()));
    WW_TRY(driver.Check(driver.EventRecord(end.get(), tools_.stream()), "cuEventRecord"));
    tools_.Release();
    WW_STEP(context_.Wait(tools_.stream()));
    float ms = 0;
    WW_TRY(driver.Check(driver.EventElapsedTime(&ms, begin.get(), end.get()), "cuEventElapsedTime"));
    *us = 1e3 * static_cast<double>(ms) / launches;
  }
  return std::nullopt;
}

Status TimingRun::CheckGuards() {
  for (const BufferSet& set : candidate_.sets) {
    WW_ASSIGN(auto violations, set.CheckGuards());
    timed_.guards.insert(timed_.guards.end(), violations.begin(), violations.end());
    if (!timed_.guards.empty()) break;
  }
  return {};
}

void TimingRun::Spent(const char* part) {
  const auto now = std::chrono::steady_clock::now();
  timed_.seconds[part] += std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

Result<core::DeviceTimingOutcome> TimingRun::Run() {
  const auto steps = [&]() -> Step {
    WW_STEP(Load(original_, request_.original));
    WW_STEP(Load(candidate_, request_.candidate));
    WW_TRY(UploadContents());
    Spent("upload");
    WW_STEP(PlanSample());
    Spent("plan");
    WW_ASSIGN(timed_.empty_us, EmptyTime());
    WW_STEP(WarmUp());
    Spent("warm up");
    WW_STEP(TimePairs());
    Spent("pairs");
    if (request_.options.hot) WW_STEP(TimeHot());
    WW_TRY(CheckGuards());
    WW_STEP(CheckHolds());
    Spent("hot and guards");
    return std::nullopt;
  };
  WW_ASSIGN(auto fault, steps());
  if (fault) return core::DeviceTimingOutcome(std::move(*fault));
  return core::DeviceTimingOutcome(std::move(timed_));
}

}  // namespace warpwright::gpu
