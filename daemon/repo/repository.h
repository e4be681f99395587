// A git repository, through libgit2. Reads objects and writes objects and refs below refs/heads/warpwright/; never the index, the working
// tree or a branch that somebody has checked out.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

struct git_repository;

namespace warpwright {

struct Signature {
  std::string name = "warpwright";
  std::string email = "warpwright@localhost";
  // "Name <mail>".
  static Result<Signature> Parse(std::string_view text);
};

// One file of one commit, to be written on top of `base`.
struct BranchCommit {
  std::string branch;   // "warpwright/softmax"
  std::string base;     // commit id
  std::string file;
  std::string content;
  std::string message;
  Signature author;
};
struct PublishedBranch {
  std::string branch;
  std::string commit;
  bool changed = false;  // false: the branch already held exactly this tree on this base
};

class Repository {
 public:
  // `path` is a working tree, a folder inside one, or a bare repository.
  static Result<Repository> Open(const std::filesystem::path& path);
  Repository(Repository&&) noexcept;
  Repository& operator=(Repository&&) noexcept;
  ~Repository();

  // The working tree's root; the repository itself where it is bare.
  const std::filesystem::path& root() const { return root_; }
  bool bare() const;
  // The git directory that all working trees of the repository share.
  std::filesystem::path common_directory() const;

  // Commit id (40 hex digits) of "HEAD", a branch, a tag, "abc123", "HEAD~2".
  Result<std::string> Resolve(const std::string& revision) const;
  // Paths that differ between two commits, new names where files were renamed, sorted.
  Result<std::vector<std::string>> ChangedFiles(const std::string& from, const std::string& to) const;
  // nullopt: no such file in that commit. Refuses blobs over 16 MiB and LFS pointers.
  Result<std::optional<std::string>> Read(const std::string& commit, const std::string& file) const;
  // All paths of the commit's tree that `wanted` accepts; symbolic links and submodules are left out.
  Result<std::vector<std::string>> List(const std::string& commit, const std::function<bool(std::string_view)>& wanted) const;
  // Writes those files below `destination`, which is created.
  Status Export(const std::string& commit, const std::function<bool(std::string_view)>& wanted,
                const std::filesystem::path& destination) const;
  // Unified diff of one file between two commits.
  Result<std::string> Diff(const std::string& from, const std::string& to, const std::string& file) const;
  // A value of the repository's git configuration.
  std::optional<std::string> Config(const std::string& key) const;

  // Puts one commit on `branch`, whose tip may be absent or a commit of ours (its message carries the trailer kTrailer); a foreign tip,
  // a branch that is checked out and a name outside warpwright/ are refused. Repeating it changes nothing.
  Result<PublishedBranch> Publish(const BranchCommit& request);

  static constexpr std::string_view kTrailer = "Optimized-by: warpwright";

 private:
  Repository() = default;
  struct Deleter {
    void operator()(git_repository* repository) const;
  };
  std::unique_ptr<git_repository, Deleter> repository_;
  std::filesystem::path root_;
};

}  // namespace warpwright
