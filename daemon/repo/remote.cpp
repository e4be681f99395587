#include "repo/remote.h"

#include <algorithm>
#include <set>

#include "repo/connection.h"
#include "repo/local_push.h"
#include "repo/reference_write.h"

namespace warpwright::repo {
namespace {

constexpr std::string_view kHeads = "refs/heads/", kTracking = "refs/remotes/origin/", kTips = "refs/warpwright/tips/",
                           kPushes = "refs/warpwright/pushes/";
constexpr const char* kTrackingHead = "refs/remotes/origin/HEAD";

std::string Tracking(const std::string& ref) { return std::string(kTracking) + ref.substr(kHeads.size()); }

bool Has(git_repository* repository, const std::string& id) {
  git_oid oid;
  GitOdb odb;
  return git_oid_fromstr(&oid, id.c_str()) == 0 && git_repository_odb(odb.out(), repository) == 0 &&
         git_odb_exists(odb, &oid) == 1;
}

bool Descends(git_repository* repository, const std::string& commit, const std::string& ancestor) {
  git_oid a, b;
  return git_oid_fromstr(&a, commit.c_str()) == 0 && git_oid_fromstr(&b, ancestor.c_str()) == 0 &&
         (git_oid_equal(&a, &b) != 0 || git_graph_descendant_of(repository, &a, &b) == 1);
}

Result<bool> Point(git_repository* repository, const std::string& ref, const std::string& commit) {
  git_oid id;
  if (git_oid_fromstr(&id, commit.c_str()) != 0) return FailGit("read the id " + commit);
  return MoveReference(repository, ref, &id, nullptr, "warpwright: fetch");
}

}  // namespace

bool IsOwnBranch(std::string_view ref) {
  if (ref.starts_with(kHeads)) ref.remove_prefix(kHeads.size());
  return ref.starts_with("warpwright/") || ref == "warpwright-history";
}

Result<Refs> ListRefs(const RemoteAddress& remote) {
  WW_ASSIGN(const auto connection, Connection::Open(nullptr, remote, GIT_DIRECTION_FETCH));
  return connection->Branches();
}

Result<std::string> DefaultBranch(const RemoteAddress& remote) {
  WW_ASSIGN(const auto connection, Connection::Open(nullptr, remote, GIT_DIRECTION_FETCH));
  return connection->MainBranch();
}

Result<Refs> Mirror::Known() const {
  git_reference_iterator* raw = nullptr;
  if (git_reference_iterator_glob_new(&raw, git(), (std::string(kTracking) + "*").c_str()) != 0)
    return FailGit("list what is known of " + remote_.url);
  const GitHandle<git_reference_iterator, git_reference_iterator_free> iterator = [&] {
    GitHandle<git_reference_iterator, git_reference_iterator_free> handle;
    handle.value = raw;
    return handle;
  }();
  Refs refs;
  for (GitReference reference; git_reference_next(reference.out(), iterator) == 0; reference = GitReference())
    if (const git_oid* id = git_reference_target(reference); id != nullptr)
      refs[std::string(kHeads) + (git_reference_name(reference) + kTracking.size())] = ToString(id);
  return refs;
}

Result<std::string> Mirror::MainBranch() const {
  GitReference head;
  const int code = git_reference_lookup(head.out(), git(), kTrackingHead);
  if (code == GIT_ENOTFOUND) return std::string();
  if (code != 0) return FailGit("read the main branch of " + remote_.url);
  const char* target = git_reference_symbolic_target(head);
  if (target == nullptr || !std::string_view(target).starts_with(kTracking)) return std::string();
  return std::string(kHeads) + (target + kTracking.size());
}

// Makes the known refs equal to the remote's. Deleted refs are removed first, since "a" is in the way of "a/b".
Status Mirror::UpdateTrackingRefs(const Refs& known, const Refs& now, const std::string& main) {
  for (const auto& [ref, id] : known)
    if (now.count(ref) == 0) WW_TRY(DeleteReference(git(), Tracking(ref)));
  for (const auto& [ref, id] : now) {
    const auto old = known.find(ref);
    if (old == known.end() || old->second != id) WW_TRY(Point(git(), Tracking(ref), id));
  }
  WW_ASSIGN(const std::string main_before, MainBranch());
  if (main == main_before) return {};
  if (main.empty()) return DeleteReference(git(), kTrackingHead);
  GitReference head;
  if (git_reference_symbolic_create(head.out(), git(), kTrackingHead, Tracking(main).c_str(), 1, "warpwright: fetch") !=
      0)
    return FailGit("remember the main branch");
  return {};
}

Result<std::vector<RefMove>> Mirror::Fetch() {
  WW_ASSIGN(const Refs known, Known());
  WW_ASSIGN(const auto connection, Connection::Open(git(), remote_, GIT_DIRECTION_FETCH));
  WW_ASSIGN(const Refs now, connection->Branches());
  const std::string main = connection->MainBranch();
  std::vector<std::string> missing;
  for (const auto& [ref, id] : now)
    if (!Has(git(), id)) missing.push_back(ref);
  if (!missing.empty()) WW_TRY(connection->Download(missing));
  WW_TRY(UpdateTrackingRefs(known, now, main));
  if (!missing.empty()) WW_TRY(CollectGarbage());

  std::vector<RefMove> moves;
  std::set<std::string> names;
  for (const auto* refs : {&known, &now})
    for (const auto& [ref, id] : *refs) names.insert(ref);
  for (const auto& ref : names) {
    const auto from = known.find(ref), to = now.find(ref);
    RefMove move{ref, from == known.end() ? "" : from->second, to == now.end() ? "" : to->second, false};
    if (move.from == move.to || IsOwnBranch(ref)) continue;
    move.forced = !move.from.empty() && !move.to.empty() && !Descends(git(), move.to, move.from);
    moves.push_back(std::move(move));
  }
  return moves;
}

Result<Mirror::Tip> Mirror::RemoteTip(const std::string& branch) {
  const std::string ref = std::string(kHeads) + branch;
  WW_ASSIGN(const auto connection, Connection::Open(git(), remote_, GIT_DIRECTION_FETCH));
  WW_ASSIGN(const Refs now, connection->Branches());
  const auto found = now.find(ref);
  if (found == now.end()) return Tip{};
  Tip tip{Owner::kForeign, found->second};
  if (!Has(git(), tip.commit)) WW_TRY(connection->Download({ref}));
  WW_TRY(Point(git(), std::string(kTips) + branch, tip.commit));
  WW_ASSIGN(const GitCommit commit, LookUpCommit(git(), tip.commit));
  const bool trailer =
      std::string_view(git_commit_message(commit)).find(Repository::kTrailer) != std::string_view::npos;
  // Amending one of our commits changes its committer but keeps the message. What this mirror's own branch holds was
  // made here.
  GitReference local;
  const bool made_here = git_reference_lookup(local.out(), git(), ref.c_str()) == 0 &&
                         git_reference_target(local) != nullptr && ToString(git_reference_target(local)) == tip.commit;
  const git_signature* committer = git_commit_committer(commit);
  if (trailer && (made_here || (committer != nullptr && us_.email == committer->email))) tip.owner = Owner::kOurs;
  return tip;
}

Result<Mirror::PushResult> Mirror::Push(const std::string& branch, const std::string& commit,
                                        const std::string& expected) {
  const std::string ref = std::string(kHeads) + branch;
  WW_TRY(config::CheckBranchName(branch));
  WW_TRY(LookUpCommit(git(), commit));
  if (!branch.starts_with("warpwright/")) {
    WW_ASSIGN(const std::string main, DefaultBranch(remote_));
    if (main == ref) return PushResult{false, branch + " is the main branch, which is never pushed to", expected};
    if (!expected.empty() && !Descends(git(), commit, expected))
      return PushResult{false, "the commit does not follow " + expected, expected};
  }
  PushOutcome outcome;
  if (const auto local = LocalPath(remote_.url); !local.empty()) {
    WW_ASSIGN(outcome, PushLocally(git(), local, commit, ref, expected));
  } else {
    // libgit2 pushes refs, not commits.
    const std::string source = std::string(kPushes) + commit;
    WW_TRY(Point(git(), source, commit));
    WW_ASSIGN(const auto connection, Connection::Open(git(), remote_, GIT_DIRECTION_PUSH));
    WW_ASSIGN(outcome, connection->Push(source, commit, ref, expected));
    WW_TRY(DeleteReference(git(), source));
  }
  PushResult pushed{outcome.done, outcome.rejected, outcome.done ? commit : std::string()};
  if (outcome.done) return pushed;
  WW_ASSIGN(const Refs now, ListRefs(remote_));
  if (const auto found = now.find(ref); found != now.end()) pushed.remote_tip = found->second;
  return pushed;
}

}  // namespace warpwright::repo
