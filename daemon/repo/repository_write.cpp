// What warpwright writes into a repository: commits on its own branches.
#include <git2.h>

#include <algorithm>

#include "repo/git_handle.h"
#include "repo/reference_write.h"
#include "repo/repository.h"

namespace warpwright::repo {
namespace {

struct OpenBranch {
  std::string ref;
  GitReference reference;  // none: the branch does not exist yet
  GitCommit tip;
};

// The branch as it is; refuses names that git refuses and branches that a working tree has checked out.
Result<OpenBranch> LookUpBranch(git_repository* repository, const std::string& branch) {
  OpenBranch open;
  open.ref = "refs/heads/" + branch;
  int valid = 0;
  if (git_reference_name_is_valid(&valid, open.ref.c_str()) != 0 || valid == 0)
    return Fail(ErrorCode::kUsage, "'" + branch + "' is not a name for a branch");
  const int code = git_reference_lookup(open.reference.out(), repository, open.ref.c_str());
  if (code == GIT_ENOTFOUND) return open;
  if (code != 0) return FailGit("look up " + branch);
  if (git_branch_is_checked_out(open.reference) == 1)
    return Fail(ErrorCode::kUnsupported, branch + " is checked out", "check out another branch first");
  if (git_reference_type(open.reference) != GIT_REFERENCE_DIRECT ||
      git_commit_lookup(open.tip.out(), repository, git_reference_target(open.reference)) != 0)
    return FailGit("read the tip of " + branch);
  return open;
}

bool IsOurs(const git_commit* commit) {
  return std::string_view(git_commit_message(commit)).find(Repository::kTrailer) != std::string_view::npos;
}

// Fails if another process moved the branch since it was looked up.
Status MoveBranch(git_repository* repository, const OpenBranch& open, const git_oid* to, const char* why) {
  const std::string expected = open.tip.value == nullptr ? std::string() : ToString(git_commit_id(open.tip));
  WW_ASSIGN(const bool moved, MoveReference(repository, open.ref, to, &expected, why));
  if (!moved) return Fail(ErrorCode::kIo, open.ref + " was moved by somebody else meanwhile", "run again");
  return {};
}

Result<git_oid> WriteCommit(git_repository* repository, const git_oid* tree_id, const git_commit* parent,
                            const std::string& message, const Signature& author) {
  GitTree tree;
  GitSignature signature;
  if (git_tree_lookup(tree.out(), repository, tree_id) != 0) return FailGit("read the new tree");
  if (git_signature_now(signature.out(), author.name.c_str(), author.email.c_str()) != 0)
    return FailGit("use the author " + author.name);
  const git_commit* parents[] = {parent};
  git_oid id;
  if (git_commit_create(&id, repository, nullptr, signature, signature, "UTF-8", message.c_str(), tree,
                        parent == nullptr ? 0 : 1, parents) != 0)
    return FailGit("write a commit");
  return id;
}

}  // namespace

Result<PublishedBranch> Repository::Publish(const BranchCommit& request) {
  git_repository* repository = repository_.get();
  if (!request.branch.starts_with("warpwright/"))
    return Fail(ErrorCode::kUsage, "'" + request.branch + "' is not a branch below warpwright/");
  WW_ASSIGN(const OpenBranch open, LookUpBranch(repository, request.branch));

  WW_ASSIGN(GitCommit base, LookUpCommit(repository, request.base));
  WW_ASSIGN(GitTree base_tree, TreeOf(repository, request.base));
  GitTreeEntry old_entry;
  if (git_tree_entry_bypath(old_entry.out(), base_tree, request.file.c_str()) != 0)
    return FailGit("find " + request.file + " in " + request.base);
  git_tree_update update{};
  update.action = GIT_TREE_UPDATE_UPSERT;
  update.filemode = git_tree_entry_filemode(old_entry);
  update.path = request.file.c_str();
  if (git_blob_create_from_buffer(&update.id, repository, request.content.data(), request.content.size()) != 0)
    return FailGit("write the new content of " + request.file);
  git_oid tree_id;
  if (git_tree_create_updated(&tree_id, repository, base_tree, 1, &update) != 0) return FailGit("write a tree");

  if (open.tip.value != nullptr) {
    const std::string tip_id = ToString(git_commit_id(open.tip));
    if (!IsOurs(open.tip))
      return Fail(ErrorCode::kUnsupported,
                  "the tip of " + request.branch + " (" + tip_id.substr(0, 10) + ") is not ours",
                  "rename or delete that branch, or merge it");
    if (git_oid_equal(git_commit_tree_id(open.tip), &tree_id) != 0 && git_commit_parentcount(open.tip) == 1 &&
        git_oid_equal(git_commit_parent_id(open.tip, 0), git_commit_id(base)) != 0 &&
        git_commit_message(open.tip) == request.message)
      return PublishedBranch{request.branch, tip_id, false};
  }
  WW_ASSIGN(const git_oid commit, WriteCommit(repository, &tree_id, base, request.message, request.author));
  WW_TRY(MoveBranch(repository, open, &commit, "warpwright: optimize"));
  return PublishedBranch{request.branch, ToString(&commit), true};
}

Result<PublishedBranch> Repository::CommitFiles(const FilesCommit& request, std::string_view allowed) {
  git_repository* repository = repository_.get();
  if (request.branch.empty() || request.branch != allowed)
    return Fail(ErrorCode::kUsage, "'" + request.branch + "' is not the branch that may be written");
  WW_ASSIGN(const OpenBranch open, LookUpBranch(repository, request.branch));
  GitCommit parent;
  GitTree parent_tree;
  if (!request.parent.empty()) {
    WW_ASSIGN(parent, LookUpCommit(repository, request.parent));
    WW_ASSIGN(parent_tree, TreeOf(repository, request.parent));
  }
  const bool at_parent = open.tip.value != nullptr && parent.value != nullptr &&
                         git_oid_equal(git_commit_id(open.tip), git_commit_id(parent)) != 0;
  if (open.tip.value != nullptr && !at_parent && !IsOurs(open.tip) &&
      (parent.value == nullptr ||
       git_graph_descendant_of(repository, git_commit_id(parent), git_commit_id(open.tip)) != 1))
    return Fail(
        ErrorCode::kUnsupported,
        "the tip of " + request.branch + " (" + ToString(git_commit_id(open.tip)).substr(0, 10) + ") is not ours",
        "name another branch, or rename that one");

  std::vector<git_tree_update> updates;
  for (const auto& [path, content] : request.files) {
    git_tree_update update{};
    update.action = GIT_TREE_UPDATE_UPSERT;
    update.filemode = GIT_FILEMODE_BLOB;
    update.path = path.c_str();
    if (git_blob_create_from_buffer(&update.id, repository, content.data(), content.size()) != 0)
      return FailGit("write " + path);
    updates.push_back(update);
  }
  git_oid tree_id;
  if (git_tree_create_updated(&tree_id, repository, parent_tree, updates.size(), updates.data()) != 0)
    return FailGit("write a tree");
  if (parent.value != nullptr && git_oid_equal(&tree_id, git_tree_id(parent_tree)) != 0) {
    if (!at_parent) WW_TRY(MoveBranch(repository, open, git_commit_id(parent), "warpwright: follow"));
    return PublishedBranch{request.branch, request.parent, false};
  }
  WW_ASSIGN(const git_oid commit, WriteCommit(repository, &tree_id, parent, request.message, request.author));
  WW_TRY(MoveBranch(repository, open, &commit, "warpwright: commit"));
  return PublishedBranch{request.branch, ToString(&commit), true};
}

}  // namespace warpwright::repo
