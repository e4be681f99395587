#include "sim/exec/async_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/exec/race.h"
#include "sim/exec/services.h"

namespace warpwright::sim {
namespace {

uint32_t& Groups(Context& c, uint32_t lane) {
  return c.copies->groups[static_cast<size_t>(c.warp->index) * kLanes + lane];
}

// The bytes of these lanes reach shared memory.
bool Arrive(Context& c, const Instruction* i, PendingCopy& copy, uint32_t lanes) {
  copy.lanes &= ~lanes;
  const uint32_t before = c.mask;
  bool ok = true;
  if (c.checking) {
    AddressPattern& pattern = c.copies->pattern;
    FillPattern(pattern, copy.offset, lanes, copy.bytes);
    const std::byte* values[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) values[l] = copy.data[l];
    SetMask(c, lanes);
    ok = RecordWrites(c, i, pattern, copy.offset[pattern.first], copy.bytes, values);
    SetMask(c, before);
  }
  for (uint32_t m = lanes; m != 0 && ok; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    std::memcpy(c.shared + copy.offset[l], copy.data[l], copy.bytes);
    if (c.checking) std::memset(c.shared_written + copy.offset[l], 0xff, copy.bytes);
  }
  return ok;
}

}  // namespace

void BeginCopies(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes,
                 const std::byte (*rows)[kMaxCopyBytes]) {
  PendingCopy& copy = c.copies->pending[c.warp->index].emplace_back();
  copy.at = i;
  copy.lanes = c.mask;
  copy.bytes = bytes;
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    copy.offset[l] = offset[l];
    copy.group[l] = Groups(c, l);
    std::memcpy(copy.data[l], rows[l], bytes);
    if (c.checking) std::memset(c.shared_written + offset[l], 0, bytes);
  }
}

void CommitCopies(Context& c) {
  for (uint32_t m = c.mask; m != 0; m &= m - 1) ++Groups(c, static_cast<uint32_t>(std::countr_zero(m)));
}

bool WaitForCopies(Context& c, const Instruction* i, uint32_t remaining) {
  auto& pending = c.copies->pending[c.warp->index];
  for (PendingCopy& copy : pending) {
    uint32_t lanes = 0;
    for (uint32_t m = c.mask & copy.lanes; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      if (uint64_t{copy.group[l]} + remaining < Groups(c, l)) lanes |= 1u << l;
    }
    if (lanes != 0 && !Arrive(c, i, copy, lanes)) return false;
  }
  std::erase_if(pending, [](const PendingCopy& copy) { return copy.lanes == 0; });
  return true;
}

const PendingCopy* FindCopy(const Context& c, uint64_t offset, uint32_t bytes) {
  for (const auto& pending : c.copies->pending)
    for (const PendingCopy& copy : pending)
      for (uint32_t m = copy.lanes; m != 0; m &= m - 1) {
        const uint64_t at = copy.offset[std::countr_zero(m)];
        if (at < offset + bytes && offset < at + copy.bytes) return &copy;
      }
  return nullptr;
}

bool CheckCopiesArrived(Context& c, const Instruction* i, const uint64_t* offset, uint32_t lanes, uint32_t bytes) {
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const PendingCopy* copy = FindCopy(c, offset[l], bytes);
    if (!copy) continue;
    StopWithFault(
        c, i, core::Fault::Kind::kSharedRace, l,
        fmt::format("read of {} while data is copied there that has not been waited for (the copy begins in "
                    "line {}; its thread waits with cp.async.wait_group or cp.async.wait_all)",
                    DescribeAddress(c, offset[l], Space::kShared, bytes), c.program->locations[copy->at->line].line));
    return false;
  }
  return true;
}

void ForgetCopies(Context& c) {
  for (auto& pending : c.copies->pending) pending.clear();
  std::fill(c.copies->groups.begin(), c.copies->groups.end(), 0);
}

}  // namespace warpwright::sim
