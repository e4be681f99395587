#include "sim/exec/taint.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/exec/address.h"
#include "sim/exec/services.h"
#include "sim/exec/warpgroup.h"

namespace warpwright::sim {
namespace {

constexpr size_t kOriginLimit = 4096;

uint32_t Predicate(const Context& c, uint32_t offset, bool negated) {
  uint32_t bits;
  std::memcpy(&bits, c.registers + offset, 4);
  return negated ? ~bits : bits;
}

class Tracker {
 public:
  explicit Tracker(Context& c) : c_(c), warp_(*c.warp) {}

  bool Any() const {
    return std::any_of(warp_.taint.begin(), warp_.taint.end(), [](uint32_t lanes) { return lanes != 0; });
  }
  // One instruction.
  const Instruction* Step(const Instruction* i) {
    uint32_t lanes = c_.mask;
    if (i->guard != kNoOperand) {
      if (!Use(i->guard, lanes)) return nullptr;
      lanes &= Predicate(c_, i->guard, i->guard_negated);
    }
    if (i->op == Op::kMatrixProduct) {
      SpreadOverProduct(*i, lanes);
    } else if (i->op == Op::kWarpgroupProduct) {
      SpreadOverWarp(*i);
    } else {
      const Flow in = Inputs(i, lanes);
      if (in.stopped) return nullptr;
      for (int k = 0; k < i->defs; ++k) Set(i->reg[k], lanes, in.lanes, in.origin);
    }
    const Instruction* next = i->run[c_.full](c_, i);
    if (!next && c_.stop == Context::Stop::kTaint) {
      c_.stop = Context::Stop::kNone;
      next = c_.resume;
    }
    if (i->op == Op::kStore && next && !PassToMemory(i, lanes)) return nullptr;
    return next;
  }

 private:
  struct Flow {
    uint32_t lanes = 0;
    uint16_t origin = 0;
    bool stopped = false;
  };

  uint32_t Of(uint32_t offset) const { return warp_.taint[offset / 4]; }
  void Set(uint32_t offset, uint32_t lanes, uint32_t tainted, uint16_t origin) {
    uint32_t& t = warp_.taint[offset / 4];
    t = (t & ~lanes) | (tainted & lanes);
    if (tainted & lanes) warp_.taint_origin[offset / 4] = origin;
  }
  void Join(Flow& flow, uint32_t offset, uint32_t lanes) const {
    const uint32_t more = Of(offset) & lanes;
    if (more != 0 && flow.lanes == 0) flow.origin = warp_.taint_origin[offset / 4];
    flow.lanes |= more;
  }
  // The value is used. False: the kernel stops.
  bool Use(uint32_t offset, uint32_t lanes) {
    const uint32_t bad = Of(offset) & lanes;
    if (bad == 0) return true;
    const Context::TaintOrigin& origin = c_.taint_origins[warp_.taint_origin[offset / 4]];
    if (origin.shared) {
      if (!c_.unwritten_read) c_.unwritten_fault = origin.fault;
      c_.unwritten_read = true;
      return true;
    }
    c_.fault = origin.fault;
    c_.stop = Context::Stop::kFault;
    return false;
  }

  Flow Inputs(const Instruction* i, uint32_t lanes) {
    Flow flow;
    auto use_all = [&] {
      for (int k = i->defs; k < i->operands; ++k) flow.stopped |= !Use(i->reg[k], lanes);
    };
    switch (i->op) {
      case Op::kBranch:
      case Op::kAtomic:
      case Op::kReduction:
      case Op::kShuffle:
      case Op::kVote:
      case Op::kMatchAny:
      case Op::kMatchAll:
      case Op::kRedux:
      case Op::kElect:
      case Op::kWarpBarrier:
      case Op::kBarrier:
      case Op::kBarrierArrive:
      case Op::kBarrierReduce:
      case Op::kPrint:
      case Op::kAssertFail:
      case Op::kLoad:
      case Op::kAsyncCopy:
      case Op::kMbarrier:
      case Op::kMatrixTranspose:
      case Op::kMatrixLoad:
      case Op::kMatrixStore: use_all(); break;
      case Op::kStore: flow.stopped = !Use(i->reg[0], lanes); break;
      case Op::kSelect: {
        const uint32_t first = Predicate(c_, i->reg[3], false);
        Join(flow, i->reg[1], lanes & first);
        Join(flow, i->reg[2], lanes & ~first);
        Join(flow, i->reg[3], lanes);
        break;
      }
      case Op::kPredicateLogic: {
        if (i->operands == 3 && static_cast<Op>(i->mode) != Op::kXor) {
          // A known operand may determine the result alone.
          const bool conjunction = static_cast<Op>(i->mode) == Op::kAnd;
          const uint32_t a = Predicate(c_, i->reg[1], conjunction), b = Predicate(c_, i->reg[2], conjunction);
          Join(flow, i->reg[1], lanes & ~(b & ~Of(i->reg[2])));
          Join(flow, i->reg[2], lanes & ~(a & ~Of(i->reg[1])));
        } else {
          for (int k = i->defs; k < i->operands; ++k) Join(flow, i->reg[k], lanes);
        }
        break;
      }
      case Op::kSetPredicate: {
        uint32_t matters = lanes;
        if (i->bool_op == BoolOp::kAnd || i->bool_op == BoolOp::kOr) {
          const uint32_t third = i->reg[i->operands - 1];
          const bool conjunction = i->bool_op == BoolOp::kAnd;
          matters &= ~(Predicate(c_, third, i->negate_predicate != conjunction) & ~Of(third));
          Join(flow, third, lanes);
        }
        Join(flow, i->reg[i->defs], matters);
        Join(flow, i->reg[i->defs + 1], matters);
        break;
      }
      default:
        for (int k = i->defs; k < i->operands; ++k) Join(flow, i->reg[k], lanes);
    }
    return flow;
  }

  // An element of D depends on a row of A, a column of B and an element of C.
  void SpreadOverProduct(const Instruction& i, uint32_t lanes) {
    const MatrixProduct& product = i.product;
    const int packed = Packed(product.left), sums = Packed(i.type), addends = Packed(product.addend);
    const int left = i.defs, right = left + LeftRegisters(product.shape, packed),
              addend = right + RightRegisters(product.shape, packed);
    uint32_t rows = 0, columns = 0, elements[MatrixProduct::kMaxRows] = {};
    uint16_t origin = 0;
    const auto each = [&](int first, int end, auto mark) {
      for (int k = first; k < end; ++k) {
        const uint32_t bad = Of(i.reg[k]) & lanes;
        if (bad != 0) origin = warp_.taint_origin[i.reg[k] / 4];
        for (uint32_t m = bad; m != 0; m &= m - 1) mark(k - first, std::countr_zero(m));
      }
    };
    each(left, right, [&](int reg, int lane) { rows |= 1u << LeftPlace(product.shape, packed, reg, lane, 0).row; });
    each(right, addend,
         [&](int reg, int lane) { columns |= 1u << RightPlace(product.shape, packed, reg, lane, 0).column; });
    each(addend, i.operands, [&](int reg, int lane) {
      for (int part = 0; part < addends; ++part) {
        const MatrixPlace at = SumPlace(product.shape, addends, reg, lane, part);
        elements[at.row] |= 1u << at.column;
      }
    });
    for (int k = 0; k < i.defs; ++k) {
      uint32_t bad = 0;
      for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
        for (int part = 0; part < sums; ++part) {
          const MatrixPlace at = SumPlace(product.shape, sums, k, lane, part);
          if (rows >> at.row & 1 || columns >> at.column & 1 || elements[at.row] >> at.column & 1) bad |= 1u << lane;
        }
      Set(i.reg[k], lanes, bad, origin);
    }
  }
  // Rows of wgmma's A are spread over lanes: if one is tainted, all are.
  void SpreadOverWarp(const Instruction& i) {
    Flow flow;
    for (int k = i.defs; k < i.operands; ++k) Join(flow, i.reg[k], kAllLanes);
    for (int k = 0; k < i.defs; ++k) Set(i.reg[k], kAllLanes, flow.lanes != 0 ? kAllLanes : 0, flow.origin);
  }
  static int Packed(Type type) { return std::max(1, 4 / ByteSize(type)); }

  // Bytes stored from tainted registers become unwritten again. A store to global memory is a use.
  bool PassToMemory(const Instruction* i, uint32_t lanes) {
    const auto bytes = static_cast<uint32_t>(ByteSize(i->type));
    for (uint32_t k = 0; k < i->vector; ++k) {
      const uint32_t offset = i->reg[1 + k];
      for (uint32_t bad = Of(offset) & lanes; bad != 0; bad &= bad - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(bad));
        uint64_t address = Address(i, lane) + static_cast<uint64_t>(k) * bytes;
        Space space = i->space;
        if (space == Space::kGeneric) {
          const AccessAddress there = InWindow(*c_.memory, address);
          space = there.space;
          address = there.address;
        }
        if (space == Space::kShared) {
          if (c_.checking) std::memset(c_.shared_written + address, 0, bytes);
        } else if (space == Space::kLocal) {
          for (uint64_t b = address; b < address + bytes; ++b)
            warp_.local_written[(b >> 2) * 128 + lane * 4 + (b & 3)] = 0;
        } else {
          if (!Use(offset, lanes)) return false;
          break;
        }
      }
    }
    return true;
  }
  uint64_t Address(const Instruction* i, uint32_t lane) const {
    uint64_t base = 0;
    if (i->address64) std::memcpy(&base, c_.registers + i->reg[0] + lane * 8, 8);
    else std::memcpy(&base, c_.registers + i->reg[0] + lane * 4, 4);
    base += static_cast<uint64_t>(i->immediate);
    return i->address64 ? base : base & UINT32_MAX;
  }

  Context& c_;
  Warp& warp_;
};

}  // namespace

bool TaintResult(Context& c, const Instruction* i, const uint64_t* address, const uint32_t* unwritten, Space space) {
  Warp& warp = *c.warp;
  uint32_t lanes = 0;
  for (uint32_t k = 0; k < i->vector; ++k) lanes |= unwritten[k];
  if (lanes == 0) return false;
  if (c.taint_origins.size() < kOriginLimit) {
    uint32_t element = 0;
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    while (!(unwritten[element] >> lane & 1)) ++element;
    StopUninitialized(c, i, address[lane] + static_cast<uint64_t>(element) * static_cast<uint64_t>(ByteSize(i->type)),
                      lane, space);
    c.stop = Context::Stop::kNone;
    c.taint_origins.push_back({c.fault, space == Space::kShared});
  }
  TrackRegisters(c);
  for (uint32_t k = 0; k < i->vector; ++k) {
    if (unwritten[k] == 0) continue;
    warp.taint[i->reg[k] / 4] |= unwritten[k];
    warp.taint_origin[i->reg[k] / 4] = static_cast<uint16_t>(c.taint_origins.size() - 1);
  }
  return true;
}

const Instruction* LeaveTainted(Context& c, const Instruction* i) {
  c.stop = Context::Stop::kTaint;
  c.resume = i + 1;
  return nullptr;
}

const Instruction* UseUnwrittenShared(Context& c, const Instruction* i, uint64_t address, uint32_t lane) {
  if (!c.unwritten_read) {
    StopUninitialized(c, i, address, lane, Space::kShared);
    c.stop = Context::Stop::kNone;
    c.unwritten_fault = c.fault;
    c.unwritten_read = true;
  }
  return i;
}

const Instruction* StepTainted(Context& c, const Instruction* i) {
  Tracker tracker(c);
  if (i->op == Op::kHeader && (c.unwritten_read || !tracker.Any())) {
    ClearTaint(*c.warp);
    c.warp->tainted = ProductsArePending(c);
  }
  if (ProductsArePending(c) && !CheckProductRegisters(c, i)) return nullptr;
  return tracker.Step(i);
}

const Instruction* ExecuteTainted(Context& c, const Instruction* i) {
  c.stop = Context::Stop::kNone;
  while (i && c.warp->tainted) i = StepTainted(c, i);
  return i;
}

void TrackRegisters(Context& c) {
  Warp& warp = *c.warp;
  if (warp.taint.empty()) {
    warp.taint.assign(c.kernel->register_bytes / 4, 0);
    warp.taint_origin.assign(c.kernel->register_bytes / 4, 0);
  }
  warp.tainted = true;
}

void ClearTaint(Warp& warp) {
  if (warp.tainted) std::fill(warp.taint.begin(), warp.taint.end(), 0);
  warp.tainted = false;
}

}  // namespace warpwright::sim
