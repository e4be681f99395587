// The second engine: kernels written anew from what an entry computes, as an expert would write them for these sizes
// and this chip. The judge decides whether the result is right and faster, so nothing here needs a proof.
//
// How a candidate is made (Apply):
//   Problem    what is computed, fused (problem.h), and how the launcher looks (entry.h)
//   Phases     where nothing else applies, two problems with an intermediate in memory between them (phases.h)
//   Group      stages that one schedule writes together: all that are connected by tensors that have no memory
//   Schedule   writes the kernels of a group and the statements that launch them, or says why it does not apply
//              (kEachLaunch: each segment of the launcher is a problem of its own)
//   Splice     kernels before the launcher, statements into its body, kernels that nothing uses any more removed
//              (splice.h)
//
// To add a schedule:
//   1. schedule/NAME.cpp defines `Schedule NameSchedule()`, declared in schedules.h and listed in schedule.cpp, the
//      most special first: where a computation has several groups, the schedule that was asked for takes those that it
//      can, and the first in the list that applies takes each other one.
//   2. Its `emit` looks at `problem.form` (stages by group.stages, in order of computation) and at problem.cases, and
//      returns Code or a RewriteRefusal whose reason a user understands. ExpressionCode (expression_code.h) turns
//      nodes, positions and guards into text; KernelText (kernel_text.h) makes parameter lists, heads and launches of
//      kernels.
//   3. skills/methods/schedule_NAME.yml: the card, with all parameters and values (test_skills compares them), and
//      skills/policy.yml: what calls for it.
//   4. tests/unit/schedule/runs_test.cpp: forms of the kind, run at odd sizes; golden_test.cpp: the text of one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::schedule {

struct Problem;  // problem.h

// Indices into Problem::form.stages, ascending.
struct Group {
  std::vector<size_t> stages;
};

// What is written for a group. Text has two spaces for each level; it gets the file's own indentation.
struct Code {
  std::vector<std::string> helpers;  // device functions and types that kernels share, written once each
  std::string kernels;               // with their comments
  std::string launch;                // statements of the launcher
  std::vector<std::string> notes;
  std::vector<std::string> conditions = {};  // on the sizes; where one fails, the launcher does what it did
  bool products_without_tiles = false;       // some product of matrices is a plain sum of each thread
  bool reduces_products = false;             // rows of a product are reduced where they are made
};
using CodeOutcome = std::variant<core::RewriteRefusal, Code>;

struct ScheduleParameter {
  std::string_view name;                 // "threads"
  std::vector<std::string_view> values;  // worth trying, the default first
};
using ParameterValues = std::map<std::string, std::string>;

struct Schedule {
  std::string_view id;     // "schedule_map"; method cards refer to it
  std::string_view title;  // for notes: "vector access"
  std::vector<ScheduleParameter> parameters;
  CodeOutcome (*emit)(const Problem& problem, const Group& group, const ParameterValues& parameters);
};

const std::vector<Schedule>& Schedules();
const Schedule* FindSchedule(std::string_view id);
inline constexpr std::string_view kEachLaunch = core::kEachLaunch;
inline bool IsSchedule(std::string_view id) { return id.starts_with(core::kSchedulePrefix); }

// The whole file with the entry's new kernels. Unknown ids and parameter values are Errors (kUsage), as is a request
// without what the entry computes.
Result<core::RewriteOutcome> Apply(const core::RewriteRequest& request);

int IntegerOf(const ParameterValues& parameters, std::string_view name);

// What a term outside its bounds is (the padding of a convolution), where nobody has seen which it is in the original.
inline const ScheduleParameter kPadding{"padding", {"left_out", "zero"}};

core::RewriteRefusal Refuse(std::string reason, int line = 0);

}  // namespace warpwright::schedule
