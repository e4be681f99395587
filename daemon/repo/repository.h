// A git repository, through libgit2. Reads objects; writes objects, refs below refs/heads/warpwright/ and one branch
// that the caller allows by name; never the index, the working tree or a branch that is checked out anywhere.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

struct git_repository;

namespace warpwright::repo {

struct Signature {
  std::string name = "warpwright";
  std::string email = "warpwright@localhost";
  // "Name <mail>".
  static Result<Signature> Parse(std::string_view text);
};

// One file of one commit, to be written on top of `base`.
struct BranchCommit {
  std::string branch;  // "warpwright/softmax"
  std::string base;    // commit id
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

// Files of one commit on a branch that is entirely ours, such as the history of nightly runs.
struct FilesCommit {
  std::string branch;                        // without refs/heads/
  std::string parent;                        // commit id; empty: the branch begins here, without a parent
  std::map<std::string, std::string> files;  // by path; the parent's other files stay
  std::string message;
  Signature author;
};

// A file of a commit's tree, without its content. Two files with the same id have the same content.
struct TreeFile {
  enum class Kind { kFile, kLink, kSubmodule };
  std::string path;
  std::string id;  // 40 hex digits: of the blob, or of the submodule's commit
  Kind kind = Kind::kFile;
};

class Repository {
 public:
  // `path` is a working tree, a folder inside one, or a bare repository.
  static Result<Repository> Open(const std::filesystem::path& path);
  Repository(Repository&&) noexcept;
  Repository& operator=(Repository&&) noexcept;
  ~Repository();

  // The working tree's root; the repository itself if it is bare.
  const std::filesystem::path& root() const { return root_; }
  bool bare() const;
  // True if history is cut off because of a shallow clone (git clone --depth).
  bool shallow() const;
  // The git directory that all working trees of the repository share.
  std::filesystem::path common_directory() const;

  // Commit id (40 hex digits) of "HEAD", a branch, a tag, "abc123", "HEAD~2".
  Result<std::string> Resolve(const std::string& revision) const;
  // The first line of a commit's message, as its author wrote it.
  Result<std::string> Subject(const std::string& commit) const;
  // Paths that differ between two commits, sorted, old and new names alike: without the search for renames, whose time
  // grows with the square of their number.
  Result<std::vector<std::string>> TouchedPaths(const std::string& from, const std::string& to) const;
  // nullopt: the file does not exist in that commit. Refuses blobs over 16 MiB, LFS pointers, symbolic links and files
  // inside submodules (kUnsupported).
  Result<std::optional<std::string>> Read(const std::string& commit, const std::string& file) const;
  // All paths of the commit's tree that `wanted` accepts; symbolic links and submodules are left out.
  Result<std::vector<std::string>> List(const std::string& commit,
                                        const std::function<bool(std::string_view)>& wanted) const;
  // Everything in the commit's tree, in git's order.
  Result<std::vector<TreeFile>> Files(const std::string& commit) const;
  // Content of a file that Files returned; `name` is for messages. Refuses what Read refuses.
  Result<std::string> Content(const std::string& blob, const std::string& name) const;
  // Writes those files below `destination`, which is created. Files that Read refuses are left out. All is on disk when
  // it returns.
  Status Export(const std::string& commit, const std::function<bool(std::string_view)>& wanted,
                const std::filesystem::path& destination) const;
  // Unified diff of one file between two commits.
  Result<std::string> Diff(const std::string& from, const std::string& to, const std::string& file) const;
  // Whether git would merge the two commits without a conflict.
  Result<bool> MergesCleanly(const std::string& ours, const std::string& theirs) const;
  // The changes from `ancestor` to `theirs` in `ours`, where both changed the same lines theirs alone. No merge of
  // commits: three texts.
  static Result<std::string> ApplyChanges(const std::string& ancestor, const std::string& ours,
                                          const std::string& theirs);
  // Tracked files of the working tree that differ from HEAD, sorted. None in a bare repository.
  Result<std::vector<std::string>> UncommittedFiles() const;
  // A value of the repository's git configuration.
  std::optional<std::string> Config(const std::string& key) const;

  // Puts one commit on `branch`, whose tip may be absent or one of our commits (its message carries the trailer
  // kTrailer); a foreign tip, a branch that is checked out and a name outside warpwright/ are refused. Repeating it
  // changes nothing.
  Result<PublishedBranch> Publish(const BranchCommit& request);
  // One commit on exactly the branch `allowed`, which must be the request's, and must not be checked out. Its tip must
  // be absent, `parent`, an ancestor of it, or a commit with our trailer (one that lost a race and is being redone);
  // anything else is kUnsupported. If the parent's files do not change there is no commit: `changed` is false.
  Result<PublishedBranch> CommitFiles(const FilesCommit& request, std::string_view allowed);

  static constexpr std::string_view kTrailer = "Optimized-by: warpwright";

 private:
  friend class Mirror;
  Repository() = default;
  struct Deleter {
    void operator()(git_repository* repository) const;
  };
  std::unique_ptr<git_repository, Deleter> repository_;
  std::filesystem::path root_;
};

}  // namespace warpwright::repo
