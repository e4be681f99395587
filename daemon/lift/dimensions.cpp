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

Groups GroupsOfCases(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
                     const std::vector<core::DividedSize>& divided) {
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
    for (const core::DividedSize& size : divided) {
      const bool known =
          std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
      if (!known && size.size == name && !batches.contains(size.groups) && AreWholeGroups(shapes, name, size.groups))
        groups.emplace_back(name, size.groups);
    }
  return groups;
}

// Every dimension in its groups, if there are any.
std::optional<DimensionsInGroups> WithGroupsApart(const core::KernelSpec& spec, Groups groups) {
  DimensionsInGroups found{.buffers = {}, .groups = std::move(groups)};
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

std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes) {
  return WithGroupsApart(spec, GroupsOfManifest(spec, shapes));
}
std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
                                           const std::vector<core::DividedSize>& divided) {
  return WithGroupsApart(spec, GroupsOfCases(spec, shapes, divided));
}

bool HasGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
               const std::vector<core::DividedSize>& divided) {
  std::set<std::string> of_inputs;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
        buffer && buffer->role == core::Role::kIn)
      for (const core::Expression& extent : buffer->shape)
        for (const std::string& name : extent.Variables()) of_inputs.insert(name);
  const Groups groups = GroupsOfCases(spec, shapes, divided);
  return std::any_of(groups.begin(), groups.end(),
                     [&](const auto& group) { return !of_inputs.contains(group.second); });
}

}  // namespace warpwright::lift
