#include "repo/local_push.h"

#include <git2/sys/odb_backend.h>

#include "repo/reference_write.h"

namespace warpwright::repo {
namespace {

// Everything that `commit` reaches and no branch of `target` does, as one pack.
Status CopyObjects(git_repository* from, git_repository* target, const git_oid* commit) {
  GitOdb odb;
  if (git_repository_odb(odb.out(), target) != 0) return FailGit("open the objects of the remote");
  if (git_odb_exists(odb, commit) == 1) return {};
  GitRevwalk walk;
  GitPackbuilder pack;
  if (git_revwalk_new(walk.out(), from) != 0 || git_revwalk_push(walk, commit) != 0)
    return FailGit("walk the commits to push");
  git_reference_iterator* iterator = nullptr;
  if (git_reference_iterator_glob_new(&iterator, target, "refs/heads/*") != 0)
    return FailGit("list the remote's branches");
  for (GitReference reference; git_reference_next(reference.out(), iterator) == 0; reference = GitReference())
    // A commit that the mirror does not have cannot be hidden from its walk; then more is copied than needed.
    if (const git_oid* id = git_reference_target(reference); id != nullptr) git_revwalk_hide(walk, id);
  git_reference_iterator_free(iterator);
  if (git_packbuilder_new(pack.out(), from) != 0 || git_packbuilder_insert_walk(pack, walk) != 0)
    return FailGit("gather the objects to push");
  git_odb_writepack* writer = nullptr;
  if (git_odb_write_pack(&writer, odb, nullptr, nullptr) != 0) return FailGit("write objects into the remote");
  git_indexer_progress progress{};
  struct Sink {
    git_odb_writepack* writer;
    git_indexer_progress* progress;
  } sink{writer, &progress};
  const int code = git_packbuilder_foreach(
      pack,
      [](void* data, size_t size, void* payload) {
        auto& out = *static_cast<Sink*>(payload);
        return out.writer->append(out.writer, data, size, out.progress);
      },
      &sink);
  const bool written = code == 0 && writer->commit(writer, &progress) == 0;
  auto failure = FailGit("write objects into the remote");
  writer->free(writer);
  if (!written) return failure;
  return {};
}

}  // namespace

Result<PushOutcome> PushLocally(git_repository* from, const std::filesystem::path& to, const std::string& commit,
                                const std::string& ref, const std::string& expected) {
  GitRepository target;
  git_oid id;
  if (git_repository_open_ext(target.out(), to.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr) != 0)
    return FailGit("open the repository " + to.string());
  if (git_oid_fromstr(&id, commit.c_str()) != 0) return FailGit("read the id " + commit);
  GitReference existing;
  const int found = git_reference_lookup(existing.out(), target, ref.c_str());
  if (found != 0 && found != GIT_ENOTFOUND) return FailGit("look up " + ref + " in " + to.string());
  const git_oid* at = found == 0 ? git_reference_target(existing) : nullptr;
  const std::string tip = at != nullptr ? ToString(at) : std::string();
  if (tip == commit) return PushOutcome{true, {}};
  if (tip != expected) return PushOutcome{false, tip.empty() ? "the branch is gone" : "the branch is at " + tip};
  if (found == 0 && git_branch_is_checked_out(existing) == 1)
    return PushOutcome{false, "the branch is checked out in " + to.string()};
  WW_TRY(CopyObjects(from, target, &id));
  WW_ASSIGN(const bool moved, MoveReference(target, ref, &id, &expected, "warpwright: push"));
  return moved ? PushOutcome{true, {}} : PushOutcome{false, "the branch moved meanwhile"};
}

}  // namespace warpwright::repo
