// A second value beside every register and memory location, kept by whoever runs a kernel: the simulator executes
// concretely, and tells the shadow what it is about to do and what it did. Internal to those that include context.h.
#pragma once

#include <cstdint>

namespace warpwright::sim {

struct Context;
struct Instruction;

class Shadow {
 public:
  virtual ~Shadow() = default;
  // A block begins: shared and local memory and all registers but the constant slots are fresh.
  virtual void StartBlock(const Context& c) = 0;
  // The warp of `c` is about to run the instruction for `lanes`, of which its guard has been taken: the operands still
  // have their values. A speculative load also runs for lanes that its guard excludes, if it can. An instruction that
  // has to wait for other lanes is announced again when it is tried again.
  virtual void Before(const Context& c, const Instruction& in, uint32_t lanes) = 0;
  // It ran for those lanes, and did not stop the kernel. `c.mask` may be that of the next instruction. A reduction over
  // a barrier gets its result later.
  virtual void After(const Context& c, const Instruction& in, uint32_t lanes) = 0;
  // The kernel shall end: asked at every basic block.
  virtual bool stopped() const = 0;
};

}  // namespace warpwright::sim
