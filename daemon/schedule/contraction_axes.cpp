#include "schedule/contraction_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/computation_walk.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

constexpr size_t kLineLength = 110;

bool IsWord(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string NameOf(const core::Size& extent, const std::string& letter, size_t number, Names& names) {
  const std::string text = SizeText(extent), own = letter + std::to_string(number);
  constexpr std::string_view kLoopCounters = "IJL";  // of the loops that these kernels are made of
  if (text.size() != 1 || !std::isupper(static_cast<unsigned char>(text[0])) ||
      kLoopCounters.find(text[0]) != std::string_view::npos)
    return names.Take(own);
  return names.TakeOf({std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])))), own});
}

}  // namespace

void AddBroken(Lines& lines, const std::string& statement) {
  const size_t length = kLineLength - 2 * static_cast<size_t>(lines.level());
  std::string rest = statement;
  std::string indent;
  while (rest.size() + indent.size() > length) {
    size_t best = std::string::npos;
    for (size_t i = 0; i + indent.size() < length; ++i)
      if (rest[i] == ' ' && i > 0 && std::string_view(",&|?:=").find(rest[i - 1]) != std::string_view::npos) best = i;
    if (best == std::string::npos) break;
    lines.Add(indent + rest.substr(0, best));
    rest.erase(0, best + 1);
    indent = "    ";
  }
  lines.Add(indent + rest);
}

std::string AlignedAddress(const std::string& buffer, int bytes) {
  return fmt::format("reinterpret_cast<size_t>({}) % {} == 0", buffer, bytes);
}

VariableTexts NamesOfVariables(const core::Stage& stage, const std::vector<Axis>& sum, Names& names) {
  VariableTexts variables;
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) variables[v] = NameOf(stage.extents[v], "i", v, names);
  return WithSum(std::move(variables), sum, names);
}

VariableTexts WithSum(VariableTexts variables, const std::vector<Axis>& sum, Names& names) {
  for (size_t r = 0; r < sum.size(); ++r) variables[sum[r].variable] = NameOf(sum[r].extent, "r", r, names);
  return variables;
}

FlatAxis::FlatAxis(std::vector<Axis> axes, const VariableTexts& variables, Names& names, const std::string& index,
                   const std::string& count)
    : axes_(std::move(axes)), count_("1") {
  for (const Axis& axis : axes_) {
    names_.push_back(variables.at(axis.variable));
    const std::string text = SizeText(axis.extent);
    extents_.push_back(IsWord(text) ? text : names.Take(names_.back() + "_count"));
  }
  if (single()) index_ = names_[0], count_ = extents_[0];
  else if (!empty()) index_ = names.Take(index), count_ = names.Take(count);
}

std::string FlatAxis::extent() const {
  std::vector<std::string> extents;
  for (const Axis& axis : axes_) {
    const std::string text = SizeText(axis.extent);
    extents.push_back(single() ? text : Parenthesized(text));
  }
  return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, " * "));
}

void FlatAxis::DeclareExtents(Lines& lines) const {
  for (size_t i = 0; i < axes_.size(); ++i)
    if (const std::string text = SizeText(axes_[i].extent); extents_[i] != text)
      lines.Add(fmt::format("const int {} = {};", extents_[i], text));
  if (axes_.size() > 1) lines.Add(fmt::format("const int {} = {};", count_, fmt::join(extents_, " * ")));
}

std::vector<std::pair<std::string, std::string>> FlatAxis::Parts(const std::string& flat) const {
  std::vector<std::pair<std::string, std::string>> parts;
  std::vector<std::string> inner;  // extents of what varies faster
  for (size_t i = axes_.size(); i-- > 0;) {
    std::string text = Parenthesized(flat);
    if (inner.size() == 1) text += " / " + inner[0];
    else if (!inner.empty()) text += fmt::format(" / ({})", fmt::join(inner, " * "));
    if (i > 0) text += " % " + extents_[i];
    parts.insert(parts.begin(), {names_[i], text});
    inner.insert(inner.begin(), extents_[i]);
  }
  return parts;
}

void FlatAxis::Decode(Lines& lines, const std::string& flat, const std::string& prefix) const {
  std::vector<std::string> texts;
  for (const auto& [name, text] : Parts(flat))
    if (prefix + name != text) texts.push_back(prefix + name + " = " + text);
  const std::string all = fmt::format("const int {};", fmt::join(texts, ", "));
  if (texts.empty()) return;
  if (all.size() + 2 * static_cast<size_t>(lines.level()) <= kLineLength) return lines.Add(all);
  for (const std::string& text : texts) lines.Add(fmt::format("const int {};", text));
}
void FlatAxis::DecodeInto(Lines& lines, const std::string& flat, const std::string& prefix,
                          const std::string& element) const {
  for (const auto& [name, text] : Parts(flat)) lines.Add(fmt::format("{}{}[{}] = {};", prefix, name, element, text));
}

void FlatAxis::Bind(VariableTexts& variables, const std::string& prefix, const std::string& suffix) const {
  for (size_t i = 0; i < axes_.size(); ++i) variables[axes_[i].variable] = prefix + names_[i] + suffix;
}

}  // namespace warpwright::schedule
