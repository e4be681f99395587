// Device functions that combine values of threads, and the text of one step of a reduction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

enum class Team { kWarp, kBlock, kColumn };  // kColumn: the threads of a block with equal threadIdx.x

// What holds a reduction's state in a thread.
struct Accumulator {
  core::ReduceOp op = core::ReduceOp::kSum;
  core::ValueType type = core::ValueType::kReal;  // of the values
  std::string c_type;                             // "float"
  std::string value, index;                       // variables; index: of arg reductions
};

std::string WordFor(core::ReduceOp op);  // "sum", "max", "argmax"
// What the stage's reduction may be called, the best name first. Beside `others` of its operation a sum is called by
// what it adds: "dot", "x_squares".
std::vector<std::string> NamesFor(const Problem& problem, const core::Stage& stage, const core::Reduce& reduce,
                                  bool others);
// What the entry's kernels call it: none, where the form has several results of the operation.
std::optional<std::string> NameInOriginal(const Problem& problem, core::ReduceOp op);
std::vector<std::string> Declared(const Problem& problem, const Accumulator& accumulator);
// Takes one more value; `index` of arg reductions.
std::vector<std::string> Updated(const Problem& problem, const Accumulator& accumulator, const std::string& value,
                                 const std::string& index);
// The team's result in every thread of it, with the device functions that this needs.
std::string Combined(const Problem& problem, const Accumulator& accumulator, Team team,
                     std::vector<std::string>& helpers);
// The same over so many neighbouring lanes, a power of two; all lanes of the warp call it.
std::string CombinedOverLanes(const Problem& problem, const Accumulator& accumulator, int lanes,
                              std::vector<std::string>& helpers);
// Device functions of this name: what the lanes of a warp, or the warps of a block, before this one have, combined, and
// that of all of them.
std::string WarpPrefixFunction(const Problem& problem, const Accumulator& accumulator, const std::string& name);
std::string WarpsBeforeFunction(const Problem& problem, const Accumulator& accumulator, const std::string& name);

}  // namespace warpwright::schedule
