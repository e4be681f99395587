// Runs what a schedule writes for a form, on the simulator, and compares it with the form's value.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/counters.h"
#include "schedule/problem.h"

namespace warpwright::testing {

using SizeNumbers = std::map<std::string, int64_t>;

// The problem of an entry "entry" whose parameters are the form's tensors, sizes and scalars, at one case.
schedule::Problem ProblemOf(const core::Computation& form, const SizeNumbers& sizes,
                            const std::string& entry = "entry");
// Kernels of the whole form as one group; std::runtime_error with the reason of a refusal.
schedule::Code CodeOf(const schedule::Problem& problem, const schedule::Schedule& schedule,
                      schedule::ParameterValues parameters = {});

struct ScheduleRun {
  std::string fault;        // of the simulator; empty: none
  std::string mismatch;     // "C[3]: 1.5 instead of 1.25 (at most 0.001 off)"; empty: none
  core::Counters counters;  // of all launches
};
// Every output element is within its rigorous bound of the exact value, for random arguments; of one in `infinite`
// elements 0: none, the value is infinite, and what it makes infinite or no number must be.
// `in_place`: outputs that have the memory of an input, by its name. `factors`: of arguments, by which all of their
// values are larger.
ScheduleRun RunOnSimulator(const schedule::Problem& problem, const schedule::Code& code, uint64_t infinite = 0,
                           const std::map<std::string, std::string>& in_place = {},
                           const std::map<std::string, double>& factors = {});

}  // namespace warpwright::testing
