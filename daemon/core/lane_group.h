// A group of lanes: which elements of a stage's box it holds, and what the stage's positions are for them.
//
// A position's numerator is a sum of terms of single variables. What the stage's own variables add to it is worked out
// once for a group; only what the reductions' variables add, which is the same in all lanes, changes from term to term.
#pragma once

#include <array>
#include <span>

#include "core/computation_program.h"
#include "core/computation_walk.h"

namespace warpwright::core {

template <typename T>
using Lanes = std::array<T, kLanes>;

class LaneGroup {
 public:
  // `shapes`: of the program's buffers. Both outlive it.
  LaneGroup(const StageProgram& stage, std::span<const BufferShape> shapes);

  // At most kLanes elements of the box, counted row by row: those from `first` on, or these.
  void SetRun(int64_t first, int64_t count);
  void Set(std::span<const int64_t> points);

  int64_t count() const { return count_; }
  const Lanes<int64_t>& variable(size_t index) const { return variables_[index]; }
  // Values of the reductions' variables, by VariableId.
  std::span<int64_t> shared() { return shared_; }

  void Coordinates(uint32_t position, Lanes<int64_t>& out) const;
  // How many lanes `guards` leave; they clear the mask's others.
  int64_t Restrict(std::span<const CompiledGuard> guards, Lanes<uint8_t>& mask) const;

  // Where a read finds its elements in a buffer, if all its positions are whole and within the tensor in every lane.
  struct Place {
    const Lanes<int64_t>* lanes = nullptr;  // nullptr: not so
    int64_t offset = 0;                     // to be added
    bool uniform = false, contiguous = false;
  };
  Place PlaceOf(uint32_t read) const;

 private:
  struct Part {
    Lanes<int64_t> lanes;
    int64_t low = 0, high = 0;
  };
  struct FlatRead {
    bool direct = false, uniform = false, contiguous = false;
    Lanes<int64_t> lanes;
  };
  int64_t Shared(const Position& position) const;
  void SetParts();
  void SetReads();

  const StageProgram& stage_;
  std::span<const BufferShape> shapes_;
  int64_t count_ = 0;
  std::vector<Lanes<int64_t>> variables_;
  std::array<int64_t, kMaxVariables> shared_ = {};
  std::vector<Part> parts_;      // by position
  std::vector<FlatRead> reads_;  // by read
};

}  // namespace warpwright::core
