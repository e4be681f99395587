#include "source/broken_line.h"

#include <climits>
#include <string_view>
#include <utility>

namespace warpwright::source {
namespace {

// How willingly a line is broken behind what stands at the end of this text: the less, the better.
int BreakRank(std::string_view before) {
  if (before.ends_with(',') || before.ends_with(';')) return 0;
  for (const auto& [end, rank] :
       {std::pair{" ?", 1}, {" :", 1}, {" ||", 2}, {" &&", 3}, {" +", 4}, {" -", 4}, {" *", 5}, {" /", 5}, {" =", 6}})
    if (before.ends_with(end)) return rank;
  return INT_MAX;
}

size_t IndentOf(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? 0 : first;
}

}  // namespace

std::vector<std::string> BrokenLine(const std::string& line, size_t limit) {
  std::vector<std::string> lines;
  std::string indent = line.substr(0, IndentOf(line));
  std::string rest = line.substr(indent.size());
  while (indent.size() + rest.size() > limit) {
    size_t best = 0;
    int depth = 0;
    char quote = 0;
    std::pair<int, int> best_rank = {INT_MAX, INT_MAX};
    for (size_t i = 1; i + indent.size() < limit; ++i) {
      if ((rest[i] == '"' || rest[i] == '\'') && rest[i - 1] != '\\' && (quote == 0 || quote == rest[i]))
        quote = quote == 0 ? rest[i] : 0;
      if (quote != 0) continue;
      if (rest[i] == '(' || rest[i] == '[' || rest[i] == '{') ++depth;
      if (rest[i] == ')' || rest[i] == ']' || rest[i] == '}') --depth;
      if (rest[i] != ' ' || i < limit / 3) continue;
      const std::pair rank = {depth, BreakRank(std::string_view(rest).substr(0, i))};
      if (rank.second < INT_MAX && rank <= best_rank) best = i, best_rank = rank;
    }
    if (best == 0) break;
    lines.push_back(indent + rest.substr(0, best));
    rest.erase(0, best + 1);
    if (lines.size() == 1) indent += "    ";
  }
  lines.push_back(indent + rest);
  return lines;
}

std::vector<std::string> BrokenComment(std::string line, size_t limit) {
  std::vector<std::string> lines;
  const std::string start = line.substr(0, IndentOf(line)) + "// ";
  while (line.size() > limit) {
    const size_t space = line.rfind(' ', limit);
    if (space == std::string::npos || space <= start.size()) break;
    lines.push_back(line.substr(0, space));
    line = start + line.substr(space + 1);
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace warpwright::source
