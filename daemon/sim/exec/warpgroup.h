// wgmma.mma_async: products that a warp begins and later waits for. Their results are computed when they begin; what
// shows that a program relied on that is a fault:
//  - bytes of shared memory that were written by stores or cp.async, without fence.proxy.async between the write and
//    the product, by the thread that wrote or by the warp that multiplies;
//  - bytes that are overwritten before the product has been waited for;
//  - sums that anything but another product touches before wgmma.wait_group. Moves pass that on.
// For the race check a product reads when it begins, its warp's lanes taking turns.
#pragma once

#include <vector>

#include "sim/exec/context.h"

namespace warpwright::sim {

inline constexpr uint32_t kWarpRows = 16, kWarpTerms = 16, kWarpsOfGroup = 4;

struct PendingProduct {
  const Instruction* at = nullptr;
  uint32_t group = 0, time = 0;
  std::vector<uint32_t> units;  // offsets in shared memory
};

// Of one block.
struct WarpgroupProducts {
  explicit WarpgroupProducts(size_t count) : warps(count), proxy_time(count * kLanes) {}
  struct OfWarp {
    std::vector<PendingProduct> pending;
    uint32_t committed = 0, finished = 0;  // groups
    std::vector<uint32_t> sums;            // by offset in the register file / 4: the group that writes it, plus 1
  };
  std::vector<OfWarp> warps;
  std::vector<uint32_t> proxy_time;  // by thread: Context::time of its last fence.proxy.async
};

// All are for the whole warp. False after a fault. A product that begins is checked, if at all, before it is computed,
// and its warp then runs in the loop that tracks registers (exec/taint.h).
bool BeginProduct(Context& c, const Instruction* i, const MatrixDescriptor& left, const MatrixDescriptor& right);
void CommitProducts(Context& c);
bool WaitForProducts(Context& c, const Instruction* i, uint32_t remaining);
bool ProductsArePending(const Context& c);  // of the warp
// An instruction that is about to run while products are pending.
bool CheckProductRegisters(Context& c, const Instruction* i);
void FenceProxy(Context& c);
void ForgetProducts(Context& c);  // at the start of a block

}  // namespace warpwright::sim
