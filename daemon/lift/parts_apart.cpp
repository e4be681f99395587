#include "lift/parts_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::lift {
namespace {

using core::Computation;
using core::Stage;
using core::VariableId;

std::optional<int64_t> NumberOf(const core::Affine& position) {
  if (!position.terms.empty() || !core::IsNumber(position.divisor, 1)) return std::nullopt;
  return core::Polynomial::Of(position.constant).constant();
}

// The numbers at which stages read coordinate `d`. nullopt: at some other position, too, or nowhere.
std::optional<std::set<int64_t>> NumbersRead(const Computation& computation, const std::string& name, VariableId d) {
  std::set<int64_t> numbers;
  for (const Stage& stage : computation.stages)
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !read->stage || read->tensor != name) continue;
      const auto* position = d < read->at.size() ? std::get_if<core::Affine>(&read->at[d]) : nullptr;
      const auto number = position != nullptr ? NumberOf(*position) : std::nullopt;
      if (!number) return std::nullopt;
      numbers.insert(*number);
    }
  return numbers.empty() ? std::nullopt : std::optional(std::move(numbers));
}

// Whether the guards say that the part has the place. nullopt: they are of other variables as well, or of sizes.
std::optional<bool> HasPlace(const Stage& part, VariableId d, int64_t number) {
  bool has = true;
  for (const core::Guard& guard : part.domain) {
    if ((core::VariablesOf(guard.value) & core::SetOf(d)) == 0) continue;
    const auto at = core::Substituted(guard, {{d, core::AffineOf(core::Size::Constant(number))}});
    const auto value = at ? NumberOf(at->value) : std::nullopt;
    if (!value) return std::nullopt;
    for (const auto& [bound, low] : {std::pair{&guard.low, true}, {&guard.high, false}}) {
      if (!*bound) continue;
      const auto limit = core::Polynomial::Of(**bound).constant();
      if (!limit) return std::nullopt;
      has = has && (low ? *limit <= *value : *value < *limit);
    }
  }
  return has;
}

// The part at one place of coordinate `d`, without it. nullopt: a position cannot be said so.
std::optional<Stage> AtPlace(Stage part, VariableId d, int64_t number, const std::string& name) {
  std::map<VariableId, core::Affine> replacements = {{d, core::AffineOf(core::Size::Constant(number))}};
  const auto without = [&](VariableId v) { return v > d ? static_cast<VariableId>(v - 1) : v; };
  for (VariableId v = 0; v < part.extents.size(); ++v)
    if (v != d) replacements[v] = core::AffineOf(without(v));
  for (core::Node& node : part.nodes)
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) {
        replacements[variable.id] = core::AffineOf(without(variable.id));
        variable.id = without(variable.id);
      }
  std::erase_if(part.domain,
                [&](const core::Guard& guard) { return core::VariablesOf(guard.value) == core::SetOf(d); });
  bool all = true;
  const auto replace = [&](core::Affine& position) {
    auto replaced = core::Substituted(position, replacements);
    if (replaced) replaced = core::Simplified(*replaced);
    all &= replaced.has_value();
    if (replaced) position = std::move(*replaced);
  };
  for (core::Guard& guard : part.domain) replace(guard.value);
  for (core::Node& node : part.nodes) core::ForEachPosition(node, replace);
  part.extents.erase(part.extents.begin() + d);
  part.name = name;
  return all ? std::optional(std::move(part)) : std::nullopt;
}

// With the parts of one intermediate apart by coordinate `d`. nullopt: they are not.
std::optional<Computation> Apart(const Computation& computation, const std::string& name, VariableId d) {
  const auto numbers = NumbersRead(computation, name, d);
  if (!numbers) return std::nullopt;
  Computation apart = computation;
  apart.stages.clear();
  std::map<int64_t, std::string> names;
  for (const int64_t number : *numbers) names[number] = computation.FreeName(fmt::format("{}_{}", name, number));
  std::set<int64_t> made;
  for (const Stage& stage : computation.stages) {
    if (stage.name != name) {
      apart.stages.push_back(stage);
      for (core::Node& node : apart.stages.back().nodes) {
        auto* read = std::get_if<core::TensorRead>(&node);
        if (read == nullptr || !read->stage || read->tensor != name) continue;
        read->tensor = names.at(*NumberOf(std::get<core::Affine>(read->at[d])));
        read->at.erase(read->at.begin() + d);
      }
      continue;
    }
    for (const int64_t number : *numbers) {
      const auto has = HasPlace(stage, d, number);
      if (!has) return std::nullopt;
      if (!*has) continue;
      auto part = AtPlace(stage, d, number, names.at(number));
      if (!part) return std::nullopt;
      apart.stages.push_back(std::move(*part));
      made.insert(number);
    }
  }
  return made == *numbers ? std::optional(std::move(apart)) : std::nullopt;
}

// The next one that can be taken apart.
std::optional<Computation> AnyApart(const Computation& computation) {
  std::map<std::string, const Stage*> first;
  for (const Stage& stage : computation.stages) {
    if (stage.output || first.emplace(stage.name, &stage).second) continue;
    for (VariableId d = 0; d < stage.extents.size(); ++d)
      if (auto apart = Apart(computation, stage.name, d)) return apart;
  }
  return std::nullopt;
}

}  // namespace

Computation WithPartsApart(Computation computation) {
  while (auto apart = AnyApart(computation)) computation = std::move(*apart);
  return computation;
}

}  // namespace warpwright::lift
