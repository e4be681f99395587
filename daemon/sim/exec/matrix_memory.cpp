// ldmatrix and stmatrix: matrices of 8 rows of 16 bytes in shared memory. Lane 8 m + r has the address of row r of
// matrix m; lane 4 r + q gets the elements (r, 2 q) and (r, 2 q + 1) of each, or of its transpose. For the checks, the
// lane with the address accesses its row: eight rows are one pass, like any 16 bytes of a lane.
#include "sim/exec/async_copy.h"
#include "sim/exec/quiet_races.h"
#include "sim/exec/race.h"
#include "sim/exec/resolve.h"
#include "sim/exec/taint.h"

namespace warpwright::sim::v3 {
namespace {

constexpr uint32_t kRowBytes = 16;

// Where the element `part` of the lane is: in which row, at which byte.
struct Element {
  uint32_t row, byte;
};
[[gnu::always_inline]] inline Element ElementOf(const Instruction* i, uint32_t matrix, uint32_t lane, uint32_t part) {
  const uint32_t r = lane / 4, q = lane % 4 * 2 + part;
  return i->mode != 0 ? Element{8 * matrix + q, 2 * r} : Element{8 * matrix + r, 2 * q};
}

// The addresses of the rows as offsets in shared memory, and their pattern; c.mask is that of the lanes with rows.
AddressPattern* ResolveRows(Context& c, const Instruction* i, int operand, uint64_t* a, AccessKind kind) {
  LoadAddresses(c, i, operand, a);
  const uint32_t lanes = i->vector == 4 ? kAllLanes : (1u << (8 * i->vector)) - 1;
  if (i->space == Space::kGeneric) {
    const uint64_t shift = c.memory->window_shift();
    for (uint32_t l = 0; l < 8u * i->vector; ++l)
      if (WindowOf(a[l] - shift) != Space::kShared) {
        StopOutOfBounds(c, i, a, kRowBytes, Space::kShared, kind);
        return nullptr;
      }
    WW_LANES a[l] -= shift + kSharedWindow;
  }
  SetMask(c, lanes);
  AddressPattern& p = Match(c, i, a, kRowBytes);
  if (((a[p.first] | p.alignment) & (kRowBytes - 1)) != 0) [[unlikely]] {
    StopMisaligned(c, i, a, kRowBytes, Space::kShared, kind);
    return nullptr;
  }
  return ResolveShared(c, i, a, p, kRowBytes, kind) ? &p : nullptr;
}

const Instruction* StopPart(Context& c, const Instruction* i) {
  return c.mask == c.live ? StopPartOfWarp(c, i) : WaitForLanes(c, i);
}

const Instruction* MatrixLoad(Context& c, const Instruction* i) {
  if (c.mask != kAllLanes) [[unlikely]]
    return StopPart(c, i);
  alignas(64) uint64_t a[kLanes];
  const AddressPattern* p = ResolveRows(c, i, i->defs, a, AccessKind::kRead);
  if (p && c.checking && !RecordReads(c, i, *p, a[0], kRowBytes)) p = nullptr;
  SetMask(c, kAllLanes);
  if (!p) [[unlikely]]
    return nullptr;
  uint32_t unwritten[4] = {}, any = 0;
  for (uint32_t m = 0; m < i->vector; ++m) {
    uint32_t* d = Reg<uint32_t>(c, i->reg[static_cast<int>(m)]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      uint32_t word = 0;
      for (uint32_t part = 0; part < 2; ++part) {
        const Element e = ElementOf(i, m, l, part);
        const uint64_t at = a[e.row] + e.byte;
        uint16_t bits, written = 0xffff;
        std::memcpy(&bits, c.shared + at, 2);
        if (c.checking) std::memcpy(&written, c.shared_written + at, 2);
        word |= static_cast<uint32_t>(bits) << (16 * part);
        if (written != 0xffff) unwritten[m] |= 1u << l;
      }
      d[l] = word;
    }
    any |= unwritten[m];
  }
  if (any == 0) [[likely]]
    return i + 1;
  if (c.copies && !CheckCopiesArrived(c, i, a, i->vector == 4 ? kAllLanes : (1u << (8 * i->vector)) - 1, kRowBytes))
    return nullptr;
  // For the message: where each lane's first element of the first matrix is.
  alignas(64) uint64_t first[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) first[l] = a[ElementOf(i, 0, l, 0).row] + ElementOf(i, 0, l, 0).byte;
  return TaintResult(c, i, first, unwritten, Space::kShared) ? LeaveTainted(c, i) : i + 1;
}

const Instruction* MatrixStore(Context& c, const Instruction* i) {
  if (c.mask != kAllLanes) [[unlikely]]
    return StopPart(c, i);
  alignas(64) uint64_t a[kLanes];
  alignas(64) std::byte rows[kLanes][kRowBytes];
  for (uint32_t m = 0; m < i->vector; ++m) {
    const uint32_t* s = Reg<uint32_t>(c, i->reg[1 + static_cast<int>(m)]);
    for (uint32_t l = 0; l < kLanes; ++l)
      for (uint32_t part = 0; part < 2; ++part) {
        const Element e = ElementOf(i, m, l, part);
        const auto bits = static_cast<uint16_t>(s[l] >> (16 * part));
        std::memcpy(rows[e.row] + e.byte, &bits, 2);
      }
  }
  const AddressPattern* p = ResolveRows(c, i, 0, a, AccessKind::kWrite);
  if (p && c.checking) {
    const std::byte* values[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) values[l] = rows[l];
    MarkWritten(c.shared_written + a[0], p->delta, *p, c.mask, kRowBytes);
    if (!RecordWrites(c, i, *p, a[0], kRowBytes, values)) p = nullptr;
  }
  SetMask(c, kAllLanes);
  if (!p) [[unlikely]]
    return nullptr;
  for (uint32_t l = 0; l < 8u * i->vector; ++l) std::memcpy(c.shared + a[l], rows[l], kRowBytes);
  return i + 1;
}

}  // namespace

HandlerPair SelectMatrixMemory(const Instruction& in) {
  if (in.op == Op::kMatrixLoad) return {MatrixLoad, MatrixLoad};
  if (in.op == Op::kMatrixStore) return {MatrixStore, MatrixStore};
  return {};
}

}  // namespace warpwright::sim::v3
