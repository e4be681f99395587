// From a walked statement to nodes of a core::Stage, with every index fitted as an affine function of the statement's
// variables. Sizes are plain numbers here; unify.h makes them expressions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/computation.h"
#include "lift/coordinates.h"
#include "lift/padded_fit.h"
#include "lift/skeleton.h"

namespace warpwright::lift {

// What a position can read: an argument of the entry, or an intermediate tensor.
struct ReadTarget {
  std::string name;
  bool stage = false;
  std::vector<int64_t> shape;
};

// Of an element of an intermediate, along one of its coordinates: how many of the window's places
// [step * coordinate - before, step * coordinate - before + length) are inside of [0, extent).
struct CountedWindow {
  size_t coordinate = 0;
  int64_t step = 1, before = 0, length = 1, extent = 0;
  int64_t CountAt(int64_t at) const {
    return std::min(step * at - before + length, extent) - std::max<int64_t>(step * at - before, 0);
  }
  bool operator==(const CountedWindow&) const = default;
};

// One coordinate of a read, by row.
struct Slot {
  Column values;
  int64_t extent = 0;  // of the tensor's dimension
};

class Emitter {
 public:
  // `scalars`: names by position in the signature.
  Emitter(const std::map<uint16_t, std::string>& scalars, std::vector<core::Node>& nodes)
      : scalars_(scalars), nodes_(nodes) {}

  // The slots of one read of the walked statement and where it reads; to be called for every read before Fit.
  void AddRead(const Position* position, ReadTarget target, std::vector<Slot> slots);
  // Fits every slot over the variables' columns (variable k is x[k]).
  Fitted<void> Fit(const Columns& x);
  // Is there a digit that takes two values, the second one not to its end? So are two ranges with origins of their own.
  bool HasDoubtfulDigits(const std::vector<int64_t>& extents) const;
  // 0 <= coordinate < extent for every slot that varies with the variables from `first` on, each once, in the order of
  // the reads.
  std::vector<IntegerGuard> Bounds(size_t first) const;
  // The windows over which the reductions run that are read; behind Fit. Means over what is inside divide by counts.
  void CountBy(const Position* read, const std::vector<CountedWindow>& windows);
  // Of what was read: windows that move with one of the first `fixed` variables, each place counted by a later one of
  // the extents.
  std::vector<CountedWindow> WindowsOf(size_t fixed, const std::vector<int64_t>& extents) const;
  Fitted<core::NodeId> Emit(const Position& position);
  // A factor or term that may vary with the position: a constant, or an index as a number.
  Fitted<core::NodeId> EmitNumbers(const std::vector<double>& values);

  struct Read {
    ReadTarget target;
    std::vector<Slot> slots;
    std::vector<AffineFit> fits;
    std::vector<std::optional<std::variant<GridFit, PaddedFit>>> others;  // of slots that are not affine: instead
  };
  const Read* ReadOf(const Position& position) const;  // nullptr: it reads nothing

 private:
  core::NodeId EmitLine(const Line& line);
  core::NodeId EmitBilinear(const Bilinear& bilinear);
  core::NodeId EmitVariable(size_t k);
  core::NodeId EmitCount(const CountedWindow& window);
  std::optional<core::NodeId> EmitReciprocalCount(const std::vector<double>& values);
  std::optional<core::NodeId> EmitPowers(const std::vector<double>& values);
  std::optional<core::NodeId> EmitTimesVariable(const std::vector<double>& values);
  core::NodeId Add(core::Node node);
  core::NodeId Combine(core::ReduceOp op, std::vector<core::NodeId> args);
  core::NodeId EmitSize(int64_t value) { return Add(core::SizeValue{core::Size::Constant(value)}); }
  core::NodeId EmitGrid(const GridFit& grid);
  core::NodeId EmitPadded(const PaddedFit& padded);
  Fitted<core::NodeId> EmitRead(const Position& position);
  Fitted<core::NodeId> EmitLinear(const Position& position);
  Fitted<core::NodeId> EmitProduct(const Position& position);
  Fitted<core::NodeId> EmitOperation(const Position& position);

  const std::map<uint16_t, std::string>& scalars_;
  std::vector<core::Node>& nodes_;
  std::vector<std::pair<const Position*, Read>> reads_;  // in the order of the walk
  Columns x_;
  std::vector<CountedWindow> windows_;  // by variable
};

core::Affine ToAffine(const AffineFit& fit);
core::Guard ToGuard(const IntegerGuard& guard);

}  // namespace warpwright::lift
