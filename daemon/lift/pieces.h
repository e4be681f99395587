// An output as pieces, each of which should be instances of one statement, and how a piece that is none is divided.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lift/affine_fit.h"
#include "lift/form_graph.h"

namespace warpwright::lift {

struct Piece {
  uint16_t buffer = 0;
  Column elements;  // ascending
  std::vector<FormId> forms;
  size_t divided = 0;  // how many ways of dividing were tried
};

// The coordinates of elements of a row-major array.
std::vector<Column> CoordinatesOf(const Column& elements, const std::vector<int64_t>& shape);

// Inclusive.
struct Box {
  std::vector<int64_t> low, high;
};

// Where along a dimension positions that are affine on both sides of it change their slope: for each row a number of
// its part. Where there are many such places (digits), or none, the dimension does not count.
std::vector<uint64_t> PartsBySlopes(const Column& elements, const std::vector<int64_t>& shape,
                                    const std::vector<Column>& slots);

// For each row the corner that it lies in, by dimensions in which the piece has two positions only, apart from each
// other; all one where every corner is there. Two opposite corners are affine in anything.
std::vector<uint64_t> CornersOf(const Column& elements, const std::vector<int64_t>& shape);

class PieceDivision {
 public:
  explicit PieceDivision(const FormGraph& forms) : forms_(forms) {}

  // By numbers of terms and signs, then by coefficients, then at the sides of other pieces of the output (`boxes`),
  // then by corners, where slopes of the positions that are read (`slots`) change, then at the borders of each
  // dimension. Each way is tried once; less than two parts: none helps.
  std::vector<Piece> Divide(const Piece& piece, const std::vector<int64_t>& shape, const std::vector<Box>& boxes,
                            const std::vector<Column>& slots);

  static bool MayDivideBySlopes(const Piece& piece);

 private:
  uint64_t Detail(FormId id, bool coarse);

  const FormGraph& forms_;
  std::map<FormId, uint64_t> details_, coarse_details_;
};

// The box of a piece that fills one; without one `low` is empty.
Box BoxOf(const Piece& piece, const std::vector<int64_t>& shape);

}  // namespace warpwright::lift
