#include "source/format_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"

namespace warpwright::source {
namespace {

namespace fs = std::filesystem;

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

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

// "--lines=3:9" for each run of lines of `now` that `before` does not have.
std::vector<std::string> ChangedRanges(const std::string& before, const std::string& now) {
  std::map<std::string_view, int> left;
  for (const std::string_view line : LinesOf(before)) ++left[line];
  std::vector<std::string> ranges;
  size_t begin = 0, number = 0;  // `begin` 0: in no run
  const auto end_run = [&](size_t last) {
    if (begin > 0) ranges.push_back(fmt::format("--lines={}:{}", begin, last));
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

}  // namespace

std::string FormatChanges(const core::SourceRef& original, const std::string& text) {
  const auto style = StyleOf(original);
  const std::vector<std::string> ranges = ChangedRanges(original.text, text);
  if (!style || ranges.empty()) return text;
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
    command.argv.insert(command.argv.end(), ranges.begin(), ranges.end());
    const auto done = base::Run(command);
    if (!done || done->exit_code == 127) continue;  // not installed
    return done->exit_code == 0 && !done->truncated && !done->out.empty() ? done->out : text;
  }
  return text;
}

}  // namespace warpwright::source
