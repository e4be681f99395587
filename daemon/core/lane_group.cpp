#include "core/lane_group.h"

#include <algorithm>

namespace warpwright::core {
namespace {

// Sizes are not bounded: positions wrap, and what is out of bounds is found to be. A sum that wraps does so for all
// lanes between two whose sums are within bounds, so that the least and the largest speak for all.
int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t MultiplyAdd(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t FloorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t ValueOf(const PositionTerm& term, int64_t variable) {
  if (term.part == Affine::Part::kWhole) return variable;
  const int64_t quotient = FloorQuotient(variable, term.modulus);
  return term.part == Affine::Part::kQuotient ? quotient : variable - quotient * term.modulus;
}

}  // namespace

LaneGroup::LaneGroup(const StageProgram& stage, std::span<const BufferShape> shapes)
    : stage_(stage),
      shapes_(shapes),
      variables_(stage.extents.size()),
      parts_(stage.positions.size()),
      reads_(stage.reads.size()) {
  for (size_t r = 0; r < reads_.size(); ++r)
    reads_[r].direct = std::all_of(stage.reads[r].at.begin(), stage.reads[r].at.end(), [&](const auto& at) {
      return !at.gathered && stage.positions[at.index].divisor == 1;
    });
}

void LaneGroup::SetRun(int64_t first, int64_t count) {
  count_ = count;
  std::array<int64_t, kMaxVariables> at = {};
  const size_t rank = stage_.extents.size();
  for (size_t v = rank; v-- > 0;) {
    at[v] = first % stage_.extents[v];
    first /= stage_.extents[v];
  }
  for (int64_t l = 0; l < count;) {  // row by row
    const int64_t row = rank == 0 ? count : std::min(count - l, stage_.extents[rank - 1] - at[rank - 1]);
    for (size_t v = 0; v + 1 < rank; ++v) std::fill_n(variables_[v].begin() + l, row, at[v]);
    for (int64_t i = 0; rank > 0 && i < row; ++i) variables_[rank - 1][l + i] = at[rank - 1] + i;
    l += row;
    if (rank > 0) at[rank - 1] = 0;
    for (size_t v = rank; v > 1 && ++at[v - 2] == stage_.extents[v - 2]; --v) at[v - 2] = 0;
  }
  SetParts();
  SetReads();
}

void LaneGroup::Set(std::span<const int64_t> points) {
  count_ = static_cast<int64_t>(points.size());
  for (int64_t l = 0; l < count_; ++l) {
    int64_t rest = points[l];
    for (size_t v = stage_.extents.size(); v-- > 0;) {
      variables_[v][l] = rest % stage_.extents[v];
      rest /= stage_.extents[v];
    }
  }
  SetParts();
  SetReads();
}

void LaneGroup::SetParts() {
  for (size_t p = 0; p < parts_.size(); ++p) {
    const Position& position = stage_.positions[p];
    Part& part = parts_[p];
    std::fill_n(part.lanes.begin(), count_, position.constant);
    for (uint32_t t = position.first; t < position.shared; ++t) {
      const PositionTerm& term = stage_.terms[t];
      const Lanes<int64_t>& variable = variables_[term.variable];
      if (term.part == Affine::Part::kWhole)
        for (int64_t l = 0; l < count_; ++l) part.lanes[l] = MultiplyAdd(part.lanes[l], variable[l], term.coefficient);
      else
        for (int64_t l = 0; l < count_; ++l)
          part.lanes[l] = MultiplyAdd(part.lanes[l], ValueOf(term, variable[l]), term.coefficient);
    }
    const auto [low, high] = std::minmax_element(part.lanes.begin(), part.lanes.begin() + count_);
    part.low = *low, part.high = *high;
  }
}

void LaneGroup::SetReads() {
  for (size_t r = 0; r < reads_.size(); ++r) {
    FlatRead& flat = reads_[r];
    if (!flat.direct) continue;
    const CompiledRead& read = stage_.reads[r];
    const auto& strides = shapes_[read.buffer].strides;
    std::fill_n(flat.lanes.begin(), count_, 0);
    for (size_t i = 0; i < read.at.size(); ++i) {
      const Part& part = parts_[read.at[i].index];
      for (int64_t l = 0; l < count_; ++l) flat.lanes[l] = MultiplyAdd(flat.lanes[l], part.lanes[l], strides[i]);
    }
    flat.uniform = flat.contiguous = true;
    for (int64_t l = 1; l < count_; ++l) {
      flat.uniform = flat.uniform && flat.lanes[l] == flat.lanes[0];
      flat.contiguous = flat.contiguous && flat.lanes[l] == WrappingAdd(flat.lanes[l - 1], 1);
    }
  }
}

int64_t LaneGroup::Shared(const Position& position) const {
  int64_t sum = 0;
  for (uint32_t t = position.shared; t < position.end; ++t) {
    const PositionTerm& term = stage_.terms[t];
    sum = MultiplyAdd(sum, ValueOf(term, shared_[term.variable]), term.coefficient);
  }
  return sum;
}

void LaneGroup::Coordinates(uint32_t index, Lanes<int64_t>& out) const {
  const Position& position = stage_.positions[index];
  const int64_t shared = Shared(position);
  for (int64_t l = 0; l < count_; ++l) out[l] = WrappingAdd(parts_[index].lanes[l], shared);
  if (position.divisor == 1) return;
  for (int64_t l = 0; l < count_; ++l) out[l] = FloorQuotient(out[l], position.divisor);
}

int64_t LaneGroup::Restrict(std::span<const CompiledGuard> guards, Lanes<uint8_t>& mask) const {
  for (const CompiledGuard& guard : guards) {
    const Position& position = stage_.positions[guard.position];
    const Part& part = parts_[guard.position];
    const int64_t shared = Shared(position);
    const auto holds = [&](int64_t numerator) {
      const int64_t value = FloorQuotient(numerator, position.divisor);
      return value * position.divisor == numerator && value >= guard.low && value < guard.high;
    };
    const int64_t low = WrappingAdd(part.low, shared), high = WrappingAdd(part.high, shared);
    if (part.low == part.high) {  // one answer for all lanes
      if (!holds(low)) return 0;
      continue;
    }
    if (position.divisor == 1 && low <= high && low >= guard.low && high < guard.high) continue;
    for (int64_t l = 0; l < count_; ++l)
      if (!holds(WrappingAdd(part.lanes[l], shared))) mask[l] = 0;
  }
  return std::count(mask.begin(), mask.begin() + count_, 1);
}

LaneGroup::Place LaneGroup::PlaceOf(uint32_t index) const {
  const FlatRead& flat = reads_[index];
  if (!flat.direct) return {};
  const CompiledRead& read = stage_.reads[index];
  const BufferShape& shape = shapes_[read.buffer];
  int64_t offset = 0;
  for (size_t i = 0; i < read.at.size(); ++i) {
    const Part& part = parts_[read.at[i].index];
    const int64_t shared = Shared(stage_.positions[read.at[i].index]);
    const int64_t low = WrappingAdd(part.low, shared), high = WrappingAdd(part.high, shared);
    if (low < 0 || low >= shape.extents[i] || high < 0 || high >= shape.extents[i]) return {};
    offset = MultiplyAdd(offset, shared, shape.strides[i]);
  }
  return {&flat.lanes, offset, flat.uniform, flat.contiguous};
}

}  // namespace warpwright::core
