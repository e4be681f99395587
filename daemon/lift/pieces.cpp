#include "lift/pieces.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace warpwright::lift {
namespace {

constexpr size_t kMostParts = 32;
constexpr size_t kMostPartsOfDimension = 5;

enum Way : size_t { kSigns, kCoefficients, kSidesOfOthers, kCorners, kSlopes, kFirstBorder };

// Outside `box`: below or above it in the first dimension that is outside, from 1 on.
uint64_t SideOf(const Box& box, const std::vector<Column>& coordinates, size_t row) {
  for (size_t d = 0; d < coordinates.size(); ++d) {
    if (coordinates[d][row] < box.low[d]) return 1 + 2 * d;
    if (coordinates[d][row] > box.high[d]) return 2 + 2 * d;
  }
  return 0;
}

// By coordinate in dimension `d`: what each slot grows by to the next one, in all rows that have a next one; of slots
// that grow otherwise from line to line nothing.
std::map<int64_t, std::vector<int64_t>> SlopesAlong(const Column& elements, const Column& coordinate, int64_t stride,
                                                    const std::vector<Column>& slots) {
  std::map<int64_t, std::vector<int64_t>> slopes;
  std::vector<bool> differs(slots.size(), false);
  for (size_t row = 0; row < elements.size(); ++row) {
    const auto next =
        std::lower_bound(elements.begin() + static_cast<std::ptrdiff_t>(row), elements.end(), elements[row] + stride);
    if (next == elements.end() || *next != elements[row] + stride) continue;
    const auto other = static_cast<size_t>(next - elements.begin());
    if (coordinate[other] != coordinate[row] + 1) continue;
    std::vector<int64_t> here;
    for (const Column& slot : slots) here.push_back(slot[other] - slot[row]);
    const auto [known, added] = slopes.emplace(coordinate[row], here);
    for (size_t k = 0; !added && k < slots.size(); ++k)
      if (known->second[k] != here[k]) differs[k] = true;
  }
  for (auto& [position, slope] : slopes)
    for (size_t k = 0; k < slots.size(); ++k)
      if (differs[k]) slope[k] = 0;
  return slopes;
}

}  // namespace

std::vector<Column> CoordinatesOf(const Column& elements, const std::vector<int64_t>& shape) {
  std::vector<Column> coordinates(shape.size(), Column(elements.size()));
  for (size_t row = 0; row < elements.size(); ++row) {
    int64_t rest = elements[row];
    for (size_t d = shape.size(); d-- > 0;) {
      coordinates[d][row] = d == 0 ? rest : rest % std::max<int64_t>(shape[d], 1);
      rest /= std::max<int64_t>(shape[d], 1);
    }
  }
  return coordinates;
}

Box BoxOf(const Piece& piece, const std::vector<int64_t>& shape) {
  Box box;
  size_t volume = 1;
  for (const Column& column : CoordinatesOf(piece.elements, shape)) {
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    box.low.push_back(*low);
    box.high.push_back(*high);
    volume *= static_cast<size_t>(*high - *low + 1);
  }
  return volume == piece.elements.size() ? box : Box{};
}

std::vector<uint64_t> PartsBySlopes(const Column& elements, const std::vector<int64_t>& shape,
                                    const std::vector<Column>& slots) {
  std::vector<uint64_t> parts(elements.size(), 0);
  const std::vector<Column> coordinates = CoordinatesOf(elements, shape);
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    const auto slopes = SlopesAlong(elements, coordinates[d], stride, slots);
    std::vector<int64_t> begins;  // of parts but the first
    std::optional<std::vector<int64_t>> slope;
    for (const auto& [position, here] : slopes) {
      if (!slope) {
        slope = here;
      } else if (*slope != here) {
        begins.push_back(position + 1);
        slope.reset();
      }
    }
    if (begins.size() >= kMostPartsOfDimension) continue;
    for (size_t row = 0; row < parts.size(); ++row) {
      const auto part = std::upper_bound(begins.begin(), begins.end(), coordinates[d][row]) - begins.begin();
      parts[row] = parts[row] * kMostPartsOfDimension + static_cast<uint64_t>(part);
    }
  }
  return parts;
}

std::vector<uint64_t> CornersOf(const Column& elements, const std::vector<int64_t>& shape) {
  std::vector<uint64_t> corners(elements.size(), 0);
  uint64_t possible = 1;
  for (const Column& column : CoordinatesOf(elements, shape)) {
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    if (*high - *low < 2) continue;
    const int64_t least = *low, most = *high;
    if (!std::all_of(column.begin(), column.end(), [&](int64_t v) { return v == least || v == most; })) continue;
    for (size_t row = 0; row < corners.size(); ++row) corners[row] = 2 * corners[row] + (column[row] == most ? 1 : 0);
    possible *= 2;
  }
  if (std::set<uint64_t>(corners.begin(), corners.end()).size() == possible) corners.assign(corners.size(), 0);
  return corners;
}

bool PieceDivision::MayDivideBySlopes(const Piece& piece) { return piece.divided <= kSlopes; }

// Structure with numbers of terms and coefficients, without elements; `coarse`: of coefficients the sign alone, and no
// constants.
uint64_t PieceDivision::Detail(FormId id, bool coarse) {
  std::map<FormId, uint64_t>& known = coarse ? coarse_details_ : details_;
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const FormNode node = forms_[id];
  uint64_t hash = node.signature ^ (uint64_t{node.count} << 32);
  if (!coarse) hash ^= std::hash<double>{}(node.value);
  const bool set = node.op == FormOp::kMax || node.op == FormOp::kMin;  // in whatever order its things were made
  for (const FormTerm& term : forms_.terms(id)) {
    const uint64_t detail = Detail(term.node, coarse);
    if (set) {
      hash += (detail ^ (detail >> 29)) * 0xbf58476d1ce4e5b9u;
      continue;
    }
    hash = hash * 0x9e3779b97f4a7c15u + detail;
    const double coefficient = coarse ? std::copysign(1, term.coefficient) : term.coefficient;
    if (node.op != FormOp::kArg) hash ^= std::hash<double>{}(coefficient) + (hash << 6);
  }
  return known[id] = hash;
}

std::vector<Piece> PieceDivision::Divide(const Piece& piece, const std::vector<int64_t>& shape,
                                         const std::vector<Box>& boxes, const std::vector<Column>& slots) {
  const std::vector<Column> coordinates = CoordinatesOf(piece.elements, shape);
  const size_t rows = piece.elements.size();
  for (size_t way = piece.divided; way < kFirstBorder + shape.size(); ++way) {
    std::vector<uint64_t> keys(rows, 0);
    if (way == kSigns || way == kCoefficients) {
      for (size_t row = 0; row < rows; ++row) keys[row] = Detail(piece.forms[row], way == kSigns);
    } else if (way == kSidesOfOthers) {
      for (const Box& box : boxes)
        for (size_t row = 0; row < rows; ++row)
          keys[row] = keys[row] * (2 * shape.size() + 1) + SideOf(box, coordinates, row);
    } else if (way == kCorners) {
      keys = CornersOf(piece.elements, shape);
    } else if (way == kSlopes) {
      if (!slots.empty()) keys = PartsBySlopes(piece.elements, shape, slots);
    } else {
      const Column& column = coordinates[way - kFirstBorder];
      const auto [low, high] = std::minmax_element(column.begin(), column.end());
      for (size_t row = 0; row < rows; ++row)
        keys[row] = *high - *low < 2 ? 0 : column[row] == *low ? 1 : column[row] == *high ? 2 : 0;
    }
    std::map<uint64_t, Piece> by_key;
    for (size_t row = 0; row < rows && by_key.size() <= kMostParts; ++row) {
      Piece& part = by_key[keys[row]];
      part.elements.push_back(piece.elements[row]);
      part.forms.push_back(piece.forms[row]);
    }
    if (by_key.size() < 2 || by_key.size() > kMostParts) continue;
    std::vector<Piece> parts;
    for (auto& [key, part] : by_key) parts.push_back(std::move(part));
    for (Piece& part : parts) {
      part.buffer = piece.buffer;
      part.divided = way + 1;
    }
    std::sort(parts.begin(), parts.end(), [](const Piece& x, const Piece& y) { return x.elements[0] < y.elements[0]; });
    return parts;
  }
  return {};
}

}  // namespace warpwright::lift
