#include "lift/indexed_extents.h"

#include <algorithm>
#include <map>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::lift {

using core::Affine;
using core::Size;
using core::Sizes;
using core::Stage;

namespace {

bool Mentions(const Affine& position, core::VariableId variable) {
  return std::any_of(position.terms.begin(), position.terms.end(),
                     [&](const Affine::Term& term) { return term.variable == variable; });
}

bool IsAlone(const Affine& position, core::VariableId variable) {
  return position.terms.size() == 1 && position.terms[0].variable == variable &&
         position.terms[0].part == Affine::Part::kWhole && core::IsNumber(position.terms[0].coefficient, 1) &&
         core::IsNumber(position.constant, 0) && core::IsNumber(position.divisor, 1);
}

// visit(position, extent) for each coordinate of what the stage reads and writes.
template <typename Visit>
void ForEachCoordinate(const Stage& stage, const ShapeOfTensor& shape_of, const Visit& visit) {
  if (const auto* shape = stage.output ? shape_of(stage.name, false) : nullptr)
    for (size_t d = 0; d < shape->size(); ++d)
      visit(stage.at.empty() ? core::AffineOf(static_cast<core::VariableId>(d)) : stage.at[d], (*shape)[d]);
  for (const core::Node& node : stage.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    const auto* shape = read != nullptr ? shape_of(read->tensor, read->stage) : nullptr;
    if (shape == nullptr || shape->size() != read->at.size()) continue;
    for (size_t d = 0; d < shape->size(); ++d)
      if (const auto* position = std::get_if<Affine>(&read->at[d])) visit(*position, (*shape)[d]);
  }
}

bool IsName(const Size& size) { return size.Variables() == std::vector<std::string>{size.text()}; }

bool AreEqual(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
}

}  // namespace

IndexedExtents ExtentsIndexedBy(const Stage& stage, core::VariableId variable, const ShapeOfTensor& shape_of) {
  IndexedExtents extents;
  ForEachCoordinate(stage, shape_of, [&](const Affine& position, const Size& extent) {
    if (IsAlone(position, variable)) extents.own.push_back(extent);
    else if (Mentions(position, variable)) extents.other.push_back(extent);
  });
  return extents;
}

std::vector<Size> ExtentsAt(const Stage& stage, const Affine& position, const ShapeOfTensor& shape_of) {
  std::vector<Size> extents;
  ForEachCoordinate(stage, shape_of, [&](const Affine& at, const Size& extent) {
    if (at == position) extents.push_back(extent);
  });
  return extents;
}

bool IndexedExtentSolver::Has(const Size& size, const std::vector<int64_t>& values) const {
  for (size_t j = 0; j < shapes_.size(); ++j) {
    const auto value = size.Evaluate(shapes_[j]);
    if (!value || *value != values[j]) return false;
  }
  return true;
}

std::optional<Size> IndexedExtentSolver::Solve(const std::vector<int64_t>& values, const IndexedExtents& of) const {
  const auto varies = [&](const Size& size) {
    const auto names = size.Variables();
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return varying_.contains(name); });
  };
  const bool equal = AreEqual(values);
  for (const Size& size : of.own)
    if (varies(size) && (equal || IsName(size)) && Has(size, values)) return size;
  if (equal) return std::nullopt;
  for (const core::SizeSolver::Atom& atom : all_.atoms())
    if (atom.values == values) return atom.size;
  std::vector<Size> known = of.own;
  known.insert(known.end(), of.other.begin(), of.other.end());
  std::vector<Sizes> shapes(shapes_.size());
  for (const Size& size : known)
    for (const std::string& name : size.Variables())
      for (size_t j = 0; j < shapes.size(); ++j)
        if (const auto found = shapes_[j].find(name); found != shapes_[j].end()) shapes[j].insert(*found);
  if (shapes.empty() || shapes[0].empty()) return std::nullopt;
  return core::SizeSolver(std::move(shapes), known).Solve(values);
}

}  // namespace warpwright::lift
