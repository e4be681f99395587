#include "repo/git_handle.h"

#include <cstdlib>

#include "repo/timed_stream.h"

namespace warpwright::repo {

void StartGit() {
  static const bool started = [] {
    git_libgit2_init();
    RegisterTimedStreams();
    // As in other programs, for an Enterprise server with its own certificate authority.
    const char* file = std::getenv("SSL_CERT_FILE");
    const char* folder = std::getenv("SSL_CERT_DIR");
    if (file != nullptr || folder != nullptr) git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, file, folder);
    return true;
  }();
  (void)started;
}

tl::unexpected<Error> FailGit(const std::string& what, std::string remedy) {
  const git_error* error = git_error_last();
  return Fail(ErrorCode::kIo, error == nullptr ? what : what + ": " + error->message, std::move(remedy));
}

std::string ToString(const git_oid* id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, id);
}

Result<GitCommit> LookUpCommit(git_repository* repository, const std::string& id) {
  git_oid oid;
  GitCommit commit;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 || git_commit_lookup(commit.out(), repository, &oid) != 0)
    return FailGit("look up commit " + id);
  return commit;
}

Result<GitTree> TreeOf(git_repository* repository, const std::string& commit_id) {
  WW_ASSIGN(GitCommit commit, LookUpCommit(repository, commit_id));
  GitTree tree;
  if (git_commit_tree(tree.out(), commit) != 0) return FailGit("read the tree of " + commit_id);
  return tree;
}

}  // namespace warpwright::repo
