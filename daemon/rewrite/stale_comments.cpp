#include "rewrite/stale_comments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <vector>

#include "base/lines.h"
#include "rewrite/edit.h"
#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

constexpr size_t kMaxComment = 400;  // of one line; longer ones are no remark on a mapping

bool SpeaksOfSingleThreads(const std::string& clause) {
  static const std::regex words(
      "\\b(one|a|an|each|every|single|1)\\s+(cuda\\s+)?thread\\b|\\bthreads?\\s+per\\b|\\bper[ -]thread\\b|"
      "\\bthread\\s*=\\s*(one|1)\\b|\\bna(i|\xc3\xaf)ve\\b|\\bnot\\s+coalesced\\b|\\buncoalesced\\b",
      std::regex::icase);
  return std::regex_search(clause, words);
}

// The comment's text with only the clauses that hold; nullopt if all do, "" if none does.
std::optional<std::string> WhatHolds(const std::string& comment) {
  static const std::regex separator("(: |, |; |\\. | - )");
  std::string kept;
  bool dropped = false;
  std::string before;  // the separator in front of the next clause
  auto add = [&](const std::string& clause) {
    if (SpeaksOfSingleThreads(clause)) dropped = true;
    else kept += (kept.empty() ? "" : before) + clause;
  };
  auto at = comment.cbegin();
  for (std::sregex_iterator found(comment.begin(), comment.end(), separator), end; found != end; ++found) {
    add(std::string(at, (*found)[0].first));
    before = found->str();
    at = (*found)[0].second;
  }
  add(std::string(at, comment.cend()));
  if (dropped && comment.ends_with('.') && !kept.empty() && !kept.ends_with('.')) kept += '.';
  return dropped ? std::optional(kept) : std::nullopt;
}

// What is left of "// a remark": nullopt if all of it holds, "" if nothing does.
std::optional<std::string> LeftOfLine(const std::string& comment) {
  const size_t words = std::min(comment.find_first_not_of("/ \t"), comment.size());
  if (comment.size() > kMaxComment) return std::nullopt;
  const auto holds = WhatHolds(comment.substr(words));
  return holds && !holds->empty() ? comment.substr(0, words) + *holds : holds;
}

// The same of "/* a remark */", line by line.
std::optional<std::string> LeftOfBlock(const std::string& comment) {
  constexpr const char* kBlank = "*! \t\r";
  const auto is_blank = [&](const std::string& line) { return line.find_first_not_of(kBlank) == std::string::npos; };
  std::vector<std::string> left;
  bool dropped = false;
  const std::string_view inner = std::string_view(comment).substr(2, comment.size() - 4);
  std::vector<std::string_view> lines = base::LinesOf(inner);
  if (inner.ends_with('\n')) lines.emplace_back();
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line(lines[i]);
    const size_t begin = std::min(line.find_first_not_of(kBlank), line.size());
    const size_t end = std::max(begin, line.find_last_not_of(" \t\r") + 1);
    const auto holds = line.size() > kMaxComment ? std::nullopt : WhatHolds(line.substr(begin, end - begin));
    dropped |= holds.has_value();
    if (!holds) left.push_back(line);
    else if (!holds->empty()) left.push_back(line.substr(0, begin) + *holds + line.substr(end));
    else if (i == 0) left.push_back(line.substr(0, line.substr(0, begin).find_last_not_of(" \t") + 1));
    else if (i + 1 == lines.size()) left.push_back(line.substr(0, line.find_first_not_of(" \t")));
  }
  if (!dropped) return std::nullopt;
  if (std::all_of(left.begin(), left.end(), is_blank)) return "";
  while (left.size() > 2 && is_blank(left.back()) && is_blank(left[left.size() - 2])) left.erase(left.end() - 2);
  return fmt::format("/*{}*/", fmt::join(left, "\n"));
}

struct Extent {
  size_t first = 0, last = 0;  // tokens: of the declaration's beginning, and of the closing brace
};
std::optional<Extent> FindDefinition(const std::vector<source::Token>& tokens, std::string_view name) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != name || tokens[i + 1].text != "(") continue;
    const size_t close = source::MatchingBracket(tokens, i + 1);
    if (close + 1 >= tokens.size() || tokens[close + 1].text != "{") continue;
    const size_t end = source::MatchingBracket(tokens, close + 1);
    if (end >= tokens.size()) continue;
    size_t first = i;
    while (first > 0 && !tokens[first - 1].in_directive && tokens[first - 1].text != ";" &&
           tokens[first - 1].text != "}" && tokens[first - 1].text != "{")
      --first;
    return Extent{first, end};
  }
  return std::nullopt;
}

struct Change {
  size_t begin, end;
  std::string to;
};
// Takes the comment at [begin, end) away: with its line, if nothing else is on it, and with the blanks around it.
Change Removed(std::string_view text, size_t begin, size_t end) {
  const size_t line = LineBegin(text, static_cast<uint32_t>(begin));
  const size_t last = text.substr(0, begin).find_last_not_of(" \t");
  const bool first = last == std::string_view::npos || last < line;
  const size_t next = std::min(text.find_first_not_of(" \t\r", end), text.size());
  const bool ends = next == text.size() || text[next] == '\n';
  if (first && ends) return {line, std::min(next + 1, text.size()), ""};
  if (first) return {begin, next, ""};
  return {last + 1, end, ""};
}

}  // namespace

std::string DropStaleComments(std::string text, std::string_view original, std::string_view function) {
  const std::vector<source::Token> tokens = source::Lex(text);
  const auto definition = FindDefinition(tokens, function);
  if (!definition) return text;
  std::vector<Change> changes;
  for (size_t k = definition->first; k <= definition->last; ++k) {
    size_t begin = k == 0 ? 0 : tokens[k - 1].range.end;
    if (k == definition->first) begin = std::max<size_t>(begin, WithLeadingComment(text, tokens[k].range.begin));
    const auto next = [&](size_t from) { return std::min(text.find("//", from), text.find("/*", from)); };
    for (size_t at = next(begin), end = at; at < tokens[k].range.begin; at = next(end)) {
      const bool block = text[at + 1] == '*';
      end = block ? text.find("*/", at + 2) + 2 : std::min(text.find('\n', at), text.size());
      const std::string comment = text.substr(at, end - at);
      if (original.find(comment) == std::string_view::npos) continue;
      const auto left = block ? LeftOfBlock(comment) : LeftOfLine(comment);
      if (left) changes.push_back(left->empty() ? Removed(text, at, end) : Change{at, end, *left});
    }
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    text.replace(change->begin, change->end - change->begin, change->to);
  return text;
}

}  // namespace warpwright::rewrite
