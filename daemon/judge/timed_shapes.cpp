#include "judge/timed_shapes.h"

#include <algorithm>
#include <iterator>

namespace warpwright::judge {
namespace {

constexpr int64_t kSmall = 12;  // taps, strides, paddings and flags are no larger

// Names that stand as they are in the shapes of several buffers: a batch, channels. Taps are those of weights alone.
bool IsShared(const core::KernelSpec& spec, const std::string& name) {
  size_t buffers = 0;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      buffers += std::any_of(buffer->shape.begin(), buffer->shape.end(),
                             [&](const core::Expression& extent) { return extent.text() == name; });
  return buffers > 1;
}

// "G * Cg": whole groups by the shape itself, whatever the groups are.
bool IsFactorOfExtent(const core::KernelSpec& spec, const std::string& name) {
  bool factor = false;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (const core::Expression& extent : buffer->shape) {
        const std::vector<std::string> names = extent.Variables();
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        if (extent.text().find_first_of("/%") != std::string::npos) return false;
        factor |= extent.text().find('*') != std::string::npos;
      }
  return factor;
}

// What several buffers have as a dimension and is a multiple of a number that none has, and no window, stays one: of
// channels of groups.
void KeepGroups(const core::KernelSpec& spec, const SizeRelations& relations, const core::Case& timed,
                Scalars& scalars) {
  for (const auto& [name, value] : timed.scalars) {
    const int64_t* groups = std::get_if<int64_t>(&value);
    if (groups == nullptr || *groups < 2 || *groups > kSmall || relations.IsOfWindow(name) || IsDimension(spec, name) ||
        IsFactorOfExtent(spec, name))
      continue;
    for (auto& [multiple, size] : scalars) {
      int64_t* const number = std::get_if<int64_t>(&size);
      if (number == nullptr || !IsShared(spec, multiple) || relations.Has(multiple)) continue;
      if (std::get<int64_t>(timed.scalars.at(multiple)) % *groups == 0)
        *number = (*number + *groups - 1) / *groups * *groups;
    }
  }
}

}  // namespace

std::vector<Scalars> ShapesLike(const core::KernelSpec& spec, const core::Case& timed, const SizeRelations& relations,
                                SmallSizes small) {
  // Terms of a sum multiply: batches and channels are few, and three extents smaller than one or two. In the last row
  // all are odd, where no pair of neighbours is aligned, and no smaller than eight channels of a group.
  constexpr int64_t kFew[][6] = {
      {2, 3, 4, 5, 6, 7}, {3, 2, 5, 4, 7, 6}, {2, 4, 3, 6, 5, 8}, {4, 3, 2, 5, 6, 9}, {9, 11, 13, 9, 11, 13}};
  constexpr int64_t kExtents[][4] = {{7, 9, 8, 10}, {9, 6, 11, 7}, {6, 8, 7, 11}, {8, 11, 9, 6}, {7, 9, 11, 5}};
  constexpr int64_t kSmallExtents[][4] = {{4, 5, 6, 7}, {5, 4, 7, 6}, {6, 7, 4, 5}, {4, 6, 5, 7}, {5, 7, 3, 9}};
  const size_t rows = std::size(kFew) - (small == SmallSizes::kStay ? 0 : 1);  // a form is told apart by the others
  std::vector<Scalars> shapes;
  if (spec.cases.size() < 2) return shapes;
  const auto stays = [&](const std::string& name, const core::ScalarValue& value) {
    const int64_t* number = std::get_if<int64_t>(&value);
    return number != nullptr && *number <= kSmall && !relations.Has(name) &&
           (small == SmallSizes::kStay || !IsShared(spec, name));
  };
  const bool told = std::any_of(timed.scalars.begin(), timed.scalars.end(), [&](const auto& scalar) {
    const std::vector<int64_t> values = ValuesInCases(spec, scalar.first);
    return stays(scalar.first, scalar.second) &&
           std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != values[0]; });
  });
  const auto free = std::count_if(timed.scalars.begin(), timed.scalars.end(), [&](const auto& scalar) {
    return std::holds_alternative<int64_t>(scalar.second) && !stays(scalar.first, scalar.second) &&
           !relations.Has(scalar.first) && !IsShared(spec, scalar.first);
  });
  for (size_t k = 0; told && k < rows; ++k) {
    Scalars scalars = timed.scalars;
    std::map<std::vector<int64_t>, int64_t> few, extents;  // sizes that are equal in all cases stay equal
    for (const core::Argument& argument : spec.args) {
      const auto found = scalars.find(argument.name);
      int64_t* value = found == scalars.end() ? nullptr : std::get_if<int64_t>(&found->second);
      if (value == nullptr || relations.Has(argument.name) || stays(argument.name, found->second)) continue;
      const bool shared = IsShared(spec, argument.name);
      auto& chosen = shared ? few : extents;
      const auto& some = free > 2 ? kSmallExtents[k] : kExtents[k];
      const int64_t next = shared ? kFew[k][few.size() % 6] : some[extents.size() % 4];
      *value = chosen.emplace(ValuesInCases(spec, argument.name), next).first->second;
    }
    if (k + 1 < std::size(kFew)) KeepGroups(spec, relations, timed, scalars);
    shapes.push_back(std::move(scalars));
  }
  return shapes;
}

}  // namespace warpwright::judge
