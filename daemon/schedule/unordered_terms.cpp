#include "schedule/unordered_terms.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace warpwright::schedule {
namespace {

using source::Token;
using TokenSpan = std::span<const Token>;

bool SameText(TokenSpan a, TokenSpan b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Token& x, const Token& y) { return x.Is(y.text); });
}
int NestingOf(const Token& token) {
  if (token.Is("(") || token.Is("[") || token.Is("{")) return 1;
  return token.Is(")") || token.Is("]") || token.Is("}") ? -1 : 0;
}
// Where the first of the tokens stands that is none of a bracket's; tokens.size(): nowhere.
template <typename Is>
size_t FindOutside(TokenSpan tokens, const Is& is) {
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (depth == 0 && is(tokens[i])) return i;
    depth += NestingOf(tokens[i]);
    if (depth < 0) break;
  }
  return tokens.size();
}
TokenSpan Unwrapped(TokenSpan tokens) {
  while (tokens.size() > 2 && tokens.front().Is("(")) {
    const size_t end = 1 + FindOutside(tokens.subspan(1), [](const Token& t) { return t.Is(")"); });
    if (end + 1 != tokens.size()) break;
    tokens = tokens.subspan(1, tokens.size() - 2);
  }
  return tokens;
}
bool IsLiteral(TokenSpan tokens) {
  if (tokens.size() == 2 && (tokens[0].Is("-") || tokens[0].Is("+"))) tokens = tokens.subspan(1);
  return tokens.size() == 1 && tokens[0].kind == Token::Kind::kNumber;
}

// Two values of which the larger or the smaller is chosen, and which one it is where neither is.
struct Selection {
  TokenSpan chosen, otherwise;
  size_t begin = 0, end = 0;  // of the expression
};

// The sides of a comparison, which is all of the tokens.
std::optional<std::pair<TokenSpan, TokenSpan>> ComparedIn(TokenSpan condition) {
  condition = Unwrapped(condition);
  const size_t at =
      FindOutside(condition, [](const Token& t) { return t.Is("<") || t.Is(">") || t.Is("<=") || t.Is(">="); });
  if (at == 0 || at + 1 >= condition.size()) return std::nullopt;
  return std::pair(Unwrapped(condition.first(at)), Unwrapped(condition.subspan(at + 1)));
}
bool SamePair(const std::pair<TokenSpan, TokenSpan>& a, TokenSpan x, TokenSpan y) {
  return (SameText(a.first, x) && SameText(a.second, y)) || (SameText(a.first, y) && SameText(a.second, x));
}

bool EndsExpression(const Token& t) { return t.Is(";") || t.Is(",") || t.Is(":") || t.Is("?"); }
bool BeginsAfter(const Token& t) {
  return EndsExpression(t) || t.Is("=") || t.Is("return") || t.Is("&&") || t.Is("||") || t.Is("{") || t.Is("}");
}

// "a > b ? a : b" around the question mark.
std::optional<Selection> SelectionAt(TokenSpan tokens, size_t question) {
  size_t begin = question;
  for (int depth = 0; begin > 0; --begin) {
    const Token& token = tokens[begin - 1];
    if (depth == 0 && (BeginsAfter(token) || NestingOf(token) > 0)) break;
    depth -= NestingOf(token);
  }
  const TokenSpan rest = tokens.subspan(question + 1);
  const size_t colon = FindOutside(rest, [](const Token& t) { return t.Is(":") || t.Is("?"); });
  if (colon >= rest.size() || !rest[colon].Is(":")) return std::nullopt;
  const TokenSpan last = rest.subspan(colon + 1);
  const size_t length = [&] {
    int depth = 0;
    for (size_t i = 0; i < last.size(); ++i) {
      if (depth == 0 && (EndsExpression(last[i]) || NestingOf(last[i]) < 0)) return i;
      depth += NestingOf(last[i]);
    }
    return last.size();
  }();
  const auto sides = ComparedIn(tokens.subspan(begin, question - begin));
  const Selection choice{Unwrapped(rest.first(colon)), Unwrapped(last.first(length)), begin,
                         question + 2 + colon + length};
  if (!sides || choice.chosen.empty() || choice.otherwise.empty() || !SamePair(*sides, choice.chosen, choice.otherwise))
    return std::nullopt;
  return choice;
}

// A macro, a function or a functor's operator (without a name) of two values that is a choice between them.
struct Chooser {
  std::string_view name;
  size_t otherwise = 0;  // which of its arguments it is where neither is the larger one
};

std::vector<TokenSpan> ListedIn(TokenSpan list) {
  std::vector<TokenSpan> parts;
  while (!list.empty()) {
    const size_t comma = FindOutside(list, [](const Token& t) { return t.Is(","); });
    parts.push_back(list.first(comma));
    list = list.subspan(std::min(comma + 1, list.size()));
  }
  return parts;
}
std::optional<size_t> OpeningBefore(TokenSpan tokens, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    depth += NestingOf(tokens[i]);
    if (depth == 0) return i;
  }
  return std::nullopt;
}
// Of what ends before `end` with a list of two parameters, the choice being its value.
std::optional<Chooser> ChooserOf(TokenSpan tokens, size_t end, const Selection& choice) {
  while (end > 0 && (tokens[end - 1].Is("const") || tokens[end - 1].Is("noexcept"))) --end;
  if (end < 3 || !tokens[end - 1].Is(")")) return std::nullopt;
  const auto open = OpeningBefore(tokens, end - 1);
  if (!open || *open == 0) return std::nullopt;
  const std::vector<TokenSpan> parameters = ListedIn(tokens.subspan(*open + 1, end - *open - 2));
  if (parameters.size() != 2 || choice.otherwise.size() != 1) return std::nullopt;
  const Token& name = tokens[*open - 1];
  for (const size_t k : {0, 1})
    if (!parameters[k].empty() && parameters[k].back().Is(choice.otherwise[0].text))
      return Chooser{name.IsIdentifier() ? name.text : std::string_view(), k};
  return std::nullopt;
}

std::vector<Chooser> ChoosersIn(TokenSpan file) {
  std::vector<Chooser> choosers;
  for (size_t i = 0; i < file.size(); ++i) {
    const auto choice = file[i].Is("?") ? SelectionAt(file, i) : std::nullopt;
    if (!choice) continue;
    size_t end = choice->begin;
    if (file[i].in_directive) {
      while (end > 0 && file[end - 1].Is("(")) --end;
    } else {
      if (end < 2 || !file[end - 1].Is("return") || !file[end - 2].Is("{")) continue;
      end -= 2;
    }
    if (const auto chooser = ChooserOf(file, end, *choice)) choosers.push_back(*chooser);
  }
  return choosers;
}

bool IsExtremumFunction(const Token& name) {
  return name.Is("fmaxf") || name.Is("fminf") || name.Is("fmax") || name.Is("fmin");
}

class ExtremaOfKernel {
 public:
  ExtremaOfKernel(TokenSpan tokens, const std::vector<Chooser>& choosers) : tokens_(tokens), choosers_(choosers) {}

  void Look() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.Is("?")) LookAtChoice(i);
      if (token.Is("if")) LookAtBranch(i);
      if (token.IsIdentifier() && i + 1 < tokens_.size() && tokens_[i + 1].Is("(")) LookAtCall(i);
    }
  }

  bool taken = false, passed = false, left_out = false, stopped = false;

 private:
  // A choice whose value is put into one of the two.
  void Add(TokenSpan target, TokenSpan chosen, TokenSpan otherwise) {
    if (IsLiteral(chosen) && !IsLiteral(otherwise)) passed = true;
    else if (IsLiteral(otherwise)) stopped = true;
    else if (SameText(target, otherwise)) left_out = true;
    else if (SameText(target, chosen)) taken = true;
  }
  // What stands before "=", to the left of `end`.
  TokenSpan TargetBefore(size_t end) const {
    if (end == 0 || !tokens_[end - 1].Is("=")) return {};
    size_t begin = end - 1;
    for (int depth = 0; begin > 0; --begin) {
      const Token& token = tokens_[begin - 1];
      if (depth == 0 && (BeginsAfter(token) || NestingOf(token) > 0)) break;
      if (depth == 0 && token.Is(")")) break;
      depth -= NestingOf(token);
    }
    return tokens_.subspan(begin, end - 1 - begin);
  }
  void LookAtChoice(size_t question) {
    if (const auto choice = SelectionAt(tokens_, question))
      Add(TargetBefore(choice->begin), choice->chosen, choice->otherwise);
  }
  // if (v > m) m = v;
  void LookAtBranch(size_t at) {
    if (at + 1 >= tokens_.size() || !tokens_[at + 1].Is("(")) return;
    const TokenSpan rest = tokens_.subspan(at + 2);
    const size_t close = FindOutside(rest, [](const Token& t) { return t.Is(")"); });
    if (close >= rest.size()) return;
    const auto sides = ComparedIn(rest.first(close));
    TokenSpan then = rest.subspan(close + 1);
    if (!then.empty() && then[0].Is("{")) then = then.subspan(1);
    const size_t assigns = FindOutside(then, [](const Token& t) { return t.Is("=") || t.Is(";"); });
    if (!sides || assigns >= then.size() || !then[assigns].Is("=")) return;
    const TokenSpan value = then.subspan(assigns + 1);
    const size_t end = FindOutside(value, [](const Token& t) { return t.Is(";"); });
    const TokenSpan target = then.first(assigns), chosen = Unwrapped(value.first(end));
    if (SamePair(*sides, target, chosen)) Add(target, chosen, target);
  }
  // m = MAX(m, v), m = reduce(m, v)
  void LookAtCall(size_t at) {
    const TokenSpan rest = tokens_.subspan(at + 2);
    const size_t close = FindOutside(rest, [](const Token& t) { return t.Is(")"); });
    const std::vector<TokenSpan> arguments = ListedIn(rest.first(std::min(close, rest.size())));
    if (arguments.size() != 2) return;
    if (IsExtremumFunction(tokens_[at]))
      (IsLiteral(Unwrapped(arguments[0])) || IsLiteral(Unwrapped(arguments[1])) ? stopped : left_out) = true;
    for (const Chooser& chooser : choosers_)
      if (chooser.name.empty() || tokens_[at].Is(chooser.name))
        Add(TargetBefore(at), Unwrapped(arguments[1 - chooser.otherwise]), Unwrapped(arguments[chooser.otherwise]));
  }

  TokenSpan tokens_;
  const std::vector<Chooser>& choosers_;
};

}  // namespace

UnorderedTerms UnorderedTermsOf(const std::vector<std::vector<Token>>& kernels, const std::vector<Token>& file) {
  const std::vector<Chooser> choosers = ChoosersIn(file);
  UnorderedTerms terms;
  bool left_out = false, stopped = false;
  for (const std::vector<Token>& tokens : kernels) {
    ExtremaOfKernel kernel(tokens, choosers);
    kernel.Look();
    terms.taken |= kernel.taken;
    terms.passed |= kernel.passed;
    left_out |= kernel.left_out;
    stopped |= kernel.stopped;
  }
  return {.taken = terms.taken && !left_out, .passed = terms.passed && !stopped};
}

}  // namespace warpwright::schedule
