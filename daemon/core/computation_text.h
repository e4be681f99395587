// A Computation as people write it:
//
//   t0[i0] = max_{r0<C} inp[i0,r0]
//   t1[i0] = sum_{r0<C} exp(inp[i0,r0] - t0[i0])
//   out[i0,i1] = exp(inp[i0,i1] - t0[i0]) / t1[i0]  for i0<N, i1<C
//
// i0, i1, ... run over the stage's elements, r0, r1, ... over a reduction's terms; a condition follows "where". An
// intermediate stage has no ranges where the next output's are meant. Positions divide and take remainders as C does.
// x' is what an argument x contains afterwards, if its content before is read as well. Assumptions end the text, each
// after "# ".
#pragma once

#include <string>

#include "core/computation.h"

namespace warpwright::core {

std::string ComputationText(const Computation& computation);
std::string StageText(const Computation& computation, const Stage& stage);  // one line, without its end
// One line: the outputs' formulas, then those of the stages that they read, as many as fit into `limit` characters.
std::string Headline(const Computation& computation, size_t limit = 160);

}  // namespace warpwright::core
