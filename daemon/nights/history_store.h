// Where histories are stored: <entry>.jsonl in a directory, or on a branch of the repository. A port: nightly runs are
// independent of the choice.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "nights/history.h"
#include "repo/repository.h"

namespace warpwright::nights {

class HistoryStore {
 public:
  virtual ~HistoryStore() = default;
  virtual Result<History> Read(const std::string& kernel) = 0;
  // One run's lines, by entry.
  virtual Status Append(const std::map<std::string, std::vector<HistoryLine>>& lines, const std::string& time) = 0;
  // The location of the lines after appending: a commit of a branch; empty for a directory.
  virtual std::string Tip() const { return {}; }
};

// Appends with one write; rewrites a file when it far exceeds the kept runs.
class DirectoryHistory final : public HistoryStore {
 public:
  explicit DirectoryHistory(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<History> Read(const std::string& kernel) override;
  Status Append(const std::map<std::string, std::vector<HistoryLine>>& lines, const std::string& time) override;

 private:
  Result<std::string> Text(const std::string& kernel) const;
  std::filesystem::path folder_;
};

// One commit per run on refs/heads/<branch>. The fetched branch (refs/remotes/origin/<branch>) is merged, and the new
// commit is on top of it, so that it can be pushed; if others push at the same time, fetch and append again.
class BranchHistory final : public HistoryStore {
 public:
  BranchHistory(repo::Repository& repository, std::string branch, repo::Signature author)
      : repository_(repository), branch_(std::move(branch)), author_(std::move(author)) {}
  Result<History> Read(const std::string& kernel) override;
  Status Append(const std::map<std::string, std::vector<HistoryLine>>& lines, const std::string& time) override;
  std::string Tip() const override { return tip_; }

 private:
  Result<std::string> Text(const std::string& kernel) const;
  repo::Repository& repository_;
  const std::string branch_;
  const repo::Signature author_;
  std::string tip_;
};

}  // namespace warpwright::nights
