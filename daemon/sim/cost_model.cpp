#include "sim/cost_model.h"

#include <algorithm>
#include <map>

#include "core/tensor_rates.h"

namespace warpwright::sim {

namespace {

enum class Unit : uint8_t { kNone, kFp32, kFp64, kFp16, kInteger, kSfu, kConversion, kShuffle };

// One instruction becomes `count` on `unit` and `other` elsewhere (issue slots only); its result comes after `latency`
// cycles.
struct Cost {
  Unit unit = Unit::kNone;
  double count = 0;
  double other = 0;
  double latency = 0;
  double tensor_fmas = 0;  // Work::tensor_fmas
};

constexpr double kAluLatency = 4, kFp64Latency = 8, kHalfLatency = 5, kSfuLatency = 17, kConversionLatency = 10,
                 kShuffleLatency = 24, kVoteLatency = 12, kBarrierLatency = 12, kBarrierPerWarp = 2, kBranchLatency = 8,
                 kConstantLatency = 8, kMatrixLatency = 33, kWarpsOfGroup = 4;

bool IsHalf(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
}

Cost Alu(const Instruction& instruction, double count = 1) {
  if (instruction.type == Type::kF64) return {Unit::kFp64, count, 0, kFp64Latency * count};
  if (instruction.type == Type::kF32) return {Unit::kFp32, count, 0, kAluLatency * count};
  if (IsHalf(instruction.type)) return {Unit::kFp16, count, 0, kHalfLatency * count};
  // 64-bit additions compute addresses, most of which fold into the instruction that uses them: one counts as one, not
  // as its two halves.
  return {Unit::kInteger, count, 0, kAluLatency * count + (ByteSize(instruction.type) == 8)};
}

Cost Multiply(const Instruction& instruction) {
  if (IsFloat(instruction.type)) return Alu(instruction);
  if (ByteSize(instruction.type) == 8 && instruction.mul != MulMode::kWide)
    return {Unit::kInteger, 4, 0, 4 * kAluLatency};
  return {Unit::kInteger, 1, 0, kAluLatency + 1};
}

// Division, square root and reciprocal to full precision are a seed from the special function unit and Newton steps.
Cost Divide(const Instruction& instruction) {
  if (instruction.type == Type::kF64) return {Unit::kFp64, 10, 6, 10 * kFp64Latency + kSfuLatency};
  if (instruction.type == Type::kF32) {
    if (instruction.approx) return {Unit::kSfu, 1, 1, kSfuLatency + kAluLatency};
    if (instruction.full_range) return {Unit::kSfu, 1, 4, kSfuLatency + 3 * kAluLatency};
    return {Unit::kSfu, 1, 15, kSfuLatency + 10 * kAluLatency};
  }
  if (ByteSize(instruction.type) == 8) return {Unit::kInteger, 60, 12, 220};
  return {Unit::kInteger, 20, 10, 2 * kConversionLatency + kSfuLatency + 8 * kAluLatency};
}

Cost SpecialFunction(const Instruction& instruction) {
  const bool root = instruction.op == Op::kSqrt || instruction.op == Op::kRcp;
  if (instruction.type == Type::kF64) return {Unit::kFp64, 8, 4, 8 * kFp64Latency + kSfuLatency};
  if (root && !instruction.approx) return {Unit::kSfu, 1, 7, kSfuLatency + 6 * kAluLatency};
  if (IsHalf(instruction.type))
    return {Unit::kSfu, instruction.type == Type::kF16x2 || instruction.type == Type::kBf16x2 ? 2.0 : 1.0, 0,
            kSfuLatency};
  const double scaling = instruction.ftz || instruction.op == Op::kTanh ? 0 : 2;  // subnormals are scaled up and back
  return {Unit::kSfu, 1, scaling + (instruction.op == Op::kSqrt), kSfuLatency + scaling * kAluLatency};
}

Cost Convert(const Instruction& instruction) {
  const bool integers = !IsFloat(instruction.type) && !IsFloat(instruction.from);
  if (integers)
    return {Unit::kInteger, ByteSize(instruction.type) > ByteSize(instruction.from) ? 1.0 : 0.0, 0, kAluLatency};
  const bool wide = ByteSize(instruction.type) == 8 || ByteSize(instruction.from) == 8;
  // Widening bfloat16 is a shift; f64 and 64-bit integers convert at a quarter of the rate.
  if (instruction.from == Type::kBf16 && instruction.type == Type::kF32) return {Unit::kInteger, 1, 0, kAluLatency};
  return {Unit::kConversion, wide ? 4.0 : 1.0, 0, kConversionLatency};
}

// Luo et al. 2024: an mma.sync of 16 by 8 by 16 takes 33 cycles until its sums can be used. wmma's shapes are two of
// them.
Cost Product(const Instruction& instruction, const core::Chip& chip) {
  const MatrixShape& s = instruction.product.shape;
  const double pieces = std::max(1, s.m * s.n / 128);
  const double weight = instruction.type == Type::kF64            ? chip.tensor_fma_per_cycle / (2 * chip.fp64_lanes)
                        : instruction.product.left == Type::kTf32 ? 2
                        : ByteSize(instruction.product.left) == 1 ? 0.5
                                                                  : 1;
  return {.other = pieces, .latency = kMatrixLatency, .tensor_fmas = weight * s.m * s.n * s.k};
}

// A warp's quarter of a warpgroup's product; `latency`: how long its tensor core is busy.
Cost WarpgroupProduct(const Instruction& instruction, const core::Chip& chip) {
  const MatrixShape& s = instruction.product.shape;
  const double fmas = s.m * s.n * s.k, rate = std::max(1.0, core::WarpgroupFmaPerCycle(chip));
  return {.other = 1, .latency = fmas * kWarpsOfGroup / rate, .tensor_fmas = fmas * chip.tensor_fma_per_cycle / rate};
}

// Rows of 128 bytes of shared memory that it reads, of four warps that read B together.
double WarpgroupWavefronts(const MatrixProduct& product) {
  const MatrixShape& s = product.shape;
  return (product.left_in_registers ? 0 : s.m * s.k * 2 / 128.0) + s.n * s.k * 2 / 128.0 / kWarpsOfGroup;
}

Cost Load(const Instruction& instruction, const core::Chip& chip, const LineCost& line) {
  switch (instruction.space) {
    case Space::kParam: return {};  // an operand from the constant bank
    case Space::kConst: return {Unit::kNone, 0, 1, kConstantLatency};
    case Space::kShared: return {Unit::kNone, 0, 1, chip.shared_latency_cycles};
    default: return {Unit::kNone, 0, 1, line.load_cycles};
  }
}

Cost CostOf(const Instruction& i, const core::Chip& chip, int warps_per_block, const LineCost& line) {
  switch (i.op) {
    case Op::kHeader:
    case Op::kNop:
    case Op::kFence:
    case Op::kEnd:
    case Op::kUnsupported:
    case Op::kMove:
    case Op::kPack:
    case Op::kUnpack:
    case Op::kIsSpace:
    case Op::kCvta: return {};
    case Op::kBranch:
    case Op::kExit:
    case Op::kTrap: return {Unit::kNone, 0, 1, kBranchLatency};
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce: return {Unit::kNone, 0, 1, kBarrierLatency + kBarrierPerWarp * warps_per_block};
    case Op::kWarpBarrier:
    case Op::kClock:
    case Op::kActiveMask:
    case Op::kElect: return {Unit::kNone, 0, 1, kAluLatency};
    case Op::kPrint:
    case Op::kAssertFail: return {Unit::kNone, 0, 100, 1000};
    case Op::kMul:
    case Op::kMad:
    case Op::kMul24:
    case Op::kMad24:
    case Op::kMadCarry: return Multiply(i);
    case Op::kDiv:
    case Op::kRem: return Divide(i);
    case Op::kAbs:
    case Op::kNeg: return IsFloat(i.type) ? Cost{} : Alu(i);  // modifiers of the instruction that uses them
    case Op::kMin:
    case Op::kMax:
      return i.type == Type::kF32 ? Cost{Unit::kInteger, 1, 0, kAluLatency} : Alu(i);  // FMNMX runs on the integer unit
    case Op::kPopc:
    case Op::kClz:
    case Op::kBfind:
    case Op::kBrev: return {Unit::kSfu, ByteSize(i.type) == 8 ? 2.0 : 1.0, 0, kConversionLatency};
    case Op::kBfe:
    case Op::kBfi:
    case Op::kFns: return {Unit::kInteger, 2, 0, 2 * kAluLatency};
    case Op::kSetPredicate:
    case Op::kSet:
    case Op::kSelect:
    case Op::kSlct: {
      Cost cost = Alu(i);
      if (cost.unit != Unit::kFp64 && cost.unit != Unit::kFp16) cost.unit = Unit::kInteger;
      return cost;
    }
    case Op::kPredicateLogic: return {Unit::kInteger, 1, 0, kAluLatency};
    case Op::kRcp:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kLg2:
    case Op::kEx2:
    case Op::kTanh: return SpecialFunction(i);
    case Op::kConvert: return Convert(i);
    case Op::kConvertPack: return {Unit::kConversion, 1, 0, kConversionLatency};
    case Op::kLoad: return Load(i, chip, line);
    case Op::kMatrixProduct: return Product(i, chip);
    case Op::kWarpgroupProduct: return WarpgroupProduct(i, chip);
    case Op::kWarpgroupFence:
    case Op::kWarpgroupCommit:
    case Op::kWarpgroupWait:
    case Op::kProxyFence: return {Unit::kNone, 0, 1, 0};
    case Op::kWarpgroupMisuse: return {};
    case Op::kMatrixTranspose: return {Unit::kShuffle, 1, 0, kShuffleLatency};
    case Op::kMatrixLoad: return {Unit::kNone, 0, 1, chip.shared_latency_cycles};
    case Op::kAsyncCopy: return {Unit::kNone, 0, 1, line.load_cycles};
    case Op::kMbarrier: return {Unit::kNone, 0, 1, chip.shared_latency_cycles};
    case Op::kAsyncCommit:
    case Op::kAsyncWait: return {Unit::kNone, 0, 1, 0};
    case Op::kMatrixStore:
    case Op::kStore:
    case Op::kReduction: return {Unit::kNone, 0, 1, 0};
    case Op::kAtomic:
      return {Unit::kNone, 0, 1,
              i.space == Space::kShared ? 2 * chip.shared_latency_cycles : chip.l2_latency_ns * chip.clock_ghz};
    case Op::kShuffle: return {Unit::kShuffle, 1, 0, kShuffleLatency};
    case Op::kVote: return {Unit::kInteger, 1, 0, kVoteLatency};
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kRedux: return {Unit::kSfu, 1, 0, kShuffleLatency};
    default: return Alu(i);
  }
}

// The longest chain of dependent results in one region.
class PathFinder {
 public:
  void Step(const Instruction& i, const Cost& cost) {
    if (i.op == Op::kAsyncWait) return Wait(i);
    if (i.op == Op::kWarpgroupWait) return WaitForProducts(i);
    if (i.op == Op::kWarpgroupProduct) return Multiply(i, cost);
    double start = 0;
    for (int k = i.defs; k < i.operands; ++k) start = std::max(start, ReadyAt(i.reg[k]));
    start = std::max(start, ReadyAt(i.guard));
    if (i.op == Op::kAsyncCopy) {
      copied_ = std::max(copied_, start + cost.latency);
      last_ = std::max(last_, start);
      return;
    }
    const bool writes = i.op == Op::kStore || i.op == Op::kAtomic || i.op == Op::kReduction;
    const bool read_only = i.op == Op::kLoad && (i.space == Space::kConst || i.space == Space::kParam || i.read_only);
    if ((i.op == Op::kLoad && !read_only) || writes) start = std::max(start, FloorOf(i.space));
    const double ready = start + cost.latency;
    for (int k = 0; k < i.defs; ++k)
      if (i.reg[k] != kNoOperand) ready_[i.reg[k]] = ready;
    if (writes) RaiseFloor(i.space, start);
    last_ = std::max(last_, start);
    if (i.op == Op::kBarrier || i.op == Op::kBarrierReduce) RaiseFloor(Space::kGeneric, last_ + cost.latency);
    end_ = std::max({end_, ready, shared_floor_, other_floor_});
  }
  double end() const { return end_; }

 private:
  // A warpgroup's products take turns.
  void Multiply(const Instruction& i, const Cost& cost) {
    double start = 0;
    for (int k = 2 * i.defs; k < i.operands; ++k) start = std::max(start, ReadyAt(i.reg[k]));
    start = std::max(start, shared_floor_);
    multiplied_ = std::max(multiplied_, start) + cost.latency;
    for (int k = 0; k < i.defs; ++k) ready_[i.reg[k]] = multiplied_ + kMatrixLatency;
    last_ = std::max(last_, start);
    end_ = std::max(end_, multiplied_);
  }
  // As for copies: what may remain is younger.
  void WaitForProducts(const Instruction& i) {
    if (i.immediate != 0 || multiplied_ == 0) return;
    RaiseFloor(Space::kGeneric, std::max(last_, multiplied_ + kMatrixLatency));
    last_ = std::max(last_, multiplied_ + kMatrixLatency);
    end_ = std::max(end_, last_);
  }
  // For all copies of the region. Those that may remain are younger ones: what the wait is for began in an earlier
  // iteration, and has arrived.
  void Wait(const Instruction& i) {
    if (i.immediate != 0) return;
    RaiseFloor(Space::kGeneric, std::max(last_, copied_));
    last_ = std::max(last_, copied_);
    end_ = std::max(end_, copied_);
    copied_ = 0;
  }
  double ReadyAt(uint32_t reg) const {
    auto found = ready_.find(reg);
    return found == ready_.end() ? 0 : found->second;
  }
  // Memory accesses issue no earlier. Shared memory never aliases global memory; a generic address may be either.
  double FloorOf(Space space) const {
    if (space == Space::kShared) return shared_floor_;
    return space == Space::kGeneric ? std::max(shared_floor_, other_floor_) : other_floor_;
  }
  void RaiseFloor(Space space, double to) {
    if (space == Space::kShared || space == Space::kGeneric) shared_floor_ = std::max(shared_floor_, to);
    if (space != Space::kShared) other_floor_ = std::max(other_floor_, to);
  }
  std::map<uint32_t, double> ready_;
  double shared_floor_ = 0, other_floor_ = 0;
  double last_ = 0, end_ = 0;
  double multiplied_ = 0;  // when the warpgroup's products so far are done
  double copied_ = 0;      // when the asynchronous copies so far have arrived
};

// Counts the scalar shared loads of one block that ptxas merges with their neighbours: same address register, adjacent
// words.
class LoadMerger {
 public:
  // True: this load is merged into an earlier one.
  bool Step(const Instruction& i) {
    const bool memory_order =
        i.op == Op::kBarrier || i.op == Op::kBarrierReduce ||
        ((i.op == Op::kStore || i.op == Op::kAtomic || i.op == Op::kReduction) && i.space == Space::kShared);
    if (memory_order) groups_.clear();
    bool merged = false;
    if (i.op == Op::kLoad && i.space == Space::kShared && i.vector == 1 && ByteSize(i.type) == 4 &&
        i.guard == kNoOperand && !i.is_volatile)
      merged = Join(i.reg[i.defs], i.immediate);
    for (int k = 0; k < i.defs; ++k)
      std::erase_if(groups_, [&](const auto& group) { return group.first.first == i.reg[k]; });
    return merged;
  }

 private:
  // A word joins its neighbour in an aligned pair, and a pair its neighbour in an aligned four.
  bool Join(uint32_t reg, int64_t offset) {
    uint8_t& words = groups_[{reg, offset >> 4}];
    const auto pieces = [](uint8_t w) {
      return w == 0xf
                 ? 1
                 : ((w & 3) == 3 ? 1 : __builtin_popcount(w & 3)) + ((w >> 2) == 3 ? 1 : __builtin_popcount(w >> 2));
    };
    const int before = pieces(words);
    words |= static_cast<uint8_t>(1u << (offset >> 2 & 3));
    joined_ += 1 - (pieces(words) - before);
    const bool merged = joined_ > 0;
    if (merged) --joined_;
    return merged;
  }
  std::map<std::pair<uint32_t, int64_t>, uint8_t> groups_;
  int joined_ = 0;  // loads that vanished but were counted already
};

// The branch of a one-block loop, its comparison and its increment, of which unrolling leaves one copy.
bool IsLoopControl(const KernelCode& kernel, const BasicBlock& block, const Instruction& i) {
  const Instruction& branch = kernel.code[block.end - 1];
  if (&i == &branch) return true;
  if (i.op == Op::kSetPredicate) return i.defs > 0 && i.reg[0] == branch.reg[0];
  // A register incremented by a constant: ptxas folds the constant into the addresses of what it unrolls.
  return i.op == Op::kAdd && i.operands == i.defs + 2 && i.reg[0] == i.reg[i.defs] &&
         i.reg[i.defs + 1] < kernel.constants_bytes;
}

// The path of one iteration of a one-block loop. The machine code, if known, shows how often loads make the warp wait:
// each time for the slowest of them.
double LoopPath(const KernelCode& kernel, const ScheduleModel& shape, uint32_t b, const core::Chip& chip,
                int warps_per_block, const std::function<LineCost(uint32_t)>& line_cost) {
  const BasicBlock& block = kernel.blocks[b];
  const compile::MachineLoop* machine = shape.machine[b];
  PathFinder path;
  double slowest = 0;
  for (int turn = 0; turn < shape.unroll[b]; ++turn)
    for (uint32_t index = block.header; index < block.end; ++index) {
      const Instruction& i = kernel.code[index];
      if (turn > 0 && IsLoopControl(kernel, block, i)) continue;
      Cost cost = CostOf(i, chip, warps_per_block, line_cost(i.line));
      if (machine && i.op == Op::kLoad && (i.space == Space::kGlobal || i.space == Space::kGeneric)) {
        slowest = std::max(slowest, cost.latency);
        cost.latency = 0;
      }
      path.Step(i, cost);
    }
  return (path.end() + (machine ? machine->waits * slowest : 0)) / shape.unroll[b];
}

void AddMemory(Work& work, const Instruction& i, const LineCost& line) {
  if (i.op == Op::kWarpgroupProduct) work.wavefronts += WarpgroupWavefronts(i.product);
  const bool writes = i.op == Op::kStore || i.op == Op::kAtomic || i.op == Op::kReduction;
  const bool matrix = i.op == Op::kMatrixLoad || i.op == Op::kMatrixStore, copies = i.op == Op::kAsyncCopy;
  if (i.op != Op::kLoad && !writes && !matrix && !copies) return;
  if (copies) work.wavefronts += line.wavefronts;
  if (i.space == Space::kShared || matrix) {
    work.wavefronts += line.wavefronts;
  } else if (writes) {
    work.store_sectors += line.sectors;
  } else if (i.space != Space::kParam && i.space != Space::kConst) {
    work.load_sectors += line.sectors;
    work.l2_sectors += line.l2_sectors;
    work.dram_sectors += line.dram_sectors;
  }
}

double& On(Work& work, Unit unit, double& none) {
  switch (unit) {
    case Unit::kFp32: return work.fp32;
    case Unit::kFp64: return work.fp64;
    case Unit::kFp16: return work.fp16;
    case Unit::kInteger: return work.integer;
    case Unit::kSfu: return work.sfu;
    case Unit::kConversion: return work.conversion;
    case Unit::kShuffle: return work.shuffle;
    case Unit::kNone: break;
  }
  return none;
}

}  // namespace

void Work::Add(const Work& other, double factor) {
  for (double Work::* member :
       {&Work::issue, &Work::fp32, &Work::fp64, &Work::fp16, &Work::integer, &Work::sfu, &Work::conversion,
        &Work::shuffle, &Work::tensor_fmas, &Work::merged_shared_loads, &Work::path_cycles, &Work::dram_cycles,
        &Work::load_sectors, &Work::l2_sectors, &Work::dram_sectors, &Work::store_sectors, &Work::wavefronts})
    this->*member += other.*member * factor;
}

std::vector<Work> BlockWork(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                            int warps_per_block, const std::function<LineCost(uint32_t)>& line_cost) {
  std::vector<Work> result(kernel.blocks.size());
  PathFinder path;
  double issue = 0;  // of the region
  for (uint32_t b = 0; b < result.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    Work& work = result[b];
    LoadMerger merger;
    double none = 0;
    const auto leaves = [&](const Instruction& i) {  // a branch that becomes a predicate
      return i.op == Op::kBranch && b + 1 < result.size() && shape.region[b + 1] == shape.region[b];
    };
    for (uint32_t index = block.header; index < block.end; ++index) {
      const Instruction& instruction = kernel.code[index];
      if (leaves(instruction)) continue;
      const LineCost line = line_cost(instruction.line);
      Cost cost = CostOf(instruction, chip, warps_per_block, line);
      if (merger.Step(instruction)) {
        work.merged_shared_loads += 1;
        cost.other = 0;
      }
      // Of the iterations that unrolling merges, one increments and branches.
      const double share = shape.unroll[b] > 1 && IsLoopControl(kernel, block, instruction) ? 1.0 / shape.unroll[b] : 1;
      On(work, cost.unit, none) += share * cost.count;
      work.issue += share * (cost.count + cost.other);
      work.tensor_fmas += share * cost.tensor_fmas;
      AddMemory(work, instruction, line);
      path.Step(instruction, cost);
    }
    if (shape.machine[b]) work.issue = static_cast<double>(shape.machine[b]->instructions) / shape.unroll[b];
    issue += work.issue;
    double& region_path = result[shape.region[b]].path_cycles;
    region_path = std::max(path.end(), issue);
    if (shape.unroll[b] > 1 || shape.machine[b])
      region_path = std::max(LoopPath(kernel, shape, b, chip, warps_per_block, line_cost), issue);
    if (b + 1 < result.size() && shape.region[b + 1] != shape.region[b]) {
      path = PathFinder();
      issue = 0;
    }
  }
  return result;
}

std::vector<Work> PhaseWork(const std::vector<Work>& blocks, const ScheduleModel& shape,
                            const std::vector<uint64_t>& counts) {
  std::vector<Work> phases(shape.phase.empty() ? 0 : shape.phase.back() + 1);
  for (size_t i = 0; i < std::min(blocks.size(), counts.size()); ++i)
    phases[shape.phase[i]].Add(blocks[i], static_cast<double>(counts[i]));
  return phases;
}

}  // namespace warpwright::sim
