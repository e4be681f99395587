// Outputs whose elements are made of neighbours in their inputs, as stencils, filters and windows of fixed size are:
// what a thread that computes a small tile of them must hold.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schedule/dimensions.h"
#include "schedule/edges.h"
#include "schedule/parts.h"

namespace warpwright::schedule {

// Elements of a tensor around an output: positions stride * index + offset along the outputs' columns and, if `row_at`
// is a dimension of the tensor, along their rows; other coordinates are those of `others`.
struct Window {
  std::string tensor;
  core::DType dtype = core::DType::kF32;
  std::vector<core::Affine> others;  // by dimension; of the columns' and the rows' 0
  std::optional<size_t> row_at;
  int64_t row_stride = 1, col_stride = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;  // the first and the last offset
  Edge edge = Edge::kClamped;
  bool packs = false;  // neighbours lie where those of the outputs do
  size_t places = 1;   // reads of different places

  int64_t RowCount(int rows) const { return row_at ? row_stride * (rows - 1) + bottom - top + 1 : 1; }
  int64_t ColumnCount(int width) const { return col_stride * (width - 1) + right - left + 1; }
};
// Where a read finds its element: the window, and its offsets there.
struct WindowPlace {
  size_t window = 0;
  int64_t row = 0, col = 0;
};

struct WindowOutput {
  BufferPart inside;
  bool whole = true;                // every element is written
  Edge edge = Edge::kClamped;       // what positions beyond an edge are
  std::vector<BufferPart> borders;  // that the inside's formula does not hold for
};

struct WindowPlan {
  core::Computation form;  // without reductions
  std::vector<core::Size> extents;
  core::VariableId col = 0;
  std::optional<core::VariableId> row;
  std::vector<WindowOutput> outputs;
  std::vector<Window> windows;
  int rows = 1, width = 1;  // of a thread's tile
  Packing packing;

  std::optional<WindowPlace> PlaceOf(const core::TensorRead& read, Edge edge) const;
};
using WindowPlanOutcome = std::variant<core::RewriteRefusal, WindowPlan>;

struct WindowChoice {
  int rows = 0;           // of a thread's tile; 0: as many as registers and the chip allow
  int vector_bytes = 16;  // of the widest access
};
WindowPlanOutcome PlanWindows(const Problem& problem, const Group& group, const WindowChoice& choice);

}  // namespace warpwright::schedule
