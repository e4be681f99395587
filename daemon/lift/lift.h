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

#include "core/compiled.h"
#include "core/launch_plan.h"
#include "core/lifting.h"

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
using Prepare = std::function<Result<PrepareOutcome>(const core::LiftShape&)>;

Result<core::LiftOutcome> LiftEntry(const core::LiftRequest& request, const Prepare& prepare);

}  // namespace warpwright::lift
