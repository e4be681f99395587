// The call that lifts an entry (lift/lift.h): what a worker is asked, and what it answers.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/computation.h"
#include "core/execution.h"

namespace warpwright::core {

// A shape at which the entry is executed, with the contents of every buffer argument.
struct LiftShape {
  std::map<std::string, ScalarValue> scalars;
  std::vector<BufferContent> buffers;
  bool even = true;    // sizes are multiples of the powers of two that they are multiples of in every case
  bool apart = false;  // sizes differ that are equal in every case: the entry may not be meant to run here
};
inline constexpr int64_t kMostDivisible = 32;  // the largest of these powers
// A size that is a whole number of several groups in every case, as channels are.
struct DividedSize {
  std::string size, groups;
};
struct LiftRequest {
  SourceRef source;
  KernelSpec spec;
  std::string device;                // whose properties the launcher sees: "sim:h200"
  std::vector<LiftShape> shapes;     // in the order in which they should be tried
  std::vector<DividedSize> divided;  // by the cases, which the request's `spec` does not tell
  uint32_t unified_shapes = 3;       // that statements are unified over; one more verifies
  uint32_t node_limit = 3'000'000;
  uint64_t instruction_limit = 60'000'000;  // of threads, at one shape
  double seconds_limit = 20;                // of processor time; no further shape is begun after it
};

struct Lifted {
  Computation computation;
  uint32_t shapes = 0;             // at which statements were unified
  bool verified = false;           // at a further one, numerically
  std::vector<std::string> notes;  // what happened at shapes that could not be used
  double seconds = 0;
};
struct NotLifted {
  std::string blocker;  // a short class, for counting: "branch on data", "node limit"
  std::string message;
  bool executed = false;  // all written elements had expressions at some shape
};
using LiftOutcome = std::variant<NotLifted, Lifted>;

}  // namespace warpwright::core
