// Merges that are only looked at: nothing is written.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "repo/git_handle.h"
#include "repo/repository.h"

namespace warpwright::repo {
namespace {

using GitIndex = GitHandle<git_index, git_index_free>;

// Lines [begin, end) of the old text become lines [new_begin, new_end) of the new one.
struct Hunk {
  size_t begin = 0, end = 0, new_begin = 0, new_end = 0;
};

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    lines.push_back(line);
    text.remove_prefix(line.size());
  }
  return lines;
}

Result<std::vector<Hunk>> HunksOf(const std::string& before, const std::string& after) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.context_lines = 0;
  options.flags = GIT_DIFF_FORCE_TEXT;
  std::vector<Hunk> hunks;
  const auto add = [](const git_diff_delta*, const git_diff_hunk* hunk, void* payload) {
    const auto range = [](int start, int lines) {  // an empty range is named by the line before it
      const auto begin = static_cast<size_t>(lines == 0 ? start : start - 1);
      return std::pair(begin, begin + static_cast<size_t>(lines));
    };
    const auto [begin, end] = range(hunk->old_start, hunk->old_lines);
    const auto [new_begin, new_end] = range(hunk->new_start, hunk->new_lines);
    static_cast<std::vector<Hunk>*>(payload)->push_back({begin, end, new_begin, new_end});
    return 0;
  };
  if (git_diff_buffers(before.data(), before.size(), "a", after.data(), after.size(), "a", &options, nullptr, nullptr,
                       add, nullptr, &hunks) != 0)
    return FailGit("compare two versions of a file");
  return hunks;
}

// Side by side is not overlapping: what is inserted at the edge of another change stays.
bool Overlap(const Hunk& a, const Hunk& b) {
  if (a.begin == a.end) return b.begin < a.begin && a.begin < b.end;
  if (b.begin == b.end) return a.begin < b.begin && b.begin < a.end;
  return std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

}  // namespace

Result<bool> Repository::MergesCleanly(const std::string& ours, const std::string& theirs) const {
  WW_ASSIGN(const GitCommit a, LookUpCommit(repository_.get(), ours));
  WW_ASSIGN(const GitCommit b, LookUpCommit(repository_.get(), theirs));
  GitIndex index;
  git_merge_options options = GIT_MERGE_OPTIONS_INIT;
  options.flags = GIT_MERGE_FAIL_ON_CONFLICT;
  const int code = git_merge_commits(index.out(), repository_.get(), a, b, &options);
  if (code == GIT_EMERGECONFLICT) return false;
  if (code != 0) return FailGit("merge " + theirs + " into " + ours);
  return git_index_has_conflicts(index) == 0;
}

Result<std::string> Repository::ApplyChanges(const std::string& ancestor, const std::string& ours,
                                             const std::string& theirs) {
  StartGit();
  WW_ASSIGN(const std::vector<Hunk> ours_hunks, HunksOf(ancestor, ours));
  WW_ASSIGN(const std::vector<Hunk> theirs_hunks, HunksOf(ancestor, theirs));
  struct Change {
    Hunk hunk;
    bool of_theirs;
  };
  std::vector<Change> changes;
  for (const Hunk& hunk : ours_hunks)
    if (std::none_of(theirs_hunks.begin(), theirs_hunks.end(), [&](const Hunk& other) { return Overlap(hunk, other); }))
      changes.push_back({hunk, false});
  for (const Hunk& hunk : theirs_hunks) changes.push_back({hunk, true});
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.hunk.begin, a.hunk.end) < std::pair(b.hunk.begin, b.hunk.end);
  });
  const auto old_lines = LinesOf(ancestor), our_lines = LinesOf(ours), their_lines = LinesOf(theirs);
  std::string text;
  const auto append = [&](const std::vector<std::string_view>& lines, size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < lines.size(); ++i) text += lines[i];
  };
  size_t at = 0;
  for (const auto& [hunk, of_theirs] : changes) {
    append(old_lines, at, hunk.begin);
    append(of_theirs ? their_lines : our_lines, hunk.new_begin, hunk.new_end);
    at = std::max(at, hunk.end);
  }
  append(old_lines, at, old_lines.size());
  return text;
}

}  // namespace warpwright::repo
