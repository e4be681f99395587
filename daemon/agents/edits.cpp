#include "agents/edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace warpwright::agents {

const char* const kEditProperties = R"("functions": {"type": "array", "maxItems": 16, "items": {
    "type": "object", "properties": {
      "name": {"type": "string", "description": "of a function of the listing, with its namespaces or without"},
      "text": {"type": "string", "maxLength": 60000, "description": "its whole new definition, with helper functions and kernels before it"}},
    "required": ["name", "text"], "additionalProperties": false}},
  "lines": {"type": "array", "maxItems": 64, "items": {
    "type": "object", "properties": {
      "first": {"type": "integer", "minimum": 1, "maximum": 1000000},
      "last": {"type": "integer", "minimum": 0, "maximum": 1000000, "description": "included; first - 1 inserts before first"},
      "text": {"type": "string", "maxLength": 60000}},
    "required": ["first", "last", "text"], "additionalProperties": false}})";
const char* const kParameterProperty = R"("parameters": {"type": "array", "maxItems": 3, "items": {
    "type": "object", "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 24, "description": "stands in the texts as @NAME@"},
      "values": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"type": "string", "minLength": 1, "maxLength": 24}}},
    "required": ["name", "values"], "additionalProperties": false}})";

namespace {

std::vector<std::string_view> WholeLines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) == std::string_view::npos ? text.size() : text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

using LineEdits = std::variant<std::vector<LineEdit>, Fault>;

LineEdits AsLines(const core::EntryText& entry, const Edits& edits, int line_count) {
  std::vector<LineEdit> all = edits.lines;
  for (const FunctionEdit& edit : edits.functions) {
    const core::FunctionLines* found = nullptr;
    std::vector<std::string> names;
    // The listing shows a name as it is declared, which is without its namespaces.
    const bool exact = std::any_of(entry.functions.begin(), entry.functions.end(),
                                   [&](const core::FunctionLines& function) { return function.name == edit.name; });
    for (const core::FunctionLines& function : entry.functions) {
      names.push_back(function.name);
      if (exact ? function.name != edit.name : !function.name.ends_with("::" + edit.name)) continue;
      if (found != nullptr)
        return Fault{fmt::format("there are several functions {}: replace lines instead", edit.name)};
      found = &function;
    }
    if (found == nullptr)
      return Fault{fmt::format("the listing defines no function {}; it defines {}", edit.name, fmt::join(names, ", "))};
    all.push_back({found->first, found->last, edit.text});
  }
  if (all.empty()) return Fault{"it changes nothing: give functions or lines"};
  for (const LineEdit& edit : all) {
    if (edit.first < 1 || edit.first > line_count + 1 || edit.last > line_count || edit.last < edit.first - 1)
      return Fault{
          fmt::format("lines {} to {} do not exist: the file has {} lines", edit.first, edit.last, line_count)};
  }
  std::stable_sort(all.begin(), all.end(), [](const LineEdit& a, const LineEdit& b) { return a.first < b.first; });
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].first <= all[i - 1].last)
      return Fault{fmt::format("two changes meet at line {}: join them", all[i].first)};
  return all;
}

std::string Apply(const std::vector<std::string_view>& lines, const std::vector<LineEdit>& edits) {
  std::string out;
  size_t next = 0;
  for (const LineEdit& edit : edits) {
    for (; next + 1 < static_cast<size_t>(edit.first) && next < lines.size(); ++next) out += lines[next];
    if (!out.empty() && out.back() != '\n') out += '\n';
    out += edit.text;
    if (!edit.text.empty() && edit.text.back() != '\n') out += '\n';
    next = std::max(next, static_cast<size_t>(edit.last));
  }
  for (; next < lines.size(); ++next) out += lines[next];
  return out;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::variant<std::vector<core::Parameters>, Fault> Settings(const std::vector<SweptParameter>& parameters,
                                                            const std::vector<LineEdit>& edits) {
  std::vector<core::Parameters> settings(1);
  std::set<std::string> names;
  for (const SweptParameter& parameter : parameters) {
    const bool is_used = std::any_of(edits.begin(), edits.end(), [&](const LineEdit& edit) {
      return edit.text.find("@" + parameter.name + "@") != std::string::npos;
    });
    if (!is_used) return Fault{fmt::format("the parameter {0} is not used: no text has @{0}@", parameter.name)};
    if (!names.insert(parameter.name).second) return Fault{"there are two parameters " + parameter.name};
    std::vector<core::Parameters> more;
    for (const core::Parameters& setting : settings)
      for (const std::string& value : parameter.values) {
        core::Parameters next = setting;
        next[parameter.name] = value;
        more.push_back(std::move(next));
      }
    settings = std::move(more);
  }
  if (settings.size() > kMaxVariants)
    return Fault{fmt::format("{} settings of the parameters: at most {} are tried", settings.size(), kMaxVariants)};
  return settings;
}

}  // namespace

std::variant<std::vector<EditedText>, Fault> ApplyEdits(const std::string& base, const core::EntryText& entry,
                                                        const Edits& edits) {
  const std::vector<std::string_view> lines = WholeLines(base);
  LineEdits merged = AsLines(entry, edits, static_cast<int>(lines.size()));
  if (auto* fault = std::get_if<Fault>(&merged)) return std::move(*fault);
  const auto& changes = std::get<std::vector<LineEdit>>(merged);
  auto settings = Settings(edits.parameters, changes);
  if (auto* fault = std::get_if<Fault>(&settings)) return std::move(*fault);
  std::vector<EditedText> texts;
  for (core::Parameters& setting : std::get<std::vector<core::Parameters>>(settings)) {
    std::vector<LineEdit> filled = changes;
    for (LineEdit& edit : filled)
      for (const auto& [name, value] : setting) ReplaceAll(edit.text, "@" + name + "@", value);
    texts.push_back({std::move(setting), Apply(lines, filled)});
  }
  return texts;
}

}  // namespace warpwright::agents
