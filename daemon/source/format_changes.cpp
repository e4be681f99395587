#include "source/format_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/lines.h"
#include "base/subprocess.h"
#include "source/broken_line.h"

namespace warpwright::source {
namespace {

namespace fs = std::filesystem;
using base::LinesOf;

constexpr size_t kNarrowFile = 80;  // columns that a file may have that has only shorter lines
constexpr uint64_t kMaxStyleFileBytes = 64 << 10;
constexpr uint64_t kFormatterMemoryBytes = 2ull << 30;
constexpr std::chrono::seconds kFormatterDeadline{10};

// Debian names the versions; the newest comes last in common use, so the plain name is asked first.
constexpr const char* kPrograms[] = {"clang-format",    "clang-format-20", "clang-format-19", "clang-format-18",
                                     "clang-format-17", "clang-format-16", "clang-format-15", "clang-format-14"};

std::optional<std::string> StyleOf(const core::SourceRef& source) {
  const fs::path root = fs::path(source.root);
  for (fs::path folder = fs::path(source.file).parent_path();; folder = folder.parent_path()) {
    for (const char* name : {".clang-format", "_clang-format"})
      if (auto text = base::ReadFile(root / folder / name, kMaxStyleFileBytes)) return std::move(*text);
    if (folder.empty() || folder == folder.parent_path()) return std::nullopt;
  }
}

// Of each run of lines of `now` that `before` does not have: the first and the last, counted from 1.
using LineRange = std::pair<size_t, size_t>;
std::vector<LineRange> ChangedRanges(const std::string& before, const std::string& now) {
  std::map<std::string_view, int> left;
  for (const std::string_view line : LinesOf(before)) ++left[line];
  std::vector<LineRange> ranges;
  size_t begin = 0, number = 0;  // `begin` 0: in no run
  const auto end_run = [&](size_t last) {
    if (begin > 0) ranges.emplace_back(begin, last);
    begin = 0;
  };
  for (const std::string_view line : LinesOf(now)) {
    ++number;
    int& count = left[line];
    if (count > 0) {
      --count;
      end_run(number - 1);
    } else if (begin == 0) {
      begin = number;
    }
  }
  end_run(number);
  return ranges;
}

// Where nobody said how wide lines are, they are no wider than the widest that the file had.
std::string WithNarrowLines(const std::string& before, const std::string& now, const std::vector<LineRange>& ranges) {
  size_t limit = kNarrowFile;
  for (const std::string_view line : LinesOf(before)) limit = std::max(limit, line.size());
  const std::vector<std::string_view> lines = LinesOf(now);
  std::string text;
  bool in_comment = false, in_directive = false;
  auto range = ranges.begin();
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    while (range != ranges.end() && range->second < i + 1) ++range;
    const bool changed = range != ranges.end() && range->first <= i + 1;
    const std::string_view code = line.substr(std::min(line.size(), line.find_first_not_of(" \t")));
    in_directive |= code.starts_with('#');
    const bool breakable = changed && line.size() > limit && !in_comment && !in_directive && !line.ends_with('\\') &&
                           line.find("/*") == std::string_view::npos;
    std::vector<std::string> parts = {std::string(line)};
    if (breakable && code.starts_with("// ")) parts = BrokenComment(parts[0], limit);
    else if (breakable && line.find("//") == std::string_view::npos) parts = BrokenLine(parts[0], limit);
    for (const std::string& part : parts) text += part + "\n";
    in_directive = line.ends_with('\\');
    const size_t opened = line.rfind("/*"), closed = line.rfind("*/");
    if (opened != std::string_view::npos || closed != std::string_view::npos)
      in_comment = closed == std::string_view::npos || (opened != std::string_view::npos && opened > closed);
  }
  if (!now.ends_with('\n') && !text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string FormatChanges(const core::SourceRef& original, const std::string& text) {
  const auto style = StyleOf(original);
  const std::vector<LineRange> ranges = ChangedRanges(original.text, text);
  if (ranges.empty()) return text;
  if (!style) return WithNarrowLines(original.text, text, ranges);
  auto folder = base::TemporaryDirectory::Create("ww-style");
  if (!folder || !base::WriteFileAtomically(folder->path() / ".clang-format", *style)) return text;
  base::Command command;
  command.env = base::MinimalEnvironment();
  command.directory = folder->path();
  command.input = text;
  command.deadline = kFormatterDeadline;
  command.sandbox.enabled = true;
  command.sandbox.readable = {folder->path()};
  command.sandbox.memory_bytes = kFormatterMemoryBytes;
  for (const char* program : kPrograms) {
    command.argv = {program, "--style=file", "--fallback-style=none",
                    "--assume-filename=" + (folder->path() / fs::path(original.file).filename()).string()};
    for (const auto& [first, last] : ranges) command.argv.push_back(fmt::format("--lines={}:{}", first, last));
    const auto done = base::Run(command);
    if (!done || done->exit_code == 127) continue;  // not installed
    return done->exit_code == 0 && !done->truncated && !done->out.empty() ? done->out : text;
  }
  return text;
}

}  // namespace warpwright::source
