#include "rewrite/stale_comments.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <vector>

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

// Where the block of // comments directly above the token begins, at or after `least`.
size_t LeadingBegin(std::string_view text, size_t least, size_t token) {
  const auto line_begin = [&](size_t at) { return at == 0 ? 0 : text.rfind('\n', at - 1) + 1; };  // npos + 1 is 0
  size_t begin = line_begin(token);
  while (begin > least) {
    const size_t above = line_begin(begin - 1);
    const size_t word = text.find_first_not_of(" \t", above);
    if (above < least || text.substr(word, 2) != "//") break;
    begin = above;
  }
  return std::max(begin, least);
}

}  // namespace

std::string DropStaleComments(std::string text, std::string_view original, std::string_view function) {
  const std::vector<source::Token> tokens = source::Lex(text);
  const auto definition = FindDefinition(tokens, function);
  if (!definition) return text;
  struct Change {
    size_t begin, end;
    std::string to;
  };
  std::vector<Change> changes;
  for (size_t k = definition->first; k <= definition->last; ++k) {
    size_t begin = k == 0 ? 0 : tokens[k - 1].range.end;
    if (k == definition->first) begin = LeadingBegin(text, begin, tokens[k].range.begin);
    for (size_t at = text.find("//", begin); at < tokens[k].range.begin; at = text.find("//", at)) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string comment = text.substr(at, end - at);
      const size_t words = std::min(comment.find_first_not_of("/ \t"), comment.size());
      const auto holds = comment.size() <= kMaxComment && original.find(comment) != std::string_view::npos
                             ? WhatHolds(comment.substr(words))
                             : std::nullopt;
      if (holds && !holds->empty()) {
        changes.push_back({at + words, end, *holds});
      } else if (holds) {
        const size_t last = at == 0 ? std::string::npos : text.find_last_not_of(" \t", at - 1);
        const bool whole_line = at == 0 || last == std::string::npos || text[last] == '\n';
        changes.push_back(
            {last == std::string::npos ? 0 : last + 1, whole_line ? std::min(end + 1, text.size()) : end, ""});
      }
      at = end;
    }
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    text.replace(change->begin, change->end - change->begin, change->to);
  return text;
}

}  // namespace warpwright::rewrite
