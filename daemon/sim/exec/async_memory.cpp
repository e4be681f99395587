// What begins and awaits asynchronous copies; exec/async_copy.h has what happens to them.
#include "sim/exec/async_copy.h"
#include "sim/exec/race.h"
#include "sim/exec/resolve.h"
#include "sim/exec/visibility.h"

namespace warpwright::sim::v3 {
namespace {

// Reads the sources of the active lanes, all of `bytes`, into their rows.
bool ReadSources(Context& c, const Instruction* i, const uint64_t* a, uint32_t bytes, bool usual,
                 std::byte (*rows)[kMaxCopyBytes]) {
  alignas(64) int64_t scratch[kLanes];
  if (!usual) {  // of fewer bytes than the instruction copies
    const std::byte* base = ResolveLanes(c, i, a, bytes, AccessKind::kRead, scratch);
    if (!base) return false;
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      std::memcpy(rows[l], base + scratch[l], bytes);
    }
    return true;
  }
  AddressPattern& p = Match(c, i, a, bytes);
  if (((a[p.first] | p.alignment) & (bytes - 1)) != 0) [[unlikely]] {
    StopMisaligned(c, i, a, bytes, Space::kGlobal, AccessKind::kRead);
    return false;
  }
  const Target t = ResolveGlobal<false>(c, i, a, p, 4, bytes, scratch);
  if (!t.base || (c.visibility && !CheckVisible(c, i, a, bytes))) return false;
  if (c.counting) CountGlobal<false>(c, i, p, a[p.first], bytes);
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    std::memcpy(rows[l], t.base + t.delta[l], bytes);
  }
  return true;
}

bool ReadAllSources(Context& c, const Instruction* i, const uint64_t* a, const uint32_t* size,
                    std::byte (*rows)[kMaxCopyBytes]) {
  const uint32_t before = c.mask;
  bool ok = true;
  for (uint32_t left = before; left != 0 && ok;) {
    const uint32_t bytes = size[std::countr_zero(left)];
    uint32_t alike = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      if ((left >> l & 1) && size[l] == bytes) alike |= 1u << l;
    left &= ~alike;
    if (bytes == 0) continue;
    if (alike != c.mask) SetMask(c, alike);
    ok = ReadSources(c, i, a, bytes, bytes == i->vector, rows);
  }
  if (c.mask != before) SetMask(c, before);
  return ok;
}

const Instruction* AsyncCopy(Context& c, const Instruction* i) {
  const uint32_t bytes = i->vector;
  alignas(64) uint64_t source[kLanes], target[kLanes];
  alignas(64) uint32_t size[kLanes];
  alignas(64) std::byte rows[kLanes][kMaxCopyBytes] = {};
  LoadAddresses(c, i, 1, source);
  if (i->wide_source[0]) {
    const uint64_t* r = Reg<uint64_t>(c, i->reg[0]);
    WW_LANES target[l] = r[l];
  } else {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[0]);
    WW_LANES target[l] = r[l];
  }
  for (uint32_t l = 0; l < kLanes; ++l) size[l] = SourceBytes(c, *i, l);
  if (!ReadAllSources(c, i, source, size, rows)) return nullptr;

  AddressPattern& p = MatchSite(c, c.sites[i->site + 1], target, bytes);
  if (((target[p.first] | p.alignment) & (bytes - 1)) != 0) [[unlikely]]
    return StopMisaligned(c, i, target, bytes, Space::kShared, AccessKind::kWrite);
  if (!ResolveShared(c, i, target, p, bytes, AccessKind::kWrite)) return nullptr;
  if (c.checking) {
    const std::byte* values[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) values[l] = rows[l];
    if (!RecordWrites(c, i, p, target[p.first], bytes, values)) return nullptr;
  }
  BeginCopies(c, i, target, bytes, rows);
  return i + 1;
}

const Instruction* Commit(Context& c, const Instruction* i) {
  if (c.copies) CommitCopies(c);
  return i + 1;
}

const Instruction* Wait(Context& c, const Instruction* i) {
  if (!c.copies) return i + 1;
  if (i->mode != 0) CommitCopies(c);
  return WaitForCopies(c, i, static_cast<uint32_t>(i->immediate)) ? i + 1 : nullptr;
}

}  // namespace

HandlerPair SelectAsync(const Instruction& in) {
  switch (in.op) {
    case Op::kAsyncCopy: return {AsyncCopy, AsyncCopy};
    case Op::kAsyncCommit: return {Commit, Commit};
    case Op::kAsyncWait: return {Wait, Wait};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
