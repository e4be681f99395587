#include "rewrite/edit.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/lines.h"

namespace warpwright::rewrite {
namespace {

std::vector<std::string_view> Lines(std::string_view code) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = code.find('\n');
    lines.push_back(code.substr(0, end));
    if (end == std::string_view::npos) return lines;
    code.remove_prefix(end + 1);
  }
}

size_t LeadingSpace(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? line.size() : first;
}

}  // namespace

Result<std::string> Edits::ApplyWithin(std::string_view text, uint32_t begin, uint32_t end) const {
  std::vector<Edit> sorted = edits_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Edit& a, const Edit& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  // One macro argument can correspond to several nodes: the same edit, found several times, is one.
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const Edit& a, const Edit& b) {
                             return a.begin < a.end && a.begin == b.begin && a.end == b.end && a.text == b.text;
                           }),
               sorted.end());
  std::string result;
  uint32_t at = begin;
  for (const Edit& edit : sorted) {
    if (edit.begin < at || edit.end < edit.begin || edit.end > end || end > text.size())
      return Fail(ErrorCode::kUnsupported, fmt::format("edits overlap at byte {}", edit.begin));
    result += text.substr(at, edit.begin - at);
    result += edit.text;
    at = edit.end;
  }
  if (end > text.size() || at > end) return Fail(ErrorCode::kUnsupported, "an edit lies outside the text");
  result += text.substr(at, end - at);
  return result;
}

Result<std::string> Edits::Apply(std::string_view text) const {
  return ApplyWithin(text, 0, static_cast<uint32_t>(text.size()));
}

std::string Substitute(const source::SyntaxFunction& function, const source::Node& node,
                       const std::vector<Substitution>& substitutions) {
  Edits edits;
  for (const Substitution& substitution : substitutions)
    if (source::Contains(node, *substitution.node)) edits.Replace(*substitution.node, substitution.text);
  return edits.ApplyWithin(function.text, node.begin, node.end).value_or("");
}

uint32_t LineBegin(std::string_view text, uint32_t offset) {
  const size_t end = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return end == std::string_view::npos ? 0 : static_cast<uint32_t>(end + 1);
}

uint32_t LineEnd(std::string_view text, uint32_t offset) {
  const size_t end = text.find('\n', offset);
  return static_cast<uint32_t>(end == std::string_view::npos ? text.size() : end + 1);
}

std::string IndentAt(std::string_view text, uint32_t offset) {
  const std::string_view line = text.substr(LineBegin(text, offset));
  return std::string(line.substr(0, std::min(LeadingSpace(line), line.find('\n'))));
}

std::string IndentUnit(std::string_view text) {
  size_t least = std::string_view::npos;  // none found counts as too many
  for (std::string_view line : Lines(text)) {
    const size_t space = LeadingSpace(line);
    if (space == 0 || space == line.size() || line[space] == '*') continue;
    if (line[0] == '\t') return "\t";
    if (space >= 2) least = std::min(least, space);
  }
  return std::string(least > 8 ? 2 : least, ' ');
}

std::string Indented(std::string_view code, std::string_view indent, std::string_view unit, bool first) {
  std::string result;
  bool is_first = true;
  for (std::string_view line : Lines(code)) {
    if (!is_first) result += '\n';
    const size_t space = LeadingSpace(line);
    const bool empty = space == line.size();
    if (!empty && line[space] == '#') {
      result += line.substr(space);
    } else if (!empty) {
      if (!is_first || first) result += indent;
      for (size_t i = 0; i < space / 2; ++i) result += unit;
      if (space % 2 != 0) result += ' ';
      result += line.substr(space);
    }
    is_first = false;
  }
  return result;
}

std::string Dedented(std::string_view code, std::string_view unit) {
  const std::vector<std::string_view> lines = Lines(code);
  size_t least = std::string_view::npos;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t space = LeadingSpace(lines[i]);
    if (space < lines[i].size() && lines[i][space] != '#') least = std::min(least, space);
  }
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result += '\n';
    std::string_view line = lines[i];
    const size_t space = LeadingSpace(line);
    if (space == line.size()) continue;
    if (i > 0 && least != std::string_view::npos) line.remove_prefix(std::min(least, space));
    size_t levels = 0;
    while (i > 0 && !unit.empty() && line.starts_with(unit)) {
      line.remove_prefix(unit.size());
      ++levels;
    }
    result += std::string(2 * levels, ' ') + std::string(line);
  }
  return result;
}

uint32_t WithLeadingComment(std::string_view text, uint32_t offset) {
  uint32_t begin = LineBegin(text, offset);
  while (begin > 0) {
    uint32_t previous = LineBegin(text, begin - 1);
    const std::string_view line = base::Trimmed(text.substr(previous, begin - 1 - previous));
    if (!line.starts_with("//")) {
      const size_t opening = line.ends_with("*/") ? text.rfind("/*", begin) : std::string_view::npos;
      if (opening == std::string_view::npos) break;
      previous = LineBegin(text, static_cast<uint32_t>(opening));
      if (!base::Trimmed(text.substr(previous, opening - previous)).empty()) break;
    }
    begin = previous;
  }
  return begin;
}

}  // namespace warpwright::rewrite
