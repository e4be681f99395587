#include "lift/expression_shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warpwright::lift {
namespace {

using sim::Context;
using sim::Instruction;
using sim::Op;
using sim::Type;

constexpr size_t kMaxBranches = 1 << 20;
constexpr size_t kMaxLossy = 50;

bool IsAccess(const Instruction& in) {
  return in.op == Op::kLoad || in.op == Op::kStore || in.op == Op::kAtomic || in.op == Op::kReduction;
}
// Accesses memory through addresses of other lanes, or in more than one place.
bool MovesBlocks(const Instruction& in) {
  return in.op == Op::kAsyncCopy || in.op == Op::kMatrixLoad || in.op == Op::kMatrixStore;
}
// Reads other lanes.
bool IsExchange(const Instruction& in) {
  return in.op == Op::kShuffle || in.op == Op::kRedux || in.op == Op::kMatrixProduct || in.op == Op::kMatrixTranspose;
}

}  // namespace

uint32_t PredicateBits(const Context& c, uint32_t offset) {
  uint32_t bits;
  std::memcpy(&bits, c.registers + offset, 4);
  return bits;
}

ExpressionShadow::ExpressionShadow(Trace& trace, const std::vector<sim::SourceLocation>& locations,
                                   const std::vector<TraceRequest::Scalar>& scalars)
    : trace_(trace), locations_(locations), scalars_(scalars), builder_(trace.graph) {}

void ExpressionShadow::AddMemory(MemoryShadow memory) { global_.push_back(std::move(memory)); }

MemoryShadow* ExpressionShadow::FindMemory(uint64_t address, uint64_t bytes) {
  if (last_ && last_->Holds(address, bytes)) return last_;
  auto after = std::upper_bound(global_.begin(), global_.end(), address,
                                [](uint64_t a, const MemoryShadow& m) { return a < m.base(); });
  if (after == global_.begin()) return nullptr;
  MemoryShadow& found = *--after;
  return found.Holds(address, bytes) ? last_ = &found : nullptr;
}

void ExpressionShadow::Lossy(std::string what) {
  if (lossy_.size() < kMaxLossy && lossy_.insert(what).second) trace_.lossy.push_back(std::move(what));
}

std::string ExpressionShadow::LocationOf(const Instruction& in) const {
  const sim::SourceLocation& place = locations_[in.line];
  return place.line > 0 ? fmt::format(" ({}:{})", place.file, place.line) : std::string();
}

void ExpressionShadow::LossyAt(const Instruction& in, std::string_view what) {
  Lossy(fmt::format("{}{}", what, LocationOf(in)));
}

// Numbers the slots that the kernel's instructions name.
void ExpressionShadow::StartLaunch(const sim::KernelCode& kernel, bool again) {
  if (kernel_ && !again) ++launch_;
  if (!again) trace_.kernels.push_back(kernel.info.symbol);
  kernel_ = &kernel;
  slots_ = 0;
  slot_of_.assign(kernel.register_bytes / 4 + 1, UINT32_MAX);
  auto number = [&](uint32_t offset) {
    if (offset != sim::kNoOperand && slot_of_[offset / 4] == UINT32_MAX) slot_of_[offset / 4] = slots_++;
  };
  for (const sim::ConstantSlot& slot : kernel.constants) number(slot.offset);
  for (const Instruction& in : kernel.code) {
    for (int k = 0; k < in.operands; ++k) number(in.reg[k]);
    number(in.guard);
  }
  unread_.assign(kernel.code.size(), false);
  regions_.assign(kernel.code.size(), {});
  for (const Instruction& in : kernel.code)
    if (in.op == Op::kAtomic && in.defs == 1) unread_[in.index] = IsUnread(kernel, in);
  warps_.clear();
  shared_.reset();
  local_.reset();
}

ExprId ExpressionShadow::ScalarOf(uint64_t bits, uint32_t bytes) {
  for (const TraceRequest::Scalar& scalar : scalars_) {
    if (core::SizeOf(scalar.dtype) != bytes || !core::IsFloat(scalar.dtype)) continue;
    uint64_t value = 0;
    switch (scalar.dtype) {
      case core::DType::kF64: value = std::bit_cast<uint64_t>(scalar.value); break;
      case core::DType::kF32: value = std::bit_cast<uint32_t>(static_cast<float>(scalar.value)); break;
      case core::DType::kF16: value = core::DoubleToHalf(scalar.value); break;
      default: value = core::FloatToBFloat16(static_cast<float>(scalar.value)); break;
    }
    if (value != bits) continue;
    return builder_.Make(
        {.op = ExprOp::kScalar, .type = TypeOf(scalar.dtype), .buffer = scalar.position, .payload = value}, value);
  }
  return kConcrete;
}

void ExpressionShadow::StartBlock(const Context& c) {
  block_ = c.block_index;
  if (warps_.empty()) {
    warps_.resize(c.warps.size());
    for (Registers& registers : warps_) registers.ids.resize(slots_);
    shared_ = std::make_unique<MemoryShadow>(0, c.shared_bytes);
    local_ = std::make_unique<MemoryShadow>(0, c.local_bytes * kLanes * c.warps.size());
  }
  shared_->Clear();
  local_->Clear();
  arrivals_ = {};
  for (Registers& registers : warps_) registers.symbolic.assign(slots_, 0);
  for (const sim::ConstantSlot& slot : kernel_->constants) {
    if (slot.kind != sim::ConstantSlot::Kind::kParameter) continue;
    uint64_t bits = 0;
    const uint32_t bytes = slot.index & 0xff;
    std::memcpy(&bits, c.parameters + slot.value, bytes);
    const ExprId id = ScalarOf(bits, bytes);
    if (id == kConcrete) continue;
    for (Registers& registers : warps_) {
      registers.symbolic[SlotOf(slot.offset)] = sim::kAllLanes;
      registers.ids[SlotOf(slot.offset)].fill(id);
    }
  }
}

uint64_t ExpressionShadow::Thread(const Context& c, uint32_t lane) const {
  return block_ * c.block.Count() + static_cast<uint64_t>(c.warp->index) * kLanes + lane;
}

uint64_t ExpressionShadow::Unit(const Context& c, uint32_t lane) const {
  return fork_->by_block() ? block_ : Thread(c, lane);
}

// The register says where the lanes go until the branch has run.
void ExpressionShadow::TurnBranch(const Context& c, const Instruction& in, uint32_t lanes) {
  const int k = in.operands - 1;
  const Operand& operand = operands_[static_cast<size_t>(k)];
  uint32_t bits = PredicateBits(c, in.reg[k]);
  turned_ = bits;
  for (uint32_t m = operand.symbolic & lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const bool taken = fork_->Decide(Unit(c, lane), operand.ids[lane]);
    bits = taken ? bits | 1u << lane : bits & ~(1u << lane);
  }
  std::memcpy(c.registers + in.reg[k], &bits, sizeof bits);
}

void ExpressionShadow::RecordBranch(const Context& c, const Instruction& in, uint32_t lane, ExprId predicate,
                                    bool taken) {
  if (trace_.branches.size() >= kMaxBranches) {
    Lossy(fmt::format("more than {} branches depend on data", kMaxBranches));
    return;
  }
  const sim::SourceLocation& place = locations_[in.line];
  trace_.branches.push_back(DataBranch{.predicate = predicate,
                                       .taken = taken,
                                       .thread = Thread(c, lane),
                                       .launch = launch_,
                                       .branch = in.branch,
                                       .file = place.file,
                                       .line = place.line});
}

// The lanes went where their predicates happened to lead.
void ExpressionShadow::RecordPredicates(const Context& c, const Instruction& in, uint32_t offset, bool negated,
                                        uint32_t lanes) {
  const Registers& registers = Here(c);
  const uint32_t slot = SlotOf(offset), values = PredicateBits(c, offset) ^ (negated ? sim::kAllLanes : 0);
  for (uint32_t m = registers.symbolic[slot] & lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const ExprId id = registers.ids[slot][lane];
    RecordBranch(c, in, lane, negated ? builder_.Not(id) : id, values >> lane & 1);
  }
}

void ExpressionShadow::Capture(const Context& c, const Instruction& in, int k, uint32_t lanes) {
  Operand& operand = operands_[static_cast<size_t>(k)];
  const uint32_t offset = in.reg[k], slot = SlotOf(offset);
  const Registers& registers = Here(c);
  operand.symbolic = registers.symbolic[slot];
  if (operand.symbolic & lanes) operand.ids = registers.ids[slot];
  // What class of register it is does not show in the instruction: what follows a slot is read as well, and ignored.
  const std::byte* at = c.registers + offset;
  const uint64_t left = kernel_->register_bytes - offset;
  if (left < 8 * kLanes) {
    std::memset(operand.bits.data(), 0, sizeof operand.bits);
    std::memcpy(operand.bits.data(), at, left);
    return;
  }
  std::memcpy(operand.bits.data(), at, sizeof operand.bits);
}

void ExpressionShadow::SetConcrete(const Context& c, const Instruction& in, uint32_t lanes) {
  Registers& registers = Here(c);
  for (int k = 0; k < in.defs; ++k) registers.symbolic[SlotOf(in.reg[k])] &= ~lanes;
}

void ExpressionShadow::Set(const Context& c, uint32_t offset, uint32_t lane, ExprId id) {
  if (IsGuarded(lane)) id = GuardedRegister(offset, lane, id);
  Registers& registers = Here(c);
  const uint32_t slot = SlotOf(offset);
  if (id == kConcrete || builder_.IsConst(id)) {
    registers.symbolic[slot] &= ~(1u << lane);
    return;
  }
  registers.symbolic[slot] |= 1u << lane;
  registers.ids[slot][lane] = id;
}

ExprId ExpressionShadow::Arg(int k, uint32_t lane, Type type) {
  const Operand& operand = operands_[static_cast<size_t>(k)];
  if (operand.symbolic >> lane & 1) return builder_.Coerce(operand.ids[lane], type);
  const int width = Width(type);
  const auto* narrow = reinterpret_cast<const uint32_t*>(operand.bits.data());
  return builder_.Const(type, width == 64 ? operand.bits[lane] : narrow[lane]);
}

ExprId ExpressionShadow::PredicateArg(int k, uint32_t lane, bool negated) {
  const Operand& operand = operands_[static_cast<size_t>(k)];
  const bool value = (operand.bits[0] >> lane & 1) != 0;
  if (!(operand.symbolic >> lane & 1)) return builder_.Predicate(value != negated);
  return negated ? builder_.Not(operand.ids[lane]) : operand.ids[lane];
}

uint64_t ExpressionShadow::ResultBits(const Context& c, const Instruction& in, int def, uint32_t lane,
                                      Type type) const {
  const std::byte* at = c.registers + in.reg[def];
  if (Width(type) == 64) return reinterpret_cast<const uint64_t*>(at)[lane];
  const uint64_t bits = reinterpret_cast<const uint32_t*>(at)[lane];
  return Width(type) == 32 ? bits : bits & ((1ull << Width(type)) - 1);
}

void ExpressionShadow::Before(const Context& c, const Instruction& in, uint32_t lanes) {
  const Registers& registers = Here(c);
  uint32_t any = 0;
  for (int k = in.defs; k < in.operands; ++k) any |= registers.symbolic[SlotOf(in.reg[k])];
  const bool access = IsAccess(in), block = MovesBlocks(in);
  CaptureGuard(c, in, lanes);
  lanes |= guard_.symbolic;
  active_ = (any & (IsExchange(in) ? sim::kAllLanes : lanes)) != 0 || guard_.symbolic != 0 || KeepsCall(in) ||
            in.op == Op::kBarrierReduce;
  if (!active_ && !access && !block) return;
  for (int k = in.defs; k < in.operands; ++k) Capture(c, in, k, sim::kAllLanes);
  if (in.op == Op::kAtomic || in.op == Op::kReduction || (in.op == Op::kStore && guard_.symbolic != 0))
    CaptureMemory(c, in, lanes);
  if (active_ && access) CaptureRegion(c, in, in.op == Op::kStore ? 0 : in.defs, lanes);
  if (in.op == Op::kBranch && IsForking()) TurnBranch(c, in, lanes);
}

void ExpressionShadow::After(const Context& c, const Instruction& in, uint32_t lanes) {
  lanes |= guard_.symbolic;
  if (lanes == 0) return;
  switch (in.op) {
    case Op::kLoad:
    case Op::kStore:
    case Op::kAtomic:
    case Op::kReduction: builder_.set_line(in.line); break;
    case Op::kAsyncCopy:
    case Op::kMatrixLoad:
    case Op::kMatrixStore:
      builder_.set_line(in.line);
      if (guard_.symbolic != 0) LossyAt(in, "a fragment or a copy that other data lead to");
      if (IsForking()) fork_->Fail();  // whose memory that is would have to be told
      if (in.op == Op::kAsyncCopy) return AsyncCopy(c, in, lanes);
      return in.op == Op::kMatrixLoad ? MatrixLoad(c, in, lanes) : MatrixStore(c, in, lanes);
    default:
      if (!active_) {
        if (in.defs > 0) SetConcrete(c, in, lanes);
        return;
      }
  }
  builder_.set_line(in.line);
  switch (in.op) {
    case Op::kLoad: return Load(c, in, lanes);
    case Op::kStore: return Store(c, in, lanes);
    case Op::kAtomic:
    case Op::kReduction: return Atomic(c, in, lanes);
    case Op::kShuffle: return Shuffle(c, in, lanes);
    case Op::kRedux: return Reduce(c, in, lanes);
    case Op::kUnpack: return Unpack(c, in, lanes);
    case Op::kSetPredicate: return SetPredicates(c, in, lanes);
    case Op::kSet: return SetNumbers(c, in, lanes);
    case Op::kBarrierReduce: return BarrierReduce(c, in, lanes);
    case Op::kVote:
      if (static_cast<sim::VoteMode>(in.mode) != sim::VoteMode::kUni) return Vote(c, in, lanes);
      [[fallthrough]];
    case Op::kBranch: {
      // Operands were captured: the registers may have changed.
      const int k = in.operands - 1;
      const Operand& operand = operands_[static_cast<size_t>(k)];
      if (turned_) std::memcpy(c.registers + in.reg[k], &*turned_, sizeof *turned_);
      if (std::exchange(turned_, {})) return;
      for (uint32_t m = operand.symbolic & lanes; m != 0; m &= m - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(m));
        if (in.op == Op::kBranch && fork_ != nullptr && fork_->IsFollowed(operand.ids[lane])) continue;
        RecordBranch(c, in, lane, PredicateArg(k, lane, in.negate_predicate),
                     (operand.bits[0] >> lane & 1) != static_cast<uint64_t>(in.negate_predicate));
      }
      return SetConcrete(c, in, lanes);
    }
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kWarpBarrier:
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kIsSpace: LossyAt(in, "an exchange between threads depends on data"); return SetConcrete(c, in, lanes);
    case Op::kMatrixProduct: return MatrixProduct(c, in, lanes);
    case Op::kMatrixTranspose: return MatrixTranspose(c, in, lanes);
    case Op::kPrint:
    case Op::kAssertFail: return;
    default: break;
  }
  if (guard_.symbolic == 0 && ComputeFloats(c, in, lanes)) return;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    bool symbolic = IsGuarded(lane);
    for (int k = in.defs; k < in.operands; ++k) symbolic |= operands_[static_cast<size_t>(k)].symbolic >> lane & 1;
    ExprId id = kConcrete;
    if (symbolic && !Compute(in, lane, id)) LossyAt(in, "an instruction on data that has no expression");
    Set(c, in.reg[0], lane, id);
    if (in.defs > 1) Set(c, in.reg[1], lane, kConcrete);
  }
}

bool ExpressionShadow::Compute(const Instruction& in, uint32_t lane, ExprId& id) {
  return ComputeMove(in, lane, id) || ComputeFloat(in, lane, id) || ComputeInteger(in, lane, id) ||
         ComputeBits(in, lane, id);
}

}  // namespace warpwright::lift
