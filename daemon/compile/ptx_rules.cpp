#include "compile/ptx_rules.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>

namespace warpwright {
namespace {

// Delimiters of PTX tokens. Rules look at whole tokens, so that a kernel may be called "evict_last" and a variable "vprintf_calls".
constexpr const char* kBetween = " \t,;{}()[]|!";

// "%clock64", "%globaltimer_lo", "%pm3", "%envreg17".
bool IsTimeRegister(std::string_view token) {
  for (const std::string_view name : {"%clock", "%globaltimer", "%pm", "%envreg"}) {
    if (token.substr(0, name.size()) != name) continue;
    const std::string_view rest = token.substr(name.size());
    if (rest.find_first_not_of("0123456789_hilo") == std::string_view::npos) return true;
  }
  return false;
}

// An opcode or its modifiers: "nanosleep.u32", "ld.global.L2::evict_last.f32".
std::optional<Allow> NeedOfOpcode(std::string_view token) {
  if (token.find('.') == std::string_view::npos) return std::nullopt;  // each of them has modifiers; a plain name is a symbol
  bool opcode = true;
  while (!token.empty()) {
    const size_t dot = std::min(token.find('.'), token.size());
    const std::string_view part = token.substr(0, dot);
    if (opcode && part == "nanosleep") return Allow::kClock;
    if (opcode && (part == "createpolicy" || part == "applypriority")) return Allow::kCachePolicy;
    // A policy for cache_hint need not come from createpolicy: a constant does.
    if (!opcode && (part.find("evict_last") != std::string_view::npos || part.find("cache_hint") != std::string_view::npos)) return Allow::kCachePolicy;
    opcode = false;
    token.remove_prefix(std::min(dot + 1, token.size()));
  }
  return std::nullopt;
}

// The first need of the line that is not met.
std::optional<Allow> NeedOf(std::string_view line, const std::set<Allow>& allowed) {
  const bool declares = line.find(".func") != std::string_view::npos;
  for (size_t begin = 0; (begin = line.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const std::string_view token = line.substr(begin, line.find_first_of(kBetween, begin) - begin);
    begin += token.size();
    if (token.substr(0, 2) == "//") break;
    std::optional<Allow> need = NeedOfOpcode(token);
    if (IsTimeRegister(token)) need = Allow::kClock;
    if (token == "vprintf" && !declares) need = Allow::kPrintf;
    if (need && allowed.count(*need) == 0) return need;
  }
  return std::nullopt;
}

std::string Trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, std::min<size_t>(line.find_last_not_of(" \t;,") - begin + 1, 120));
}

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
    // No line is passed over: inline assembly may put several statements on one.
    const auto need = NeedOf(raw, allowed);
    if (!need) continue;
    const auto found = files.find(file);
    violations.push_back({line, *need, found != files.end() ? found->second : "", source_line});
  }
  return violations;
}

}  // namespace warpwright
