// What versions and plans are worth: one rule for the rounds and for the acceptance.
#pragma once

#include "core/kernel_spec.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright::search {

inline constexpr double kMinGain = 1.01;      // gain over the base for a new base
inline constexpr double kMinCaseGain = 0.98;  // no case may lose more than 2 %, against the original

// The smallest gain over the cases that both have and whose time counts.
double WorstCase(const core::Measured& before, const core::Measured& after);

// The gain that is sure: where both were timed against the original on a device, the one-sided 95 % bound of their
// ratio; else, on a model, the gain itself.
double SureGain(const core::Measured& before, const core::Measured& after);

// Whether a version replaces its base: a gain of kMinGain, which is no chance, and no case that takes longer than in
// the original.
bool ReplacesBase(const core::Measured& original, const core::Measured& base, const core::Measured& version);

// Whether what a plan is expected to gain is worth its evaluations: a user who allows `max_minutes` for `min_speedup`
// says what a minute has to gain. Plans of language models have no expectation, and are; so is the first one, whose
// cost nobody knows (0 seconds).
bool IsWorthItsCost(const core::Plan& plan, double seconds_per_evaluation, const core::Policy& policy);

}  // namespace warpwright::search
