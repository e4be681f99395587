#include "rewrite/entry_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/entry_text.h"
#include "source/closure.h"
#include "source/splice_pairing.h"

namespace warpwright::rewrite {
namespace {

// The start of the comment lines directly above `begin`, which belong to what begins there.
size_t WithComment(std::string_view text, size_t begin) {
  size_t start = text.rfind('\n', begin == 0 ? 0 : begin - 1);
  start = start == std::string_view::npos ? 0 : start + 1;
  if (text.substr(start, begin - start).find_first_not_of(" \t") != std::string_view::npos) return begin;
  while (start > 0) {
    const size_t above = start < 2 ? std::string_view::npos : text.rfind('\n', start - 2);
    const size_t line = above == std::string_view::npos ? 0 : above + 1;
    const std::string_view content = text.substr(line, start - 1 - line);
    const size_t first = content.find_first_not_of(" \t");
    if (first == std::string_view::npos || !content.substr(first).starts_with("//")) break;
    start = line;
  }
  return start;
}

bool ReachesInto(const source::SpliceSide& side, const source::FileUnits& file) {
  return std::any_of(file.units.begin(), file.units.end(),
                     [&](const source::Unit& unit) { return side.Reaches(unit); });
}

}  // namespace

Result<core::RewriteOutcome> TextOfEntry(const core::RewriteRequest& request) {
  WW_ASSIGN(const auto side, source::ReadSide(request.source, request.entry));
  if (side->reach.entries.empty()) return core::RewriteOutcome(core::RewriteRefusal{"there is no " + request.entry, 0});
  const auto asked = request.parameters.find(core::kEntryTextFile);
  const auto found = side->units.files.find(asked == request.parameters.end() ? side->ast.tree().main : asked->second);
  if (found == side->units.files.end())
    return core::RewriteOutcome(core::RewriteRefusal{"it does not include " + asked->second, 0});
  const source::FileUnits& file = found->second;

  core::Rewritten result{.text = std::string(file.file->text), .notes = {}, .entry = {}};
  result.notes.push_back("slice " + source::SliceHash(side->units, side->reach));
  for (const auto& [path, units] : side->units.files)
    if (&units != &file && path != side->ast.tree().main && ReachesInto(*side, units))
      result.notes.push_back("header " + path);
  for (const source::Unit& unit : file.units) {
    if (side->Reaches(unit)) {
      if (unit.kind == source::Unit::Kind::kFunction && unit.body_open != source::kNone)
        result.notes.push_back(fmt::format("function {} {} {}", unit.QualifiedName(), unit.line, unit.end_line));
      continue;
    }
    for (size_t i = WithComment(file.file->text, unit.range.begin); i < unit.range.end; ++i)
      if (result.text[i] != '\n') result.text[i] = ' ';
  }
  return core::RewriteOutcome(std::move(result));
}

}  // namespace warpwright::rewrite
