#include "sim/exec/shadowed.h"

#include <cstring>

#include "sim/exec/taint.h"
#include "sim/shadow.h"

namespace warpwright::sim {
namespace {

using Stop = Context::Stop;

uint32_t RunningLanes(const Context& c, const Instruction& in) {
  if (in.guard == kNoOperand) return c.mask;
  uint32_t predicate;
  std::memcpy(&predicate, c.registers + in.guard, 4);
  return c.mask & (in.guard_negated ? ~predicate : predicate);
}

// Unwritten values are tracked here too: a read of one may only be reported once it is used.
const Instruction* Run(Context& c, const Instruction* i) {
  if (c.warp->tainted) return StepTainted(c, i);
  const Instruction* next = i->run[c.full](c, i);
  if (next || c.stop != Stop::kTaint) return next;
  c.stop = Stop::kNone;
  return c.resume;
}

}  // namespace

void ExecuteShadowed(Context& c, const Instruction* i) {
  c.stop = Stop::kNone;
  Shadow& shadow = *c.shadow;
  while (i) {
    if (i->op == Op::kHeader) {
      if (shadow.stopped()) {
        StopWithFault(c, i, core::Fault::Kind::kInstructionLimit, kLanes, "the shadow of the execution ended it");
        return;
      }
      i = Run(c, i);
      continue;
    }
    const Instruction& in = *i;
    const uint32_t lanes = RunningLanes(c, in);
    shadow.Before(c, in, lanes);
    i = Run(c, i);
    if (i || c.stop == Stop::kBarrier || c.stop == Stop::kSwitch || c.stop == Stop::kExit) shadow.After(c, in, lanes);
  }
}

}  // namespace warpwright::sim
