// A reduction as a stage of its own, of which the terms are the elements: what puts terms into lanes.
//
// Lanes hold elements of a stage as a rule, and share the variables of reductions. Of few elements with many terms that
// leaves lanes and cores idle, and where an element's terms are neighbours in memory, elements are not. Then lanes hold
// terms of one element: the reduction's variables are the box, the stage's variables are what lanes share.
#pragma once

#include <memory>
#include <span>

#include "core/computation_program.h"

namespace warpwright::core {

struct TermProgram {
  // Without a root: its only steps are those of the reduction's block, which keeps its number, and those inside.
  StageProgram stage;
  CompiledReduce reduce;  // with positions of `stage`
  // Registers that the stage's root has set, and that are read here.
  std::vector<uint32_t> imports;
  int64_t terms = 0;
  bool for_runs = false,
       for_points = false;  // whether it is the better way, for neighbouring elements, for single ones
};

// By reduction; nullptr: inside another, or of so few terms that it does not pay. `shapes`: of the program's buffers.
std::vector<std::shared_ptr<const TermProgram>> TermProgramsOf(const StageProgram& stage,
                                                               std::span<const BufferShape> shapes);

}  // namespace warpwright::core
