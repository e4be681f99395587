#include "lift/dimensions.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace warpwright::lift {
namespace {

std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

bool IsName(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// One: it is no product.
Dimensions FactorsOf(const core::Expression& dimension) {
  std::vector<std::string> factors(1);
  int depth = 0;
  for (const char c : dimension.text()) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && (c == '+' || c == '-' || c == '/' || c == '%')) return {dimension};
    if (depth == 0 && c == '*') factors.emplace_back();
    else factors.back() += c;
  }
  if (factors.size() == 1) return {dimension};
  Dimensions parsed;
  for (const std::string& factor : factors) {
    auto expression = core::Expression::Parse(factor);
    if (!expression) return {dimension};
    parsed.push_back(std::move(*expression));
  }
  return parsed;
}

bool HasName(const core::Expression& factor) { return !factor.Variables().empty(); }

// "C / G" as its two names.
std::optional<std::pair<std::string, std::string>> QuotientOf(const core::Expression& dimension) {
  const std::string text = WithoutBlanks(dimension.text());
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::pair names{text.substr(0, slash), text.substr(slash + 1)};
  return IsName(names.first) && IsName(names.second) ? std::optional(std::move(names)) : std::nullopt;
}

// At enough shapes for a form; of one group at all of them, it is none.
bool AreWholeGroups(const std::vector<core::Sizes>& shapes, const std::string& name, const std::string& groups) {
  constexpr int kEnough = 3;
  int whole = 0, several = 0;
  for (const core::Sizes& sizes : shapes) {
    const auto size = sizes.find(name), count = sizes.find(groups);
    if (size == sizes.end() || count == sizes.end() || count->second <= 0) return false;
    whole += size->second % count->second == 0;
    several += size->second % count->second == 0 && count->second > 1;
  }
  return whole >= kEnough && several > 0;
}

Groups GroupsOfManifest(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes) {
  Groups groups;
  const auto add = [&](const std::string& name, const std::string& of) {
    const bool known =
        std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
    if (!known && name != of && AreWholeGroups(shapes, name, of)) groups.emplace_back(name, of);
  };
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    for (size_t d = 1; buffer != nullptr && d < buffer->shape.size(); ++d) {
      const auto quotient = QuotientOf(buffer->shape[d]);
      if (!quotient || !AreWholeGroups(shapes, quotient->first, quotient->second)) continue;
      add(quotient->first, quotient->second);
      if (const std::string first = WithoutBlanks(buffer->shape[0].text()); IsName(first)) add(first, quotient->second);
    }
  }
  return groups;
}

// Whether it is a whole number of several groups in every case, and in some of more than one element.
bool IsDividedInCases(const core::KernelSpec& spec, const std::string& name, const std::string& groups) {
  constexpr size_t kEnough = 2;  // in one case alone, anything divides anything
  bool larger = false;
  for (const core::Case& c : spec.cases) {
    const auto size = c.scalars.find(name), count = c.scalars.find(groups);
    if (size == c.scalars.end() || count == c.scalars.end()) return false;
    const auto *n = std::get_if<int64_t>(&size->second), *g = std::get_if<int64_t>(&count->second);
    if (n == nullptr || g == nullptr || *g < 2 || *n % *g != 0) return false;
    larger |= *n > *g;
  }
  return larger && spec.cases.size() >= kEnough;
}

Groups GroupsOfCases(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes) {
  std::vector<std::string> dimensions;
  std::set<std::string> batches;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (size_t d = 0; d < buffer->shape.size(); ++d)
        if (std::string text = WithoutBlanks(buffer->shape[d].text()); IsName(text)) {
          if (d == 0 && buffer->shape.size() > 1) batches.insert(text);
          if (std::find(dimensions.begin(), dimensions.end(), text) == dimensions.end())
            dimensions.push_back(std::move(text));
        }
  Groups groups;
  for (const std::string& name : dimensions)
    for (const core::Argument& of : spec.args) {
      const bool known =
          std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
      if (!known && of.name != name && !batches.contains(of.name) && IsDividedInCases(spec, name, of.name) &&
          AreWholeGroups(shapes, name, of.name))
        groups.emplace_back(name, of.name);
    }
  return groups;
}

}  // namespace

Dimensions DimensionsOf(const core::BufferArgument& buffer, FactorOrder order) {
  const bool flat = buffer.shape.size() == 1;
  Dimensions dimensions;
  for (const core::Expression& dimension : buffer.shape) {
    Dimensions factors = FactorsOf(dimension);
    // Numbers of several things that lie beside or behind each other: nobody says which.
    if (!flat && !std::all_of(factors.begin(), factors.end(), HasName)) factors = {dimension};
    dimensions.insert(dimensions.end(), factors.begin(), factors.end());
  }
  if (flat && order == FactorOrder::kNumbersLast) std::stable_partition(dimensions.begin(), dimensions.end(), HasName);
  return dimensions;
}

std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
                                           GroupsFrom from) {
  DimensionsInGroups found{
      .buffers = {},
      .groups = from == GroupsFrom::kManifest ? GroupsOfManifest(spec, shapes) : GroupsOfCases(spec, shapes)};
  if (found.groups.empty()) return std::nullopt;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    Dimensions& dimensions = found.buffers.emplace_back();
    for (const core::Expression& dimension : DimensionsOf(*buffer)) {
      const std::string text = WithoutBlanks(dimension.text());
      const auto group =
          std::find_if(found.groups.begin(), found.groups.end(), [&](const auto& each) { return each.first == text; });
      const auto count =
          group == found.groups.end() ? Result<core::Expression>(dimension) : core::Expression::Parse(group->second);
      const auto size = group == found.groups.end() ? count : core::Expression::Parse(text + " / " + group->second);
      if (!count || !size) return std::nullopt;
      dimensions.push_back(*count);
      if (group != found.groups.end()) dimensions.push_back(*size);
    }
  }
  return found;
}

}  // namespace warpwright::lift
