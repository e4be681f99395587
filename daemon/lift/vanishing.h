// Points at which a reduction's term is zero whatever the data are, so that nobody saw it: the force of a body on
// itself. A domain without them may be none that affine guards describe; with them it may be a box.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lift/coordinates.h"
#include "lift/emit.h"
#include "lift/form_graph.h"
#include "lift/skeleton.h"

namespace warpwright::lift {

class TermAtPoint {
 public:
  // All outlive this; `emitter` has fitted the body's reads.
  TermAtPoint(FormGraph& forms, const Emitter& emitter, const Position& body)
      : forms_(forms), emitter_(emitter), body_(body) {}
  bool IsZero(const std::vector<int64_t>& variables);

 private:
  FormId At(const Position& position, const std::vector<int64_t>& variables);  // 0: unknown
  FormId ReadAt(const Position& position, const std::vector<int64_t>& variables);
  FormId OperationAt(const Position& position, const std::vector<int64_t>& variables);

  FormGraph& forms_;
  const Emitter& emitter_;
  const Position& body_;
};

// The columns, and as further rows those points of the box [0, extents) of the last columns that are missing and for
// which `is_zero` holds, for each combination of the first `fixed` columns. Empty: the box is too large to be looked
// at.
std::vector<Column> WithVanishing(const Columns& columns, size_t fixed, const std::vector<int64_t>& extents,
                                  const std::function<bool(const std::vector<int64_t>&)>& is_zero);

}  // namespace warpwright::lift
