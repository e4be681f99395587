#include "core/point_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr uint64_t kMostListed = uint64_t{1} << 22;  // points whose offsets are listed one by one

int64_t FloorBy(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t CeilBy(int64_t a, int64_t b) { return -FloorBy(-a, b); }

VariableSet VariablesIn(const Position& position, const std::vector<PositionTerm>& terms) {
  VariableSet set = 0;
  for (uint32_t i = position.first; i < position.end; ++i) set |= SetOf(terms[i].variable);
  return set;
}

// Some variables of a box, with what concerns them alone.
struct Component {
  VariableSet variables = 0;
  std::vector<std::pair<VariableId, int64_t>> box;
  std::vector<const CompiledGuard*> guards;
  std::vector<size_t> positions;
};

class Walk {
 public:
  Walk(const Component& component, const std::vector<PositionTerm>& terms) : component_(component), terms_(terms) {}

  // visit() at each point; `values` has the variables. False: the budget is used up.
  template <typename Visit>
  bool Each(uint64_t& budget, size_t depth, const Visit& visit) {
    for (const auto& [variable, extent] : component_.box) values_[variable] = 0;
    for (const auto& [variable, extent] : component_.box)
      if (extent == 0 && depth > 0) return true;
    for (;;) {
      if (budget-- == 0) return budget = 0, false;
      visit();
      size_t i = depth;
      while (i-- > 0) {
        const auto& [variable, extent] = component_.box[i];
        if (++values_[variable] < extent) break;
        values_[variable] = 0;
      }
      if (i == std::numeric_limits<size_t>::max()) return true;
    }
  }
  int64_t Numerator(const Position& position) const {
    int64_t sum = position.constant;
    for (uint32_t i = position.first; i < position.end; ++i) {
      const PositionTerm& term = terms_[i];
      int64_t value = values_[term.variable];
      if (term.part == Affine::Part::kQuotient) value = FloorBy(value, term.modulus);
      if (term.part == Affine::Part::kRemainder) value -= FloorBy(value, term.modulus) * term.modulus;
      sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                                 static_cast<uint64_t>(value) * static_cast<uint64_t>(term.coefficient));
    }
    return sum;
  }
  bool Holds() const {
    return std::all_of(component_.guards.begin(), component_.guards.end(), [&](const CompiledGuard* guard) {
      const int64_t numerator = Numerator(guard->value), value = FloorBy(numerator, guard->value.divisor);
      return value * guard->value.divisor == numerator && value >= guard->low && value < guard->high;
    });
  }
  // How many values of the last variable fulfil the guards, at the others' values.
  int64_t CountLast() {
    const auto [variable, extent] = component_.box.back();
    int64_t low = 0, high = extent;
    values_[variable] = 0;
    for (const CompiledGuard* guard : component_.guards) {
      const int64_t rest = Numerator(guard->value);
      int64_t slope = 0;
      for (uint32_t i = guard->value.first; i < guard->value.end; ++i)
        if (terms_[i].variable == variable) slope += terms_[i].coefficient;
      if (slope == 0) {
        if (rest < guard->low || rest >= guard->high) return 0;
        continue;
      }
      // low <= rest + slope v < high, without overflow at the types' limits.
      const bool bounded_low = guard->low != std::numeric_limits<int64_t>::min();
      const bool bounded_high = guard->high != std::numeric_limits<int64_t>::max();
      if (slope > 0) {
        if (bounded_low) low = std::max(low, CeilBy(guard->low - rest, slope));
        if (bounded_high) high = std::min(high, CeilBy(guard->high - rest, slope));
      } else {
        if (bounded_low) high = std::min(high, FloorBy(rest - guard->low, -slope) + 1);
        if (bounded_high) low = std::max(low, FloorBy(rest - guard->high, -slope) + 1);
      }
    }
    return std::max<int64_t>(high - low, 0);
  }

 private:
  const Component& component_;
  const std::vector<PositionTerm>& terms_;
  std::array<int64_t, kMaxVariables> values_ = {};
};

std::vector<Component> ComponentsOf(const PointSet& points, std::span<const std::optional<Position>> positions) {
  std::vector<VariableSet> groups;
  for (const auto& [variable, extent] : points.box) groups.push_back(SetOf(variable));
  const auto connect = [&](VariableSet set) {
    if (set == 0) return;
    std::erase_if(groups, [&](VariableSet group) { return (group & set) != 0 && (set |= group) != 0; });
    groups.push_back(set);
  };
  for (const auto& guard : points.guards) connect(VariablesIn(guard.value, *points.terms));
  for (const auto& position : positions)
    if (position) connect(VariablesIn(*position, *points.terms));
  groups.push_back(0);  // what depends on nothing
  std::vector<Component> components;
  for (const VariableSet group : groups) {
    Component component{.variables = group};
    for (const auto& variable : points.box)
      if ((group & SetOf(variable.first)) != 0) component.box.push_back(variable);
    const auto concerns = [&](const Position& position) {
      const VariableSet set = VariablesIn(position, *points.terms);
      return set == 0 ? group == 0 : (set & group) != 0;
    };
    for (const auto& guard : points.guards)
      if (concerns(guard.value)) component.guards.push_back(&guard);
    for (size_t i = 0; i < positions.size(); ++i)
      if (positions[i] && concerns(*positions[i])) component.positions.push_back(i);
    components.push_back(std::move(component));
  }
  return components;
}

// Whether guards are linear in the last variable of a component, which is made the longest one.
bool MakeLastLinear(Component& component, const std::vector<PositionTerm>& terms) {
  if (component.box.empty()) return false;
  std::sort(component.box.begin(), component.box.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  const VariableId last = component.box.back().first;
  for (const CompiledGuard* guard : component.guards) {
    if (guard->value.divisor != 1) return false;
    for (uint32_t i = guard->value.first; i < guard->value.end; ++i)
      if (terms[i].variable == last && terms[i].part != Affine::Part::kWhole) return false;
  }
  return true;
}

std::optional<uint64_t> CountComponent(Component component, const std::vector<PositionTerm>& terms, uint64_t& budget) {
  uint64_t count = 1;
  if (component.guards.empty()) {
    for (const auto& [variable, extent] : component.box)
      if (__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count)) return std::nullopt;
    return count;
  }
  count = 0;
  const bool linear = MakeLastLinear(component, terms);
  Walk walk(component, terms);
  const size_t depth = component.box.size() - (linear ? 1 : 0);
  const bool done = walk.Each(budget, depth, [&] {
    if (linear) count += static_cast<uint64_t>(walk.CountLast());
    else count += walk.Holds() ? 1 : 0;
  });
  if (!done) return std::nullopt;
  return count;
}

// One variable, one coordinate that is linear in it, and no guard.
std::optional<OffsetSet> Progression(const Component& component, const std::vector<PositionTerm>& terms,
                                     const Coordinates& coordinates) {
  if (component.box.size() != 1 || component.positions.size() != 1 || !component.guards.empty()) return std::nullopt;
  const size_t dimension = component.positions[0];
  const Position& position = *coordinates.positions[dimension];
  const PositionTerm& term = terms[position.first];
  const int64_t extent = component.box[0].second;
  if (position.end - position.first != 1 || position.divisor != 1 || term.part != Affine::Part::kWhole || extent == 0 ||
      term.coefficient == 0)
    return std::nullopt;
  int64_t last = 0;
  if (__builtin_mul_overflow(extent - 1, term.coefficient, &last) ||
      __builtin_add_overflow(last, position.constant, &last))
    return std::nullopt;
  const auto [low, high] = std::minmax(position.constant, last);
  if (low < 0 || high >= coordinates.extents[dimension]) return std::nullopt;
  const int64_t stride = coordinates.strides[dimension];
  return OffsetSet{
      .dimensions = {dimension}, .first = low * stride, .step = std::abs(term.coefficient) * stride, .count = extent};
}

std::optional<OffsetSet> Listed(const Component& component, const std::vector<PositionTerm>& terms,
                                const Coordinates& coordinates, uint64_t& budget) {
  uint64_t points = 1;
  for (const auto& [variable, extent] : component.box)
    if (__builtin_mul_overflow(points, static_cast<uint64_t>(extent), &points) || points > kMostListed)
      return std::nullopt;
  OffsetSet set{.dimensions = component.positions};
  Walk walk(component, terms);
  const bool done = walk.Each(budget, component.box.size(), [&] {
    if (!walk.Holds()) return;
    int64_t offset = 0;
    for (const size_t i : component.positions) {
      const int64_t value = FloorBy(walk.Numerator(*coordinates.positions[i]), coordinates.positions[i]->divisor);
      if (value < 0 || value >= coordinates.extents[i]) return;
      offset += value * coordinates.strides[i];
    }
    if (set.list.empty() || set.list.back() != offset) set.list.push_back(offset);
  });
  if (!done) return std::nullopt;
  std::sort(set.list.begin(), set.list.end());
  set.list.erase(std::unique(set.list.begin(), set.list.end()), set.list.end());
  return set;
}

}  // namespace

std::optional<uint64_t> PointSet::Count(uint64_t& budget) const {
  uint64_t product = 1;
  for (auto& component : ComponentsOf(*this, {})) {
    const auto count = CountComponent(std::move(component), *terms, budget);
    if (!count || __builtin_mul_overflow(product, *count, &product)) return std::nullopt;
  }
  return product;
}

std::optional<std::vector<OffsetSet>> OffsetsOf(const PointSet& points, const Coordinates& coordinates,
                                                uint64_t& budget) {
  std::vector<OffsetSet> sum;
  bool empty = false;
  for (const auto& component : ComponentsOf(points, coordinates.positions)) {
    if (component.positions.empty()) {
      const auto count = CountComponent(component, *points.terms, budget);
      if (!count) return std::nullopt;
      empty = empty || *count == 0;
      continue;
    }
    auto set = Progression(component, *points.terms, coordinates);
    if (!set) set = Listed(component, *points.terms, coordinates, budget);
    if (!set) return std::nullopt;
    empty = empty || set->size() == 0;
    sum.push_back(std::move(*set));
  }
  for (size_t i = 0; i < coordinates.positions.size(); ++i) {
    if (coordinates.positions[i]) continue;
    empty = empty || coordinates.extents[i] == 0;
    sum.push_back({.dimensions = {i}, .step = coordinates.strides[i], .count = coordinates.extents[i]});
  }
  if (empty) return std::vector<OffsetSet>{OffsetSet{}};
  return sum;
}

std::optional<std::vector<OffsetSet>> OffsetsApart(const PointSet& points, const Coordinates& coordinates,
                                                   uint64_t& budget) {
  PointSet untied = points;
  std::erase_if(untied.guards, [&](const CompiledGuard& guard) {
    const VariableSet set = VariablesIn(guard.value, *points.terms);
    return (set & (set - 1)) != 0;
  });
  std::vector<OffsetSet> sum;
  for (size_t i = 0; i < coordinates.positions.size(); ++i) {
    const Coordinates alone{.positions = {coordinates.positions[i]},
                            .extents = {coordinates.extents[i]},
                            .strides = {coordinates.strides[i]}};
    auto sets = OffsetsOf(untied, alone, budget);
    if (!sets) return std::nullopt;
    for (OffsetSet& set : *sets) {
      set.dimensions = {i};
      sum.push_back(std::move(set));
    }
  }
  return sum;
}

}  // namespace warpwright::core
