#include "rewrite/named_constant.h"

#include <charconv>
#include <optional>
#include <vector>

#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

using source::Token;

std::optional<int64_t> Number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number that a macro stands for, whose name is tokens[at]: "256" or "(256)" and nothing else.
std::optional<int64_t> MacroValue(const std::vector<Token>& tokens, size_t at) {
  size_t begin = at + 1, end = begin;
  while (end < tokens.size() && tokens[end].in_directive && !tokens[end].OpensDirective()) ++end;
  if (end - begin == 3 && tokens[begin].Is("(") && tokens[end - 1].Is(")")) ++begin, --end;
  return end - begin == 1 ? Number(tokens[begin].text) : std::nullopt;
}

// "constexpr int kBins = 256;", whose name is tokens[at].
std::optional<int64_t> VariableValue(const std::vector<Token>& tokens, size_t at) {
  if (at + 3 >= tokens.size() || !tokens[at + 1].Is("=") || !tokens[at + 3].Is(";")) return std::nullopt;
  for (size_t before = at; before-- > 0;) {
    const Token& token = tokens[before];
    if (token.in_directive || token.Is(";") || token.Is("{") || token.Is("}")) break;
    if (token.Is("const") || token.Is("constexpr")) return Number(tokens[at + 2].text);
  }
  return std::nullopt;
}

// Of the definitions outside of functions and before `end`; of several of one name the last counts.
void AddConstants(std::string_view text, uint32_t end, std::map<std::string, std::optional<int64_t>>& values) {
  const std::vector<Token> tokens = source::Lex(text);
  int depth = 0;
  for (size_t i = 0; i < tokens.size() && tokens[i].range.begin < end; ++i) {
    const Token& token = tokens[i];
    if (!token.in_directive) depth += token.Is("{") ? 1 : token.Is("}") ? -1 : 0;
    if (!token.IsIdentifier()) continue;
    const bool macro = i >= 2 && tokens[i - 1].Is("define") && tokens[i - 2].OpensDirective();
    if (macro) values[std::string(token.text)] = MacroValue(tokens, i);
    else if (!token.in_directive && depth == 0)
      if (const auto value = VariableValue(tokens, i)) values[std::string(token.text)] = value;
  }
}

}  // namespace

std::map<int64_t, std::string> NamedConstants(const source::Ast& ast, const source::TextRange& where, uint32_t at) {
  std::map<std::string, std::optional<int64_t>> values;
  for (const auto& [path, file] : ast.tree().files)
    if (path != ast.source().file) AddConstants(file.text, static_cast<uint32_t>(file.text.size()), values);
  AddConstants(ast.text(), at, values);
  std::map<int64_t, std::string> names;
  for (const Token& token : source::ast::Tokens(ast, where))
    if (const auto found = values.find(std::string(token.text)); found != values.end() && found->second)
      names.emplace(*found->second, found->first);
  return names;
}

}  // namespace warpwright::rewrite
