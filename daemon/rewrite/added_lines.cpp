#include "rewrite/added_lines.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>

#include "base/lines.h"
#include "base/utf8.h"
#include "rewrite/value_flow.h"
#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

constexpr std::string_view kFlow[] = {"if",   "else",  "for",      "while", "do",      "switch", "case", "return",
                                      "goto", "break", "continue", "asm",   "default", "and",    "or"};
constexpr std::string_view kUpdates[] = {" += ", " -= ", " *= ", "] = "};

std::vector<std::string_view> TrimmedLines(std::string_view text) {
  std::vector<std::string_view> lines = base::LinesOf(text);
  for (std::string_view& line : lines) line = base::Trimmed(line);
  return lines;
}

// "sum += x[k];" of "for (int k = 0; k < n; k++) sum += x[k];": what a line does under the conditions before it.
std::string_view WithoutHeads(std::string_view line) {
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t"))); };
  while (true) {
    const std::string_view whole = line;
    for (const std::string_view word : {"}", "else", "for", "while", "if"})
      if (line.starts_with(word) && line.size() > word.size() &&
          (word == "}" || std::string_view(" (").find(line[word.size()]) != std::string_view::npos)) {
        line.remove_prefix(word.size());
        break;
      }
    skip_blanks();
    if (line.starts_with('(') && line.size() < whole.size()) {
      int depth = 0;
      size_t end = 0;
      while (end < line.size() && (depth += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0) > 0) ++end;
      line.remove_prefix(std::min(line.size(), end + 1));
      skip_blanks();
    }
    if (line.size() == whole.size()) return line;
  }
}

// What a line does, whatever its variables are called: "s0 += x[k];" is "sum += x[k];" again.
std::string WorkOf(std::string_view line) {
  std::map<std::string_view, size_t> numbers;
  std::string work;
  const std::vector<source::Token> tokens = source::Lex(WithoutHeads(line));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool is_call = i + 1 < tokens.size() && tokens[i + 1].Is("(");
    const bool is_member = i > 0 && (tokens[i - 1].Is(".") || tokens[i - 1].Is("->"));
    if (tokens[i].IsIdentifier() && !is_call && !is_member)
      work += "$" + std::to_string(numbers.emplace(tokens[i].text, numbers.size()).first->second);
    else work += tokens[i].text;
    work += ' ';
  }
  return work;
}

bool IsUpdate(std::string_view line) {
  const std::string_view work = WithoutHeads(line);
  return std::any_of(std::begin(kUpdates), std::end(kUpdates),
                     [&](std::string_view assignment) { return work.find(assignment) != std::string_view::npos; });
}

size_t IndentOf(std::string_view line) { return std::min(line.size(), line.find_first_not_of(" \t")); }

bool IsComment(std::string_view trimmed) { return trimmed.empty() || trimmed.starts_with("//"); }

bool HasWord(std::string_view line, std::string_view word) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(line[at - 1])) && (end == line.size() || !is_letter(line[end]))) return true;
  }
  return false;
}

// One statement that always goes on behind itself, and of which all is done or nothing.
bool IsPlain(std::string_view trimmed) {
  if (!trimmed.ends_with(';')) return false;
  for (const std::string_view other : {"{", "}", "?", "&&", "||", ":", "\\", "%>", "<%"})
    if (trimmed.find(other) != std::string_view::npos) return false;
  return std::none_of(std::begin(kFlow), std::end(kFlow),
                      [&](std::string_view word) { return HasWord(trimmed, word); });
}

// A line as far as a comment that ends it; empty where one may begin or end within it.
std::string_view WithoutComment(std::string_view line) {
  if (line.find("/*") != std::string_view::npos || line.find("*/") != std::string_view::npos) return {};
  return base::Trimmed(line.substr(0, line.find("//")));
}

// What "#define" gives names to: a condition may hide behind one.
std::vector<std::string_view> MacrosOf(const std::vector<std::string_view>& lines) {
  constexpr std::string_view kDefine = "define";
  std::vector<std::string_view> names;
  for (std::string_view line : lines) {
    line = base::Trimmed(line);
    if (!line.starts_with('#')) continue;
    line = base::Trimmed(line.substr(1));
    if (!line.starts_with(kDefine)) continue;
    line = base::Trimmed(line.substr(kDefine.size()));
    names.push_back(line.substr(0, line.find_first_of(" \t(")));
  }
  return names;
}

// What follows a statement, line by line.
class Statements {
 public:
  explicit Statements(std::string_view text) : lines_(base::LinesOf(text)), macros_(MacrosOf(lines_)) {}

  // By line, from 1: of a plain statement that begins where the one before it ends, and of a head of a block, the last
  // line that is only reached through it: of its block, and of those in it. 0: none.
  std::vector<int> ReachedThrough() const {
    std::vector<int> last(lines_.size() + 1, 0);
    size_t plain = 0;  // the line of the last statement, if it is plain and follows a whole one
    bool follows_whole = false;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (IsComment(base::Trimmed(lines_[i]))) continue;
      const std::string_view line = WithoutComment(lines_[i]);
      if (IsPragma(line)) continue;
      if (line.starts_with('#')) {  // it ends no statement, and may leave one out
        plain = 0;
        continue;
      }
      if (plain > 0 && !IsReachedElsewhere(line) && IndentOf(lines_[i]) == IndentOf(lines_[plain - 1]))
        last[plain] = LastFrom(i);
      // "for (int k = 0; k < 3; ++k) {": where the loop is taken apart, its own instructions may be those of a rest.
      if (follows_whole && WithoutHeads(line) == "{") last[i + 1] = LastFrom(i);
      plain = follows_whole && IsPlain(line) && !HasMacro(line) ? i + 1 : 0;
      follows_whole = line.ends_with(';') || line.ends_with('{') || line.ends_with('}');
    }
    return last;
  }

 private:
  static bool IsPragma(std::string_view line) { return line.starts_with("#pragma") && !line.ends_with('\\'); }
  static bool IsReachedElsewhere(std::string_view line) {
    return line.empty() || line.starts_with('}') || line.starts_with("%>") ||
           line.find(':') != std::string_view::npos || HasWord(line, "else") || HasWord(line, "case");
  }
  bool HasMacro(std::string_view line) const {
    return std::any_of(macros_.begin(), macros_.end(), [&](std::string_view name) { return HasWord(line, name); });
  }
  // From the first statement of a rest of a block to its end, or to what may be reached elsewhere.
  int LastFrom(size_t first) const {
    constexpr size_t kMost = 64;
    int depth = 0;
    size_t last = first;
    for (size_t i = first; i < std::min(lines_.size(), first + kMost); ++i) {
      if (IsComment(base::Trimmed(lines_[i]))) continue;
      const std::string_view line = WithoutComment(lines_[i]);
      if (IsPragma(line)) continue;
      const bool is_end = depth > 0 && line == "}";
      if (line.starts_with('#') || (!is_end && IsReachedElsewhere(line)) || HasMacro(line)) break;
      if (line.find_first_of("\"'\\") != std::string_view::npos) break;  // a brace in it may be none
      depth += static_cast<int>(std::count(line.begin(), line.end(), '{')) -
               static_cast<int>(std::count(line.begin(), line.end(), '}'));
      if (depth < 0) break;
      last = i;
    }
    return static_cast<int>(last) + 1;
  }

  const std::vector<std::string_view> lines_, macros_;
};

}  // namespace

std::vector<core::AddedLine> AddedLines(std::string_view original, std::string_view candidate) {
  std::multiset<std::string_view> left;
  std::set<std::string> works;  // of the original
  for (const std::string_view line : TrimmedLines(original)) {
    left.insert(line);
    works.insert(WorkOf(line));
  }
  const std::vector<int> reached = Statements(candidate).ReachedThrough();
  const ValueFlow flow(candidate);
  std::vector<core::AddedLine> lines;
  int number = 0;
  for (const std::string_view line : TrimmedLines(candidate)) {
    ++number;
    if (const auto same = left.find(line); same != left.end()) left.erase(same);
    else if (!line.empty() && !line.starts_with("//"))
      lines.push_back({.number = number,
                       .old_work = works.contains(WorkOf(line)),
                       .updates = IsUpdate(line) && !flow.PutsConstants(number),
                       .reached_through = reached[static_cast<size_t>(number)],
                       .sources = flow.SourcesOf(number),
                       .text = base::ValidUtf8(line)});
  }
  std::set<int> added;
  for (const core::AddedLine& line : lines) added.insert(line.number);
  for (core::AddedLine& line : lines)
    std::erase_if(line.sources, [&](const std::vector<int>& givers) {
      return !std::all_of(givers.begin(), givers.end(), [&](int giver) { return added.contains(giver); });
    });
  return lines;
}

}  // namespace warpwright::rewrite
