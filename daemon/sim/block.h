// Runs the warps of one block: time slices, barriers, lanes that wait for each other. Internal to Machine.
#pragma once

#include <array>

#include "sim/exec/context.h"

namespace warpwright::sim {

class BlockRunner {
 public:
  explicit BlockRunner(Context& context) : c_(context) {}
  // On false, c.fault has the reason.
  bool Run(uint64_t block);
  // The same in turns, for blocks that wait for each other: Begin, then Advance until it is not kMore. Each turn gives
  // every warp that can run one time slice.
  enum class Turn : uint8_t { kMore, kDone, kFault };
  void Begin(uint64_t block);
  Turn Advance();

 private:
  struct Barrier {
    uint32_t arrived = 0;     // warps; including those that only arrive
    uint32_t waiting = 0;     // warps
    uint32_t threads = 0;     // that arrived: a warp counts 32
    uint32_t expected = 0;    // 0: all live warps
    uint32_t true_lanes = 0;  // of a reduction
    bool all = true;
    const Instruction* first = nullptr;
  };

  void Start(uint64_t block);
  Turn RunWarps();
  bool RunWarp(Warp& warp);
  bool HandleWaitingLanes(Warp& warp);
  bool Arrive(Warp& warp);
  void CompleteBarriers();
  bool IsComplete(const Barrier& barrier) const;
  void Release(uint32_t number);
  bool ReportDeadlock();
  uint32_t LiveWarps() const;

  Context& c_;
  std::array<Barrier, 16> barriers_;
};

}  // namespace warpwright::sim
