// The two files of a splice as lists of declarations, and which declarations correspond to each other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source/ast.h"
#include "source/closure.h"
#include "source/units.h"

namespace warpwright::source {

// One of the two files, parsed.
struct SpliceSide {
  Ast ast;
  SourceUnits units;
  ReachableUnits reach;
  const FileUnits* file = nullptr;
  std::vector<std::string> normalized;  // of each unit

  std::string_view text() const { return file->file->text; }
  std::string_view Text(const Unit& unit) const { return text().substr(unit.range.begin, unit.range.size()); }
  bool Reaches(const Unit& unit) const { return reach.host.count(&unit) > 0 || reach.device.count(&unit) > 0; }
};
Result<std::unique_ptr<SpliceSide>> ReadSide(const core::SourceRef& source, const std::string& entry);

// "ns::{}::", where {} is an anonymous namespace.
std::string ScopeOf(const Unit& unit);

// Which unit of the edited file corresponds to which of the original.
struct Pairing {
  std::vector<size_t> of_edited;    // index into the original's units, kNone: new
  std::vector<size_t> of_original;  // kNone: removed
  std::vector<bool> changed;        // by edited index
};

// By equal tokens first, then overloads by their parameters, then by name.
Pairing PairUnits(const SpliceSide& original, const SpliceSide& edited);

}  // namespace warpwright::source
