// How far a plan reaches into its arguments: which bytes it reads before it has written them, and which it writes. Runs
// beside the simulator and changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/execution.h"
#include "core/launch_plan.h"
#include "sim/plan_memory.h"
#include "sim/shadow.h"

namespace warpwright::sim {

class ExtentShadow final : public Shadow {
 public:
  // Both outlive the shadow.
  ExtentShadow(const core::LaunchPlan& plan, const PlanMemory& memory);

  void StartBlock(const Context&) override {}
  void Before(const Context& c, const Instruction& in, uint32_t lanes) override;
  void After(const Context&, const Instruction&, uint32_t) override {}
  bool stopped() const override { return false; }
  // An operation of the plan other than a launch, before it is done.
  void Apply(const core::PlanOp& op);

  std::vector<core::BufferExtent> Extents() const;  // by argument

 private:
  struct Buffer {
    uint64_t address = 0, bytes = 0;
    core::BufferExtent extent;
    std::vector<bool> read, written;  // by byte
  };
  Buffer* Find(uint64_t address, uint64_t bytes);
  void Read(uint64_t address, uint64_t bytes);
  void Write(uint64_t address, uint64_t bytes);

  const PlanMemory& memory_;
  std::vector<Buffer> buffers_;  // by argument
  std::vector<size_t> by_address_;
  Buffer* last_ = nullptr;
};

}  // namespace warpwright::sim
