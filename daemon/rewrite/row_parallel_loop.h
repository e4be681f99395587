// One loop over the columns of a row, as row_parallel sees it: may its iterations be distributed over threads, and
// which of its variables are reductions?
//
// A variable that lives outside the loop and is written inside is one of
//   - a reduction: every use in the loop is part of an update with one associative operation (x += e, x = fmaxf(x, e),
//     if (e > x) x = e, ...), or of the pair of an arg-max: if (e > x) { x = e; index = c; };
//   - a temporary: each iteration writes it before it reads it, and nothing reads it after the loop.
// Anything else is carried from iteration to iteration, and the loop is refused.
//
// Memory: an element that an iteration writes may be read or written by the same iteration only. Elements are compared
// as polynomials in the iteration number.
#pragma once

#include <string>
#include <vector>

#include "rewrite/row_parallel_update.h"
#include "rewrite/structural.h"

namespace warpwright::rewrite {

struct Reduction {
  ReductionKind kind = ReductionKind::kSum;
  std::string symbol, name, type;                    // of the variable; type without const
  std::string index_symbol, index_name, index_type;  // kArgMax, kArgMin
  bool last_wins = false;  // among equal values the one with the largest index: >= in the source
  bool dependent = false;  // the type is a template parameter
  int line = 0;
  // The loop behind which partial results are combined: the column loop, or a serial loop around it that only adds to
  // them, so that one combination serves all its iterations.
  const source::Node* combined_behind = nullptr;
};

struct ColumnLoop {
  source::CountedLoop loop;
  std::vector<Reduction> reductions;
  std::vector<MemoryAccess> accesses;
  bool unit_stride =
      false;  // some access in the innermost loops advances by a constant number of elements per iteration
};

// Refuses with the first reason, in source order.
Checked<ColumnLoop> AnalyzeColumnLoop(const source::Ast& ast, const AnalyzedFunction& kernel, const source::Node& loop);

// The symbol of the iteration number in index polynomials.
std::string IterationSymbol(const source::CountedLoop& loop);

}  // namespace warpwright::rewrite
