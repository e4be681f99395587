#include "source/splice.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "source/format_changes.h"
#include "source/signature.h"
#include "source/slice.h"
#include "source/slice_compare.h"
#include "source/splice_pairing.h"
#include "source/stub.h"

namespace warpwright::source {
namespace {

std::string NameOf(const Unit& unit, std::string_view text) {
  if (unit.kind == Unit::Kind::kMacro) return "#define " + unit.name;
  if (!unit.name.empty()) return unit.QualifiedName();
  const std::string line(text.substr(unit.range.begin, std::min<uint32_t>(unit.range.size(), 40)));
  return "'" + line.substr(0, line.find('\n')) + "'";
}

// Comment lines directly above belong to the declaration: returns the start of the first one.
uint32_t WithComment(std::string_view text, uint32_t begin) {
  uint32_t start = begin;
  while (start > 0 && text[start - 1] != '\n') --start;
  if (text.substr(start, begin - start).find_first_not_of(" \t") != std::string_view::npos) return begin;
  while (start > 0) {
    uint32_t line = start - 1;
    while (line > 0 && text[line - 1] != '\n') --line;
    const std::string_view content = text.substr(line, start - 1 - line);
    const size_t first = content.find_first_not_of(" \t");
    if (first == std::string_view::npos || !content.substr(first).starts_with("//")) break;
    start = line;
  }
  return start;
}

uint32_t LineEnd(std::string_view text, uint32_t offset) {
  const size_t end = text.find('\n', offset);
  return static_cast<uint32_t>(end == std::string_view::npos ? text.size() : end + 1);
}

// Tokens that belong to no declaration: inactive code, and directives other than #include and #define.
std::vector<Token> Rest(const SpliceSide& side) {
  std::vector<Token> rest;
  const auto in_unit = [&](const Token& token) {
    return std::any_of(side.file->units.begin(), side.file->units.end(),
                       [&](const Unit& unit) { return unit.range.Contains(token.range); });
  };
  const auto in_include = [&](const Token& token) {
    return std::any_of(side.file->file->includes.begin(), side.file->file->includes.end(),
                       [&](const IncludeDirective& include) { return include.line_range.Contains(token.range); });
  };
  size_t code = 0;
  for (const Token& token : side.file->all) {
    while (code < side.file->code.size() && side.file->code[code].range.begin < token.range.begin) ++code;
    const bool active = code < side.file->code.size() && side.file->code[code].range == token.range;
    if (!active && !in_unit(token) && !in_include(token)) rest.push_back(token);
  }
  return rest;
}

class Splicer {
 public:
  Splicer(const core::SpliceRequest& request, const SpliceSide& original, const SpliceSide& edited)
      : request_(request), original_(original), edited_(edited), pairing_(PairUnits(original, edited)) {}

  std::variant<core::Rewritten, core::Refused> Run() {
    if (auto refused = CheckEntry()) return *refused;
    if (auto refused = CheckRest()) return *refused;
    if (auto refused = CheckOutside()) return *refused;
    Includes();
    Replace();
    Remove();
    if (auto refused = Insert()) return *refused;
    core::Rewritten result{ApplyEdits(original_.text(), std::move(edits_)), std::move(notes_)};
    return result;
  }

  // Includes of the original that the edited file lacks: they are kept, since code outside the entry may need them.
  std::set<std::string> KeptIncludes() const {
    std::set<std::string> kept;
    for (const IncludeDirective& include : original_.file->file->includes) kept.insert(Spelled(include));
    for (const IncludeDirective& include : edited_.file->file->includes) kept.erase(Spelled(include));
    return kept;
  }

 private:
  static std::string Spelled(const IncludeDirective& include) {
    return include.resolved.empty() ? include.name : include.resolved;
  }

  core::Refused Refuse(std::string reason, int line) const {
    return {core::Check::kSplice, std::move(reason), request_.original.file, line};
  }

  std::optional<core::Refused> CheckEntry() const {
    if (edited_.reach.entries.empty()) return Refuse(fmt::format("the edited file has no {}", request_.entry), 0);
    if (edited_.reach.refusal) return edited_.reach.refusal;
    const auto before = SignatureOf(original_.ast, request_.entry), after = SignatureOf(edited_.ast, request_.entry);
    bool same = before.size() == after.size();
    const auto plain = [](std::string type) {
      for (const std::string_view word : {" __restrict__", "__restrict__", " __restrict", "__restrict"}) {
        for (size_t at = type.find(word); at != std::string::npos; at = type.find(word)) type.erase(at, word.size());
      }
      while (!type.empty() && type.back() == ' ') type.pop_back();
      return type;
    };
    for (size_t i = 0; same && i < before.size(); ++i) same = plain(before[i].type) == plain(after[i].type);
    if (!same)
      return Refuse(fmt::format("the edit changes the signature of {}: callers would break", request_.entry),
                    edited_.reach.entries.front()->line);
    return std::nullopt;
  }

  std::optional<core::Refused> CheckRest() const {
    const std::vector<Token> before = Rest(original_), after = Rest(edited_);
    for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      if (i < before.size() && i < after.size() && before[i].text == after[i].text) continue;
      const int line = i < after.size() ? after[i].line : i < before.size() ? before[i].line : 0;
      return Refuse("the edit changes preprocessor directives or inactive code", line);
    }
    return std::nullopt;
  }

  // Every difference must be in code that the entry reaches.
  std::optional<core::Refused> CheckOutside() const {
    for (size_t i = 0; i < edited_.file->units.size(); ++i) {
      const Unit& unit = edited_.file->units[i];
      const size_t other = pairing_.of_edited[i];
      if (other != kNone && !pairing_.changed[i]) continue;
      const bool inside = edited_.Reaches(unit) || (other != kNone && original_.Reaches(original_.file->units[other]));
      const bool neutral =
          other == kNone &&
          (unit.kind == Unit::Kind::kMacro || unit.kind == Unit::Kind::kUsingNamespace ||
           unit.kind == Unit::Kind::kOther || unit.kind == Unit::Kind::kFunction || unit.kind == Unit::Kind::kAlias);
      if (inside || neutral) continue;
      return Refuse(fmt::format("the edit {} {}, which {} does not use", other == kNone ? "adds" : "changes",
                                NameOf(unit, edited_.text()), request_.entry),
                    unit.line);
    }
    for (size_t i = 0; i < original_.file->units.size(); ++i) {
      const Unit& unit = original_.file->units[i];
      if (pairing_.of_original[i] != kNone || original_.Reaches(unit)) continue;
      return Refuse(
          fmt::format("the edit removes {}, which {} does not use", NameOf(unit, original_.text()), request_.entry),
          unit.line);
    }
    return std::nullopt;
  }

  void Includes() {
    std::set<std::string> known;
    for (const IncludeDirective& include : original_.file->file->includes) known.insert(Spelled(include));
    std::string added;
    for (const IncludeDirective& include : edited_.file->file->includes) {
      if (!known.insert(Spelled(include)).second) continue;
      const std::string line(edited_.text().substr(include.line_range.begin, include.line_range.size()));
      added += line + "\n";
      notes_.push_back("added " + line);
    }
    if (added.empty()) return;
    const auto& includes = original_.file->file->includes;
    uint32_t at = 0;
    if (!includes.empty()) {
      at = LineEnd(original_.text(), includes.back().line_range.end);
    } else if (!original_.file->all.empty()) {
      at = WithComment(original_.text(), original_.file->all.front().range.begin);
    }
    edits_.push_back({{at, at}, added});
  }

  // Where the comment of a declaration begins. What stands at the beginning of a file is about the file.
  static uint32_t CommentBegin(const SpliceSide& side, const Unit& unit) {
    const uint32_t begin = WithComment(side.text(), unit.range.begin);
    return begin > 0 ? begin : unit.range.begin;
  }
  static std::string_view CommentOf(const SpliceSide& side, const Unit& unit) {
    const uint32_t begin = CommentBegin(side, unit);
    return side.text().substr(begin, unit.range.begin - begin);
  }

  // Whether the edit has the comments of everything that it does not change: then one that is gone was taken away.
  bool KeepsComments() const {
    const uint32_t before = CommentBegin(original_, original_.file->units.front()),
                   after = CommentBegin(edited_, edited_.file->units.front());
    if (original_.text().substr(0, before) != edited_.text().substr(0, after)) return false;
    for (size_t i = 0; i < edited_.file->units.size(); ++i)
      if (const size_t other = pairing_.of_edited[i]; other != kNone && !pairing_.changed[i])
        if (CommentOf(edited_, edited_.file->units[i]) != CommentOf(original_, original_.file->units[other]))
          return false;
    return true;
  }

  // A changed declaration has the comment that the edit gives it.
  void Replace() {
    const bool knows_all = KeepsComments();
    for (size_t i = 0; i < edited_.file->units.size(); ++i) {
      if (!pairing_.changed[i] || pairing_.of_edited[i] == kNone) continue;
      const Unit& unit = original_.file->units[pairing_.of_edited[i]];
      const std::string_view comment = CommentOf(edited_, edited_.file->units[i]);
      TextRange range = unit.range;
      std::string text(edited_.Text(edited_.file->units[i]));
      const std::string_view old = CommentOf(original_, unit);
      const auto says = [](std::string_view lines) { return lines.find("//") != std::string_view::npos; };
      const bool takes = request_.keeps_comments ? says(comment) && !says(old) : says(comment) || knows_all;
      if (takes && comment != old) {
        range.begin = CommentBegin(original_, unit);
        text.insert(0, comment);
      }
      edits_.push_back({range, std::move(text)});
      notes_.push_back("changed " + NameOf(unit, original_.text()));
    }
  }

  // Removes what the edit dropped, unless something that remains names it.
  void Remove() {
    for (size_t i = 0; i < original_.file->units.size(); ++i) {
      if (pairing_.of_original[i] != kNone) continue;
      const Unit& unit = original_.file->units[i];
      if (StillNamed(unit) && !StandsElsewhere(unit)) continue;
      const uint32_t begin = WithComment(original_.text(), unit.range.begin);
      uint32_t end = LineEnd(original_.text(), unit.range.end);
      // One of the empty lines around it is removed too.
      const bool gap = end < original_.text().size() && original_.text()[end] == '\n';
      if (gap) ++end;
      edits_.push_back({{begin, end}, ""});
      notes_.push_back("removed " + NameOf(unit, original_.text()));
    }
  }

  // It left a block of C linkage.
  bool StandsElsewhere(const Unit& removed) const {
    for (size_t i = 0; i < edited_.file->units.size(); ++i) {
      const Unit& unit = edited_.file->units[i];
      if (pairing_.of_edited[i] == kNone && unit.kind == removed.kind && removed.linkage && !unit.linkage &&
          unit.QualifiedName() == removed.QualifiedName())
        return true;
    }
    return false;
  }

  bool StillNamed(const Unit& removed) const {
    for (size_t k = 0; k < original_.file->units.size(); ++k) {
      const Unit& other = original_.file->units[k];
      const size_t partner = pairing_.of_original[k];
      if (&other == &removed || partner == kNone || pairing_.changed[partner]) continue;
      for (const std::string& name : removed.names) {
        if (other.head_references.count(name) || other.body_references.count(name)) return true;
      }
    }
    return false;
  }

  // New declarations keep their position in the edited file: before the next declaration that both files share.
  std::optional<core::Refused> Insert() {
    const auto& units = edited_.file->units;
    std::map<std::pair<uint32_t, bool>, std::string> added;  // by offset; true: after the text at that offset
    for (size_t i = 0; i < units.size(); ++i) {
      if (pairing_.of_edited[i] != kNone) continue;
      const uint32_t begin = WithComment(edited_.text(), units[i].range.begin);
      std::string text(edited_.text().substr(begin, units[i].range.end - begin));
      const auto place = PlaceFor(i);
      if (!place)
        return Refuse(fmt::format("there is no position for {}", NameOf(units[i], edited_.text())), units[i].line);
      if (place->wrap) text = Wrapped(units[i], text);
      const bool tight = units[i].kind == Unit::Kind::kMacro || units[i].kind == Unit::Kind::kAlias ||
                         units[i].kind == Unit::Kind::kVariable;
      std::string& there = added[{place->offset, place->behind}];
      if (!there.empty() && !tight && !place->behind && !there.ends_with("\n\n")) there += '\n';
      there += place->behind ? "\n" + text + "\n" : text + (tight ? "\n" : "\n\n");
      notes_.push_back("added " + NameOf(units[i], edited_.text()));
    }
    for (auto& [place, text] : added) edits_.push_back({{place.first, place.first}, std::move(text)});
    return std::nullopt;
  }

  struct Place {
    uint32_t offset = 0;
    bool behind = false;
    bool wrap = false;
  };
  std::optional<Place> PlaceFor(size_t index) const {
    const auto& units = edited_.file->units;
    const std::string scope = ScopeOf(units[index]);
    const bool anywhere = units[index].kind == Unit::Kind::kMacro;
    const auto shared = [&](size_t k) -> const Unit* {
      return pairing_.of_edited[k] == kNone ? nullptr : &original_.file->units[pairing_.of_edited[k]];
    };
    for (size_t k = index + 1; k < units.size(); ++k) {
      const Unit* next = shared(k);
      if (next == nullptr) continue;
      if (anywhere || ScopeOf(*next) == scope) {
        // A template in front of extern "C" { stays there.
        const std::optional<uint32_t> linkage = units[k].linkage;
        const bool outside = next->linkage && linkage && units[index].range.begin < *linkage;
        return Place{WithComment(original_.text(), outside ? *next->linkage : next->range.begin), false, false};
      }
      break;
    }
    for (size_t k = index; k-- > 0;) {
      const Unit* previous = shared(k);
      if (previous == nullptr) continue;
      if (anywhere || ScopeOf(*previous) == scope)
        return Place{LineEnd(original_.text(), previous->range.end), true, false};
      break;
    }
    // In a separate namespace block, before the next declaration outside all namespaces.
    for (size_t k = index + 1; k < units.size(); ++k) {
      const Unit* next = shared(k);
      if (next != nullptr && next->scope.empty())
        return Place{WithComment(original_.text(), next->range.begin), false, true};
    }
    return std::nullopt;
  }

  static std::string Wrapped(const Unit& unit, const std::string& text) {
    std::string open, close;
    for (const std::string& part : unit.scope) {
      open += part.empty() ? "namespace {\n" : "namespace " + part + " {\n";
      close += "\n}";
    }
    return open + text + close;
  }

  const core::SpliceRequest& request_;
  const SpliceSide& original_;
  const SpliceSide& edited_;
  Pairing pairing_;
  std::vector<TextEdit> edits_;
  std::vector<std::string> notes_;
};

// The guarantee of the header: the compilers see the same of the spliced file as of the edited one.
Result<std::optional<core::Refused>> CheckSlices(const core::SpliceRequest& request, const std::string& spliced,
                                                 const std::set<std::string>& kept) {
  core::SourceRef ours = request.original, theirs = request.original;
  ours.text = spliced;
  theirs.text = request.edited;
  WW_ASSIGN(const SliceOutcome a, Slice(ours, request.entry));
  WW_ASSIGN(const SliceOutcome b, Slice(theirs, request.entry));
  if (const auto* refused = std::get_if<core::Refused>(&b)) return std::optional<core::Refused>(*refused);
  if (const auto* refused = std::get_if<core::Refused>(&a)) return std::optional<core::Refused>(*refused);
  return FindDifference(std::get<Slices>(a), std::get<Slices>(b), kept);
}

}  // namespace

Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) {
  core::SourceRef edited_source = request.original;
  edited_source.text = request.edited;
  WW_ASSIGN(const auto original, ReadSide(request.original, request.entry));
  if (original->reach.entries.empty()) {
    return core::SpliceOutcome(core::Refused{
        core::Check::kSplice, fmt::format("the original file has no {}", request.entry), request.original.file, 0});
  }
  WW_ASSIGN(const auto edited, ReadSide(edited_source, request.entry));
  Splicer splicer(request, *original, *edited);
  auto outcome = splicer.Run();
  if (auto* refused = std::get_if<core::Refused>(&outcome)) return core::SpliceOutcome(std::move(*refused));
  WW_ASSIGN(const std::optional<core::Refused> differs,
            CheckSlices(request, std::get<core::Rewritten>(outcome).text, splicer.KeptIncludes()));
  if (differs) return core::SpliceOutcome(*differs);
  auto& spliced = std::get<core::Rewritten>(outcome);
  // A style that changes tokens (braces, the order of includes) is not worth the guarantee.
  if (std::string formatted = FormatChanges(request.original, spliced.text); formatted != spliced.text) {
    WW_ASSIGN(const std::optional<core::Refused> changed, CheckSlices(request, formatted, splicer.KeptIncludes()));
    if (!changed) spliced.text = std::move(formatted);
  }
  return core::SpliceOutcome(std::move(spliced));
}

}  // namespace warpwright::source
