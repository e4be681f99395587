#include "config/expression_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::config {

void ExpressionReader::CollectScalars(const YamlNode& arguments) {
  for (const auto& [key, value] : arguments.entries()) {
    const YamlNode* scalar = value.Find("scalar");
    if (!scalar) continue;
    auto dtype = core::ParseDType(scalar->text());
    (dtype && core::IsFloat(*dtype) ? float_names_ : integer_names_).push_back(key.text());
  }
}

std::optional<core::Expression> ExpressionReader::Read(const YamlNode& node) {
  auto text = diagnostics_.Take(node.AsString());
  if (!text) return std::nullopt;
  auto expression = core::Expression::Parse(*text);
  if (!expression) {
    Error error =
        node.ErrorHere(expression.error().message, "an expression with a comma must be quoted: \"ceil_div(N, 4)\"");
    if (expression.error().column > 0) error.column += expression.error().column - 1 + node.quoted();
    diagnostics_.Add(std::move(error));
    return std::nullopt;
  }
  for (const std::string& name : expression->Variables()) CheckVariable(node, name);
  return *std::move(expression);
}
void ExpressionReader::CheckVariable(const YamlNode& node, const std::string& name) {
  if (std::find(integer_names_.begin(), integer_names_.end(), name) != integer_names_.end()) return;
  if (std::find(float_names_.begin(), float_names_.end(), name) != float_names_.end())
    return diagnostics_.Add(node, fmt::format("'{}' is a floating scalar; expressions use integer ones", name),
                            "use an integer scalar, or a number");
  std::vector<std::string_view> names(integer_names_.begin(), integer_names_.end());
  Error unknown = UnknownName(node, "integer scalar", name, names);
  const std::string declared = fmt::format("declare '{}: {{scalar: i32}}' under 'args'", name);
  unknown.remedy = unknown.remedy.empty() || names.empty() ? declared : unknown.remedy + "; or " + declared;
  diagnostics_.Add(std::move(unknown));
}
std::vector<core::Expression> ExpressionReader::ReadList(const YamlNode& node, std::string_view what, size_t least,
                                                         size_t most) {
  std::vector<core::Expression> list;
  if (!node.IsList() || node.items().size() < least || node.items().size() > most) {
    diagnostics_.Add(node,
                     fmt::format("{} must be a list of {} expressions", what,
                                 least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most)),
                     "write it as [N, C]; an expression with a comma must be quoted");
    return list;
  }
  for (const YamlNode& item : node.items()) {
    auto expression = Read(item);
    if (!expression) return {};  // an unquoted comma also breaks the items after it
    list.push_back(*std::move(expression));
  }
  return list;
}

Result<int64_t> ExpressionReader::Value(const core::Expression& expression,
                                        const std::map<std::string, int64_t>& variables, int64_t low, int64_t high) {
  WW_ASSIGN(int64_t value, expression.Evaluate(variables));
  if (value < low || value > high)
    return Fail(ErrorCode::kConfig,
                fmt::format("'{}' is {}; it must be from {} to {}", expression.text(), value, low, high));
  return value;
}

}  // namespace warpwright::config
