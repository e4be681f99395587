#include "sim/launch_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "base/random.h"
#include "core/occupancy.h"
#include "sim/block_order.h"
#include "sim/cost_model.h"
#include "sim/exec/visibility.h"
#include "sim/instruction.h"
#include "sim/launch_counts.h"
#include "sim/load_levels.h"
#include "sim/time_model.h"
#include "sim/work_by_phase.h"

namespace warpwright::sim {

namespace {

constexpr uint64_t kFirstGroup = 16;          // blocks; later groups are sized by what these needed
constexpr uint64_t kGroupAccesses = 1 << 20;  // that are held for L2: 8 MiB
constexpr uint64_t kLastBlocks = 4;           // run at the end of a sampled grid
// An idle block runs fewer instructions than the average of the first blocks, by this factor.
constexpr uint64_t kIdleFactor = 16;
constexpr uint64_t kSpreadBlocks = 12;
constexpr uint64_t kIdleProbes = 8;  // positions after the first idle block that must be idle as well

core::Fault ResourceFault(const core::KernelLaunch& launch, std::string message) {
  core::Fault fault;
  fault.kind = core::Fault::Kind::kResourceLimit;
  fault.message = std::move(message);
  fault.kernel = launch.kernel;
  fault.file = launch.file;
  fault.line = launch.line;
  return fault;
}

std::optional<core::Fault> CheckResources(const core::Chip& chip, const core::KernelLaunch& launch,
                                          const core::KernelResources& resources, const core::BlockNeeds& needs,
                                          const core::Occupancy& occupancy) {
  if (needs.threads > resources.max_threads_per_block)
    return ResourceFault(launch, fmt::format("a block of {} threads; the kernel was compiled for at most {}",
                                             needs.threads, resources.max_threads_per_block));
  if (needs.shared_bytes > static_cast<uint32_t>(chip.shared_bytes_per_block_optin))
    return ResourceFault(launch, fmt::format("{} bytes of shared memory per block; {} has {}", needs.shared_bytes,
                                             chip.name, chip.shared_bytes_per_block_optin));
  if (occupancy.blocks_per_multiprocessor == 0)
    return ResourceFault(
        launch, fmt::format("a block of {} threads with {} registers each does not fit a multiprocessor of {} ({})",
                            needs.threads, needs.registers_per_thread, chip.name, Name(occupancy.limiter)));
  return std::nullopt;
}

// One for all launches: they do not overlap. The top bit of the second word is the barrier's phase, and its other bits,
// the blocks that have arrived, are zero between launches. A device keeps the phase and whatever a launch leaves beside
// it for the next one; here all of that is drawn, so that nothing may depend on it.
Result<uint64_t> GridWorkspace(Memory& memory) {
  constexpr std::string_view kName = "the cooperative grid's barrier";
  if (memory.FindByName(kName) == nullptr) WW_TRY(memory.Allocate(kName, kGridWorkspaceBytes));
  const uint64_t address = memory.FindByName(kName)->base;
  static const base::CounterRandom random(base::SecretSeed(), 0);
  static std::atomic<uint64_t> drawn = 0;
  const std::span<std::byte> bytes = memory.Bytes(address, kGridWorkspaceBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Bits(drawn++));
  const uint32_t phase = random.Bits(drawn++) % 2 == 0 ? 0 : 0x80000000;
  std::memcpy(bytes.data() + sizeof phase, &phase, sizeof phase);
  return address;
}

class LaunchRunner {
 public:
  LaunchRunner(const LaunchContext& context, const core::KernelLaunch& launch, const core::KernelResources& resources,
               std::span<const std::byte> parameters, const LaunchLimits& limits)
      : context_(context),
        launch_(launch),
        resources_(resources),
        parameters_(parameters),
        limits_(limits),
        order_(launch.grid.Count(), limits.counters ? 0 : limits.block_order) {}

  Result<LaunchOutcome> Run();

 private:
  // One host thread's part.
  struct Worker {
    std::optional<Machine> machine;
    std::unique_ptr<L1Model> l1;
    std::optional<std::pair<uint64_t, core::Fault>> fault;  // and its position in the order
  };

  Status MakeWorkers(const KernelInfo& info, int count);
  std::optional<core::Fault> RunGroup(uint64_t first, uint64_t last);
  std::optional<core::Fault> RunTogether();
  std::optional<core::Fault> CheckLimit() const;
  std::optional<core::Fault> CheckLimit(uint64_t instructions) const;
  std::optional<core::Fault> CheckResident(uint64_t blocks) const;
  void RunShare(int index, uint64_t first, uint64_t last);
  std::optional<core::Fault> RunBlocks(uint64_t first, uint64_t last, uint64_t budget, uint64_t& next);
  std::optional<core::Fault> RunSpread(uint64_t blocks, uint64_t& whole);
  std::optional<core::Fault> RunTail(uint64_t first, uint64_t last, uint64_t budget);
  std::optional<core::Fault> Probe(uint64_t block, uint64_t idle_below, bool& idle);
  std::optional<core::Fault> FindIdleBlocks(uint64_t first, uint64_t last, uint64_t idle_below, uint64_t spendable);
  void ExtrapolateSample(LaunchCounts& all, uint64_t blocks) const;
  void ConsumeMisses(uint64_t blocks);
  LaunchCounts Take();
  uint64_t Instructions() const;
  void WriteReport(const KernelInfo& info, LaunchResult& result);
  void AddSpills(const KernelInfo& info, TimeInputs& inputs) const;
  const KernelCode& Code() const;
  const std::vector<compile::MachineLoop>& Loops() const;
  sim::BlockCounts Counts() const;  // so far
  uint64_t BlocksInStep() const;
  std::vector<LoadsByLevel> Levels(const L2Model::KernelResult& l2) const;

  const LaunchContext& context_;
  const core::KernelLaunch& launch_;
  const core::KernelResources& resources_;
  std::span<const std::byte> parameters_;
  const LaunchLimits& limits_;
  const BlockOrder order_;
  core::Occupancy occupancy_;
  core::BlockNeeds needs_;
  std::optional<Visibility> visibility_;
  std::vector<Worker> workers_;
  std::atomic<uint64_t> fault_place_{UINT64_MAX};
  std::optional<uint64_t> in_step_;  // BlocksInStep, from the first blocks
  uint64_t group_blocks_ = kFirstGroup;
  bool cut_short_ = false;
  uint64_t grid_workspace_ = 0;          // of a cooperative launch
  std::vector<LaunchCounts> snapshots_;  // after each group of the first blocks
  LaunchCounts tail_begin_, tail_end_;   // around the last blocks of a sampled grid
  // Blocks from here on are idle: they are past the end of the data and return immediately.
  uint64_t working_blocks_ = 0;
  uint64_t idle_run_ = 0;  // of the blocks that were run
};

Status LaunchRunner::MakeWorkers(const KernelInfo& info, int count) {
  const core::Chip& chip = context_.chip;
  const uint64_t shared = uint64_t{needs_.shared_bytes} + static_cast<uint64_t>(chip.shared_bytes_reserved_per_block);
  // A grid may be too small to fill the multiprocessors.
  const auto multiprocessors = static_cast<uint64_t>(chip.multiprocessors);
  const uint64_t resident = std::min(static_cast<uint64_t>(occupancy_.blocks_per_multiprocessor),
                                     (launch_.grid.Count() + multiprocessors - 1) / multiprocessors);
  const int64_t l1 = chip.l1_bytes - static_cast<int64_t>(shared * resident);
  const uint64_t share = static_cast<uint64_t>(std::max<int64_t>(l1, 16 << 10)) / resident;
  if (launch_.cooperative) {
    WW_ASSIGN(grid_workspace_, GridWorkspace(context_.memory));
  }
  if (limits_.visibility) visibility_.emplace(launch_.grid.Count());
  workers_.resize(static_cast<size_t>(count));
  for (Worker& worker : workers_) {
    RunOptions options;
    options.counters = limits_.counters;
    options.instruction_limit = limits_.instruction_limit;
    options.shared_limit_bytes = static_cast<uint32_t>(chip.shared_bytes_per_block_optin);
    options.shadow = limits_.shadow;
    if (limits_.visibility) options.visibility = &*visibility_;
    options.split_lanes = !limits_.counters && limits_.block_order > 0;
    if (limits_.counters) {
      worker.l1 = std::make_unique<L1Model>(chip, share);
      options.observer = worker.l1.get();
    }
    const Launch launch{.kernel = info.symbol,
                        .grid = launch_.grid,
                        .block = launch_.block,
                        .dynamic_shared_bytes = launch_.dynamic_shared_bytes,
                        .parameters = parameters_,
                        .grid_workspace = grid_workspace_};
    WW_ASSIGN(worker.machine, Machine::Create(context_.program, context_.memory, launch, std::move(options)));
  }
  return {};
}

// Runs the blocks at positions [first, last) whose multiprocessor belongs to this thread.
void LaunchRunner::RunShare(int index, uint64_t first, uint64_t last) {
  Worker& worker = workers_[static_cast<size_t>(index)];
  const auto multiprocessors = static_cast<uint64_t>(context_.chip.multiprocessors);
  for (uint64_t place = first; place < last; ++place) {
    if (place % multiprocessors * workers_.size() / multiprocessors != static_cast<uint64_t>(index)) continue;
    if (place > fault_place_.load(std::memory_order_relaxed)) return;  // an earlier block's fault is the one to report
    const uint64_t block = order_.At(place);
    auto outcome = worker.machine->Run(block, block + 1);
    if (core::Fault* fault = std::get_if<core::Fault>(&outcome)) {
      uint64_t lowest = fault_place_.load();
      while (place < lowest && !fault_place_.compare_exchange_weak(lowest, place)) {
      }
      worker.fault = {place, std::move(*fault)};
      return;
    }
    if (worker.l1) worker.l1->FinishBlock(block);
  }
}

std::optional<core::Fault> LaunchRunner::RunGroup(uint64_t first, uint64_t last) {
  context_.pool.Run(static_cast<int>(workers_.size()), [&](int index) { RunShare(index, first, last); });
  for (Worker& worker : workers_)
    if (worker.fault && worker.fault->first == fault_place_) {
      core::Fault fault = std::move(worker.fault->second);
      fault.kernel = launch_.kernel;
      return fault;
    }
  if (auto fault = CheckLimit()) return fault;
  if (limits_.counters) ConsumeMisses(last - first);
  return std::nullopt;
}

std::optional<core::Fault> LaunchRunner::CheckLimit() const { return CheckLimit(Instructions()); }

std::optional<core::Fault> LaunchRunner::CheckLimit(uint64_t instructions) const {
  if (instructions <= limits_.instruction_limit) return std::nullopt;
  core::Fault fault;
  fault.kind = core::Fault::Kind::kInstructionLimit;
  fault.message = fmt::format("more than {} thread instructions", limits_.instruction_limit);
  fault.kernel = launch_.kernel;
  fault.file = launch_.file;
  fault.line = launch_.line;
  return fault;
}

std::optional<core::Fault> LaunchRunner::CheckResident(uint64_t blocks) const {
  const auto resident = static_cast<uint64_t>(occupancy_.blocks_per_multiprocessor) *
                        static_cast<uint64_t>(context_.chip.multiprocessors);
  if (blocks <= resident) return std::nullopt;
  return ResourceFault(launch_, fmt::format("a cooperative grid of {} blocks; {} holds {} of them at once", blocks,
                                            context_.chip.name, resident));
}

// All blocks of a cooperative launch in turns: each has a machine of its own.
std::optional<core::Fault> LaunchRunner::RunTogether() {
  const uint64_t blocks = workers_.size();
  uint64_t instructions = 0;
  std::vector<bool> done(blocks);
  for (uint64_t block = 0; block < blocks; ++block) workers_[block].machine->Begin(block);
  for (uint64_t left = blocks; left > 0;) {
    for (uint64_t place = 0; place < blocks; ++place) {
      const uint64_t block = order_.At(place);
      if (done[block]) continue;
      Machine& machine = *workers_[block].machine;
      const uint64_t before = machine.thread_instructions();
      auto outcome = machine.Advance();
      if (core::Fault* fault = std::get_if<core::Fault>(&outcome)) {
        fault->kernel = launch_.kernel;
        return std::move(*fault);
      }
      done[block] = std::get<bool>(outcome);
      left -= done[block];
      // A turn lasts until the block waits for the others, which may be nearly all of its work.
      instructions += machine.thread_instructions() - before;
      if (auto fault = CheckLimit(instructions)) return fault;
    }
  }
  if (!limits_.counters) return std::nullopt;
  for (uint64_t block = 0; block < blocks; ++block) workers_[block].l1->FinishBlock(block);
  ConsumeMisses(blocks);
  return std::nullopt;
}

void LaunchRunner::ConsumeMisses(uint64_t blocks) {
  std::vector<std::pair<uint64_t, std::span<const LineAccess>>> order;
  uint64_t accesses = 0;
  for (const Worker& worker : workers_)
    for (const auto& block : worker.l1->blocks()) {
      order.emplace_back(block.block, worker.l1->misses(block));
      accesses += block.last - block.first;
    }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto wave = static_cast<uint64_t>(context_.chip.multiprocessors) *
                    static_cast<uint64_t>(occupancy_.blocks_per_multiprocessor);
  if (!in_step_) in_step_ = BlocksInStep();
  for (const auto& [block, misses] : order) context_.l2.Consume(misses, *in_step_);
  for (Worker& worker : workers_) worker.l1->ClearMisses();
  group_blocks_ =
      std::clamp<uint64_t>(kGroupAccesses * blocks / std::max<uint64_t>(accesses, 1), 1, std::max<uint64_t>(wave, 256));
}

uint64_t LaunchRunner::Instructions() const {
  uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.machine->thread_instructions();
  return sum;
}

// Runs groups from `first` until `last`, or until the launch has spent `budget`. `next` is one past the last block that
// was run.
std::optional<core::Fault> LaunchRunner::RunBlocks(uint64_t first, uint64_t last, uint64_t budget, uint64_t& next) {
  for (next = first; next < last;) {
    uint64_t group = group_blocks_;
    if (budget != UINT64_MAX && next > first) {  // do not run far beyond the budget
      const uint64_t per_block = std::max<uint64_t>(1, Instructions() / (next - first));
      const uint64_t spent = Instructions();
      if (spent + per_block / 2 > budget) break;
      group = std::clamp<uint64_t>((budget - std::min(budget, spent)) / per_block, 1, group);
    } else if (budget != UINT64_MAX) {
      group = 1;  // nothing is known yet
    }
    const uint64_t end = std::min(last, next + group);
    if (auto fault = RunGroup(next, end)) return fault;
    next = end;
    if (budget != UINT64_MAX && next < last) snapshots_.push_back(Take());
  }
  return std::nullopt;
}

// Other versions divide the same work into other blocks: pairs of neighbours at the same fractions of the grid have
// most likely some of it in common. The first and the last are the most likely. `whole`: the blocks, if all of them
// were run.
std::optional<core::Fault> LaunchRunner::RunSpread(uint64_t blocks, uint64_t& whole) {
  std::set<uint64_t> places;
  if (blocks <= kSpreadBlocks)
    for (uint64_t place = 0; place < blocks; ++place) places.insert(place);
  else
    for (uint64_t anchor = 0; anchor <= 4; ++anchor) {
      const uint64_t place = std::min(blocks / 4 * anchor, blocks - 2);
      places.insert({place, place + 1});
    }
  // Each begins: what the first leaves is the others'.
  Worker& worker = workers_.front();
  for (uint64_t left = places.size(); const uint64_t place : places) {
    worker.machine->Allow((limits_.instruction_limit - std::min(limits_.instruction_limit, Instructions())) / left--);
    auto fault = RunGroup(place, place + 1);
    if (fault && fault->kind != core::Fault::Kind::kInstructionLimit) return fault;
    if (!fault) continue;
    cut_short_ = true;
    worker.fault.reset();
    fault_place_ = UINT64_MAX;
  }
  if (places.size() == blocks) whole = blocks;
  return std::nullopt;
}

// The last blocks of a sampled grid, which was run up to `next`.
std::optional<core::Fault> LaunchRunner::RunTail(uint64_t next, uint64_t last, uint64_t budget) {
  tail_begin_ = Take();
  const uint64_t spent = Instructions();
  const uint64_t affordable = budget / 8 * next / std::max<uint64_t>(spent, 1);
  const uint64_t tail = std::min(last - next, std::clamp<uint64_t>(affordable, 1, kLastBlocks));
  if (auto fault = RunGroup(last - tail, last)) return fault;
  if (!limits_.counters || last != launch_.grid.Count()) return std::nullopt;
  tail_end_ = Take();
  const uint64_t idle_below = spent / next / kIdleFactor;
  if ((Instructions() - spent) / tail >= idle_below) return std::nullopt;
  return FindIdleBlocks(next, last - tail, idle_below, budget / 2);
}

std::optional<core::Fault> LaunchRunner::Probe(uint64_t block, uint64_t idle_below, bool& idle) {
  const uint64_t before = Instructions();
  if (auto fault = RunGroup(block, block + 1)) return fault;
  idle = Instructions() - before < idle_below;
  return std::nullopt;
}

// A grid that was not shrunk when its blocks grew ends with blocks past the end of the data, often most of them. `last`
// is known to be idle: bisection finds the first such block. If work is distributed otherwise (rows of a
// two-dimensional grid that end with idle blocks) a later block is not idle, and all count as working.
std::optional<core::Fault> LaunchRunner::FindIdleBlocks(uint64_t first, uint64_t last, uint64_t idle_below,
                                                        uint64_t spendable) {
  const uint64_t stop = Instructions() + spendable, blocks = launch_.grid.Count();
  uint64_t low = first, high = last;  // blocks below `low` work
  std::set<uint64_t> probed;
  uint64_t idle_run = blocks - last;
  bool idle = true;
  while (low < high && Instructions() < stop) {
    const uint64_t middle = low + (high - low) / 2;
    if (auto fault = Probe(middle, idle_below, idle)) return fault;
    probed.insert(middle);
    idle_run += idle;
    (idle ? high : low) = idle ? middle : middle + 1;
  }
  for (uint64_t k = 1; k <= kIdleProbes; ++k) {
    const uint64_t place = high + (last - high) * (k * 89 % 144) / 144;  // at irregular distances
    if (place >= last || !probed.insert(place).second) continue;
    if (auto fault = Probe(place, idle_below, idle)) return fault;
    if (!idle) return std::nullopt;
    ++idle_run;
  }
  working_blocks_ = high;
  idle_run_ = idle_run;
  return std::nullopt;
}

const KernelCode& LaunchRunner::Code() const {
  const auto& kernels = context_.program.code().kernels;
  return *std::find_if(kernels.begin(), kernels.end(),
                       [&](const KernelCode& k) { return k.info.symbol == resources_.symbol; });
}

const std::vector<compile::MachineLoop>& LaunchRunner::Loops() const {
  static const std::vector<compile::MachineLoop> unknown;
  const auto found = context_.machine_code.find(resources_.symbol);
  return found == context_.machine_code.end() ? unknown : found->second.loops;
}

BlockCounts LaunchRunner::Counts() const {
  BlockCounts sum;
  for (const Worker& worker : workers_) AddBlockCounts(sum, worker.machine->block_counts());
  return sum;
}

// How many blocks run between a block and its return to the same lines. Resident blocks begin together, but in a phase
// of n loads that wait for each other, the first to be served are an n-th of it ahead of the last.
uint64_t LaunchRunner::BlocksInStep() const {
  double blocks = 0;
  for (const Worker& worker : workers_) blocks += static_cast<double>(worker.machine->counters().blocks);
  const double n =
      std::max(1.0, WaitsOfFirstPhase(Code(), ModelSchedule(Code(), Loops()), context_.chip, Counts(), blocks));
  const auto wave = static_cast<uint64_t>(context_.chip.multiprocessors) *
                    static_cast<uint64_t>(occupancy_.blocks_per_multiprocessor);
  return static_cast<uint64_t>(static_cast<double>(std::min(wave, launch_.grid.Count())) * (1 - 1 / n));
}

LaunchCounts LaunchRunner::Take() {
  LaunchCounts snapshot;
  if (!limits_.counters) return snapshot;
  snapshot.block_counts = Counts();
  context_.l2.WriteBack();
  snapshot.counters = context_.l2.counters();
  for (const Worker& worker : workers_) {
    const core::Counters counters = worker.machine->counters();
    snapshot.blocks += counters.blocks;
    snapshot.counters.Add(counters);
    snapshot.counters.Add(worker.l1->counters());
    snapshot.traffic.Add(worker.l1->traffic());
    AddLines(snapshot.lines, worker.machine->line_counters());
  }
  return snapshot;
}

std::vector<LoadsByLevel> LaunchRunner::Levels(const L2Model::KernelResult& l2) const {
  std::vector<LoadsByLevel> levels = l2.levels;
  for (const Worker& worker : workers_) {
    const auto& mine = worker.l1->levels();
    if (levels.size() < mine.size()) levels.resize(mine.size());
    for (size_t i = 0; i < mine.size(); ++i) levels[i].l1 += mine[i].l1;
  }
  return levels;
}

// PTX has no spills, the cubin does: 4 bytes each, and we assume that they run as often as the average instruction.
void LaunchRunner::AddSpills(const KernelInfo& info, TimeInputs& inputs) const {
  const double spills = (resources_.spill_load_bytes + resources_.spill_store_bytes) / 4.0;
  const double runs = static_cast<double>(inputs.counters.warp_instructions) /
                      static_cast<double>(std::max<size_t>(info.instructions, 1));
  inputs.work.issue += spills * runs;
  inputs.traffic.l1_tags += static_cast<uint64_t>(std::llround(spills * runs));
}

// The part of `blocks` that was not run is like the second half of the first blocks, or idle like the end.
void LaunchRunner::ExtrapolateSample(LaunchCounts& all, uint64_t blocks) const {
  const LaunchCounts& end = tail_begin_.blocks > 0 ? tail_begin_ : all;
  const LaunchCounts* half = nullptr;
  for (const LaunchCounts& snapshot : snapshots_)
    if (snapshot.blocks * 2 >= end.blocks && snapshot.blocks < end.blocks && !half) half = &snapshot;
  if (!half)  // the last group is larger than all earlier ones together
    for (const LaunchCounts& snapshot : snapshots_)
      if (snapshot.blocks < end.blocks) half = &snapshot;
  const LaunchCounts none;
  const LaunchCounts& from = half ? *half : none;
  const uint64_t working = working_blocks_ - (all.blocks - idle_run_), idle = blocks - working_blocks_ - idle_run_;
  const LaunchCounts begin = end;  // `all` changes below
  if (working > 0)
    Extrapolate(all, from, begin, static_cast<double>(working) / static_cast<double>(begin.blocks - from.blocks));
  if (idle > 0)
    Extrapolate(all, tail_begin_, tail_end_,
                static_cast<double>(idle) / static_cast<double>(tail_end_.blocks - tail_begin_.blocks));
}

void LaunchRunner::WriteReport(const KernelInfo& info, LaunchResult& result) {
  LaunchCounts all = Take();
  core::LaunchReport& report = result.report;
  report.blocks_run = all.blocks;
  if (all.blocks < report.blocks_total && all.blocks > 0) ExtrapolateSample(all, report.blocks_total);
  L2Model::KernelResult l2 = context_.l2.FinishKernel();
  if (report.blocks_run < report.blocks_total) {  // what the kernel can reach: once if it fits L2, else in each wave
    const double footprint = static_cast<double>(limits_.footprint_bytes);
    BoundDramReads(1.5 * footprint <= context_.chip.l2_bytes ? footprint : footprint * std::ceil(occupancy_.waves),
                   all.counters, l2.levels);
  }
  report.counters = all.counters;

  const std::vector<LoadsByLevel> levels = Levels(l2);
  const auto line_cost = [&](uint32_t line) {
    return CostOfLine(context_.chip, line < levels.size() ? levels[line] : LoadsByLevel{},
                      line < all.lines.size() ? &all.lines[line] : nullptr);
  };
  TimeInputs inputs;
  inputs.blocks = report.blocks_total;
  inputs.working_blocks = working_blocks_;
  inputs.threads_per_block = needs_.threads;
  inputs.occupancy = occupancy_;
  inputs.counters = report.counters;
  inputs.phases = WorkByPhase(Code(), ModelSchedule(Code(), Loops()), context_.chip, (needs_.threads + 31) / 32,
                              all.block_counts, line_cost);
  for (const Work& phase : inputs.phases) inputs.work.Add(phase, 1);
  inputs.traffic = all.traffic;
  AddSpills(info, inputs);
  inputs.hottest_atomics =
      static_cast<uint64_t>(static_cast<double>(l2.hottest_atomics) * static_cast<double>(working_blocks_) /
                            static_cast<double>(std::max<uint64_t>(report.blocks_run - idle_run_, 1)));
  report.time = ModelTime(context_.chip, inputs);
  report.lines = HottestLines(std::move(all.lines));
}

Result<LaunchOutcome> LaunchRunner::Run() {
  const KernelInfo* info = context_.program.Find(resources_.symbol);
  if (!info) return Fail(ErrorCode::kCorrupt, fmt::format("the compiled module has no kernel '{}'", launch_.kernel));
  const uint64_t blocks = launch_.grid.Count();
  needs_ = {static_cast<int>(launch_.block.Count()), resources_.registers,
            info->static_shared_bytes + launch_.dynamic_shared_bytes};
  occupancy_ = core::ComputeOccupancy(context_.chip, needs_, blocks);
  if (auto fault = CheckResources(context_.chip, launch_, resources_, needs_, occupancy_)) return std::move(*fault);

  const bool together = launch_.cooperative && blocks > 1;
  const bool ordered = limits_.shadow != nullptr || limits_.visibility || limits_.spread ||
                       context_.program.UsesGlobalAtomics(info->symbol);
  const uint64_t useful = std::min<uint64_t>(blocks, static_cast<uint64_t>(context_.chip.multiprocessors));
  const int workers =
      ordered ? 1 : static_cast<int>(std::min<uint64_t>(useful, static_cast<uint64_t>(context_.pool.size())));
  if (launch_.cooperative)
    if (auto fault = CheckResident(blocks)) return std::move(*fault);
  WW_TRY(MakeWorkers(*info, together ? static_cast<int>(blocks) : std::max(workers, 1)));

  uint64_t last = std::min(blocks, limits_.block_limit);
  const uint64_t budget = limits_.sample_instructions > 0 ? limits_.sample_instructions : UINT64_MAX;
  uint64_t next = 0;
  working_blocks_ = blocks;
  if (limits_.spread && !together) {
    if (auto fault = RunSpread(last, next)) return std::move(*fault);
    last = next;
  } else if (together) {
    if (auto fault = RunTogether()) return std::move(*fault);
    next = last = blocks;
  } else if (auto fault = RunBlocks(0, last, budget, next)) {
    return std::move(*fault);
  }
  if (next < last)
    if (auto fault = RunTail(next, last, budget)) return std::move(*fault);

  LaunchResult result;
  result.thread_instructions = Instructions();
  result.complete = next == blocks;
  result.cut_short = cut_short_;
  result.report.kernel = launch_.kernel;
  result.report.registers = resources_.registers;
  result.report.threads_per_block = needs_.threads;
  result.report.shared_bytes_per_block = needs_.shared_bytes;
  result.report.blocks_total = result.report.blocks_run = blocks;
  result.report.occupancy = occupancy_;
  if (limits_.lines)
    for (const Worker& worker : workers_) AddLineUses(result.lines, worker.machine->line_uses());
  if (visibility_ && visibility_->old_read()) {
    result.old_read = visibility_->old_read();
    result.old_read->kernel = launch_.kernel;
  }
  if (limits_.touched && visibility_) result.touched = visibility_->WhatWasTouched();
  if (limits_.counters) WriteReport(*info, result);
  return LaunchOutcome(std::move(result));
}

}  // namespace

Result<LaunchOutcome> RunLaunch(const LaunchContext& context, const core::KernelLaunch& launch,
                                const core::KernelResources& resources, std::span<const std::byte> parameters,
                                const LaunchLimits& limits) {
  return LaunchRunner(context, launch, resources, parameters, limits).Run();
}

}  // namespace warpwright::sim
