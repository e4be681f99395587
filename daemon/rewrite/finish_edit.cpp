#include "rewrite/finish_edit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "rewrite/edit.h"
#include "rewrite/stale_comments.h"
#include "source/splice_pairing.h"
#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

using source::SpliceSide;
using source::TextRange;
using source::Token;
using source::Unit;
using Tokens = std::span<const Token>;

constexpr int kMostPasses = 8;  // what is used by what is unused alone goes next

int Deeper(const Token& token) {
  if (token.Is("(") || token.Is("[") || token.Is("{")) return 1;
  return token.Is(")") || token.Is("]") || token.Is("}") ? -1 : 0;
}

std::string Spelled(Tokens tokens) {
  std::string text;
  for (const Token& token : tokens) text += std::string(token.text) + ' ';
  return text;
}

// A statement on the lines that it has alone, with a remark behind it; else the statement.
TextRange WithLine(std::string_view text, TextRange range) {
  const size_t begin = text.rfind('\n', range.begin) + 1;  // npos + 1 is 0
  const size_t end = std::min(text.find('\n', range.end), text.size() - 1) + 1;
  const std::string_view before = text.substr(begin, range.begin - begin);
  const std::string_view behind = text.substr(range.end, end - range.end);
  const size_t next = behind.find_first_not_of(" \t\r\n");
  const bool alone = before.find_first_not_of(" \t") == std::string_view::npos &&
                     (next == std::string_view::npos || behind.substr(next).starts_with("//"));
  return alone ? TextRange{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)} : range;
}

// With the remark above it, and one of the empty lines around it.
TextRange WithRemark(std::string_view text, const Unit& unit) {
  TextRange range = WithLine(text, unit.range);
  range.begin = WithLeadingComment(text, range.begin);
  const bool above = range.begin < 2 || text.substr(range.begin - 2, 2) == "\n\n";
  if (above && range.end < text.size() && text[range.end] == '\n') ++range.end;
  return range;
}

// What stands in front of "=" in "const float* scale = x + 2;": two words at least, of which the last is the variable.
std::optional<std::string_view> Declarator(Tokens head) {
  constexpr std::array<std::string_view, 8> kOthers = {"return", "using",    "typedef", "goto",
                                                       "delete", "volatile", "else",    "case"};
  std::string_view name;
  size_t words = 0;
  int depth = 0;
  for (const Token& token : head) {
    const bool opens = token.Is("["), closes = token.Is("]");
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth > 0 || closes) continue;
    const bool of_type = token.Is("*") || token.Is("&") || token.Is("::") || token.Is("<") || token.Is(">") ||
                         token.kind == Token::Kind::kNumber;
    if (of_type) continue;
    if (!token.IsIdentifier() || std::find(kOthers.begin(), kOthers.end(), token.text) != kOthers.end())
      return std::nullopt;
    name = token.text;
    ++words;
  }
  return words > 1 ? std::optional(name) : std::nullopt;
}

// Calls, other assignments, or a second variable.
bool MayDoMore(Tokens value) {
  const bool casts =
      std::any_of(value.begin(), value.end(), [](const Token& token) { return token.text.ends_with("_cast"); });
  int depth = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const Token& token = value[i];
    if (depth == 0 && token.Is(",")) return true;
    depth += Deeper(token);
    const bool compares = token.Is("==") || token.Is("!=") || token.Is("<=") || token.Is(">=");
    if (token.Is("++") || token.Is("--") || (token.text.ends_with('=') && !compares)) return true;
    const bool calls = token.Is("(") && i > 0 && (value[i - 1].IsIdentifier() || (!casts && value[i - 1].Is(">")));
    if (calls) return true;
  }
  return false;
}

// Of one variable of which nothing but itself is made, the name.
std::optional<std::string_view> Declared(Tokens statement) {
  const auto assigns =
      std::find_if(statement.begin(), statement.end(), [](const Token& token) { return token.Is("="); });
  const auto head = static_cast<size_t>(assigns - statement.begin());
  if (head < statement.size() && MayDoMore(statement.subspan(head + 1))) return std::nullopt;
  return Declarator(statement.first(head));
}

class Edit {
 public:
  Edit(const SpliceSide& original, const SpliceSide& edited)
      : original_(original), edited_(edited), pairing_(PairUnits(original, edited)) {}

  // Where nothing is left to take out: none.
  std::vector<TextRange> Unused() const {
    std::vector<TextRange> ranges;
    const auto& units = edited_.file->units;
    for (size_t i = 0; i < units.size(); ++i)
      if (IsNew(i) && (IsUnreached(units[i]) || IsUnusedMacro(units[i])))
        ranges.push_back(WithRemark(edited_.text(), units[i]));
    if (!ranges.empty()) return ranges;
    const std::set<std::string> known = Statements();
    for (size_t i = 0; i < units.size(); ++i)
      if ((IsNew(i) || pairing_.changed[i]) && units[i].kind == Unit::Kind::kFunction)
        AddVariables(units[i], known, ranges);
    return ranges;
  }

  // Functions that read other indices of threads than before.
  std::vector<std::string> Remapped() const {
    std::vector<std::string> names;
    const auto& units = edited_.file->units;
    for (size_t i = 0; i < units.size(); ++i)
      if (pairing_.changed[i] && units[i].kind == Unit::Kind::kFunction &&
          IndicesOf(edited_, units[i]) != IndicesOf(original_, original_.file->units[pairing_.of_edited[i]]))
        names.push_back(units[i].name);
    return names;
  }

 private:
  bool IsNew(size_t index) const { return pairing_.of_edited[index] == source::kNone; }
  bool IsUnreached(const Unit& unit) const {
    return (unit.kind == Unit::Kind::kFunction || unit.kind == Unit::Kind::kAlias) && !unit.is_specialization &&
           !edited_.Reaches(unit);
  }
  bool IsUnusedMacro(const Unit& unit) const {
    if (unit.kind != Unit::Kind::kMacro || unit.name.starts_with('_') || edited_.units.macros.any_pastes())
      return false;
    for (const source::IncludeDirective& include : edited_.file->file->includes)
      if (include.line_range.begin > unit.range.begin) return false;
    return std::none_of(edited_.file->all.begin(), edited_.file->all.end(), [&](const Token& token) {
      return token.text == unit.name && !unit.range.Contains(token.range);
    });
  }

  static Tokens TokensOf(const SpliceSide& side, const Unit& unit) {
    const std::vector<Token>& all = side.file->all;
    const auto first =
        std::find_if(all.begin(), all.end(), [&](const Token& token) { return token.range.begin >= unit.range.begin; });
    const auto last =
        std::find_if(first, all.end(), [&](const Token& token) { return token.range.begin >= unit.range.end; });
    return {first, last};
  }

  // Of statements, those that follow a whole one within braces.
  template <typename Take>
  static void ForEachStatement(Tokens tokens, const Take& take) {
    size_t begin = 0;  // 0: no statement begins here
    int parentheses = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.Is("(") || token.Is("[")) ++parentheses;
      if (token.Is(")") || token.Is("]")) --parentheses;
      if (parentheses != 0) continue;
      if (token.in_directive) begin = 0;
      if (token.Is(";") && begin > 0 && i > begin) take(tokens.subspan(begin, i - begin), tokens[i]);
      // A brace behind "=" or a name holds values.
      const bool values =
          token.Is("{") && i > 0 && (tokens[i - 1].Is("=") || tokens[i - 1].IsIdentifier() || tokens[i - 1].Is("]"));
      const bool type = token.Is("{") && begin > 0 && begin < i &&
                        (tokens[begin].Is("struct") || tokens[begin].Is("union") || tokens[begin].Is("class"));
      if (begin > 0 && (values || type)) {
        for (int depth = 0; i < tokens.size(); ++i) {
          depth += Deeper(tokens[i]);
          if (depth == 0) break;
        }
        continue;
      }
      if (token.Is(";") || token.Is("{") || token.Is("}")) begin = i + 1;
      else if (begin == i && (token.Is("if") || token.Is("for") || token.Is("while") || token.Is("else") ||
                              token.Is("do") || token.Is("switch")))
        begin = 0;
    }
  }

  std::set<std::string> Statements() const {  // of the original
    std::set<std::string> statements;
    for (const Unit& unit : original_.file->units)
      ForEachStatement(TokensOf(original_, unit),
                       [&](Tokens statement, const Token&) { statements.insert(Spelled(statement)); });
    return statements;
  }

  void AddVariables(const Unit& unit, const std::set<std::string>& known, std::vector<TextRange>& ranges) const {
    const Tokens tokens = TokensOf(edited_, unit);
    // Behind its declaration, as far as its block goes; a macro may name it anywhere.
    const auto is_used = [&](std::string_view name, const Token& end) {
      int depth = 0;
      for (size_t i = static_cast<size_t>(&end - tokens.data()); i < tokens.size() && depth >= 0; ++i) {
        if (tokens[i].text == name) return true;
        depth += tokens[i].Is("{") ? 1 : tokens[i].Is("}") ? -1 : 0;
      }
      return std::any_of(edited_.file->all.begin(), edited_.file->all.end(),
                         [&](const Token& token) { return token.in_directive && token.text == name; });
    };
    ForEachStatement(tokens, [&](Tokens statement, const Token& end) {
      const auto name = Declared(statement);
      if (!name || known.contains(Spelled(statement))) return;
      if (is_used(*name, end)) return;
      ranges.push_back(WithLine(edited_.text(), {statement.front().range.begin, end.range.end}));
    });
  }

  static std::multiset<std::string> IndicesOf(const SpliceSide& side, const Unit& unit) {
    std::multiset<std::string> statements;
    std::string statement;
    bool reads = false;
    for (const Token& token : TokensOf(side, unit)) {
      reads = reads || token.Is("threadIdx") || token.Is("blockIdx") || token.Is("blockDim") || token.Is("gridDim");
      statement += std::string(token.text) + ' ';
      if (!token.Is(";") && !token.Is("{") && !token.Is("}")) continue;
      if (reads) statements.insert(statement);
      statement.clear();
      reads = false;
    }
    return statements;
  }

  const SpliceSide& original_;
  const SpliceSide& edited_;
  source::Pairing pairing_;
};

}  // namespace

std::string FinishEdit(const core::SpliceRequest& request) {
  std::string text = request.edited;
  const auto original = source::ReadSide(request.original, request.entry);
  if (!original || (*original)->reach.entries.empty()) return text;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    core::SourceRef source = request.original;
    source.text = text;
    const auto edited = source::ReadSide(source, request.entry);
    if (!edited || (*edited)->reach.entries.empty()) return text;
    const Edit edit(**original, **edited);
    if (pass == 0)
      for (const std::string& function : edit.Remapped())
        text = DropStaleComments(std::move(text), (*original)->text(), function);
    if (pass == 0 && text != source.text) continue;
    std::vector<TextRange> unused = edit.Unused();
    if (unused.empty()) return text;
    std::sort(unused.begin(), unused.end(), [](TextRange a, TextRange b) { return a.begin > b.begin; });
    for (const TextRange& range : unused) text.erase(range.begin, range.end - range.begin);
  }
  return text;
}

}  // namespace warpwright::rewrite
