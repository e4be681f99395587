#include "compile/ptx_rules.h"

#include <cstdio>
#include <map>
#include <sstream>

namespace warpwright {
namespace {

struct Rule {
  const char* text;
  Allow needs;
};
constexpr Rule kRules[] = {
    {"%clock", Allow::kClock},           {"%globaltimer", Allow::kClock},       {"%pm", Allow::kClock},
    {"%envreg", Allow::kClock},          {"nanosleep", Allow::kClock},          {"evict_last", Allow::kCachePolicy},
    {"createpolicy", Allow::kCachePolicy}, {"applypriority", Allow::kCachePolicy}, {"vprintf", Allow::kPrintf},
};

std::string Trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, std::min<size_t>(line.find_last_not_of(" \t;") - begin + 1, 120));
}

bool IsCode(const std::string& line) { return !line.empty() && line.rfind("//", 0) != 0 && line[0] != '.'; }

// .file directives, which NVRTC writes at the end.
std::map<int, std::string> FileTable(const std::string& ptx) {
  std::map<int, std::string> files;
  for (size_t at = ptx.find(".file"); at != std::string::npos; at = ptx.find(".file", at + 1)) {
    int index = 0;
    const size_t open = ptx.find('"', at), close = open == std::string::npos ? open : ptx.find('"', open + 1);
    if (close != std::string::npos && std::sscanf(ptx.c_str() + at, ".file %d", &index) == 1)
      files[index] = ptx.substr(open + 1, close - open - 1);
  }
  return files;
}

}  // namespace

std::vector<PtxViolation> FindPtxViolations(const std::string& ptx, const std::set<Allow>& allowed) {
  std::vector<PtxViolation> violations;
  const auto files = FileTable(ptx);
  std::istringstream lines(ptx);
  int file = 0, source_line = 0;
  for (std::string raw; std::getline(lines, raw);) {
    const std::string line = Trimmed(raw);
    if (line.rfind(".loc", 0) == 0) std::sscanf(line.c_str(), ".loc %d %d", &file, &source_line);
    if (!IsCode(line)) continue;
    for (const Rule& rule : kRules) {
      if (line.find(rule.text) == std::string::npos || allowed.count(rule.needs) != 0) continue;
      const auto found = files.find(file);
      violations.push_back({line, rule.needs, found != files.end() ? found->second : "", source_line});
      break;
    }
  }
  return violations;
}

}  // namespace warpwright
