// What many instances of one statement have in common: their expressions walked in lockstep. Where a sum, product or
// extremum has several terms of one signature, each instance refers to a cell there: an element of an intermediate
// tensor, to be explained on its own. Cells at one position of the walk are of one class; classes that share a cell
// are one.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lift/affine_fit.h"
#include "lift/coordinates.h"
#include "lift/form_graph.h"
#include "lift/structure_order.h"

namespace warpwright::lift {

using CellId = uint32_t;

struct Cell {
  core::ReduceOp op = core::ReduceOp::kSum;
  uint64_t key = 0;             // of the position: the terms' signature
  std::vector<FormTerm> terms;  // of a sum: relative to the first one's coefficient
  int64_t empty_at = -1;        // of a sum without terms: the element that it is
};

class CellStore {
 public:
  CellId Intern(Cell cell);
  const Cell& operator[](CellId id) const { return cells_[id]; }
  size_t size() const { return cells_.size(); }
  void Join(CellId a, CellId b);
  CellId ClassOf(CellId id);  // its representative

 private:
  std::vector<Cell> cells_;
  std::vector<CellId> parent_;
  std::unordered_multimap<uint64_t, CellId> ids_;
};

// A position of the walk, with one entry for each row (instance) in its columns.
struct Position {
  enum class Kind : uint8_t {
    kConstant,
    kScalar,
    kLoad,
    kGather,
    kCell,
    kLinear,
    kProduct,
    kMax,
    kMin,
    kCall,
    kCompare,
    kAnd,
    kOr,
    kNot,
    kSelect
  };
  Kind kind = Kind::kConstant;
  uint8_t mode = 0;
  uint16_t buffer = 0;
  uint32_t line = 0;
  Column elements;                 // kLoad: index of the element; kCell: its id; kGather: the index's constant part
  std::vector<double> values;      // kConstant; kLinear: what is added
  std::vector<Position> children;  // kGather: what data adds to the index
  std::vector<std::vector<double>> coefficients;  // kLinear, kGather: of each child; kProduct: exponents
};

// Sums, maxima and minima that are written out term by term instead of as reductions, with the signature of their
// terms: what could not be explained as one.
using WrittenOut = std::set<std::pair<core::ReduceOp, uint64_t>>;

class Lockstep {
 public:
  Lockstep(const FormGraph& forms, CellStore& cells, const WrittenOut& written_out)
      : forms_(forms), cells_(cells), written_out_(written_out), order_(forms) {}
  // The rows have one signature.
  Fitted<Position> Walk(std::span<const FormId> rows);
  // Of a term of a cell, beside its coefficient.
  Fitted<Position> WalkTerms(std::span<const FormTerm> rows);

 private:
  Fitted<Position> WalkRows(std::span<const FormId> rows);
  Fitted<Position> WalkMultiples(std::span<const FormId> rows);
  Fitted<Position> WalkSum(std::span<const FormId> rows);
  Fitted<Position> WalkSet(std::span<const FormId> rows, Position::Kind kind);
  Fitted<void> WalkTermByTerm(const std::vector<std::span<const FormTerm>>& sets, Position& position);
  Fitted<Position> WalkProduct(std::span<const FormId> rows);
  Fitted<Position> WalkGather(std::span<const FormId> rows);
  Fitted<void> WalkArguments(std::span<const FormId> rows, Position& position);
  Position CellsOf(std::vector<Cell> cells);

  const FormGraph& forms_;
  CellStore& cells_;
  const WrittenOut& written_out_;
  StructureOrder order_;
  // Shared expressions are walked wherever they occur, which may be exponentially often.
  uint64_t positions_ = 0, values_ = 0;
};

// The loads and cells of a position, in the order of the walk.
void CollectReads(const Position& position, std::vector<const Position*>& reads);

}  // namespace warpwright::lift
