// Merges that are only looked at: nothing is written.
#include "repo/git_handle.h"
#include "repo/repository.h"

namespace warpwright::repo {
namespace {

using GitIndex = GitHandle<git_index, git_index_free>;

git_merge_file_input Input(const std::string& text) {
  git_merge_file_input input = GIT_MERGE_FILE_INPUT_INIT;
  input.ptr = text.data();
  input.size = text.size();
  return input;
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
  const git_merge_file_input from = Input(ancestor), left = Input(ours), right = Input(theirs);
  git_merge_file_options options = GIT_MERGE_FILE_OPTIONS_INIT;
  options.favor = GIT_MERGE_FILE_FAVOR_THEIRS;
  git_merge_file_result merged{};
  if (git_merge_file(&merged, &from, &left, &right, &options) != 0) return FailGit("merge two versions of a file");
  std::string text(merged.ptr, merged.len);
  git_merge_file_result_free(&merged);
  return text;
}

}  // namespace warpwright::repo
