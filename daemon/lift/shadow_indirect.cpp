// Accesses whose address depends on data. What is read from an argument that nothing has stored to is a gather; where
// else the access may go is a choice between the elements of one buffer, if they are few.
#include <bit>
#include <cstring>

#include "lift/expression_shadow.h"
#include "sim/memory.h"

namespace warpwright::lift {
namespace {

using sim::Context;
using sim::Instruction;
using sim::Op;
using sim::Type;

constexpr uint64_t kMaxRead = 256, kMaxWritten = 4096;  // elements of a buffer that an access chooses between
constexpr uint64_t kMaxCopied = 4096;                   // elements of a table that was copied from an argument

int64_t SignedValue(Type type, uint64_t bits) {
  const int up = 64 - Width(type);
  return static_cast<int64_t>(bits << up) >> up;
}

}  // namespace

// id == constant + the sum of coefficient * atom, modulo its width.
struct ExpressionShadow::Linear {
  uint64_t constant = 0;
  std::vector<std::pair<ExprId, uint64_t>> atoms;
};

void ExpressionShadow::Decompose(ExprId id, uint64_t factor, int width, Linear& linear) const {
  const Expr& e = builder_[id];
  auto constant = [&](size_t k) { return builder_.IsConst(e.args[k]); };
  if (Width(e.type) == width) {
    switch (e.op) {
      case ExprOp::kConst: linear.constant += factor * e.payload; return;
      case ExprOp::kIntAdd:
      case ExprOp::kIntSub:
        Decompose(e.args[0], factor, width, linear);
        return Decompose(e.args[1], e.op == ExprOp::kIntAdd ? factor : 0 - factor, width, linear);
      case ExprOp::kIntMul:
        if (constant(1)) return Decompose(e.args[0], factor * builder_[e.args[1]].payload, width, linear);
        break;
      case ExprOp::kIntShl:
        if (constant(1)) return Decompose(e.args[0], factor << builder_[e.args[1]].payload, width, linear);
        break;
      default: break;
    }
  }
  for (auto& [atom, coefficient] : linear.atoms)
    if (atom == id) {
      coefficient += factor;
      return;
    }
  linear.atoms.emplace_back(id, factor);
}

// (address - origin) / size, where the operand's address is `delta` bytes after the origin in this run.
ExprId ExpressionShadow::IndexOf(int operand, uint32_t lane, uint64_t delta, uint32_t size) {
  const Operand& base = operands_[static_cast<size_t>(operand)];
  const ExprId address = base.ids[lane];
  const int width = Width(builder_[address].type);
  const Type type = SignedType(width);
  const uint64_t origin = builder_[address].concrete - delta;
  Linear linear;
  Decompose(address, 1, width, linear);
  linear.constant -= origin;
  const auto divisor = static_cast<int64_t>(size);
  bool divides = SignedValue(type, linear.constant) % divisor == 0;
  for (const auto& [atom, coefficient] : linear.atoms) divides &= SignedValue(type, coefficient) % divisor == 0;
  if (!divides)
    return builder_.Binary(ExprOp::kIntDiv, type,
                           builder_.Binary(ExprOp::kIntSub, type, address, builder_.Const(type, origin)),
                           builder_.Const(type, size));
  ExprId sum = kConcrete;
  for (const auto& [atom, coefficient] : linear.atoms) {
    const auto factor = static_cast<uint64_t>(SignedValue(type, coefficient) / divisor);
    if (factor == 0) continue;
    const ExprId term = builder_.Binary(ExprOp::kIntMul, type, atom, builder_.Const(type, factor));
    sum = sum == kConcrete ? term : builder_.Binary(ExprOp::kIntAdd, type, sum, term);
  }
  const ExprId constant = builder_.Const(type, static_cast<uint64_t>(SignedValue(type, linear.constant) / divisor));
  return sum == kConcrete ? constant : builder_.Binary(ExprOp::kIntAdd, type, sum, constant);
}

// The variable in shared memory, the thread's local memory, or the buffer that holds the access.
ExpressionShadow::Region ExpressionShadow::RegionOf(const Context& c, const Target& target) const {
  if (!target.memory) return {};
  Region region{.memory = target.memory, .end = target.memory->bytes()};
  if (target.memory == local_.get()) {
    region.begin = c.local_bytes == 0 ? 0 : target.offset / c.local_bytes * c.local_bytes;
    region.end = region.begin + c.local_bytes;
  }
  if (target.memory == shared_.get())
    for (const auto& [offset, name] : kernel_->shared_names) {
      if (offset <= target.offset) region.begin = offset;
      else region.end = std::min<uint64_t>(region.end, offset);
    }
  return region;
}

// What the region holds now, as the simulator has it.
std::vector<std::byte> ExpressionShadow::ContentOf(const Context& c, const Region& region) const {
  std::vector<std::byte> content(region.end - region.begin);
  if (region.memory == shared_.get()) {
    std::memcpy(content.data(), c.shared + region.begin, content.size());
  } else if (region.memory == local_.get()) {
    const uint64_t lane = region.begin / c.local_bytes % kLanes;
    for (uint64_t k = 0; k < content.size(); ++k) content[k] = c.warp->local[(k >> 2) * 128 + lane * 4 + (k & 3)];
  } else {
    const auto bytes = c.memory->Bytes(region.memory->base() + region.begin, content.size());
    std::copy(bytes.begin(), bytes.end(), content.begin());
  }
  return content;
}

void ExpressionShadow::CaptureRegion(const Context& c, const Instruction& in, int operand, uint32_t lanes) {
  region_ = {};
  copied_.reset();
  const uint32_t by_data = operands_[static_cast<size_t>(operand)].symbolic & lanes;
  if (by_data == 0) return;
  // Where no lane's guard holds, the address may be anything.
  Region& region = regions_[in.index];
  if (const uint32_t runs = by_data & guard_.runs; runs != 0)
    region = RegionOf(c, Resolve(c, in, operand, static_cast<uint32_t>(std::countr_zero(runs))));
  else if (region.memory == local_.get()) region = {};
  const auto bytes = static_cast<uint64_t>(sim::ByteSize(in.type));
  const uint64_t limit = in.op == Op::kLoad ? kMaxCopied : kMaxWritten;
  if (!region.memory || (region.end - region.begin) / bytes > limit) return;
  region_ = region;
  content_ = ContentOf(c, region_);
  if (in.op == Op::kLoad) copied_ = CopiedFrom(static_cast<uint32_t>(bytes));
}

// Is each element of the captured region one of an argument, by a common stride: a table in shared memory?
std::optional<ExpressionShadow::Copied> ExpressionShadow::CopiedFrom(uint32_t bytes) {
  const uint64_t count = (region_.end - region_.begin) / bytes;
  if (count < 2 || region_.memory == local_.get()) return std::nullopt;
  const auto leaf = [&](uint64_t element) -> const Expr* {
    const Expr& e = builder_[RegionElement(element, bytes)];
    return e.op == ExprOp::kLoad && Width(e.type) == static_cast<int>(8 * bytes) ? &e : nullptr;
  };
  const Expr *first = leaf(0), *second = leaf(1);
  if (first == nullptr || second == nullptr || second->payload <= first->payload) return std::nullopt;
  const Copied copied{*first, second->payload - first->payload};
  for (uint64_t e = 1; e < count; ++e) {
    const Expr* element = leaf(e);
    if (element == nullptr || element->buffer != copied.first.buffer || element->type != copied.first.type ||
        element->payload != copied.first.payload + e * copied.stride)
      return std::nullopt;
  }
  return copied;
}

bool ExpressionShadow::InRegion(const Target& target, uint64_t bytes) const {
  return region_.memory && target.memory == region_.memory && target.offset >= region_.begin &&
         target.offset + bytes <= region_.end;
}

// Is what other data make of the access known? An address of a lane whose guard does not hold says nothing of that, but
// other lanes' addresses do.
bool ExpressionShadow::MayGoThere(const Instruction& in, uint32_t lane, const Target& target) const {
  if (!IsOnlyFollowed(lane)) return true;
  if (in.op != Op::kLoad && region_.memory != local_.get()) return region_.memory != nullptr;
  const Region& region = regions_[in.index];
  return region.memory && region.memory == target.memory && target.offset >= region.begin && target.offset < region.end;
}

uint64_t ExpressionShadow::OffsetInRegion(const Target& target) const {
  if (target.memory == region_.memory) return target.offset - region_.begin;
  return target.offset + (target.memory ? target.memory->base() : 0) - region_.memory->base() - region_.begin;
}

// An element of the captured region, as it is before the access; a constant if nothing is known of it.
ExprId ExpressionShadow::RegionElement(uint64_t element, uint32_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, content_.data() + element * bytes, bytes);
  const Type type = BitsType(static_cast<int>(8 * bytes));
  const ExprId id = region_.memory->Read(builder_, region_.begin + element * bytes, bytes, bits);
  return id == kConcrete ? builder_.Const(type, bits) : builder_.Coerce(id, type);
}

ExprId ExpressionShadow::IsAt(ExprId index, uint64_t element) {
  const Type type = builder_[index].type;
  return builder_.Compare(sim::Compare::kEq, type, index, builder_.Const(type, element));
}

// One element of a load; kConcrete if there is no way to say which.
ExprId ExpressionShadow::LoadIndirect(const Instruction& in, uint32_t lane, const Target& target, int k) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const uint64_t offset = target.offset + static_cast<uint64_t>(k) * bytes;
  const int operand = in.defs;
  if (target.memory && target.memory->argument() >= 0 && !target.memory->stored_to()) {
    const auto size = static_cast<uint32_t>(core::SizeOf(target.memory->dtype()));
    if (bytes % size == 0) return Gather(operand, lane, *target.memory, offset, bytes);
  }
  if (!InRegion(target, static_cast<uint64_t>(bytes) * in.vector)) {
    LossyAt(in, "the address of a load depends on data");
    return kConcrete;
  }
  const ExprId index = IndexOf(operand, lane, offset - region_.begin, bytes);
  const uint64_t here = (offset - region_.begin) / bytes, count = (region_.end - region_.begin) / bytes;
  if (copied_) {
    const Type type = builder_[index].type;
    const ExprId scaled = builder_.Binary(ExprOp::kIntMul, type, index, builder_.Const(type, copied_->stride));
    const ExprId at = builder_.Binary(ExprOp::kIntAdd, type, scaled, builder_.Const(type, copied_->first.payload));
    if (builder_.IsConst(at)) return RegionElement(here, bytes);
    return builder_.Make({.op = ExprOp::kGather,
                          .type = copied_->first.type,
                          .arity = 1,
                          .buffer = copied_->first.buffer,
                          .args = {at},
                          .payload = copied_->first.payload + here * copied_->stride},
                         builder_[RegionElement(here, bytes)].concrete);
  }
  if (count > kMaxRead) {
    LossyAt(in, "the address of a load depends on data");
    return kConcrete;
  }
  ExprId value = RegionElement(here, bytes);
  for (uint64_t e = 0; e < count; ++e)
    if (e != here) value = builder_.Select(builder_[value].type, IsAt(index, e), RegionElement(e, bytes), value);
  return builder_.IsConst(value) ? kConcrete : value;
}

ExprId ExpressionShadow::Gather(int operand, uint32_t lane, MemoryShadow& memory, uint64_t offset, uint32_t bytes) {
  const auto size = static_cast<uint32_t>(core::SizeOf(memory.dtype()));
  if (bytes > size)
    return builder_.Pack(Gather(operand, lane, memory, offset, bytes / 2),
                         Gather(operand, lane, memory, offset + bytes / 2, bytes / 2));
  const ExprId index = IndexOf(operand, lane, offset, size);
  if (builder_.IsConst(index)) return memory.Leaf(builder_, builder_[index].payload);
  return builder_.Make({.op = ExprOp::kGather,
                        .type = TypeOf(memory.dtype()),
                        .arity = 1,
                        .buffer = static_cast<uint16_t>(memory.argument()),
                        .args = {index},
                        .payload = offset / size},
                       builder_[memory.Leaf(builder_, offset / size)].concrete);
}

// Each element of the region becomes what `change` makes of it where the index is its own.
template <typename F>
void ExpressionShadow::ChangeRegion(ExprId index, uint32_t bytes, F change) {
  const uint64_t count = (region_.end - region_.begin) / bytes;
  for (uint64_t e = 0; e < count && !builder_.graph().full(); ++e) {
    const ExprId old = RegionElement(e, bytes);
    const ExprId now = builder_.Select(BitsType(static_cast<int>(8 * bytes)), IsAt(index, e), change(old), old);
    region_.memory->Write(region_.begin + e * bytes, bytes, builder_.IsConst(now) ? kConcrete : now);
    const uint64_t bits = builder_[now].concrete;
    std::memcpy(content_.data() + e * bytes, &bits, bytes);
  }
}

void ExpressionShadow::StoreIndirect(const Instruction& in, uint32_t lane, const Target& target, int k, ExprId value) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const ExprId index = IndexOf(0, lane, OffsetInRegion(target) + static_cast<uint64_t>(k) * bytes, bytes);
  ChangeRegion(index, bytes, [&](ExprId old) { return Guarded(lane, value, old); });
}

// The old value is only made if something reads it.
ExprId ExpressionShadow::AtomicIndirect(const Instruction& in, uint32_t lane, const Target& target) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const Type type = IsIntegerType(in.type) ? in.type : BitsType(static_cast<int>(8 * bytes));
  const uint64_t offset = OffsetInRegion(target);
  const ExprId index = IndexOf(in.defs, lane, offset, bytes);
  ExprId old = kConcrete;
  if (in.defs == 1 && !unread_[in.index]) {
    const uint64_t count = (region_.end - region_.begin) / bytes, here = InRegion(target, bytes) ? offset / bytes : 0;
    if (count > kMaxRead) {
      LossyAt(in, "the old value of an atomic operation at an address that depends on data");
    } else {
      old = RegionElement(here, bytes);
      for (uint64_t e = 0; e < count; ++e)
        if (e != here) old = builder_.Select(builder_[old].type, IsAt(index, e), RegionElement(e, bytes), old);
    }
  }
  ChangeRegion(index, bytes,
               [&](ExprId now) { return UpdatedHere(in, lane, builder_.Coerce(now, type), target.global); });
  return old;
}

// Is the register that the instruction writes overwritten, on every way, before it is read?
bool ExpressionShadow::IsUnread(const sim::KernelCode& kernel, const Instruction& in) {
  const uint32_t slot = in.reg[0];
  std::vector<uint32_t> open;
  std::vector<bool> seen(kernel.blocks.size(), false);
  auto ends = [&](uint32_t from, uint32_t end) {  // 1: read, 0: overwritten, -1: neither
    for (uint32_t k = from; k < end; ++k) {
      const Instruction& other = kernel.code[k];
      for (int r = other.defs; r < other.operands; ++r)
        if (other.reg[r] == slot) return 1;
      for (int r = 0; r < other.defs; ++r)
        if (other.reg[r] == slot) return other.guard == sim::kNoOperand ? 0 : 1;
    }
    return -1;
  };
  auto follow = [&](uint32_t block) {
    const Instruction& last = kernel.code[kernel.blocks[block].end - 1];
    const bool stops =
        (last.op == Op::kExit || last.op == Op::kTrap || last.op == Op::kEnd) && last.guard == sim::kNoOperand;
    if (last.op == Op::kBranch) open.push_back(last.block);
    if (!stops && (last.op != Op::kBranch || last.operands > 0)) open.push_back(block + 1);
  };
  uint32_t block = 0;
  while (block + 1 < kernel.blocks.size() && kernel.blocks[block].end <= in.index) ++block;
  const int first = ends(in.index + 1, kernel.blocks[block].end);
  if (first >= 0) return first == 0;
  follow(block);
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (at >= seen.size() || seen[at]) continue;
    seen[at] = true;
    const int result = ends(kernel.blocks[at].header, kernel.blocks[at].end);
    if (result == 1) return false;
    if (result < 0) follow(at);
  }
  return true;
}

}  // namespace warpwright::lift
