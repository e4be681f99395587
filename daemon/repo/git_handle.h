// The parts of libgit2 that the sources of repo/ share: owned handles, errors, initialization. Not for other folders.
#pragma once

#include <git2.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace warpwright::repo {

// git_X* with git_X_free.
template <typename T, void (*Free)(T*)>
struct GitHandle {
  T* value = nullptr;
  GitHandle() = default;
  GitHandle(GitHandle&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
  GitHandle& operator=(GitHandle&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~GitHandle() {
    if (value != nullptr) Free(value);
  }
  T** out() { return &value; }
  operator T*() const { return value; }  // NOLINT(google-explicit-constructor): what libgit2's functions take
};
using GitObject = GitHandle<git_object, git_object_free>;
using GitCommit = GitHandle<git_commit, git_commit_free>;
using GitTree = GitHandle<git_tree, git_tree_free>;
using GitTreeEntry = GitHandle<git_tree_entry, git_tree_entry_free>;
using GitBlob = GitHandle<git_blob, git_blob_free>;
using GitDiff = GitHandle<git_diff, git_diff_free>;
using GitReference = GitHandle<git_reference, git_reference_free>;
using GitConfig = GitHandle<git_config, git_config_free>;
using GitSignature = GitHandle<git_signature, git_signature_free>;
using GitRepository = GitHandle<git_repository, git_repository_free>;
using GitRemote = GitHandle<git_remote, git_remote_free>;
using GitOdb = GitHandle<git_odb, git_odb_free>;
using GitRevwalk = GitHandle<git_revwalk, git_revwalk_free>;
using GitPackbuilder = GitHandle<git_packbuilder, git_packbuilder_free>;

// Initializes the library once; our time limits and options apply to all of its connections.
void StartGit();

// kIo with libgit2's last message.
tl::unexpected<Error> FailGit(const std::string& what, std::string remedy = {});
std::string ToString(const git_oid* id);
Result<GitCommit> LookUpCommit(git_repository* repository, const std::string& id);
Result<GitTree> TreeOf(git_repository* repository, const std::string& commit_id);

}  // namespace warpwright::repo
