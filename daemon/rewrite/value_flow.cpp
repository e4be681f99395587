#include "rewrite/value_flow.h"

#include <algorithm>
#include <array>
#include <optional>

namespace warpwright::rewrite {
namespace {

using source::Token;
using Tokens = std::span<const Token>;

constexpr std::array<std::string_view, 10> kAssignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="};
constexpr std::array<std::string_view, 4> kHeads = {"if", "for", "while", "switch"};
constexpr std::array<std::string_view, 3> kBefore = {"else", "do", "return"};

template <size_t N>
bool IsOneOf(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

int Deeper(const Token& token) {
  if (token.Is("(") || token.Is("[") || token.Is("{")) return 1;
  return token.Is(")") || token.Is("]") || token.Is("}") ? -1 : 0;
}

// The first token at the outer level that `is` accepts; the end: none.
template <typename Is>
size_t FindOutside(Tokens tokens, size_t from, const Is& is) {
  int depth = 0;
  for (size_t i = from; i < tokens.size(); ++i) {
    if (depth == 0 && is(tokens[i])) return i;
    depth += Deeper(tokens[i]);
  }
  return tokens.size();
}

// Behind the bracket that closes the one at `open`.
size_t BehindBracket(Tokens tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    depth += Deeper(tokens[i]);
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

// What "const float part[4]", "v.x" and "sum" name, and whether two words in a row say that it is declared there.
struct Target {
  std::string_view name;
  bool declares = false;
};
std::optional<Target> TargetOf(Tokens tokens) {
  Target target;
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (depth == 0 && (tokens[i].Is("->") || (i == 0 && tokens[i].Is("*")))) return std::nullopt;
    depth += Deeper(tokens[i]);
    if (depth != 0 || !tokens[i].IsIdentifier() || (i > 0 && tokens[i - 1].Is("."))) continue;
    target.declares = target.declares || !target.name.empty();
    target.name = tokens[i].text;
  }
  return target.name.empty() ? std::nullopt : std::optional(target);
}

bool HasNames(Tokens tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.IsIdentifier(); });
}

}  // namespace

ValueFlow::ValueFlow(std::string_view text) {
  const std::vector<Token> all = source::Lex(text);
  std::vector<Token> code;
  for (const Token& token : all)
    if (!token.in_directive) code.push_back(token);
  const Tokens tokens(code);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!tokens[i].Is("{") || !tokens[i - 1].Is(")")) continue;
    const size_t end = BehindBracket(tokens, i);
    Function& function = functions_.emplace_back();
    for (size_t at = i; at < end;) at += ReadStatement(tokens.subspan(at, end - at), function);
    i = end - 1;
  }
}

// Reads what `tokens` begin with; the number of tokens read.
size_t ValueFlow::ReadStatement(Tokens tokens, Function& function) {
  const Token& first = tokens.front();
  if (first.Is("{") || first.Is("}") || first.Is(";") || IsOneOf(kBefore, first.text)) return 1;
  if (IsOneOf(kHeads, first.text) && tokens.size() > 1 && tokens[1].Is("(")) {
    const size_t end = BehindBracket(tokens, 1);
    ReadHead(tokens.subspan(2, end - 2), function);
    return end;
  }
  // A brace begins a block, or what a variable begins with.
  int depth = 0;
  size_t end = 0;
  for (; end < tokens.size(); ++end) {
    if (depth == 0 && (tokens[end].Is(";") || tokens[end].Is("}"))) break;
    if (depth == 0 && tokens[end].Is("{") && end > 0 && !tokens[end - 1].Is("=") && !tokens[end - 1].IsIdentifier() &&
        !tokens[end - 1].Is("]"))
      break;
    depth += Deeper(tokens[end]);
  }
  ReadList(tokens.first(end), function);
  return std::max<size_t>(end, 1);
}

void ValueFlow::ReadHead(Tokens head, Function& function) {
  for (size_t at = 0; at < head.size();) {
    const size_t end = FindOutside(head, at, [](const Token& token) { return token.Is(";"); });
    ReadList(head.subspan(at, end - at), function);
    at = end + 1;
  }
}

// Parts between commas, of which the first says whether they are declarations.
void ValueFlow::ReadList(Tokens tokens, Function& function) {
  bool declares = false;
  for (size_t at = 0; at < tokens.size();) {
    const size_t end = FindOutside(tokens, at, [](const Token& token) { return token.Is(","); });
    if (end > at) declares = ReadPart(tokens.subspan(at, end - at), declares, function);
    at = end + 1;
  }
}

// Whether it is a declaration.
bool ValueFlow::ReadPart(Tokens part, bool declares, Function& function) {
  ReadCalls(part, function);
  const size_t assigns = FindOutside(part, 0, [](const Token& token) { return IsOneOf(kAssignments, token.text); });
  const Tokens left = part.first(assigns);
  const auto target = TargetOf(left);
  const bool is_call = FindOutside(left, 0, [](const Token& token) { return token.Is("("); }) < left.size();
  if (target && !is_call && (target->declares || declares)) function.declared.insert(target->name);
  declares = declares || (target && !is_call && target->declares);
  if (assigns == part.size()) return declares;
  const Tokens value = part.subspan(assigns + 1);
  const bool is_constant = part[assigns].Is("=") && !HasNames(value);
  if (target && !is_constant) function.givers[target->name].insert(part.front().line);
  if (is_constant) function.constants.insert(part[assigns].line);
  std::set<std::string_view>& taken = function.taken[part[assigns].line];
  for (const Token& token : value)
    if (token.IsIdentifier() && (!target || token.text != target->name)) taken.insert(token.text);
  return declares;
}

// "++k", "k >>= 1", "load(part, x)", "&part", "float& other = part" and "(part = x)" may give values.
void ValueFlow::ReadCalls(Tokens part, Function& function) {
  bool may_all = false;  // give one to whatever stands here
  int depth = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    depth += Deeper(part[i]);
    const bool assigns = IsOneOf(kAssignments, part[i].text);
    const bool refers = i > 1 && part[i - 1].IsIdentifier() && (part[i - 2].Is("&") || part[i - 2].Is("*"));
    may_all = may_all || (assigns && (depth > 0 || refers));
  }
  std::vector<bool> of_call;  // of the brackets that are open
  for (size_t i = 0; i < part.size(); ++i) {
    if (Deeper(part[i]) > 0)
      of_call.push_back(part[i].Is("(") && i > 0 && (part[i - 1].IsIdentifier() || part[i - 1].Is(">")));
    if (Deeper(part[i]) < 0 && !of_call.empty()) of_call.pop_back();
    if (!part[i].IsIdentifier()) continue;
    const Token* before = i > 0 ? &part[i - 1] : nullptr;
    const Token* behind = i + 1 < part.size() ? &part[i + 1] : nullptr;
    const auto steps = [](const Token* token) { return token != nullptr && (token->Is("++") || token->Is("--")); };
    const bool shifts = behind != nullptr && behind->Is(">") && i + 2 < part.size() && part[i + 2].Is(">=");
    const bool is_address = before != nullptr && before->Is("&");
    const bool is_argument = !of_call.empty() && of_call.back() && before != nullptr &&
                             (before->Is("(") || before->Is(",")) && behind != nullptr &&
                             (behind->Is(",") || behind->Is(")"));
    if (may_all || steps(before) || steps(behind) || shifts || is_address || is_argument)
      function.givers[part[i].text].insert(part.front().line);
  }
}

bool ValueFlow::PutsConstants(int number) const {
  return std::any_of(functions_.begin(), functions_.end(), [&](const Function& function) {
    const auto taken = function.taken.find(number);
    return function.constants.contains(number) && (taken == function.taken.end() || taken->second.empty());
  });
}

std::vector<std::vector<int>> ValueFlow::SourcesOf(int number) const {
  std::vector<std::vector<int>> sources;
  for (const Function& function : functions_) {
    const auto taken = function.taken.find(number);
    if (taken == function.taken.end()) continue;
    for (const std::string_view name : taken->second)
      if (const auto givers = function.givers.find(name);
          function.declared.contains(name) && givers != function.givers.end())
        sources.emplace_back(givers->second.begin(), givers->second.end());
  }
  return sources;
}

}  // namespace warpwright::rewrite
