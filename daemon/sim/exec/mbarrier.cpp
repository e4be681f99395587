#include "sim/exec/mbarrier.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/exec/address.h"
#include "sim/exec/async_copy.h"
#include "sim/exec/race.h"
#include "sim/exec/services.h"
#include "sim/exec/taint.h"

namespace warpwright::sim {
namespace {

constexpr uint32_t kBytes = 8;
constexpr uint64_t kCountMask = (1 << 20) - 1;
constexpr int64_t kNoBytes = 1 << 21;
// Waits of a block that fail one after the other, without an arrival: longer than any warp computes in between.
constexpr uint64_t kFailingWaits = 200'000;

struct Phase {
  explicit Phase(uint64_t word)
      : pending(word & kCountMask),
        expected(word >> 20 & kCountMask),
        bytes(static_cast<int64_t>(word >> 40 & ((1 << 22) - 1)) - kNoBytes),
        valid(word >> 62 & 1),
        parity(word >> 63) {}
  uint64_t Word() const {
    return pending | expected << 20 | static_cast<uint64_t>(bytes + kNoBytes) << 40 | uint64_t{valid} << 62 |
           parity << 63;
  }
  void CompleteIfDone() {
    if (pending != 0 || bytes != 0) return;
    parity ^= 1;
    pending = expected;
  }

  uint64_t pending, expected;
  int64_t bytes;
  bool valid;
  uint64_t parity;
};

uint64_t WordAt(const Context& c, uint64_t offset) {
  uint64_t word;
  std::memcpy(&word, c.shared + offset, kBytes);
  return word;
}

uint64_t OperandOf(const Context& c, const Instruction& in, uint32_t lane, bool wide) {
  const std::byte* r = c.registers + in.reg[in.defs + 1];
  if (wide) return reinterpret_cast<const uint64_t*>(r)[lane];
  return reinterpret_cast<const uint32_t*>(r)[lane];
}

// Offsets in shared memory of the active lanes' objects.
bool Locate(Context& c, const Instruction* i, uint64_t* offset) {
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const AccessAddress at = AddressOf(c, *i, i->defs, lane);
    offset[lane] = at.address;
    if (at.space != Space::kShared || at.address > c.shared_bytes || kBytes > c.shared_bytes - at.address) {
      StopWithFault(c, i, core::Fault::Kind::kOutOfBounds, lane,
                    at.space == Space::kShared ? fmt::format("an mbarrier at {}, outside shared memory",
                                                             DescribeAddress(c, at.address, Space::kShared, kBytes))
                                               : "an mbarrier that is not in shared memory");
      return false;
    }
  }
  for (uint32_t m = c.mask; m != 0; m &= m - 1)
    if (offset[std::countr_zero(m)] % kBytes != 0) {
      StopMisaligned(c, i, offset, kBytes, Space::kShared, AccessKind::kAtomic);
      return false;
    }
  return true;
}

const Instruction* Initialize(Context& c, const Instruction* i, const uint64_t* offset) {
  uint64_t words[kLanes] = {};
  const std::byte* rows[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) rows[l] = reinterpret_cast<const std::byte*>(&words[l]);
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (static_cast<MbarrierOp>(i->mode) != MbarrierOp::kInit) continue;
    const uint64_t count = OperandOf(c, *i, lane, false);
    if (count == 0 || count > kCountMask)
      return StopWithFault(c, i, core::Fault::Kind::kIllegalInstruction, lane,
                           fmt::format("mbarrier.init with a count of {}", count));
    Phase phase(0);
    phase.pending = phase.expected = count;
    phase.bytes = 0;
    phase.valid = true;
    words[lane] = phase.Word();
  }
  if (c.checking) {
    AddressPattern& pattern = c.sites[i->site];
    FillPattern(pattern, offset, c.mask, kBytes);
    if (!RecordWrites(c, i, pattern, offset[pattern.first], kBytes, rows)) return nullptr;
  }
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    std::memcpy(c.shared + offset[lane], &words[lane], kBytes);
    std::memset(c.shared_written + offset[lane], 0xff, kBytes);
  }
  return i + 1;
}

// One lane's turn. False after a fault; `done`: of a wait.
bool Apply(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, bool& done) {
  Phase phase(WordAt(c, offset));
  const auto op = static_cast<MbarrierOp>(i->mode);
  const auto refuse = [&](std::string why) {
    StopWithFault(c, i, core::Fault::Kind::kIllegalInstruction, lane,
                  fmt::format("the mbarrier at {} {}", DescribeAddress(c, offset, Space::kShared, kBytes), why));
    return false;
  };
  if (!phase.valid) return refuse("is not initialised");
  const auto arrive = [&](uint64_t count) {
    if (count == 0 || count > phase.pending)
      return refuse(fmt::format("gets {} arrivals in a phase that waits for {} more", count, phase.pending));
    phase.pending -= count;
    phase.CompleteIfDone();
    return true;
  };
  const bool counted = i->operands > i->defs + 1;
  if (i->defs > 0 && op <= MbarrierOp::kArriveExpect)
    reinterpret_cast<uint64_t*>(c.registers + i->reg[0])[lane] = phase.Word();
  switch (op) {
    case MbarrierOp::kArrive:
      if (!arrive(counted ? OperandOf(c, *i, lane, false) : 1)) return false;
      break;
    case MbarrierOp::kArriveDrop: {
      const uint64_t count = counted ? OperandOf(c, *i, lane, false) : 1;
      phase.expected -= std::min(count, phase.expected);
      if (!arrive(count)) return false;
      break;
    }
    case MbarrierOp::kArriveExpect:
    case MbarrierOp::kExpect:
    case MbarrierOp::kComplete: {
      const auto bytes = static_cast<int64_t>(OperandOf(c, *i, lane, false));
      phase.bytes += op == MbarrierOp::kComplete ? -bytes : bytes;
      if (phase.bytes <= -kNoBytes || phase.bytes >= kNoBytes) return refuse("expects too many bytes");
      if (op == MbarrierOp::kArriveExpect && !arrive(1)) return false;
      if (op == MbarrierOp::kComplete) phase.CompleteIfDone();
      break;
    }
    case MbarrierOp::kTestState: done = phase.parity != OperandOf(c, *i, lane, true) >> 63; return true;
    case MbarrierOp::kTestParity: done = phase.parity != (OperandOf(c, *i, lane, false) & 1); return true;
    case MbarrierOp::kCopiesArriveNoInc:
      if (!arrive(1)) return false;
      break;
    default: break;
  }
  const uint64_t word = phase.Word();
  std::memcpy(c.shared + offset, &word, kBytes);
  return true;
}

bool IsWait(MbarrierOp op) { return op == MbarrierOp::kTestState || op == MbarrierOp::kTestParity; }

const Instruction* Mbarrier(Context& c, const Instruction* i) {
  const auto op = static_cast<MbarrierOp>(i->mode);
  if (op == MbarrierOp::kPendingCount) {
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      const uint64_t state = reinterpret_cast<const uint64_t*>(c.registers + i->reg[1])[lane];
      reinterpret_cast<uint32_t*>(c.registers + i->reg[0])[lane] = static_cast<uint32_t>(Phase(state).pending);
    }
    return i + 1;
  }
  uint64_t offset[kLanes] = {};
  if (!Locate(c, i, offset)) return nullptr;
  if (op == MbarrierOp::kInit || op == MbarrierOp::kInvalidate) return Initialize(c, i, offset);
  if ((op == MbarrierOp::kCopiesArrive || op == MbarrierOp::kCopiesArriveNoInc) && c.copies) {
    CommitCopies(c);
    if (!WaitForCopies(c, i, 0)) return nullptr;
  }
  const bool waits = IsWait(op);
  if (c.checking && !RecordAtomics(c, i, offset, kBytes)) return nullptr;
  if (c.order && !waits) OrderFence(c);
  uint32_t successful = 0;
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    bool done = false;
    if (!Apply(c, i, lane, offset[lane], done)) return nullptr;
    if (done) successful |= 1u << lane;
    if (c.order && (!waits || done)) OrderAtomic(c, lane, offset[lane], kBytes, !waits);
  }
  if (!waits) {
    c.failing_waits = 0;
    return i + 1;
  }
  auto* p = reinterpret_cast<uint32_t*>(c.registers + i->reg[0]);
  *p = (*p & ~c.mask) | successful;
  if (successful != 0) {
    const uint32_t all = c.mask;
    SetMask(c, successful);
    if (c.order) OrderFence(c);
    SetMask(c, all);
    c.failing_waits = 0;
    if (successful == all) return i + 1;
  }
  // Others get to run, of this warp too.
  c.contended = true;
  c.slice = -1;
  if (++c.failing_waits < kFailingWaits) return i + 1;
  const auto lane = static_cast<uint32_t>(std::countr_zero(c.mask & ~successful));
  const Phase phase(WordAt(c, offset[lane]));
  return StopWithFault(c, i, core::Fault::Kind::kDivergentBarrier, lane,
                       fmt::format("the mbarrier at {} is never completed: {} of {} arrivals and {} bytes are missing",
                                   DescribeAddress(c, offset[lane], Space::kShared, kBytes), phase.pending,
                                   phase.expected, phase.bytes));
}

}  // namespace

HandlerPair SelectMbarrier(const Instruction& in) {
  return in.op == Op::kMbarrier ? HandlerPair{Mbarrier, Mbarrier} : HandlerPair{};
}

}  // namespace warpwright::sim
