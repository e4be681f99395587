// Against a real sshd on this machine, if there is one: host keys, user keys.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <fstream>
#include <thread>

#include "repo/remote.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

// A free port, and whether something listens on a port.
int FreePort() {
  const base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  (void)::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ::ntohs(address.sin_port);
}
bool Listens(int port) {
  const base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<uint16_t>(port));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

class SshdTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/sbin/sshd")) GTEST_SKIP() << "no /usr/sbin/sshd";
    if (::getuid() == 0) fs::create_directories("/run/sshd");  // sshd requires it
    for (const char* key : {"host", "user", "stranger"}) Keygen(key);
    Write("authorized", *base::ReadFile(folder.path() / "user.pub"));
    Write("config", "HostKey " + Path("host") + "\nAuthorizedKeysFile " + Path("authorized") +
                        "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nPermitRootLogin yes\n");
    port = FreePort();
    base::Command command;
    command.argv = {"/usr/sbin/sshd",         "-D", "-e", "-f", Path("config"), "-p", std::to_string(port), "-o",
                    "ListenAddress=127.0.0.1"};
    command.env = base::MinimalEnvironment();
    auto child = base::Child::Start(command, folder.path() / "sshd.log");
    ASSERT_TRUE(child);
    sshd.emplace(std::move(*child));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!Listens(port)) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << *base::ReadFile(folder.path() / "sshd.log");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string host = *base::ReadFile(folder.path() / "host.pub");
    Write("known", "[127.0.0.1]:" + std::to_string(port) + " " + host.substr(0, host.rfind(' ')) + "\n");
    Write("nobody_known", "");
    repository.Write("a.cu", "1\n");
    first = repository.Commit("first");
  }
  std::string Path(const char* name) const { return (folder.path() / name).string(); }
  void Write(const char* name, const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomically(folder.path() / name, text));
  }
  void Keygen(const char* name) {
    base::Command command;
    command.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", Path(name)};
    command.env = base::MinimalEnvironment();
    ASSERT_EQ(::warpwright::base::Run(command)->exit_code, 0);
  }
  repo::RemoteAddress Address(const char* key, const char* known) const {
    repo::RemoteAddress address;
    address.url = "ssh://127.0.0.1:" + std::to_string(port) + repository.path().string();
    address.credential.ssh_key = folder.path() / key;
    address.credential.ssh_known_hosts = folder.path() / known;
    return address;
  }
  TempRepository repository;
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-sshd"));
  std::optional<base::Child> sshd;
  std::string first;
  int port = 0;
};

TEST_F(SshdTest, FetchesAndPushesWithItsKeyFromAKnownHostOnly) {
  auto mirror = repo::Mirror::Open(folder.path() / "mirror.git", Address("user", "known"));
  ASSERT_TRUE(mirror) << mirror.error().Format();
  const auto moves = mirror->Fetch();
  ASSERT_TRUE(moves) << moves.error().Format();
  EXPECT_EQ(*moves, (std::vector<repo::RefMove>{{"refs/heads/main", "", first, false}}));
  const auto made =
      mirror->repository().Publish({"warpwright/a", first, "a.cu", "2\n", "Faster\n\nOptimized-by: warpwright\n", {}});
  ASSERT_TRUE(made);
  const auto pushed = mirror->Push("warpwright/a", made->commit, "");
  ASSERT_TRUE(pushed) << pushed.error().Format();
  EXPECT_TRUE(pushed->done) << pushed->rejected;
  EXPECT_EQ(repository.Git({"show", "warpwright/a:a.cu"}), "2\n");

  const auto unknown = repo::ListRefs(Address("user", "nobody_known"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(unknown.error().remedy.find("ssh-keyscan"), std::string::npos) << unknown.error().Format();
  EXPECT_EQ(*base::ReadFile(folder.path() / "nobody_known"), "") << "nobody is added by himself";
  const auto stranger = repo::ListRefs(Address("stranger", "known"));
  ASSERT_FALSE(stranger);
  EXPECT_NE(stranger.error().message.find("Permission denied"), std::string::npos) << stranger.error().Format();
  EXPECT_NE(stranger.error().remedy.find("stranger"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
