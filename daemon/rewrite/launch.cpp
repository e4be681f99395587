#include "rewrite/launch.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace warpwright::rewrite {
namespace {

bool IsAtom(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
  });
}

bool IsDim3(const source::Node& node) { return node.type.find("dim3") != std::string::npos; }

// The local variable that a launch part is, with its initializer.
const source::Node* VariableOf(const LaunchSite& site, const source::Node& part) {
  if (!part.Is(source::NodeKind::kName)) return nullptr;
  const source::VariableInfo* info = site.host->analysis.Find(part.symbol);
  return info == nullptr || info->declaration == nullptr || site.host->analysis.Definition(part.symbol) == nullptr
             ? nullptr
             : info->declaration;
}

// Is every use of the variable inside the launch's grid or block, or in the definition of a variable for which the same
// is true?
bool IsExclusive(const LaunchSite& site, const source::Node& variable, std::set<const source::Node*> seen = {}) {
  if (!seen.insert(&variable).second) return false;
  const source::FunctionAnalysis& analysis = site.host->analysis;
  const source::VariableInfo* info = analysis.Find(variable.symbol);
  return std::all_of(info->uses.begin(), info->uses.end(), [&](const source::Node* use) {
    if (source::Contains((*site.launch)[source::kLaunchGrid], *use) ||
        source::Contains((*site.launch)[source::kLaunchBlock], *use))
      return true;
    for (const size_t part : {source::kLaunchGrid, source::kLaunchBlock}) {
      const source::Node* other = VariableOf(site, (*site.launch)[part]);
      if (other != nullptr && other != &variable && source::Contains(*other, *use))
        return IsExclusive(site, *other, seen);
    }
    return false;
  });
}

bool DeclaredAlone(const source::Node& variable) {
  return variable.parent != nullptr && variable.parent->Is(source::NodeKind::kDeclaration) &&
         variable.parent->size() == 1;
}

std::string Joined(const std::vector<std::string>& axes) {
  std::vector<std::string> kept = axes;
  while (kept.size() > 1 && kept.back() == "1") kept.pop_back();
  return fmt::format("{}", fmt::join(kept, ", "));
}

// "const dim3 grid(a, b)" for the declaration "const dim3 grid((n + 15) / 16)". The declared type follows the number of
// axes.
std::string Declaration(const AnalyzedFunction& host, const source::Node& variable,
                        const std::vector<std::string>& axes) {
  const std::string joined = Joined(axes);
  const bool several = joined.find(',') != std::string::npos && axes.size() > 1 && axes.back() != "1";
  const bool is_const = variable.type.starts_with("const ");
  if (IsDim3(variable) || several) return fmt::format("{}dim3 {}({})", is_const ? "const " : "", variable.name, joined);
  std::string before(host.syntax.text.substr(variable.begin, variable[0].begin - variable.begin));
  return before + joined;  // "const int blocks = ", unchanged
}

void SetPart(const LaunchSite& site, size_t part, const std::vector<std::string>& axes, Edits& edits) {
  const source::Node& node = (*site.launch)[part];
  const source::Node* variable = VariableOf(site, node);
  if (variable != nullptr && variable->whole && DeclaredAlone(*variable) && IsExclusive(site, *variable)) {
    edits.Replace(*variable, Declaration(*site.host, *variable, axes));
    return;
  }
  const std::string joined = Joined(axes);
  const bool one =
      axes.size() == 1 || std::all_of(axes.begin() + 1, axes.end(), [](const auto& a) { return a == "1"; });
  edits.Replace(node, one ? joined : fmt::format("dim3({})", joined));
}

bool IsCeilingDivision(const std::string& name) {
  std::string lower;
  for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool up = lower.find("ceil") != std::string::npos || lower.find("up") != std::string::npos ||
                  lower.find("cdiv") != std::string::npos;
  return up && lower.find("div") != std::string::npos;
}

std::string Times(int factor, std::string_view text) {
  return fmt::format("{} * {}", factor, IsAtom(text) ? std::string(text) : fmt::format("({})", text));
}

// factor * d, computed if d is a literal in the text and not a named constant.
std::string Scaled(const AnalyzedFunction& host, const source::Node& node, int factor, bool in_product) {
  const std::string text(host.syntax.Text(node));
  const auto value = host.analysis.Fold(node);
  const bool number = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && value) return std::to_string(*value * factor);
  return in_product ? fmt::format("({})", Times(factor, text)) : Times(factor, text);
}

// (a + d - 1) / d and ceil_div(a, d) with factor * d for d; nothing for other forms.
std::optional<std::string> CoarsenedDivision(const AnalyzedFunction& host, const source::Node& grid, int factor) {
  const source::FunctionAnalysis& analysis = host.analysis;
  const source::SyntaxFunction& function = host.syntax;
  if (grid.Is(source::NodeKind::kCall) && grid.size() == 2 && IsCeilingDivision(grid.name) && grid[1].whole) {
    return Substitute(function, grid, {{&grid[1], Scaled(host, grid[1], factor, false)}});
  }
  if (!grid.Is(source::NodeKind::kBinary, "/") || grid.size() != 2 || !grid.whole) return std::nullopt;
  const source::Node& divisor = source::StripCasts(grid[1]);
  const source::Node& numerator = source::StripCasts(grid[0]);
  const auto value = analysis.Fold(divisor);
  // (n + 255) / 256: both literals change.
  if (divisor.Is(source::NodeKind::kInteger) && !divisor.in_macro && value &&
      numerator.Is(source::NodeKind::kBinary, "+") && numerator[1].Is(source::NodeKind::kInteger) && divisor.whole &&
      numerator[1].whole && analysis.Fold(numerator[1]) == *value - 1) {
    return Substitute(
        function, grid,
        {{&numerator[1], std::to_string(*value * factor - 1)}, {&divisor, std::to_string(*value * factor)}});
  }
  // (n + d - 1) / d, also if a macro writes it: every d in the text becomes factor * d.
  const source::Polynomial rest = analysis.Index(numerator) - analysis.Index(divisor) + source::Polynomial::Constant(1);
  const std::string spelled(function.Text(divisor));
  std::vector<Substitution> substitutions;
  bool found = false;
  source::ForEach(numerator, [&](const source::Node& node) {
    if (!node.whole || function.Text(node) != spelled || found) return;
    substitutions.push_back({&node, Scaled(host, divisor, factor, false)});
    found = true;
  });
  const std::vector<std::string> symbols = rest.Symbols();
  const bool mentions_divisor = std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
    return analysis.Index(divisor).Mentions(symbol);
  });
  if (!found || mentions_divisor || !divisor.whole) return std::nullopt;
  const bool same_text = substitutions[0].node->begin == divisor.begin;  // an argument of a macro
  if (!same_text) substitutions.push_back({&divisor, Scaled(host, divisor, factor, true)});
  return Substitute(function, grid, substitutions);
}

}  // namespace

std::optional<LaunchAxis> FindAxis(const LaunchSite& site, LaunchAxisGroup group, size_t axis) {
  const source::Node& part = (*site.launch)[static_cast<size_t>(group)];
  const source::Node* variable = VariableOf(site, part);
  const source::Node* value = variable == nullptr ? &part : &(*variable)[0];
  LaunchAxis result;
  result.variable = variable;
  result.exclusive = variable == nullptr || IsExclusive(site, *variable);
  const bool aggregate = value->Is(source::NodeKind::kConstruct) || value->Is(source::NodeKind::kInitList) ||
                         (value->Is(source::NodeKind::kCast) && value->type.find("dim3") != std::string::npos);
  if (aggregate) {
    if (axis >= value->size()) return std::nullopt;
    result.expression = &(*value)[axis];
  } else {
    if (axis != 0 || (value->Is(source::NodeKind::kName) && IsDim3(*value))) return std::nullopt;
    result.expression = value;
  }
  return result;
}

std::optional<int64_t> ConstantAxis(const LaunchSite& site, LaunchAxisGroup group, size_t axis) {
  const auto found = FindAxis(site, group, axis);
  if (found) return site.host->analysis.Fold(*found->expression);
  if (axis == 0) return std::nullopt;
  // Absent, unless the shape itself could not be followed.
  return FindAxis(site, group, 0) ? std::optional<int64_t>(1) : std::nullopt;
}

bool IsOneDimensional(const LaunchSite& site, LaunchAxisGroup group) {
  return ConstantAxis(site, group, 1) == 1 && ConstantAxis(site, group, 2) == 1;
}

void SetLaunch(const LaunchSite& site, const LaunchShape& shape, Edits& edits) {
  if (!shape.grid.empty()) SetPart(site, source::kLaunchGrid, shape.grid, edits);
  if (!shape.block.empty()) SetPart(site, source::kLaunchBlock, shape.block, edits);
  if (shape.shared_bytes.empty()) return;
  const source::Node& shared = (*site.launch)[source::kLaunchShared];
  if (shared.Is(source::NodeKind::kEmpty)) {
    edits.Insert((*site.launch)[source::kLaunchBlock].end, ", " + shape.shared_bytes);
  } else {
    edits.Replace(shared, shape.shared_bytes);
  }
}

void CoarsenGrid(const LaunchSite& site, int factor, bool any_form, Edits& edits) {
  const auto axis = FindAxis(site, LaunchAxisGroup::kGrid, 0);
  const source::Node& part = (*site.launch)[source::kLaunchGrid];
  const source::SyntaxFunction& host = site.host->syntax;
  if (axis && axis->exclusive && axis->expression->whole) {
    const source::Node& grid = *axis->expression;
    const auto division = CoarsenedDivision(*site.host, source::StripCasts(grid), factor);
    if (division) {
      edits.Replace(source::StripCasts(grid), *division);
    } else if (any_form) {
      const std::string text(host.Text(grid));
      edits.Replace(grid, fmt::format("({} + {}) / {}", text, factor - 1, factor));
    }
    return;
  }
  if (!any_form) return;
  const std::string text(host.Text(part));
  if (IsDim3(part)) {
    edits.Replace(part, fmt::format("dim3(({0}.x + {1}) / {2}, {0}.y, {0}.z)", text, factor - 1, factor));
  } else {
    edits.Replace(part, fmt::format("({} + {}) / {}", text, factor - 1, factor));
  }
}

std::string ArgumentText(const KernelSite& kernel, const LaunchSite& site, const std::string& parameter_symbol) {
  const auto& parameters = kernel.function().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].symbol != parameter_symbol || source::kLaunchArguments + i >= site.launch->size()) continue;
    const source::Node& argument = (*site.launch)[source::kLaunchArguments + i];
    const std::string text(site.host->syntax.Text(argument));
    const bool bracketed = text.starts_with("(") && text.ends_with(")") && argument.kind != source::NodeKind::kCast;
    return IsAtom(text) || bracketed ? text : fmt::format("({})", text);
  }
  return "";
}

std::optional<std::string> HostText(const KernelSite& kernel, const LaunchSite& site, const source::Node& expression) {
  if (!expression.whole) return std::nullopt;
  std::vector<Substitution> substitutions;
  bool known = true;
  source::ForEach(expression, [&](const source::Node& node) {
    if (node.Is(source::NodeKind::kMember) || node.Is(source::NodeKind::kCall) || source::IsLoad(node)) known = false;
    if (!node.Is(source::NodeKind::kName)) return;
    const source::VariableInfo* info = kernel.analysis().Find(node.symbol);
    if (info == nullptr) {  // a constant of the file is visible to both; a template parameter is not
      const CXCursorKind kind = clang_getCursorKind(clang_getCursorReferenced(node.cursor));
      known = known && (kind == CXCursor_VarDecl || kind == CXCursor_EnumConstantDecl);
      return;
    }
    if (info->parameter != nullptr && info->writes.empty()) {
      const std::string text = ArgumentText(kernel, site, node.symbol);
      known = known && !text.empty();
      substitutions.push_back({&node, text});
      return;
    }
    const source::Node* definition = kernel.analysis().Definition(node.symbol);
    const auto text = definition == nullptr ? std::nullopt : HostText(kernel, site, *definition);
    known = known && text.has_value();
    if (text) substitutions.push_back({&node, IsAtom(*text) ? *text : fmt::format("({})", *text)});
  });
  if (!known) return std::nullopt;
  return Substitute(kernel.function(), expression, substitutions);
}

}  // namespace warpwright::rewrite
