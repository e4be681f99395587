// Mirrors of real repositories, over every transport of this machine: a path, file://, smart HTTP with a token, ssh
// (through a program that replaces ssh and runs the service here).
#include "repo/remote.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "repo/remote_url.h"
#include "repo/ssh_transport.h"
#include "tests/support/temp_repository.h"
#include "tests/unit/repo/git_http_server.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

// A fake ssh that behaves as `folder`/host says: it records its arguments and runs the last one, without the network.
void WriteFakeSsh(const fs::path& folder) {
  std::ofstream(folder / "ssh")
      << "#!/bin/sh\n"
         "printf '%s\\n' \"$@\" > "
      << (folder / "arguments").string()
      << "\n"
         "env > "
      << (folder / "environment").string()
      << "\n"
         "for last; do :; done\n"
         "case \"$*\" in *unknown.example*) echo 'No ED25519 host key is known for unknown.example and you have "
         "requested strict checking.' >&2\n"
         "echo 'Host key verification failed.' >&2; exit 255;; *closing.example*) exec 0<&-;; esac\n"
         "exec sh -c \"$last\"\n";
  fs::permissions(folder / "ssh", fs::perms::owner_all);
}

enum class Over { kPath, kFile, kHttp, kSsh };

class RemoteTest : public testing::TestWithParam<Over> {
 protected:
  void SetUp() override {
    origin.Write("src/a.cu", "one\ntwo\n");
    first = origin.Commit("first");
    origin.Git({"clone", "-q", "--bare", origin.path().string(), bare().string()});
    origin.Git({"remote", "add", "up", bare().string()});
    // Credentials are in no environment and no command line that a server or ssh sees.
    server = std::make_unique<GitHttpServer>(folder.path(), kToken);
    GitAt(bare(), {"config", "http.receivepack", "true"});
    WriteFakeSsh(folder.path());
    path_before = std::getenv("PATH");
    ::setenv("PATH", (folder.path().string() + ":" + path_before).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_before.c_str(), 1); }

  fs::path bare() const { return folder.path() / "up.git"; }
  repo::RemoteAddress Address() {
    repo::RemoteAddress address;
    address.credential.token = [this]() -> Result<std::string> {
      ++tokens_asked;
      return kToken;
    };
    switch (GetParam()) {
      case Over::kPath: address.url = bare().string(); break;
      case Over::kFile: address.url = "file://" + bare().string(); break;
      case Over::kHttp: address.url = server->Url("up.git"); break;
      case Over::kSsh: address.url = "ssh://git@gpu.example" + bare().string(); break;
    }
    return address;
  }
  repo::Mirror Open() {
    auto mirror = repo::Mirror::Open(folder.path() / "mirror.git", Address());
    EXPECT_TRUE(mirror) << mirror.error().Format();
    return std::move(*mirror);
  }
  std::vector<repo::RefMove> Fetch(repo::Mirror& mirror) {
    auto moves = mirror.Fetch();
    EXPECT_TRUE(moves) << moves.error().Format();
    return moves ? *moves : std::vector<repo::RefMove>{};
  }
  std::string GitAt(const fs::path& where, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--git-dir", where.string()});
    return origin.Git(arguments);
  }
  void PushUp(const std::string& spec) { origin.Git({"push", "-q", "-f", "up", spec}); }
  // One of our commits in the mirror, on `base`.
  std::string Ours(repo::Mirror& mirror, const std::string& base, const std::string& content) {
    const auto made = mirror.repository().Publish(
        {"warpwright/a", base, "src/a.cu", content, "Faster a\n\nOptimized-by: warpwright\n", {}});
    EXPECT_TRUE(made) << made.error().Format();
    return made ? made->commit : "";
  }

  static constexpr const char* kToken = "ghs_sixteenCharacters0123";
  TempRepository origin;
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-remote"));
  std::unique_ptr<GitHttpServer> server;
  std::string first, path_before;
  int tokens_asked = 0;
};

std::string NameOf(const testing::TestParamInfo<Over>& each) {
  switch (each.param) {
    case Over::kPath: return "Path";
    case Over::kFile: return "File";
    case Over::kHttp: return "Http";
    case Over::kSsh: return "Ssh";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(Transports, RemoteTest, testing::Values(Over::kPath, Over::kHttp, Over::kSsh), NameOf);

TEST_P(RemoteTest, BranchesMoveAndTheMirrorSaysHow) {
  repo::Mirror mirror = Open();
  EXPECT_EQ(*repo::ListRefs(Address()), (repo::Refs{{"refs/heads/main", first}}));
  EXPECT_EQ(*repo::DefaultBranch(Address()), "refs/heads/main");
  EXPECT_EQ(*mirror.MainBranch(), "");
  EXPECT_EQ(Fetch(mirror), (std::vector<repo::RefMove>{{"refs/heads/main", "", first, false}}));
  EXPECT_EQ(Fetch(mirror), std::vector<repo::RefMove>{});
  EXPECT_EQ(*mirror.Known(), *repo::ListRefs(Address()));
  EXPECT_EQ(*mirror.MainBranch(), "refs/heads/main");

  origin.Write("src/a.cu", "one\n2\n");
  const std::string second = origin.Commit("second");
  PushUp("main");
  PushUp("main:refs/heads/topic/a");
  PushUp("main:refs/heads/warpwright/a");
  PushUp("main:refs/heads/warpwright-history");
  EXPECT_EQ(Fetch(mirror), (std::vector<repo::RefMove>{{"refs/heads/main", first, second, false},
                                                       {"refs/heads/topic/a", "", second, false}}));
  EXPECT_EQ(*mirror.repository().Read(second, "src/a.cu"), "one\n2\n");

  // Rewritten history; a folder of branches becomes a branch; our own branches are deleted without an event.
  origin.Git({"reset", "-q", "--hard", first});
  origin.Write("src/a.cu", "one\nZWEI\n");
  const std::string rewritten = origin.Commit("rewritten");
  PushUp("main");
  PushUp(":refs/heads/topic/a");
  PushUp("main:refs/heads/topic");
  PushUp(":refs/heads/warpwright/a");
  EXPECT_EQ(Fetch(mirror), (std::vector<repo::RefMove>{{"refs/heads/main", second, rewritten, true},
                                                       {"refs/heads/topic", "", rewritten, false},
                                                       {"refs/heads/topic/a", second, "", false}}));
  EXPECT_EQ(*mirror.Known(), *repo::ListRefs(Address()));
  EXPECT_EQ(GitAt(folder.path() / "mirror.git", {"fsck", "--strict"}), "");
  // The abandoned commit is still there to be compared with.
  EXPECT_EQ(*mirror.repository().Read(second, "src/a.cu"), "one\n2\n");
}

// A daemon looks every few seconds for months.
TEST_P(RemoteTest, LooksKeepNoMemory) {
  if (::mallinfo2().uordblks == 0) GTEST_SKIP() << "the sanitizer's allocator finds leaks by itself";
  repo::Mirror mirror = Open();
  const auto look = [&] {
    Fetch(mirror);
    EXPECT_EQ(mirror.RemoteTip("warpwright/a")->owner, repo::Mirror::Owner::kAbsent);
  };
  // What leaks, leaks in every series; a cache of libcurl or OpenSSL grows in some of them.
  constexpr int kSeries = 4;
  constexpr int64_t kLooks = 8, kBytesPerLook = 2048;
  int64_t least = INT64_MAX;
  for (int series = 0; series < kSeries && least >= kLooks * kBytesPerLook; ++series) {
    const auto before = static_cast<int64_t>(::mallinfo2().uordblks);
    for (int64_t i = 0; i < kLooks; ++i) look();
    least = std::min(least, static_cast<int64_t>(::mallinfo2().uordblks) - before);
  }
  EXPECT_LT(least, kLooks * kBytesPerLook);
}

// "url.X.insteadOf" of whoever starts the daemon could send the token to another host.
TEST_P(RemoteTest, AnAddressIsUsedAsItIs) {
  repo::Mirror mirror = Open();
  const std::string elsewhere = (folder.path() / "elsewhere.git").string();
  GitAt(folder.path() / "mirror.git", {"config", "url." + elsewhere + ".insteadOf", Address().url});
  EXPECT_EQ(Fetch(mirror).size(), 1u);
}

TEST_P(RemoteTest, AnEmptyRemoteHasNoBranches) {
  GitAt(bare(), {"update-ref", "-d", "refs/heads/main"});
  repo::Mirror mirror = Open();
  EXPECT_EQ(Fetch(mirror), std::vector<repo::RefMove>{});
  EXPECT_EQ(*repo::ListRefs(Address()), repo::Refs{});
  EXPECT_EQ(*mirror.MainBranch(), "");
}

TEST_P(RemoteTest, PushHoldsItsLease) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  EXPECT_EQ(mirror.RemoteTip("warpwright/a")->owner, repo::Mirror::Owner::kAbsent);
  const std::string one = Ours(mirror, first, "faster\n");
  const auto pushed = mirror.Push("warpwright/a", one, "");
  ASSERT_TRUE(pushed) << pushed.error().Format();
  EXPECT_TRUE(pushed->done) << pushed->rejected;
  EXPECT_EQ(GitAt(bare(), {"rev-parse", "warpwright/a"}), one + "\n");
  EXPECT_EQ(GitAt(bare(), {"show", "warpwright/a:src/a.cu"}), "faster\n");
  EXPECT_EQ(GitAt(bare(), {"fsck", "--strict"}), "");
  EXPECT_TRUE(mirror.Push("warpwright/a", one, "")->done) << "again: it is there already";
  EXPECT_EQ(mirror.RemoteTip("warpwright/a")->owner, repo::Mirror::Owner::kOurs);
  EXPECT_EQ(mirror.RemoteTip("warpwright/a")->commit, one);

  // Replaced, by force, from the tip that we know.
  const std::string two = Ours(mirror, first, "fastest\n");
  const auto stale = mirror.Push("warpwright/a", two, first);
  ASSERT_TRUE(stale);
  EXPECT_FALSE(stale->done);
  EXPECT_NE(stale->rejected.find(one), std::string::npos) << stale->rejected;
  EXPECT_EQ(stale->remote_tip, one);
  EXPECT_EQ(GitAt(bare(), {"rev-parse", "warpwright/a"}), one + "\n");
  EXPECT_TRUE(mirror.Push("warpwright/a", two, one)->done);
  EXPECT_EQ(GitAt(bare(), {"rev-parse", "warpwright/a~1"}), first + "\n");

  // A user deleted it: we do not recreate it, unless the caller knows.
  GitAt(bare(), {"update-ref", "-d", "refs/heads/warpwright/a"});
  EXPECT_FALSE(mirror.Push("warpwright/a", one, two)->done);
  EXPECT_TRUE(mirror.Push("warpwright/a", one, "")->done);
}

TEST_P(RemoteTest, ACommitOfSomebodyElseIsForeignEvenWithOurMessage) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  ASSERT_TRUE(mirror.Push("warpwright/a", Ours(mirror, first, "faster\n"), "")->done);
  origin.Git({"fetch", "-q", "up"});
  origin.Git({"checkout", "-q", "-b", "theirs", "up/warpwright/a"});
  origin.Write("src/a.cu", "faster, reviewed\n");
  origin.Git({"commit", "-q", "-a", "--amend", "--no-edit"});  // author and message stay
  PushUp("theirs:refs/heads/warpwright/a");
  const auto tip = mirror.RemoteTip("warpwright/a");
  ASSERT_TRUE(tip) << tip.error().Format();
  EXPECT_EQ(tip->owner, repo::Mirror::Owner::kForeign);
  EXPECT_EQ(tip->commit + "\n", GitAt(bare(), {"rev-parse", "warpwright/a"}));
  EXPECT_EQ(Fetch(mirror), std::vector<repo::RefMove>{})
      << "asking for a tip hides no event, and our branches are none";

  // Our commit from another machine: recognised by committer and trailer.
  origin.Git({"-c", "user.name=bot", "-c", "user.email=bot@example.org", "commit", "-q", "--amend", "--no-edit",
              "--reset-author"});
  PushUp("theirs:refs/heads/warpwright/a");
  EXPECT_EQ(mirror.RemoteTip("warpwright/a")->owner, repo::Mirror::Owner::kForeign);
  EXPECT_EQ(repo::Mirror::Open(folder.path() / "mirror.git", Address(), {"bot", "bot@example.org"})
                ->RemoteTip("warpwright/a")
                ->owner,
            repo::Mirror::Owner::kOurs);
}

TEST_P(RemoteTest, OutsideOurFolderOnlyFastForwardsAndNeverTheMainBranch) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  const auto commit = [&](const std::string& parent, const char* content) {
    return mirror.repository()
        .CommitFiles({"warpwright-history", parent, {{"night", content}}, "Night\n\nOptimized-by: warpwright\n", {}},
                     "warpwright-history")
        ->commit;
  };
  const std::string one = commit("", "1"), two = commit(one, "2");
  EXPECT_TRUE(mirror.Push("warpwright-history", one, "")->done);
  EXPECT_TRUE(mirror.Push("warpwright-history", two, one)->done);
  const auto back = mirror.Push("warpwright-history", one, two);
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->done);
  EXPECT_FALSE(mirror.Push("main", two, first)->done);
  EXPECT_FALSE(mirror.Push("refs/heads/main", two, first));
  EXPECT_EQ(GitAt(bare(), {"rev-parse", "main"}), first + "\n");
}

TEST_P(RemoteTest, AShallowRemoteIsRefusedWithItsRemedy) {
  origin.Write("src/a.cu", "one\n2\n");
  origin.Commit("second");
  PushUp("main");
  origin.Git(
      {"clone", "-q", "--bare", "--depth", "1", "file://" + bare().string(), (folder.path() / "cut.git").string()});
  fs::rename(bare(), folder.path() / "whole.git");
  fs::rename(folder.path() / "cut.git", bare());
  repo::Mirror mirror = Open();
  const auto moves = mirror.Fetch();
  ASSERT_FALSE(moves);
  EXPECT_EQ(moves.error().code, ErrorCode::kUnsupported) << moves.error().Format();
  EXPECT_NE(moves.error().Format().find("unshallow"), std::string::npos) << moves.error().Format();
  EXPECT_EQ(*mirror.Known(), repo::Refs{});
}

TEST_P(RemoteTest, BeyondItsLimitsATransferIsCut) {
  for (int i = 0; i < 20; ++i) origin.Write("f" + std::to_string(i), std::to_string(i));
  origin.Commit("many");
  PushUp("main");
  repo::RemoteAddress address = Address();
  address.limits.objects = 5;
  const auto moves = repo::Mirror::Open(folder.path() / "mirror.git", address)->Fetch();
  ASSERT_FALSE(moves);
  EXPECT_EQ(moves.error().code, ErrorCode::kUnsupported) << moves.error().Format();
  repo::Mirror mirror = Open();
  EXPECT_EQ(*mirror.Known(), repo::Refs{});
  EXPECT_EQ(Fetch(mirror).size(), 1u);
}

// A lock of a ref in the remote, and in the mirror, as a killed process leaves it.
TEST_P(RemoteTest, LocksThatAKilledProcessLeftAreRemoved) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  origin.Write("src/a.cu", "one\n2\n");
  const std::string second = origin.Commit("second");
  PushUp("main");
  const auto leave_lock = [](const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(10));
  };
  leave_lock(folder.path() / "mirror.git/refs/remotes/origin/main.lock");
  leave_lock(folder.path() / "mirror.git/refs/heads/warpwright/a.lock");
  EXPECT_EQ(Fetch(mirror).size(), 1u);
  const std::string ours = Ours(mirror, second, "faster\n");
  if (GetParam() == Over::kPath || GetParam() == Over::kFile) leave_lock(bare() / "refs/heads/warpwright/a.lock");
  EXPECT_TRUE(mirror.Push("warpwright/a", ours, "")->done);
}

class MirrorTest : public RemoteTest {};
INSTANTIATE_TEST_SUITE_P(OnlyFile, MirrorTest, testing::Values(Over::kFile), NameOf);

TEST_P(MirrorTest, ABrokenMirrorIsKeptAsideAndMadeAnew) {
  const fs::path path = folder.path() / "mirror.git";
  Fetch(*std::make_unique<repo::Mirror>(Open()));
  for (const char* broken : {"HEAD", "objects"}) {
    fs::remove_all(path / broken);
    repo::Mirror mirror = Open();
    EXPECT_EQ(Fetch(mirror).size(), 1u) << broken;
    EXPECT_TRUE(fs::exists(folder.path() / "mirror.git.broken"));
  }
  fs::remove_all(path);
  fs::create_directories(path);  // as an interrupted mkdir leaves it
  repo::Mirror mirror = Open();
  EXPECT_EQ(Fetch(mirror).size(), 1u);
}

// Whenever a process is killed, the next one continues.
TEST_P(MirrorTest, KilledWhileItIsMadeAndFetched) {
  for (int i = 0; i < 300; ++i)
    origin.Write("folder" + std::to_string(i % 20) + "/f" + std::to_string(i),
                 std::string(2000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  const std::string second = origin.Commit("many");
  PushUp("main");
  int finished = 0;
  for (int round = 0; round < 40; ++round) {
    const fs::path path = folder.path() / ("killed" + std::to_string(round / 8) + ".git");
    const pid_t child = ::fork();
    if (child == 0) {
      auto mirror = repo::Mirror::Open(path, Address());
      const bool good = mirror && mirror->Fetch();
      ::_exit(good ? 0 : 1);
    }
    ::usleep(static_cast<useconds_t>(500 + round % 8 * 2500));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0)
        << "round " << round << ": a repetition fails on what a kill left";
    finished += WIFEXITED(status) ? 1 : 0;
    if (round % 8 != 7) continue;
    auto mirror = repo::Mirror::Open(path, Address());
    ASSERT_TRUE(mirror) << mirror.error().Format();
    ASSERT_TRUE(mirror->Fetch());
    EXPECT_EQ(mirror->Known()->at("refs/heads/main"), second);
    EXPECT_EQ(GitAt(path, {"fsck", "--strict"}).find("error"), std::string::npos);
  }
  RecordProperty("finished_before_the_kill", finished);
}

TEST_P(MirrorTest, PacksAreJoinedAndNothingThatMattersIsLost) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  std::string rewritten;
  for (const char* text : {"2\n", "3\n", "4\n"}) {
    origin.Git({"reset", "-q", "--hard", first});
    origin.Write("src/a.cu", text);
    rewritten = origin.Commit(text);
    PushUp("main");
    EXPECT_EQ(Fetch(mirror).size(), 1u);
  }
  const auto packs = [&] {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder.path() / "mirror.git/objects/pack"))
      count += entry.path().extension() == ".pack" ? 1 : 0;
    return count;
  };
  EXPECT_EQ(packs(), 4u);
  EXPECT_TRUE(mirror.CollectGarbage());
  EXPECT_EQ(packs(), 4u) << "few are left alone";
  const auto joined = mirror.CollectGarbage(3);
  ASSERT_TRUE(joined) << joined.error().Format();
  EXPECT_EQ(packs(), 1u);
  EXPECT_EQ(*mirror.repository().Read(rewritten, "src/a.cu"), "4\n") << "through a repository that was open meanwhile";
  EXPECT_EQ(*Open().repository().Read(first, "src/a.cu"), "one\ntwo\n");
  EXPECT_EQ(mirror.Known()->at("refs/heads/main"), rewritten);
}

TEST_P(MirrorTest, AWorkingRepositoryIsARemoteToo) {
  repo::RemoteAddress address;
  address.url = origin.path().string();
  auto mirror = repo::Mirror::Open(folder.path() / "work.git", address);
  ASSERT_TRUE(mirror) << mirror.error().Format();
  ASSERT_TRUE(mirror->Fetch());
  origin.Write("src/a.cu", "the user is editing\n");
  const std::string status = origin.Git({"status", "--porcelain"});
  const std::string commit = Ours(*mirror, first, "faster\n");
  const auto pushed = mirror->Push("warpwright/a", commit, "");
  ASSERT_TRUE(pushed) << pushed.error().Format();
  EXPECT_TRUE(pushed->done) << pushed->rejected;
  EXPECT_EQ(origin.Git({"status", "--porcelain"}), status);
  EXPECT_EQ(origin.Git({"show", "warpwright/a:src/a.cu"}), "faster\n");
  origin.Git({"checkout", "-q", "-f", "warpwright/a"});
  const auto shown = mirror->Push("warpwright/a", Ours(*mirror, first, "fastest\n"), commit);
  ASSERT_TRUE(shown);
  EXPECT_FALSE(shown->done);
  EXPECT_NE(shown->rejected.find("checked out"), std::string::npos);
}

class HttpTest : public RemoteTest {};
INSTANTIATE_TEST_SUITE_P(OnlyHttp, HttpTest, testing::Values(Over::kHttp), NameOf);

TEST_P(HttpTest, TheTokenIsGivenWhenAskedForAndNowhereElse) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  EXPECT_EQ(server->refused(), 1);
  EXPECT_EQ(tokens_asked, 1);
  const std::string grep = GitAt(folder.path() / "mirror.git", {"config", "--list"});
  EXPECT_EQ(grep.find(kToken), std::string::npos);
  EXPECT_EQ(grep.find("127.0.0.1"), std::string::npos);
}

TEST_P(HttpTest, WrongAndMissingTokensAreSaidWithoutRepeatingThem) {
  repo::RemoteAddress address = Address();
  address.credential.token = [] { return Result<std::string>("ghs_wrong"); };
  const auto wrong = repo::ListRefs(address);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(wrong.error().message.find("refuses the token"), std::string::npos) << wrong.error().Format();
  EXPECT_EQ(wrong.error().Format().find("ghs_wrong"), std::string::npos);
  EXPECT_EQ(server->refused(), 2) << "one try without, one with it";
  address.credential.token = nullptr;
  const auto missing = repo::ListRefs(address);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().remedy.find("github"), std::string::npos);
  address.credential.token = []() -> Result<std::string> {
    return Fail(ErrorCode::kTimeout, "the forge did not answer");
  };
  EXPECT_EQ(repo::ListRefs(address).error().code, ErrorCode::kTimeout) << "the provider's own error";
}

TEST_P(HttpTest, WhatServersAnswerIsSaidWithItsRemedy) {
  for (const auto& [status, part] : {std::pair{404, "not found"}, {403, "403"}, {500, "500"}, {301, "moved"}}) {
    server->AnswerOnly(status);
    const auto refs = repo::ListRefs(Address());
    ASSERT_FALSE(refs) << status;
    EXPECT_NE(refs.error().Format().find(part), std::string::npos) << status << ": " << refs.error().Format();
  }
}

// Between the listing of the refs and the moment when the server moves its branch.
TEST_P(HttpTest, APushThatLosesARaceChangesNothing) {
  repo::Mirror mirror = Open();
  Fetch(mirror);
  const std::string ours = Ours(mirror, first, "faster\n");
  server->OnRequest([&](const std::string& path, const std::string& body) {
    if (path.ends_with("git-receive-pack") && body.find("refs/heads/") != std::string::npos)
      GitAt(bare(), {"update-ref", "refs/heads/warpwright/a", first});
  });
  const auto pushed = mirror.Push("warpwright/a", ours, "");
  ASSERT_TRUE(pushed) << pushed.error().Format();
  EXPECT_FALSE(pushed->done);
  EXPECT_EQ(pushed->remote_tip, first);
  EXPECT_EQ(GitAt(bare(), {"rev-parse", "warpwright/a"}), first + "\n");
}

class SshTest : public RemoteTest {
 protected:
  std::string Noted(const char* what) { return *base::ReadFile(folder.path() / what); }
};
INSTANTIATE_TEST_SUITE_P(OnlySsh, SshTest, testing::Values(Over::kSsh), NameOf);

TEST_P(SshTest, KeysAgentsAndKnownHostsAreTheProgramsOwn) {
  repo::RemoteAddress address = Address();
  ::setenv("SSH_AUTH_SOCK", "/run/agent", 1);
  ::setenv("GITHUB_TOKEN", "ghs_secret", 1);
  ASSERT_TRUE(repo::ListRefs(address));
  EXPECT_NE(Noted("environment").find("SSH_AUTH_SOCK=/run/agent"), std::string::npos);
  EXPECT_EQ(Noted("environment").find("ghs_secret"), std::string::npos);
  for (const char* part : {"BatchMode=yes", "StrictHostKeyChecking=yes", "ServerAliveInterval"})
    EXPECT_NE(Noted("arguments").find(part), std::string::npos) << part;
  address.credential.ssh_key = "/keys/id";
  address.credential.ssh_known_hosts = "/keys/known hosts";
  ASSERT_TRUE(repo::ListRefs(address));
  EXPECT_EQ(Noted("environment").find("SSH_AUTH_SOCK"), std::string::npos) << "a key that is named is the only one";
  EXPECT_NE(Noted("arguments").find("-i\n/keys/id\n"), std::string::npos);
  EXPECT_NE(Noted("arguments").find("UserKnownHostsFile=\"/keys/known hosts\"\n"), std::string::npos);
  ::unsetenv("SSH_AUTH_SOCK");
  ::unsetenv("GITHUB_TOKEN");
}

TEST_P(SshTest, AnUnknownHostIsRefusedWithItsRemedy) {
  repo::RemoteAddress address = Address();
  address.url = "git@unknown.example:acme/kernels.git";
  const auto refs = repo::ListRefs(address);
  ASSERT_FALSE(refs);
  EXPECT_EQ(refs.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(refs.error().message.find("No ED25519 host key is known"), std::string::npos) << refs.error().Format();
  EXPECT_NE(refs.error().remedy.find("ssh-keyscan unknown.example"), std::string::npos);
}

// A host that hangs up midway: the write to the closed pipe is an error, and the process continues.
TEST_P(SshTest, AConnectionThatClosesIsAnErrorAndNoSignal) {
  repo::RemoteAddress address = Address();
  address.url = "ssh://git@closing.example" + bare().string();
  auto mirror = repo::Mirror::Open(folder.path() / "mirror.git", address);
  ASSERT_TRUE(mirror) << mirror.error().Format();
  const auto before =
      ::signal(SIGPIPE, SIG_DFL);  // the test's HTTP server ignores it for the whole process; our commands do not
  const auto moves = mirror->Fetch();
  ::signal(SIGPIPE, before);
  EXPECT_FALSE(moves);
}

TEST(RemoteUrl, AddressesAreTakenApart) {
  struct Row {
    const char *url, *user, *host, *port, *path;
  };
  for (const Row& row : {Row{"git@github.com:acme/kernels.git", "git", "github.com", "", "acme/kernels.git"},
                         {"ssh://git@github.com/acme/kernels.git", "git", "github.com", "", "/acme/kernels.git"},
                         {"ssh://host:2222/srv/a%20b.git", "", "host", "2222", "/srv/a b.git"},
                         {"ssh://git@[::1]:22/x.git", "git", "::1", "22", "/x.git"},
                         {"ssh://host/~ann/x.git", "", "host", "", "~ann/x.git"}}) {
    const auto place = repo::ParseRemoteUrl(row.url);
    ASSERT_TRUE(place) << row.url;
    EXPECT_EQ(place->kind, config::RemoteKind::kSsh);
    EXPECT_EQ(place->ssh.user, row.user) << row.url;
    EXPECT_EQ(place->ssh.host, row.host) << row.url;
    EXPECT_EQ(place->ssh.port, row.port) << row.url;
    EXPECT_EQ(place->ssh.path, row.path) << row.url;
  }
  EXPECT_EQ(repo::LocalPath("file:///srv/a%20b"), "/srv/a b");
  EXPECT_EQ(repo::LocalPath("https://github.com/acme/kernels"), "");
  for (const char* bad : {"", "ssh://-oProxyCommand=x/y", "ext::sh -c id", "https://user:secret@github.com/x",
                          "-x@host:y", "git@-host:x"})
    EXPECT_FALSE(repo::ParseRemoteUrl(bad)) << bad;
}

TEST(SshArguments, QuoteThePathAndEndTheOptions) {
  const auto argv = repo::SshArguments({{"git", "host", "22", "it's $(id).git"}, {}, {}, {}}, "git-upload-pack");
  EXPECT_EQ(argv.back(), "git-upload-pack 'it'\\''s $(id).git'");
  EXPECT_EQ(argv[argv.size() - 3], "--");
}

}  // namespace
}  // namespace warpwright
