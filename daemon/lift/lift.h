// What an entry computes, from executions at a few small shapes: trace, canonicalise, generalise, unify.
//
// Nothing is claimed that was not seen to hold: the statements reproduce every written element's expression at every
// shape that was used, and the result, evaluated in double precision, agrees with the simulator's numbers at a shape
// that was not.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/compiled.h"
#include "core/computation.h"
#include "core/evaluator.h"
#include "core/launch_plan.h"
#include "lift/shapes.h"

namespace warpwright::lift {

// The launch at a shape, of a lifting build, or why there is none: refused by the launcher, not compiled.
struct PreparedShape {
  std::shared_ptr<const core::CompiledModule> module;
  core::LaunchPlan plan;
};
struct NotPrepared {
  std::string why;
};
using PrepareOutcome = std::variant<NotPrepared, PreparedShape>;
using Prepare = std::function<Result<PrepareOutcome>(const Scalars&, const std::vector<core::BufferContent>&)>;

struct LiftLimits {
  size_t shapes = 3;  // that statements are unified over; one more verifies
  uint32_t nodes = 3'000'000;
  uint64_t instructions = 60'000'000;  // of threads, at one shape
  double seconds = 20;                 // no further shape is begun after it
};

struct Lifted {
  core::Computation computation;
  std::vector<Scalars> shapes;     // at which statements were unified
  bool verified = false;           // at a further one, numerically
  std::vector<std::string> notes;  // "at 3 of 4 shapes; at N=7: ..."
  double seconds = 0;
};
struct NotLifted {
  std::string blocker;  // a short class, for counting: "branch on data", "node limit"
  std::string message;
  bool executed = false;  // all elements had expressions at some shape
};
using LiftOutcome = std::variant<NotLifted, Lifted>;

Result<LiftOutcome> LiftEntry(const core::KernelSpec& spec, const Prepare& prepare, const LiftLimits& limits = {});

}  // namespace warpwright::lift
