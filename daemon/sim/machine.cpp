#include "sim/machine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "sim/block.h"
#include "sim/exec/async_copy.h"
#include "sim/exec/context.h"
#include "sim/exec/dispatch.h"
#include "sim/exec/race.h"
#include "sim/exec/services.h"
#include "sim/exec/warpgroup.h"

namespace warpwright::sim {
namespace {

// Memory that vector code reads: aligned to a cache line.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t bytes) : data_(std::make_unique<std::byte[]>(bytes + 128)) {}
  std::byte* get() const {
    const auto address = reinterpret_cast<uintptr_t>(data_.get());
    return data_.get() + (AlignUp(address, 64) - address);
  }

 private:
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace

struct Machine::State {
  Context context;
  AlignedBytes registers, shared, local;
  std::vector<uint8_t> shared_written, local_written;
  std::vector<std::byte> parameters;
  std::vector<AddressPattern> sites;
  std::vector<SiteCounters> site_counters;
  std::vector<uint64_t> block_entries;  // by warp of a block, then by basic block
  std::vector<uint64_t> block_lanes;    // by basic block
  RunOptions options;
  std::optional<BlockRunner> running;  // by Begin and Advance
  uint64_t blocks = 0;
  bool faulted = false;

  std::vector<uint64_t> Entries() const {  // by basic block
    std::vector<uint64_t> sum(block_lanes.size());
    for (size_t i = 0; i < block_entries.size(); ++i) sum[i % sum.size()] += block_entries[i];
    return sum;
  }
};

namespace {

// The value of a slot in one lane of a warp.
uint64_t SlotValue(const ConstantSlot& slot, const Context& c, uint32_t warp, uint32_t lane) {
  using SlotKind = ConstantSlot::Kind;
  const uint64_t thread = static_cast<uint64_t>(warp) * kLanes + lane;
  switch (slot.kind) {
    case SlotKind::kValue: return slot.value;
    case SlotKind::kVariable: return c.memory->variable_address(slot.index) + slot.value;
    case SlotKind::kTidX: return thread % c.block.x;
    case SlotKind::kTidY: return thread / c.block.x % c.block.y;
    case SlotKind::kTidZ: return thread / c.block.x / c.block.y;
    case SlotKind::kNtidX: return c.block.x;
    case SlotKind::kNtidY: return c.block.y;
    case SlotKind::kNtidZ: return c.block.z;
    case SlotKind::kNctaidX: return c.grid.x;
    case SlotKind::kNctaidY: return c.grid.y;
    case SlotKind::kNctaidZ: return c.grid.z;
    case SlotKind::kLaneId: return lane;
    case SlotKind::kWarpId: return warp;
    case SlotKind::kNWarpId: return c.warps.size();
    case SlotKind::kLanemaskEq: return 1u << lane;
    case SlotKind::kLanemaskLt: return (1u << lane) - 1;
    case SlotKind::kLanemaskLe: return ((1u << lane) - 1) | (1u << lane);
    case SlotKind::kLanemaskGt: return ~(((1u << lane) - 1) | (1u << lane));
    case SlotKind::kLanemaskGe: return ~((1u << lane) - 1);
    case SlotKind::kTotalSharedSize: return c.shared_bytes;
    case SlotKind::kDynamicSharedSize:
      return c.shared_bytes - std::min<uint64_t>(c.shared_bytes, AlignUp(c.kernel->info.static_shared_bytes, 16));
    case SlotKind::kNSmId: return 1;
    case SlotKind::kGridWorkspaceHigh: return c.grid_workspace >> 32;
    case SlotKind::kGridWorkspaceLow: return c.grid_workspace & UINT32_MAX;
    case SlotKind::kParameter: {
      const uint32_t bytes = slot.index & 0xff;
      uint64_t value = 0;
      std::memcpy(&value, c.parameters + slot.value, bytes);
      if ((slot.index & 0x100) && bytes < 8 && (value >> (8 * bytes - 1) & 1)) value |= UINT64_MAX << (8 * bytes);
      return value;
    }
    default: return 0;
  }
}

void FillConstants(Context& c) {
  for (const Warp& warp : c.warps) {
    for (const ConstantSlot& slot : c.kernel->constants) {
      std::byte* at = warp.registers + slot.offset;
      if (slot.kind == ConstantSlot::Kind::kPredicateTrue) {
        std::memset(at, 0xff, 4);
        continue;
      }
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint64_t value = SlotValue(slot, c, warp.index, lane);
        if (slot.wide) reinterpret_cast<uint64_t*>(at)[lane] = value;
        else reinterpret_cast<uint32_t*>(at)[lane] = static_cast<uint32_t>(value);
      }
    }
  }
}

Status CheckLaunch(const KernelCode* kernel, const Launch& launch, const RunOptions& options, const Program& program,
                   const Memory& memory) {
  if (!CpuIsSupported())
    return Fail(ErrorCode::kEnvironment, "the simulator needs a CPU with AVX2, FMA, F16C and BMI2",
                "run on an x86-64-v3 machine (Intel Haswell or AMD Zen, or newer)");
  if (!kernel) return Fail(ErrorCode::kUsage, fmt::format("the PTX has no kernel {}", launch.kernel));
  const KernelInfo& info = kernel->info;
  auto refuse = [&](std::string why) {
    return Fail(ErrorCode::kUsage, fmt::format("kernel {}: {}", info.symbol, why));
  };
  const uint64_t threads = launch.block.Count();
  if (threads == 0 || threads > 1024 || launch.block.z > 64)
    return refuse(fmt::format("a block of {} threads", threads));
  if (info.max_threads_per_block != 0 && threads > info.max_threads_per_block)
    return refuse(
        fmt::format("a block of {} threads, while it is compiled for {}", threads, info.max_threads_per_block));
  if (launch.grid.Count() == 0 || launch.grid.x > INT32_MAX || launch.grid.y > 65535 || launch.grid.z > 65535)
    return refuse("an empty or too large grid");
  if (launch.parameters.size() < info.parameter_bytes)
    return refuse(fmt::format("{} bytes of parameters, {} needed", launch.parameters.size(), info.parameter_bytes));
  const uint64_t shared = AlignUp(info.static_shared_bytes, 16) + launch.dynamic_shared_bytes;
  if (shared > options.shared_limit_bytes)
    return refuse(fmt::format("{} bytes of shared memory, {} are there", shared, options.shared_limit_bytes));
  if (memory.variable_count() != program.variables().size()) return refuse("its module is not loaded into the memory");
  return {};
}

}  // namespace

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

Result<Machine> Machine::Create(const Program& program, Memory& memory, const Launch& launch, RunOptions options) {
  try {
    return Make(program, memory, launch, std::move(options));
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kEnvironment,
                fmt::format("out of memory for the registers and the local memory of {}", launch.kernel));
  }
}

Result<Machine> Machine::Make(const Program& program, Memory& memory, const Launch& launch, RunOptions options) {
  const ProgramCode& code = program.code();
  const KernelCode* kernel = nullptr;
  for (const KernelCode& k : code.kernels)
    if (k.info.symbol == launch.kernel) kernel = &k;
  WW_TRY(CheckLaunch(kernel, launch, options, program, memory));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  Context& c = state->context;
  c.kernel = kernel;
  c.program = &code;
  c.memory = &memory;
  c.grid = launch.grid;
  c.grid_workspace = launch.grid_workspace;
  c.block = launch.block;
  c.counting = state->options.counters;
  c.checking = state->options.checks;
  c.observer = state->options.observer;
  c.print = &state->options.print;
  c.shadow = state->options.shadow;
  c.visibility = state->options.visibility;
  c.reverse_warps = state->options.reverse_warps;
  c.split_lanes = state->options.split_lanes;
  c.budget = static_cast<int64_t>(std::min<uint64_t>(state->options.instruction_limit, INT64_MAX / 2));
  c.code = kernel->code.data();
  c.blocks = kernel->blocks.data();
  const size_t warps = (launch.block.Count() + kLanes - 1) / kLanes;
  c.warps.resize(warps);
  c.lanes_known.resize(warps);
  state->registers = AlignedBytes(warps * kernel->register_bytes);
  c.shared_bytes = launch.dynamic_shared_bytes == 0
                       ? kernel->info.static_shared_bytes
                       : AlignUp(kernel->info.static_shared_bytes, 16) + launch.dynamic_shared_bytes;
  state->shared = AlignedBytes(c.shared_bytes);
  c.shared = state->shared.get();
  state->shared_written.resize(c.shared_bytes + 16);
  c.shared_written = state->shared_written.data();
  c.local_bytes = kernel->info.local_bytes;
  const size_t local_per_warp = c.local_bytes * kLanes;
  state->local = AlignedBytes(warps * local_per_warp);
  state->local_written.resize(warps * local_per_warp);
  for (uint32_t w = 0; w < warps; ++w) {
    Warp& warp = c.warps[w];
    warp.index = w;
    warp.registers = state->registers.get() + w * kernel->register_bytes;
    warp.local = state->local.get() + w * local_per_warp;
    warp.local_written = state->local_written.data() + w * local_per_warp;
  }
  if (c.checking) {
    c.race.granule = std::min<uint32_t>(kernel->shared_minimum_width, 4);
    c.race.quiet = c.race.granule;
    const size_t granules = c.shared_bytes / c.race.granule + 16;
    for (auto* v :
         {&c.race.write_time, &c.race.write_thread, &c.race.read_time, &c.race.read_warps, &c.race.read_lanes})
      v->assign(granules, 0);
    if (kernel->has_fences && kernel->has_strong_shared) c.order = MakeOrder(warps, granules);
  }
  if (kernel->has_async_copies) c.copies = std::make_shared<AsyncCopies>(warps);
  if (kernel->has_warpgroup_products && c.checking) c.products = std::make_shared<WarpgroupProducts>(warps);
  state->parameters.assign(launch.parameters.begin(), launch.parameters.end());
  state->parameters.resize(state->parameters.size() + 16);
  c.parameters = state->parameters.data();
  c.parameter_bytes = kernel->info.parameter_bytes;
  state->sites.resize(kernel->sites);
  state->site_counters.resize(kernel->sites);
  c.sites = state->sites.data();
  c.site_counters = state->site_counters.data();
  state->block_entries.resize(warps * kernel->blocks.size());
  state->block_lanes.resize(kernel->blocks.size());
  for (Warp& warp : c.warps) warp.block_entries = state->block_entries.data() + warp.index * kernel->blocks.size();
  c.block_lanes = state->block_lanes.data();
  c.guard_off.resize(kernel->code.size());
  c.divergent.resize(kernel->code.size());
  FillConstants(c);
  return Machine(std::move(state));
}

std::variant<std::monostate, core::Fault> Machine::Run(uint64_t first, uint64_t last) {
  Context& c = state_->context;
  BlockRunner runner(c);
  last = std::min(last, c.grid.Count());
  for (uint64_t block = first; block < last; ++block) {
    if (state_->faulted || !runner.Run(block)) {
      state_->faulted = true;
      return c.fault;
    }
    ++state_->blocks;
  }
  return std::monostate{};
}

void Machine::Allow(uint64_t thread_instructions) {
  Context& c = state_->context;
  c.budget = static_cast<int64_t>(std::min<uint64_t>(thread_instructions, INT64_MAX / 2));
  state_->faulted = state_->faulted && c.fault.kind != core::Fault::Kind::kInstructionLimit;
}

void Machine::Begin(uint64_t block) {
  state_->running.emplace(state_->context);
  state_->running->Begin(block);
}

std::variant<bool, core::Fault> Machine::Advance() {
  switch (state_->running->Advance()) {
    case BlockRunner::Turn::kMore: return false;
    case BlockRunner::Turn::kDone: ++state_->blocks; return true;
    case BlockRunner::Turn::kFault: break;
  }
  state_->faulted = true;
  return state_->context.fault;
}

uint64_t Machine::thread_instructions() const {
  uint64_t total = 0;
  const KernelCode& kernel = *state_->context.kernel;
  for (size_t b = 0; b < kernel.blocks.size(); ++b)
    total += state_->block_lanes[b] * static_cast<uint64_t>(kernel.code[kernel.blocks[b].header].immediate);
  return total;
}

std::vector<std::vector<uint64_t>> Machine::block_counts() const {
  const size_t blocks = state_->context.kernel->blocks.size();
  std::vector<std::vector<uint64_t>> counts;
  for (size_t begin = 0; begin < state_->block_entries.size(); begin += blocks)
    counts.emplace_back(state_->block_entries.begin() + static_cast<std::ptrdiff_t>(begin),
                        state_->block_entries.begin() + static_cast<std::ptrdiff_t>(begin + blocks));
  return counts;
}

namespace {

// What one instruction added: run `times` with `lanes` lanes in total.
void AddInstruction(core::Counters& n, const Instruction& in, uint64_t times, uint64_t lanes) {
  n.warp_instructions += times;
  n.thread_instructions += lanes;
  n.warp_instructions_by_class[static_cast<int>(in.count_as)] += times;
  const uint64_t flops = lanes * in.flops;
  if (in.type == Type::kF64) n.flops_fp64 += flops;
  else if (in.type == Type::kF32) n.flops_fp32 += flops;
  else if (in.flops > 0) n.flops_fp16 += flops;
  if ((in.op == Op::kMatrixProduct || in.op == Op::kWarpgroupProduct) && IsFloat(in.type)) {
    const MatrixShape& s = in.product.shape;
    n.flops_tensor += times * 2 * static_cast<uint64_t>(s.m) * static_cast<uint64_t>(s.n) * static_cast<uint64_t>(s.k);
  }
  if (in.op == Op::kBranch && in.operands > 0) n.branches += times;
}

void AddSite(core::Counters& n, const Instruction& in, const SiteCounters& site) {
  if (in.op == Op::kAtomic || in.op == Op::kReduction) {
    n.atomic_requests += site.requests;
    n.atomic_sectors += site.sectors;
  } else if (in.op == Op::kLoad || in.op == Op::kAsyncCopy) {
    n.global_load_requests += site.requests;
    n.global_load_sectors += site.sectors;
    n.global_load_bytes += site.bytes;
    n.local_load_bytes += site.local_bytes;
  } else {
    n.global_store_requests += site.requests;
    n.global_store_sectors += site.sectors;
    n.global_store_bytes += site.bytes;
    n.local_store_bytes += site.local_bytes;
  }
  n.shared_requests += site.shared_requests;
  n.shared_wavefronts += site.wavefronts;
  n.shared_bank_conflicts += site.conflicts;
}

bool IsMemory(const Instruction& in) {
  return in.op == Op::kLoad || in.op == Op::kStore || in.op == Op::kAtomic || in.op == Op::kReduction ||
         in.op == Op::kMatrixLoad || in.op == Op::kMatrixStore || in.op == Op::kAsyncCopy;
}

}  // namespace

core::Counters Machine::counters() const {
  const Context& c = state_->context;
  core::Counters n;
  if (!c.counting) return n;
  const KernelCode& kernel = *c.kernel;
  const std::vector<uint64_t> entries = state_->Entries();
  for (size_t b = 0; b < kernel.blocks.size(); ++b) {
    for (uint32_t i = kernel.blocks[b].header; i < kernel.blocks[b].end; ++i) {
      const Instruction& in = kernel.code[i];
      if (in.counted == 0) continue;
      AddInstruction(n, in, entries[b], state_->block_lanes[b] - c.guard_off[i]);
      n.divergent_branches += c.divergent[i];
      if (IsMemory(in)) AddSite(n, in, state_->site_counters[in.site]);
    }
  }
  n.barriers = c.barriers;
  n.blocks = state_->blocks;
  n.warps = state_->blocks * c.warps.size();
  return n;
}

std::vector<core::LineCounters> Machine::line_counters() const {
  const Context& c = state_->context;
  const KernelCode& kernel = *c.kernel;
  std::vector<core::LineCounters> lines(c.program->locations.size());
  for (size_t l = 0; l < lines.size(); ++l) {
    lines[l].file = c.program->locations[l].file;
    lines[l].line = c.program->locations[l].line;
  }
  if (!c.counting) return lines;
  const std::vector<uint64_t> entries = state_->Entries();
  for (size_t b = 0; b < kernel.blocks.size(); ++b) {
    for (uint32_t i = kernel.blocks[b].header; i < kernel.blocks[b].end; ++i) {
      const Instruction& in = kernel.code[i];
      if (in.counted == 0) continue;
      core::LineCounters& line = lines[in.line];
      line.warp_instructions += entries[b];
      line.thread_instructions += state_->block_lanes[b] - c.guard_off[i];
      line.divergent_branches += c.divergent[i];
      if (!IsMemory(in)) continue;
      const SiteCounters& site = state_->site_counters[in.site];
      line.global_requests += site.requests;
      line.global_sectors += site.sectors;
      line.shared_requests += site.shared_requests;
      line.shared_wavefronts += site.wavefronts;
    }
  }
  return lines;
}

std::vector<core::LineUse> Machine::line_uses() const {
  const Context& c = state_->context;
  const KernelCode& kernel = *c.kernel;
  std::map<uint32_t, core::LineUse> by_line;
  for (size_t b = 0; b < kernel.blocks.size(); ++b) {
    for (uint32_t i = kernel.blocks[b].header; i < kernel.blocks[b].end; ++i) {
      const Instruction& in = kernel.code[i];
      if (in.counted == 0 || in.line == 0) continue;
      core::LineUse& use = by_line[in.line];
      use.threads += state_->block_lanes[b] - c.guard_off[i];
      use.memory = use.memory || (IsMemory(in) && in.count_as != core::InstructionClass::kLocalLoad &&
                                  in.count_as != core::InstructionClass::kLocalStore);
    }
  }
  std::vector<core::LineUse> uses;
  for (auto& [location, use] : by_line) {
    use.file = c.program->locations[location].file;
    use.line = c.program->locations[location].line;
    uses.push_back(std::move(use));
  }
  return uses;
}

core::Fault FaultAt(const Context& c, const Instruction* i, core::Fault::Kind kind, uint32_t lane,
                    std::string message) {
  if (lane >= kLanes) lane = c.mask ? static_cast<uint32_t>(std::countr_zero(c.mask)) : 0;
  core::Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.kernel = c.kernel->info.symbol;
  const SourceLocation& place = c.program->locations[i->line];
  fault.file = place.file;
  fault.line = place.line;
  const uint64_t block = c.block_index, thread = static_cast<uint64_t>(c.warp->index) * kLanes + lane;
  const uint64_t b[3] = {block % c.grid.x, block / c.grid.x % c.grid.y, block / c.grid.x / c.grid.y};
  const uint64_t t[3] = {thread % c.block.x, thread / c.block.x % c.block.y, thread / c.block.x / c.block.y};
  for (int k = 0; k < 3; ++k) {
    fault.block[k] = static_cast<uint32_t>(b[k]);
    fault.thread[k] = static_cast<uint32_t>(t[k]);
  }
  return fault;
}

const Instruction* StopWithFault(Context& c, const Instruction* i, core::Fault::Kind kind, uint32_t lane,
                                 std::string message) {
  c.fault = FaultAt(c, i, kind, lane, std::move(message));
  c.stop = Context::Stop::kFault;
  return nullptr;
}

}  // namespace warpwright::sim
