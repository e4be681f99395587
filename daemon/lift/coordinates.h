// Where the elements of an intermediate tensor lie, which counters its reductions run over, and which part of their box
// they cover: all from the integer positions that its terms touch.
//
// A cell is one element: a set of terms. A slot is a coordinate of one load in a term. Per row (term): its cell, and a
// value for each slot. Nothing here knows how the code computed a cell, so a naive and a tiled kernel give the same.
//   Coordinates of a cell: linear functions of the slots that are the same for all its terms (the row and the column of
// a product; output position = input position - dilation * tap), then the origins of windows for slots whose range
// moves from cell to cell, clipped at the borders or not.
//   Counters of a term: slots that coordinates and earlier counters do not determine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "lift/affine_fit.h"

namespace warpwright::lift {

template <typename T>
using Fitted = tl::expected<T, std::string>;  // else why not, in words

struct CellPoints {
  size_t cells = 0;
  std::vector<uint32_t> cell;  // of each row, ascending
  Columns slots;
  size_t rows() const { return cell.size(); }
};

struct CellCoordinates {
  std::vector<Column> of_cell;  // each from 0 on, without gaps of a common stride
  std::vector<int64_t> extents;
};
Fitted<CellCoordinates> ChooseCoordinates(const CellPoints& points);

struct Counters {
  std::vector<Column> of_row;
  std::vector<int64_t> extents;
};
// Which of two slots counts where one follows from the other: the taps of a window, which move with no cell, or the one
// that stands first, so that no extent decides: of a transposed convolution whose input is no longer than its window.
enum class CounterOrder : uint8_t { kTapsFirst, kAsTheyStand };
// `coordinates`: by row.
Fitted<Counters> ChooseCounters(const CellPoints& points, const Columns& coordinates,
                                CounterOrder order = CounterOrder::kTapsFirst);

// low <= value < high, and the division exact; over some columns.
struct IntegerGuard {
  AffineFit value;
  bool has_low = false, has_high = false;
  int64_t low = 0, high = 0;
  // Without this side, points would be let in that are not there. At another shape it may be otherwise, so sides that
  // are not needed are kept.
  bool needs_low = false, needs_high = false;
};
bool Holds(const std::vector<IntegerGuard>& guards, const std::vector<int64_t>& point);
// Guards under which the points of the box [0, extents) of the last columns, for each distinct combination of the
// first `fixed` columns, are exactly the rows. `bounds`: guards that hold for all rows and may explain it (positions
// inside their tensors); all of them are returned if they do, else differences of columns.
Fitted<std::vector<IntegerGuard>> ExplainDomain(const Columns& columns, size_t fixed,
                                                const std::vector<int64_t>& extents,
                                                const std::vector<IntegerGuard>& bounds);

}  // namespace warpwright::lift
