// mbarrier objects in shared memory, and the copies that complete at them. An object is one word of 64 bits, which
// programs only pass around:
//   bits 0..19   arrivals that the phase still waits for
//   bits 20..39  arrivals that a phase expects
//   bits 40..61  bytes that copies still have to bring, plus 2^21
//   bit 62       the object has been initialised
//   bit 63       the phase's parity
//
// For the race check an arrival publishes what its thread did before, and a successful wait learns what all arrivals
// published (exec/order.h).
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

enum class MbarrierOp : uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kArriveExpect,  // of bytes
  kExpect,
  kComplete,
  kTestState,
  kTestParity,
  kPendingCount,
  kCopiesArrive,       // cp.async.mbarrier.arrive
  kCopiesArriveNoInc,  // which is one of the expected arrivals
};

HandlerPair SelectMbarrier(const Instruction& in);

}  // namespace warpwright::sim
