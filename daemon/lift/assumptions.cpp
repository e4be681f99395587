#include "lift/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/lifting.h"
#include "lift/whole_groups.h"

namespace warpwright::lift {
namespace {

using core::Sizes;
using Divisors = std::map<std::string, int64_t>;

bool AreAll(const std::vector<Sizes>& shapes, const std::string& name, int64_t value) {
  return std::all_of(shapes.begin(), shapes.end(), [&](const Sizes& sizes) { return sizes.at(name) == value; });
}

// The power of two that divides a size wherever there is a form, if it is not the same everywhere.
Divisors DivisorsOfForm(const Evidence& evidence) {
  Divisors divisors;
  for (const auto& [name, value] : evidence.made_from[0]) {
    const auto divides = [&](int64_t by) {
      const auto divided = [&](const Sizes& sizes) { return sizes.at(name) % by == 0; };
      return std::all_of(evidence.made_from.begin(), evidence.made_from.end(), divided) &&
             std::all_of(evidence.right_at.begin(), evidence.right_at.end(), divided);
    };
    int64_t divisor = 1;
    while (divisor < core::kMostDivisible && divides(2 * divisor)) divisor *= 2;
    if (divisor > 1 && !AreAll(evidence.executed, name, value)) divisors[name] = divisor;
  }
  return divisors;
}

// What divides a size wherever the entry could be tried at all.
Divisors DivisorsOfAll(const Evidence& evidence) {
  constexpr int64_t kLeast = 8;  // less divides some sizes by chance
  Divisors divisors;
  std::map<std::string, std::set<int64_t>> values;
  for (const Sizes& shape : evidence.all)
    for (const auto& [name, value] : shape) values[name].insert(value);
  for (const auto& [name, sizes] : values) {
    const int64_t divisor = std::accumulate(sizes.begin(), sizes.end(), int64_t{0}, std::gcd<int64_t, int64_t>);
    if (sizes.size() > 1 && divisor >= kLeast) divisors[name] = divisor;
  }
  return divisors;
}

bool HasElements(const core::Stage& stage, const Sizes& sizes) {
  return stage.output && std::all_of(stage.extents.begin(), stage.extents.end(),
                                     [&](const core::Size& extent) { return extent.Evaluate(sizes).value_or(0) > 0; });
}

// Whether the entry leaves all alone, or fails, at some shape at which the form has elements, and sizes do not divide
// as they do wherever it is right: a grid of whole tiles, for the sizes that are their multiples.
bool IsOfWholeTiles(const core::Computation& computation, const Evidence& evidence, const Divisors& divisors) {
  return std::any_of(evidence.silent.begin(), evidence.silent.end(), [&](const Sizes& sizes) {
    return std::any_of(divisors.begin(), divisors.end(),
                       [&](const auto& each) { return sizes.at(each.first) % each.second != 0; }) &&
           std::any_of(computation.stages.begin(), computation.stages.end(),
                       [&](const core::Stage& stage) { return HasElements(stage, sizes); });
  });
}

}  // namespace

Sizes WithGroups(Sizes sizes, const Groups& groups) {
  for (const auto& [name, of] : groups)
    if (const int64_t count = sizes.at(of); count > 0) sizes[fmt::format("{} / {}", name, of)] = sizes.at(name) / count;
  return sizes;
}

std::vector<std::string> AssumptionsOf(const core::Computation& computation, const Evidence& evidence,
                                       const Groups& groups) {
  std::vector<std::string> assumptions;
  const auto add = [&](std::string assumption) {
    if (std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end())
      assumptions.push_back(std::move(assumption));
  };
  std::vector<Sizes> right;
  for (const auto* shapes : {&evidence.made_from, &evidence.right_at})
    for (const Sizes& sizes : *shapes) right.push_back(WithGroups(sizes, groups));
  const Sizes& first = evidence.made_from[0];
  for (const auto& [name, value] : right[0]) {
    // It may be anywhere in the statements as that number.
    if (AreAll(right, name, value)) add(fmt::format("{} = {}", name, value));
    else if (first.contains(name))
      for (const auto& [other, ignored] : first)
        if (other > name && std::all_of(evidence.made_from.begin(), evidence.made_from.end(), [&](const Sizes& sizes) {
              return sizes.at(name) == sizes.at(other);  // and cannot be told apart
            }))
          add(fmt::format("{} = {}", name, other));
  }
  const Divisors of_form = DivisorsOfForm(evidence);
  if (evidence.even_alone || IsOfWholeTiles(computation, evidence, of_form))
    for (const auto& [name, divisor] : of_form) add(fmt::format("{} % {} = 0", name, divisor));
  for (const auto& [name, divisor] : DivisorsOfAll(evidence)) add(fmt::format("{} % {} = 0", name, divisor));
  for (const auto& [name, of] : groups) add(fmt::format("{} % {} = 0", name, of));
  for (std::string& assumption : WholeGroups(computation)) add(std::move(assumption));
  return assumptions;
}

}  // namespace warpwright::lift
