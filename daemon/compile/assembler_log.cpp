#include "compile/assembler_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "base/lines.h"

namespace warpwright::compile {
namespace {

using base::LinesOf;
using base::Trimmed;

constexpr std::string_view kInput = "ptx input, line ";
constexpr size_t kMaxQuoteBytes = 120;

// By their numbers: .file 1 "src/k.cu"
std::map<int, std::string> FilesOf(const std::vector<std::string_view>& ptx) {
  std::map<int, std::string> files;
  for (const std::string_view line : ptx) {
    int number = 0;
    const std::string text(Trimmed(line));
    const size_t open = text.find('"'), close = text.rfind('"');
    if (std::sscanf(text.c_str(), ".file %d", &number) == 1 && open < close)
      files[number] = text.substr(open + 1, close - open - 1);
  }
  return files;
}

// "src/k.cu(9)" for a line of PTX, counted from 1: that of the last .loc before it in its function.
std::string PlaceOf(const std::vector<std::string_view>& ptx, size_t line) {
  for (size_t k = std::min(line, ptx.size()); k > 0; --k) {
    const std::string text(Trimmed(ptx[k - 1]));
    int file = 0, number = 0;
    if (std::sscanf(text.c_str(), ".loc %d %d", &file, &number) == 2) {
      const std::map<int, std::string> files = FilesOf(ptx);
      const auto found = files.find(file);
      return found == files.end() ? std::string() : fmt::format("{}({})", found->second, number);
    }
    if (text.starts_with(".visible") || text.starts_with(".entry") || text.starts_with(".func")) break;
  }
  return {};
}

}  // namespace

bool NamesPtxLines(const std::string& log) { return log.find(kInput) != std::string::npos; }

std::string WithSourceLines(const std::string& log, const std::string& ptx) {
  const std::vector<std::string_view> code = LinesOf(ptx);
  std::string out;
  for (const std::string_view message : LinesOf(log)) {
    const size_t at = message.find(kInput), semicolon = message.find("; ", at);
    unsigned line = 0;
    const size_t colon = message.find(": ", semicolon);
    const bool known = at != std::string_view::npos && colon != std::string_view::npos &&
                       std::sscanf(std::string(message.substr(at + kInput.size())).c_str(), "%u", &line) == 1 &&
                       line >= 1 && line <= code.size();
    const std::string place = known ? PlaceOf(code, line) : std::string();
    if (place.empty()) {
      out += fmt::format("{}\n", message);
      continue;
    }
    const std::string_view severity = Trimmed(message.substr(semicolon + 2, colon - semicolon - 2));
    const std::string_view quoted = Trimmed(code[line - 1]).substr(0, kMaxQuoteBytes);
    out += fmt::format("{}: {}: {}, in the PTX \"{}\"\n", place, severity == "fatal" ? "error" : severity,
                       message.substr(colon + 2), quoted);
  }
  return out;
}

}  // namespace warpwright::compile
