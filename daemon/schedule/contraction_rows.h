// Rows of a product's results that are reduced where they are made: the least channel of every pixel, a softmax over
// the columns, in the kernel that computes the product, for entries that have no memory for its results.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "schedule/contraction_tile.h"
#include "schedule/row_plan.h"

namespace warpwright::schedule {

struct ProductRows {
  Problem problem;        // the product's stage is a tensor in it
  std::string product;    // that tensor
  RowPlan plan;           // of the other stages; its columns are the contraction's n
  VariableMap variables;  // the product's, by the plan's
};

// Whether a stage of the group reads a tensor that the group writes: another block may have written it already.
bool ReadsWhatItWrites(const Problem& problem, const Group& group);

// Of a group with one product of matrices, and reductions of rows of its results.
std::variant<core::RewriteRefusal, ContractionGroup> RowsOfProduct(const Problem& problem, const Group& group);

// Tiles for such rows; a warp has all columns of its rows.
struct RowTiles {
  const TileShape* shape = nullptr;
  bool whole = false;     // a tile has all columns, else they come one tile after the other, in every pass anew
  std::string condition;  // of the sizes for which it has; empty: always
};
// None: the rows are longer than the tiles, and the problem still has other ways.
std::optional<RowTiles> RowTilesOf(std::span<const TileShape> shapes, const Problem& problem,
                                   const ContractionGroup& group);

}  // namespace warpwright::schedule
