#include "source/shared_code.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "source/closure.h"

namespace warpwright::source {
namespace {

constexpr size_t kMostUsers = 32;  // that are named

using Reached = std::set<const Unit*>;

bool IsFunction(const Unit& unit) { return unit.kind == Unit::Kind::kFunction && unit.body_open != kNone; }

// Callers of the entry know what it computes, and no more of how.
Reached ClosureOf(const SourceUnits& units, const Unit* root, const std::vector<const Unit*>& entries) {
  const auto is_entry = [&](const Unit* unit) {
    return std::find(entries.begin(), entries.end(), unit) != entries.end();
  };
  Reached reached{root};
  std::vector<const Unit*> next{root};
  while (!next.empty()) {
    const Unit* unit = next.back();
    next.pop_back();
    for (const auto* references : {&unit->head_references, &unit->body_references})
      for (const std::string& name : *references)
        for (auto [it, end] = units.by_name.equal_range(name); it != end; ++it)
          if (!is_entry(it->second) && reached.insert(it->second).second) next.push_back(it->second);
  }
  return reached;
}

std::string DigestOf(const SourceUnits& units, const Unit& unit) {
  base::Hasher hasher;
  for (const std::string& scope : unit.scope) hasher.Add(scope);
  const std::string_view text = units.files.at(unit.path).file->text;
  hasher.Add(NormalizedText(text.substr(unit.range.begin, unit.range.size())));
  return hasher.Finish().substr(0, 16);
}

}  // namespace

core::CodeUses FindSharedCode(const SourceUnits& units, const ReachableUnits& reach, const std::string& main) {
  core::CodeUses uses;
  const auto file = units.files.find(main);
  if (file == units.files.end()) return uses;
  const auto is_inside = [&](const Unit* unit) { return reach.host.contains(unit) || reach.device.contains(unit); };
  std::map<const Unit*, Reached> outside;
  for (const Unit& unit : file->second.units)
    if (IsFunction(unit) && !is_inside(&unit)) outside[&unit] = ClosureOf(units, &unit, reach.entries);
  std::map<const Unit*, std::set<std::string>> users;  // by what they refer to
  bool shares = false;
  for (const auto& [function, reached] : outside) {
    const bool called = std::any_of(outside.begin(), outside.end(), [&](const auto& other) {
      return other.first != function && other.second.contains(function) && !reached.contains(other.first);
    });
    if (called) continue;
    for (const Unit* unit : reached) {
      if (unit == function || unit->kind == Unit::Kind::kOther || unit->kind == Unit::Kind::kUsingNamespace) continue;
      users[unit].insert(function->QualifiedName());
      shares |= is_inside(unit);
    }
  }
  if (!shares) return uses;
  for (const auto& [unit, names] : users) {
    std::string joined;
    size_t count = 0;
    for (const std::string& name : names)
      if (count++ < kMostUsers) joined += (joined.empty() ? "" : ",") + name;
    uses.insert({.use = {.kind = is_inside(unit) ? core::CodeUseKind::kShared : core::CodeUseKind::kOutside,
                         .format = {},
                         .detail = unit->QualifiedName() + " " + DigestOf(units, *unit)},
                 .instruction = std::move(joined),
                 .file = unit->path,
                 .line = unit->line});
  }
  return uses;
}

}  // namespace warpwright::source
