// Which files of a commit an entry can depend on, found from git's tree alone: no checkout and no compiler.
//
// It may list too many files but never too few: every file whose base name is the base name of anything that looks like
// an include, in the kernel's file or in a file reached from it. So two revisions in which these are the same files
// with the same content have the same slice, and exporting only these gives the same slice as exporting everything.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/evaluator.h"
#include "repo/repository.h"

namespace warpwright::app {

struct SourceClosure {
  std::map<std::string, std::string> files;       // path to blob; empty if the kernel's file does not exist
  std::map<std::string, std::string> unreadable;  // files that cannot be read (Git LFS, too large), and why
  bool operator==(const SourceClosure&) const = default;
};

class RevisionSources {
 public:
  // `repository` must outlive it, and the worker, which reads the texts.
  static Result<RevisionSources> Load(const repo::Repository& repository, std::string commit, core::Evaluator& worker);

  const std::string& commit() const { return commit_; }
  Result<SourceClosure> Of(const std::string& file);
  // The blob at `path`, empty if there is none.
  std::string Blob(const std::string& path) const;
  // Path to blob of everything below `folder`.
  std::map<std::string, std::string> Below(const std::string& folder) const;
  // Writes the closure's files below `folder`.
  Status Export(const SourceClosure& closure, const std::filesystem::path& folder) const;

 private:
  RevisionSources(const repo::Repository& repository, std::string commit, core::Evaluator& worker)
      : repository_(&repository), commit_(std::move(commit)), worker_(&worker) {}
  // Base names of what a file may include.
  Result<std::vector<std::string>> IncludedIn(const std::string& blob, const std::string& path) const;

  const repo::Repository* repository_;
  std::string commit_;
  core::Evaluator* worker_;
  std::map<std::string, std::string> blobs_;                                // of all sources, by path
  std::unordered_map<std::string, std::vector<std::string>> by_last_name_;  // paths
  std::map<std::string, Result<std::vector<std::string>>> names_;           // included ones, by blob
};

}  // namespace warpwright::app
