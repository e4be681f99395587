#include "source/slice_compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "source/headers.h"
#include "source/includes.h"
#include "source/tokens.h"

namespace warpwright::source {
namespace {

// One side of a slice: the input of one of the two compilers.
struct Program {
  const std::string& file;
  const std::string& text;
  const std::map<std::string, std::string>& headers;
};

// A device slice that begins with code has two lines before the user's first: the prelude, and a #line.
std::string_view WithoutPrelude(std::string_view text) {
  const size_t line = text.find('\n');
  if (!text.starts_with("#include \"ww_device/") || !text.substr(line + 1).starts_with("#line 1 ")) return text;
  return text.substr(text.find('\n', line + 1) + 1);
}

// The tokens of a text, without includes that are ignored.
std::vector<Token> Compared(std::string_view text, const std::set<std::string>& kept) {
  std::vector<Token> tokens = Lex(text);
  for (const IncludeDirective& include : ScanIncludes(text)) {
    if (!StandIns().count(include.name) && !kept.count(include.name)) continue;
    std::erase_if(tokens, [&](const Token& token) { return include.line_range.Contains(token.range); });
  }
  return tokens;
}

bool Same(const Token& a, const Token& b) {
  return a.text == b.text && a.in_directive == b.in_directive && a.OpensDirective() == b.OpensDirective();
}

std::string Quoted(const Token* token) {
  return token == nullptr ? "its end" : fmt::format("'{}'", std::string(token->text.substr(0, 40)));
}

std::optional<core::Refused> CompareText(const char* side, const std::string& file, std::string_view first,
                                         std::string_view second, const std::set<std::string>& kept) {
  const std::vector<Token> a = Compared(WithoutPrelude(first), kept), b = Compared(WithoutPrelude(second), kept);
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const Token *x = i < a.size() ? &a[i] : nullptr, *y = i < b.size() ? &b[i] : nullptr;
    if (x != nullptr && y != nullptr && Same(*x, *y)) continue;
    return core::Refused{
        core::Check::kSplice,
        fmt::format("put back into the original file, the edit does not give the same {} code: it has {} "
                    "where the edited file has {} (line {}); declarations may be in another order",
                    side, Quoted(x), Quoted(y), y == nullptr ? 0 : y->line),
        file, x == nullptr ? 0 : x->line};
  }
  return std::nullopt;
}

void AddNames(std::string_view text, std::set<std::string>& names) {
  for (const Token& token : Lex(text)) {
    if (token.kind == Token::Kind::kIdentifier) names.insert(std::string(token.text));
  }
}

// The first token of a header's slice that could affect the rest of the program; `names` are those that the rest of the
// slice mentions.
std::optional<Token> FindEffect(std::string_view text, const std::set<std::string>& names) {
  const std::vector<Token> tokens = Lex(text);
  std::string_view guard;  // of #ifndef X, #define X
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].in_directive) return tokens[i];
    if (!tokens[i].OpensDirective() || i + 2 >= tokens.size()) continue;
    const std::string_view word = tokens[i + 1].text;
    const Token& name = tokens[i + 2];
    if (word == "pragma" && name.text != "once") return name;
    if (word == "define" || word == "undef") {
      const bool reserved = name.text.starts_with("_") && name.text != guard;
      if (reserved || names.count(std::string(name.text))) return name;
    }
    guard = word == "ifndef" ? name.text : std::string_view();
  }
  return std::nullopt;
}

std::optional<core::Refused> Compare(const char* side, const Program& first, const Program& second,
                                     const std::set<std::string>& kept) {
  if (auto differs = CompareText(side, first.file, first.text, second.text, kept)) return differs;
  std::set<std::string> names;
  AddNames(second.text, names);
  for (const auto& [name, text] : second.headers) {
    if (!StandIns().count(name)) AddNames(text, names);
  }
  for (const auto& [name, text] : first.headers) {
    if (StandIns().count(name)) continue;
    const auto other = second.headers.find(name);
    if (other != second.headers.end()) {
      if (auto differs = CompareText(side, name, text, other->second, kept)) return differs;
    } else if (const auto effect = FindEffect(text, names)) {
      return core::Refused{
          core::Check::kSplice,
          fmt::format("the edit drops the include of {}, which stays for the rest of the file and could "
                      "change the {} code ('{}', line {}): keep it in the edit",
                      name, side, std::string(effect->text), effect->line),
          first.file, 0};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<core::Refused> FindDifference(const Slices& first, const Slices& second,
                                            const std::set<std::string>& kept) {
  auto differs = Compare("device", {first.file, first.device, first.device_headers},
                         {second.file, second.device, second.device_headers}, kept);
  if (differs) return differs;
  return Compare("host", {first.file, first.host, first.host_headers}, {second.file, second.host, second.host_headers},
                 kept);
}

}  // namespace warpwright::source
