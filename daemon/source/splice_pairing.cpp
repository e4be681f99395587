#include "source/splice_pairing.h"

#include <fmt/core.h>

#include <map>

namespace warpwright::source {

Result<std::unique_ptr<SpliceSide>> ReadSide(const core::SourceRef& source, const std::string& entry) {
  WW_ASSIGN(Ast parsed, Ast::Parse(source));
  auto side = std::make_unique<SpliceSide>(SpliceSide{.ast = std::move(parsed)});
  side->units = ReadUnits(side->ast);
  side->file = &side->units.files.at(side->ast.tree().main);
  side->reach = FindReachable(side->ast, side->units, entry);
  for (const Unit& unit : side->file->units) side->normalized.push_back(NormalizedText(side->Text(unit)));
  return side;
}

std::string ScopeOf(const Unit& unit) {
  std::string scope;
  for (const std::string& part : unit.scope) scope += (part.empty() ? "{}" : part) + "::";
  return scope;
}

// What left a block of C linkage, in which no template can stand, is new where it stands now.
static std::string PlaceOf(const Unit& unit) { return ScopeOf(unit) + (unit.linkage ? "C" : ""); }

Pairing PairUnits(const SpliceSide& original, const SpliceSide& edited) {
  Pairing pairing{std::vector<size_t>(edited.file->units.size(), kNone),
                  std::vector<size_t>(original.file->units.size(), kNone),
                  std::vector<bool>(edited.file->units.size(), false)};
  const auto pass = [&](auto key_of, bool changed) {
    std::multimap<std::string, size_t> open;
    for (size_t i = 0; i < original.file->units.size(); ++i) {
      if (pairing.of_original[i] == kNone) open.emplace(key_of(original, i), i);
    }
    for (size_t i = 0; i < edited.file->units.size(); ++i) {
      if (pairing.of_edited[i] != kNone) continue;
      const std::string key = key_of(edited, i);
      const auto found = key.empty() ? open.end() : open.lower_bound(key);
      if (found == open.end() || found->first != key) continue;
      pairing.of_edited[i] = found->second;
      pairing.of_original[found->second] = i;
      pairing.changed[i] = changed;
      open.erase(found);
    }
  };
  pass([](const SpliceSide& side, size_t i) { return PlaceOf(side.file->units[i]) + "\n" + side.normalized[i]; },
       false);
  // Overloads are paired by their parameters, if these are unchanged.
  pass(
      [](const SpliceSide& side, size_t i) {
        const Unit& unit = side.file->units[i];
        if (unit.kind != Unit::Kind::kFunction || unit.params_open == kNone) return std::string();
        const TextRange range = {side.file->code[unit.params_open].range.begin,
                                 side.file->code[unit.params_close].range.end};
        return fmt::format("{}\n{}\n{}\n{}", PlaceOf(unit), unit.name, unit.body_open == kNone,
                           NormalizedText(side.text().substr(range.begin, range.size())));
      },
      true);
  pass(
      [](const SpliceSide& side, size_t i) {
        const Unit& unit = side.file->units[i];
        if (unit.name.empty()) return std::string();
        return fmt::format("{}\n{}\n{}\n{}", PlaceOf(unit), static_cast<int>(unit.kind), unit.name,
                           unit.kind == Unit::Kind::kFunction && unit.body_open == kNone);
      },
      true);
  return pairing;
}

}  // namespace warpwright::source
