#include "sim/cost_model.h"

#include <algorithm>
#include <map>

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
};

constexpr double kAluLatency = 4, kFp64Latency = 8, kHalfLatency = 5, kSfuLatency = 17, kConversionLatency = 10,
                 kShuffleLatency = 24, kVoteLatency = 12, kBarrierLatency = 12, kBarrierPerWarp = 2, kBranchLatency = 8,
                 kConstantLatency = 8;

bool IsHalf(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
}

Cost Alu(const Instruction& instruction, double count = 1) {
  if (instruction.type == Type::kF64) return {Unit::kFp64, count, 0, kFp64Latency * count};
  if (instruction.type == Type::kF32) return {Unit::kFp32, count, 0, kAluLatency * count};
  if (IsHalf(instruction.type)) return {Unit::kFp16, count, 0, kHalfLatency * count};
  // 64-bit additions are addresses, most of which fold into the instruction that uses them: one counts as one, not as
  // its two halves.
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

Cost Load(const Instruction& instruction, const Chip& chip, const std::function<double(uint32_t)>& load_cycles) {
  switch (instruction.space) {
    case Space::kParam: return {};  // an operand from the constant bank
    case Space::kConst: return {Unit::kNone, 0, 1, kConstantLatency};
    case Space::kShared: return {Unit::kNone, 0, 1, chip.shared_latency_cycles};
    default: return {Unit::kNone, 0, 1, load_cycles(instruction.line)};
  }
}

Cost CostOf(const Instruction& i, const Chip& chip, int warps_per_block,
            const std::function<double(uint32_t)>& load_cycles) {
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
    case Op::kLoad: return Load(i, chip, load_cycles);
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

// The longest chain of dependent results in one block.
class PathFinder {
 public:
  void Step(const Instruction& i, const Cost& cost) {
    double start = 0;
    for (int k = i.defs; k < i.operands; ++k) start = std::max(start, ReadyAt(i.reg[k]));
    start = std::max(start, ReadyAt(i.guard));
    const bool memory = i.op == Op::kLoad || i.op == Op::kStore || i.op == Op::kAtomic || i.op == Op::kReduction;
    const bool read_only = i.op == Op::kLoad && (i.space == Space::kConst || i.space == Space::kParam || i.read_only);
    if (memory && !read_only) start = std::max(start, floor_);
    const double ready = start + cost.latency;
    for (int k = 0; k < i.defs; ++k)
      if (i.reg[k] != kNoOperand) ready_[i.reg[k]] = ready;
    if (i.op == Op::kStore || i.op == Op::kAtomic || i.op == Op::kReduction) floor_ = std::max(floor_, start);
    if (i.op == Op::kBarrier || i.op == Op::kBarrierReduce) floor_ = std::max(last_, start) + cost.latency;
    last_ = std::max(last_, start);
    end_ = std::max({end_, ready, floor_});
  }
  double end() const { return end_; }

 private:
  double ReadyAt(uint32_t reg) const {
    auto found = ready_.find(reg);
    return found == ready_.end() ? 0 : found->second;
  }
  std::map<uint32_t, double> ready_;
  double floor_ = 0;  // memory accesses issue no earlier
  double last_ = 0, end_ = 0;
};

// Counts the scalar shared loads of one block that ptxas joins with their neighbours: same address register, adjacent
// words.
class LoadMerger {
 public:
  // True: this load comes with an earlier one.
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
  for (double Work::*member : {&Work::issue, &Work::fp32, &Work::fp64, &Work::fp16, &Work::integer, &Work::sfu,
                               &Work::conversion, &Work::shuffle, &Work::merged_shared_loads, &Work::path_cycles})
    this->*member += other.*member * factor;
}

std::vector<Work> BlockWork(const KernelCode& kernel, const Chip& chip, int warps_per_block,
                            const std::function<double(uint32_t)>& load_cycles) {
  std::vector<Work> result;
  for (const BasicBlock& block : kernel.blocks) {
    Work work;
    PathFinder path;
    LoadMerger merger;
    double none = 0;
    for (uint32_t index = block.header; index < block.end; ++index) {
      const Instruction& instruction = kernel.code[index];
      Cost cost = CostOf(instruction, chip, warps_per_block, load_cycles);
      if (merger.Step(instruction)) {
        work.merged_shared_loads += 1;
        cost.other = 0;
      }
      On(work, cost.unit, none) += cost.count;
      work.issue += cost.count + cost.other;
      path.Step(instruction, cost);
    }
    work.path_cycles = std::max(path.end(), work.issue);
    result.push_back(work);
  }
  return result;
}

Work TotalWork(const std::vector<Work>& blocks, const std::vector<uint64_t>& counts) {
  Work total;
  for (size_t i = 0; i < std::min(blocks.size(), counts.size()); ++i)
    total.Add(blocks[i], static_cast<double>(counts[i]));
  return total;
}

}  // namespace warpwright::sim
