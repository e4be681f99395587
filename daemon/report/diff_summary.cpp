#include "report/diff_summary.h"

#include <charconv>

namespace warpwright::report {
namespace {

// The new file's first line in "@@ -1,24 +1,93 @@"; 0 if `line` is not a hunk header.
int NewStart(std::string_view line) {
  const size_t plus = line.find(" +");
  if (!line.starts_with("@@ -") || plus == std::string_view::npos) return 0;
  int start = 0;
  std::from_chars(line.data() + plus + 2, line.data() + line.size(), start);
  return start;
}

void Touch(std::vector<LineRange>& ranges, int line) {
  constexpr int kNear = 3;  // lines between two ranges that are shown as one
  if (!ranges.empty() && line >= ranges.back().first && line <= ranges.back().last + kNear)
    ranges.back().last = std::max(ranges.back().last, line);
  else ranges.push_back({line, line});
}

}  // namespace

DiffSummary SummarizeDiff(std::string_view diff) {
  DiffSummary summary;
  int line = 0;  // of the new file; 0 before the first hunk
  while (!diff.empty()) {
    const std::string_view text = diff.substr(0, diff.find('\n'));
    diff.remove_prefix(std::min(diff.size(), text.size() + 1));
    if (text.starts_with("@@ ")) {
      line = NewStart(text);
    } else if (text.starts_with("diff --git ")) {
      line = 0;
    } else if (line > 0 && text.starts_with("+")) {
      ++summary.added;
      Touch(summary.changed, line++);
    } else if (line > 0 && text.starts_with("-")) {
      ++summary.removed;
      Touch(summary.changed, line);
    } else if (line > 0 && !text.starts_with("\\")) {
      ++line;
    }
  }
  return summary;
}

void AddDiff(std::string_view diff, Provenance& provenance) {
  DiffSummary summary = SummarizeDiff(diff);
  provenance.lines_added = summary.added;
  provenance.lines_removed = summary.removed;
  provenance.changed = std::move(summary.changed);
}

}  // namespace warpwright::report
