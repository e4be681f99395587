// https with a certificate that SSL_CERT_FILE trusts, and with one that it does not.
#include <gtest/gtest.h>

#include <cstdlib>

#include "repo/remote.h"
#include "tests/support/temp_repository.h"
#include "tests/unit/repo/git_http_server.h"

namespace warpwright {
namespace {

base::TemporaryDirectory& Certificates() {
  static base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-tls"));
  return folder;
}
std::filesystem::path In(const char* name) { return Certificates().path() / name; }

// Runs before the first use of libgit2, which reads the variable once.
class TlsEnvironment : public testing::Environment {
  void SetUp() override {
    for (const std::string name : {"trusted", "stranger"}) {
      base::Command command;
      command.argv = {"openssl",  "req",
                      "-x509",    "-newkey",
                      "rsa:2048", "-nodes",
                      "-days",    "2",
                      "-subj",    "/CN=127.0.0.1",
                      "-addext",  "subjectAltName=IP:127.0.0.1,DNS:127.0.0.1",
                      "-keyout",  In((name + ".key").c_str()).string(),
                      "-out",     In((name + ".pem").c_str()).string()};
      command.env = base::MinimalEnvironment();
      const auto done = base::Run(command);
      ASSERT_TRUE(done && done->exit_code == 0) << (done ? done->err : done.error().Format());
    }
    ::setenv("SSL_CERT_FILE", In("trusted.pem").c_str(), 1);
  }
};
[[maybe_unused]] const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new TlsEnvironment);

TEST(Tls, OnlyATrustedCertificateGetsTheToken) {
  TempRepository repository;
  repository.Write("a.cu", "1\n");
  repository.Commit("first");
  for (const bool trusted : {true, false}) {
    const std::string name = trusted ? "trusted" : "stranger";
    GitHttpServer server(repository.path(), "ghs_token", In((name + ".pem").c_str()), In((name + ".key").c_str()));
    repo::RemoteAddress address;
    address.url = server.Url(".git");
    int asked = 0;
    address.credential.token = [&]() -> Result<std::string> {
      ++asked;
      return "ghs_token";
    };
    auto mirror = repo::Mirror::Open(Certificates().path() / (name + ".git"), address);
    ASSERT_TRUE(mirror);
    const auto moves = mirror->Fetch();
    EXPECT_EQ(moves.has_value(), trusted) << (moves ? "" : moves.error().Format());
    EXPECT_EQ(asked, trusted ? 1 : 0);
    if (!trusted && !moves) {
      EXPECT_NE(moves.error().remedy.find("SSL_CERT_FILE"), std::string::npos) << moves.error().Format();
    }
  }
}

}  // namespace
}  // namespace warpwright
