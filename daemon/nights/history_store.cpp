#include "nights/history_store.h"

#include <fmt/format.h>

#include "base/file.h"

namespace warpwright::nights {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxHistoryBytes = 16u << 20;

// Names come from manifests: a name is not a path.
Result<std::string> FileName(const std::string& kernel) {
  if (kernel.empty() || kernel.size() > 200 || kernel.front() == '.' ||
      kernel.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    return Fail(ErrorCode::kConfig, "'" + kernel + "' cannot be the name of a history's file");
  return kernel + ".jsonl";
}

Result<std::string> Lines(const std::vector<HistoryLine>& lines) {
  std::string text;
  for (const HistoryLine& line : lines) {
    WW_ASSIGN(const std::string one, FormatHistoryLine(line));
    text += one + "\n";
  }
  return text;
}

// Ends a line that was cut off before the next one is appended.
std::string Joined(std::string old, const std::string& added) {
  if (!old.empty() && old.back() != '\n') old += '\n';
  return old + added;
}

}  // namespace

Result<std::string> DirectoryHistory::Text(const std::string& kernel) const {
  WW_ASSIGN(const std::string name, FileName(kernel));
  std::error_code error;
  if (!fs::exists(folder_ / name, error)) return std::string();
  return base::ReadFile(folder_ / name, kMaxHistoryBytes);
}

Result<History> DirectoryHistory::Read(const std::string& kernel) {
  WW_ASSIGN(const std::string text, Text(kernel));
  return ParseHistory(text, (folder_ / kernel).string() + ".jsonl");
}

Status DirectoryHistory::Append(const std::map<std::string, std::vector<HistoryLine>>& lines, const std::string&) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    return Fail(ErrorCode::kIo, "create " + folder_.string() + ": " + error.message(),
                "name another folder with --history");
  for (const auto& [kernel, added] : lines) {
    if (added.empty()) continue;
    WW_ASSIGN(const std::string old, Text(kernel));
    WW_ASSIGN(std::string text, Lines(added));
    WW_ASSIGN(const std::string name, FileName(kernel));
    const std::string whole = Joined(old, text);
    if (NeedsCompacting(whole)) {
      WW_TRY(base::WriteFileAtomically(folder_ / name, CompactHistory(whole)));
      continue;
    }
    text.pop_back();  // AppendLine ends it
    WW_TRY(base::AppendLine(folder_ / name, whole.size() > old.size() + text.size() + 1 ? "\n" + text : text));
  }
  return {};
}

Result<std::string> BranchHistory::Text(const std::string& kernel) const {
  WW_ASSIGN(const std::string name, FileName(kernel));
  std::string text;
  for (const char* place : {"refs/remotes/origin/", "refs/heads/"}) {
    const auto tip = repository_.Resolve(place + branch_);
    if (!tip) continue;
    WW_ASSIGN(const auto found, repository_.Read(*tip, name));
    if (found) text = text.empty() || text == *found ? *found : MergeHistories(text, *found);
  }
  return text;
}

Result<History> BranchHistory::Read(const std::string& kernel) {
  WW_ASSIGN(const std::string text, Text(kernel));
  return ParseHistory(text, branch_ + ":" + kernel + ".jsonl");
}

Status BranchHistory::Append(const std::map<std::string, std::vector<HistoryLine>>& lines, const std::string& time) {
  const auto theirs = repository_.Resolve("refs/remotes/origin/" + branch_),
             ours = repository_.Resolve("refs/heads/" + branch_);
  repo::FilesCommit commit;
  commit.branch = branch_;
  commit.parent = theirs ? *theirs : ours ? *ours : "";
  commit.author = author_;
  commit.message = fmt::format("Nightly times of {}\n\n{}\n", time, repo::Repository::kTrailer);
  for (const auto& [kernel, added] : lines) {
    if (added.empty()) continue;
    WW_ASSIGN(const std::string old, Text(kernel));
    WW_ASSIGN(const std::string text, Lines(added));
    WW_ASSIGN(const std::string name, FileName(kernel));
    std::string whole = Joined(old, text);
    if (NeedsCompacting(whole)) whole = CompactHistory(whole);
    commit.files[name] = std::move(whole);
  }
  if (commit.files.empty()) return {};
  WW_ASSIGN(const repo::PublishedBranch published, repository_.CommitFiles(commit, branch_));
  tip_ = published.commit;
  return {};
}

}  // namespace warpwright::nights
