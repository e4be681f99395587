#include "sim/exec/warpgroup.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/exec/async_copy.h"
#include "sim/exec/race.h"
#include "sim/exec/services.h"
#include "sim/exec/taint.h"

namespace warpwright::sim {
namespace {

constexpr uint32_t kUnit = 16;  // bytes that a product reads together

WarpgroupProducts::OfWarp& Own(const Context& c) { return c.products->warps[c.warp->index]; }

int LineOf(const Context& c, const Instruction* i) { return c.program->locations[i->line].line; }

void AddUnits(const MatrixDescriptor& descriptor, bool across, uint32_t first, uint32_t rows,
              std::vector<uint32_t>& units) {
  const uint32_t row_step = across ? 8 : 1, term_step = across ? 1 : 8;
  for (uint32_t row = first; row < first + rows; row += row_step)
    for (uint32_t term = 0; term < kWarpTerms; term += term_step)
      units.push_back(descriptor.OffsetOf(across, row, term));
}

bool CheckBounds(Context& c, const Instruction* i, const std::vector<uint32_t>& units) {
  for (const uint32_t offset : units) {
    if (uint64_t{offset} + kUnit <= c.shared_bytes) continue;
    uint64_t address[kLanes];
    std::fill(std::begin(address), std::end(address), offset);
    StopOutOfBounds(c, i, address, kUnit, Space::kShared, AccessKind::kRead);
    return false;
  }
  return true;
}

bool CheckWritten(Context& c, const Instruction* i, uint32_t lane, uint32_t offset) {
  const uint8_t* written = c.shared_written + offset;
  if (std::all_of(written, written + kUnit, [](uint8_t b) { return b == 0xff; })) return true;
  const uint64_t at[kLanes] = {offset};
  if (c.copies && !CheckCopiesArrived(c, i, at, 1, kUnit)) return false;
  StopUninitialized(c, i, offset, lane, Space::kShared);
  return false;
}

bool CheckProxy(Context& c, const Instruction* i, uint32_t lane, uint32_t offset) {
  const RaceShadow& r = c.race;
  for (size_t g = offset / r.granule; g <= (offset + kUnit - 1) / r.granule; ++g) {
    const uint32_t writer = r.write_thread[g] & ~kWriteFlags;
    const auto& times = c.products->proxy_time;
    if (r.write_time[g] == 0 || times[writer] >= r.write_time[g]) continue;
    if (times[c.warp->index * kLanes + lane] >= r.write_time[g]) continue;
    StopWithFault(c, i, core::Fault::Kind::kSharedRace, lane,
                  fmt::format("missing proxy fence: wgmma.mma_async reads {}, which thread {} wrote, without "
                              "fence.proxy.async in between",
                              DescribeAddress(c, offset, Space::kShared, kUnit),
                              ThreadName(c, writer / kLanes, writer % kLanes)));
    return false;
  }
  return true;
}

bool CheckUnits(Context& c, const Instruction* i, const std::vector<uint32_t>& units) {
  for (size_t k = 0; k < units.size(); ++k) {
    const auto lane = static_cast<uint32_t>(k % kLanes);
    if (!CheckWritten(c, i, lane, units[k]) || !RecordRead(c, i, lane, units[k], kUnit) ||
        !CheckProxy(c, i, lane, units[k]))
      return false;
  }
  return true;
}

}  // namespace

bool BeginProduct(Context& c, const Instruction* i, const MatrixDescriptor& left, const MatrixDescriptor& right) {
  const MatrixProduct& product = i->product;
  std::vector<uint32_t> units;
  if (!product.left_in_registers)
    AddUnits(left, product.left_across, c.warp->index % kWarpsOfGroup * kWarpRows, kWarpRows, units);
  AddUnits(right, product.right_across, 0, static_cast<uint32_t>(product.shape.n), units);
  if (!CheckBounds(c, i, units)) return false;
  if (!c.products) return true;
  if (!CheckUnits(c, i, units)) return false;
  WarpgroupProducts::OfWarp& own = Own(c);
  if (own.sums.empty()) own.sums.assign(c.kernel->register_bytes / 4, 0);
  for (int k = 0; k < i->defs; ++k) own.sums[i->reg[k] / 4] = own.committed + 1;
  own.pending.push_back({i, own.committed, c.time, std::move(units)});
  AdvanceTime(c);  // what is written from now on is written later
  TrackRegisters(c);
  return true;
}

void CommitProducts(Context& c) { ++Own(c).committed; }

bool WaitForProducts(Context& c, const Instruction* i, uint32_t remaining) {
  WarpgroupProducts::OfWarp& own = Own(c);
  for (const PendingProduct& product : own.pending) {
    if (product.group + remaining >= own.committed) continue;
    for (const uint32_t offset : product.units)
      for (size_t g = offset / c.race.granule; g <= (offset + kUnit - 1) / c.race.granule; ++g) {
        if (c.race.write_time[g] <= product.time) continue;
        const uint32_t writer = c.race.write_thread[g] & ~kWriteFlags;
        StopWithFault(c, i, core::Fault::Kind::kSharedRace, 0,
                      fmt::format("thread {} overwrites {}, which the wgmma.mma_async of line {} reads, before "
                                  "wgmma.wait_group has waited for it",
                                  ThreadName(c, writer / kLanes, writer % kLanes),
                                  DescribeAddress(c, offset, Space::kShared, kUnit), LineOf(c, product.at)));
        return false;
      }
  }
  std::erase_if(own.pending, [&](const PendingProduct& p) { return p.group + remaining < own.committed; });
  if (own.committed > remaining) own.finished = std::max(own.finished, own.committed - remaining);
  return true;
}

bool ProductsArePending(const Context& c) { return c.products && !Own(c).pending.empty(); }

bool CheckProductRegisters(Context& c, const Instruction* i) {
  WarpgroupProducts::OfWarp& own = Own(c);
  const auto pending = [&](uint32_t offset) { return own.sums[offset / 4] > own.finished; };
  if (i->op == Op::kMove && i->defs == 1 && i->operands == 2 && i->guard == kNoOperand && pending(i->reg[1])) {
    own.sums[i->reg[0] / 4] = std::exchange(own.sums[i->reg[1] / 4], 0);
    return true;
  }
  const int first = i->op == Op::kWarpgroupProduct ? 2 * i->defs : 0;
  for (int k = first; k < i->operands; ++k) {
    if (!pending(i->reg[k])) continue;
    StopWithFault(c, i, core::Fault::Kind::kUninitializedRead, kLanes,
                  "a register that wgmma.mma_async writes is used before wgmma.wait_group has waited for it");
    return false;
  }
  return true;
}

// Whatever the thread wrote before is visible to products that begin later.
void FenceProxy(Context& c) {
  for (uint32_t m = c.mask; m != 0; m &= m - 1)
    c.products->proxy_time[c.warp->index * kLanes + static_cast<uint32_t>(std::countr_zero(m))] = c.time;
  AdvanceTime(c);
}

void ForgetProducts(Context& c) {
  for (WarpgroupProducts::OfWarp& warp : c.products->warps) {
    warp.pending.clear();
    warp.committed = warp.finished = 0;
    std::fill(warp.sums.begin(), warp.sums.end(), 0);
  }
  std::fill(c.products->proxy_time.begin(), c.products->proxy_time.end(), 0);
}

}  // namespace warpwright::sim
