#include "config/operator_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/file.h"
#include "config/remote_text.h"

namespace warpwright {
namespace {

constexpr std::string_view kAll = R"yaml(version: 1
state: /srv/warpwright/
devices: [cuda:0, cuda:1]
listen: {webhooks: "0.0.0.0:8420", status: "127.0.0.1:9000"}
poll: {every: 30, at_most: 600}
github:
  api: https://ghe.example.com/api/v3/
  app: {id: Iv23abc, key: {file: app.pem}}
  webhook_secret: {env: HOOK_SECRET}
nights: {at: "23 2 * * *", zone: Europe/Berlin}
limits: {max_minutes: 20, max_rounds: 8, max_open: 2, max_per_day: 4, queue: 50, model_dollars_per_day: 1.5}
author: {name: kernel bot, email: bot@example.com}
log: {format: text, level: debug}
repositories:
  - url: https://ghe.example.com/acme/kernels.git
    branches: [main, release/1.x]
  - url: git@ghe.example.com:acme/private.git
    ssh: {key: {file: /etc/warpwright/id}, known_hosts: /etc/warpwright/known_hosts}
    publish: branch
  - url: /srv/git/local.git
)yaml";

TEST(OperatorFile, ReadsEverything) {
  auto config = config::ParseOperatorConfig(kAll, "config.yml");
  ASSERT_TRUE(config) << config.error().Format();
  EXPECT_EQ(config->state, "/srv/warpwright/");
  EXPECT_EQ(config->devices, (std::vector<std::string>{"cuda:0", "cuda:1"}));
  EXPECT_EQ(config->listen_webhooks, "0.0.0.0:8420");
  EXPECT_EQ(config->listen_status, "127.0.0.1:9000");
  EXPECT_EQ(config->poll_every.count(), 30);
  EXPECT_EQ(config->poll_at_most.count(), 600);
  ASSERT_TRUE(config->github);
  EXPECT_EQ(config->github->api, "https://ghe.example.com/api/v3");
  EXPECT_EQ(config->github->app_id, "Iv23abc");
  EXPECT_EQ(config->github->app_key.file, "app.pem");
  EXPECT_EQ(config->github->webhook_secret.environment, "HOOK_SECRET");
  EXPECT_FALSE(config->github->token.given());
  EXPECT_EQ(config->nights_at, "23 2 * * *");
  EXPECT_EQ(config->nights_zone, "Europe/Berlin");
  EXPECT_EQ(config->limits.max_minutes, 20);
  EXPECT_EQ(config->limits.queue, 50);
  EXPECT_EQ(config->limits.model_dollars_per_day, 1.5);
  EXPECT_EQ(config->author_name, "kernel bot");
  EXPECT_FALSE(config->json_logs);
  EXPECT_EQ(config->log_level, "debug");
  ASSERT_EQ(config->repositories.size(), 3u);
  EXPECT_EQ(config->repositories[0].publish, config::PublishTo::kPullRequest) << "the default where there is github";
  EXPECT_EQ(config->repositories[0].branches, (std::vector<std::string>{"main", "release/1.x"}));
  EXPECT_EQ(config->repositories[0].line, 15);
  EXPECT_EQ(config->repositories[1].publish, config::PublishTo::kBranch);
  EXPECT_EQ(config->repositories[1].ssh_key.file, "/etc/warpwright/id");
  EXPECT_EQ(config->repositories[1].known_hosts, "/etc/warpwright/known_hosts");
  EXPECT_EQ(config->repositories[2].publish, config::PublishTo::kBranch) << "a path has no pull requests";
  EXPECT_EQ(config->digest.size(), 64u);
}

TEST(OperatorFile, LittleIsNeeded) {
  auto config = config::ParseOperatorConfig("version: 1\ndevices: [cuda]\nrepositories: [{url: /srv/k}]\n", "c.yml");
  ASSERT_TRUE(config) << config.error().Format();
  EXPECT_EQ(config->devices, std::vector<std::string>{"cuda:0"});
  EXPECT_EQ(config->state, "/var/lib/warpwright");
  EXPECT_EQ(config->listen_webhooks, "");
  EXPECT_EQ(config->listen_status, "127.0.0.1:8421");
  EXPECT_FALSE(config->github);
  EXPECT_EQ(config->nights_at, "") << "no nights unless asked for";
}

TEST(OperatorFile, OffSwitchesThePageOff) {
  auto config = config::ParseOperatorConfig(
      "version: 1\ndevices: [cuda]\nlisten: {status: off}\nrepositories: [{url: /srv/k}]\n", "c.yml");
  ASSERT_TRUE(config) << config.error().Format();
  EXPECT_EQ(config->listen_status, "");
}

struct Mistake {
  const char *from, *to;  // in kAll
  const char* place;      // file:line:column
  const char* words;      // of the message or the remedy
};

TEST(OperatorFile, NamesThePlaceOfEveryMistake) {
  const Mistake kMistakes[] = {
      {"version: 1", "version: 2", "c.yml:1:10", "it must be 1"},
      {"devices: [cuda:0, cuda:1]", "device: [cuda:0]", "c.yml:3:1", "did you mean 'devices'"},
      {"cuda:1]", "cuda:x]", "c.yml:3:19", "is not a device"},
      {"cuda:1]", "cuda:-1]", "c.yml:3:19", "is not a device"},
      {"cuda:1]", "cuda:0]", "c.yml:3:19", "listed twice"},
      {"cuda:1]", "sim:h20]", "c.yml:3:19", "did you mean 'h200'"},
      {"[cuda:0, cuda:1]", "[]", "c.yml:3:10", "1 to 64 devices"},
      {"state: /srv", "state: srv", "c.yml:2:8", "absolute"},
      {"\"0.0.0.0:8420\"", "8420", "c.yml:4:20", "host:port"},
      {"\"127.0.0.1:9000\"", "\"0.0.0.0:8420\"", "c.yml:4:20", "same address"},
      {"every: 30", "every: 0", "c.yml:5:15", "from 1 to 86400"},
      {"every: 30", "every: 30s", "c.yml:5:15", "expected an integer"},
      {"at_most: 600", "at_most: 6", "c.yml:5:28", "shorter than 'every'"},
      {"api: https:", "api: http:", "c.yml:7:8", "on this machine only"},
      {"app: {id", "app: {ident", "c.yml:8:9", "unknown key 'ident'"},
      {"{file: app.pem}", "{file: ../app.pem}", "c.yml:8:34", "absolute path"},
      {"{file: app.pem}", "{file: /a, env: B}", "c.yml:8:27", "one of 'file' and 'env'"},
      {"{env: HOOK_SECRET}", "{environment: A}", "c.yml:9:20", "unknown key"},
      {"\n  webhook_secret: {env: HOOK_SECRET}", "", "c.yml:4:20", "webhooks need github.webhook_secret"},
      {"\"23 2 * * *\"", "\"23 2; rm\"", "c.yml:10:14", "not a cron schedule"},
      {"Europe/Berlin", "../../etc", "c.yml:10:34", "not a time zone"},
      {"max_rounds: 8", "max_rounds: 0", "c.yml:11:39", "from 1 to 10000"},
      {"queue: 50", "queu: 50", "c.yml:11:71", "did you mean 'queue'"},
      {"bot@example.com", "bot<x>", "c.yml:12:35", "without < and >"},
      {"bot@example.com", "nobody", "c.yml:12:35", "write it as name@example.com"},
      {"level: debug", "level: debgu", "c.yml:13:28", "did you mean 'debug'"},
      {"[main, release/1.x]", "[main, main]", "c.yml:16:22", "listed twice"},
      {"[main, release/1.x]", "[main, warpwright/a]", "c.yml:16:22", "own branches"},
      {"[main, release/1.x]", "[main, a..b]", "c.yml:16:22", "not a branch name"},
      {"[main, release/1.x]", "[]", "c.yml:16:15", "leave it out"},
      {"publish: branch", "publish: pr", "c.yml:19:14", "unknown publish 'pr'"},
      {"- url: /srv/git/local.git", "- url: /srv/git/local.git\n    publish: pull_request", "c.yml:21:14",
       "no pull requests"},
      {"- url: /srv/git/local.git", "- url: git@ghe.example.com:acme/private.git", "c.yml:20:10", "listed twice"},
      {"- url: /srv/git/local.git", "- url: srv/git", "c.yml:20:10", "not a repository address"},
      {"- url: /srv/git/local.git", "- url: /srv/git\n    ssh: {}", "c.yml:21:10", "not one of ssh"},
      {"key: {file: /etc/warpwright/id}", "key: {env: KEY}", "c.yml:18:16", "must be in a file"},
  };
  for (const Mistake& m : kMistakes) {
    std::string text(kAll);
    ASSERT_NE(text.find(m.from), std::string::npos) << m.from;
    text.replace(text.find(m.from), std::string_view(m.from).size(), m.to);
    auto config = config::ParseOperatorConfig(text, "c.yml");
    ASSERT_FALSE(config) << m.to;
    EXPECT_EQ(config.error().code, ErrorCode::kConfig) << m.to;
    const std::string message = config.error().Format();
    EXPECT_NE(message.find(std::string(m.place) + ": "), std::string::npos) << m.to << "\n" << message;
    EXPECT_NE(message.find(m.words), std::string::npos) << m.to << "\n" << message;
    EXPECT_NE(message.find("\n  remedy: "), std::string::npos) << message;
  }
}

TEST(OperatorFile, PullRequestsNeedGithub) {
  auto config = config::ParseOperatorConfig(
      "version: 1\ndevices: [cuda]\nrepositories: [{url: 'https://h/a/b', publish: pull_request}]\n", "c.yml");
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().Format().find("pull requests need 'github'"), std::string::npos);
}

// A token that was pasted in the wrong place must not be printed, since output ends up in logs.
TEST(OperatorFile, NeverRepeatsWhatMayBeASecret) {
  const std::string secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  for (const std::string& github :
       {"{token: " + secret + "}", "{token: {file: " + secret + "/x}}", "{token: {env: " + secret + "-}}",
        "{token: {" + secret + ": 1}}", "{token: [" + secret + "]}", "{token: {file: [" + secret + "]}}"}) {
    auto config = config::ParseOperatorConfig(
        "version: 1\ndevices: [cuda]\ngithub: " + github + "\nrepositories: [{url: /srv/k}]\n", "c.yml");
    ASSERT_FALSE(config) << github;
    EXPECT_EQ(config.error().Format().find(secret), std::string::npos) << config.error().Format();
    EXPECT_NE(config.error().Format().find("c.yml:3:"), std::string::npos) << config.error().Format();
  }
  auto config = config::ParseOperatorConfig(
      "version: 1\ndevices: [cuda]\nrepositories: [{url: 'https://x:" + secret + "@github.com/a/b'}]\n", "c.yml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().Format().find(secret), std::string::npos) << config.error().Format();
}

TEST(RemoteText, Addresses) {
  for (const char* url : {"/srv/a", "file:///srv/a"})
    EXPECT_EQ(config::CheckRemoteUrl(url).value_or(config::RemoteKind::kSsh), config::RemoteKind::kLocal) << url;
  for (const char* url : {"https://github.com/a/b.git", "https://h:8443/a/b", "http://127.0.0.1:80/a",
                          "http://localhost/a", "http://[::1]:5/a"})
    EXPECT_EQ(config::CheckRemoteUrl(url).value_or(config::RemoteKind::kSsh), config::RemoteKind::kHttp) << url;
  for (const char* url : {"ssh://git@h/a/b", "ssh://h:22/a", "git@github.com:a/b.git", "me@h:path"})
    EXPECT_EQ(config::CheckRemoteUrl(url).value_or(config::RemoteKind::kLocal), config::RemoteKind::kSsh) << url;
  for (const char* url : {"",
                          "a/b",
                          "./a",
                          "--upload-pack=x",
                          "-oProxyCommand=x@h:a",
                          "ssh://-oProxyCommand=x/a",
                          "ssh://-x@h/a",
                          "git@-oProxyCommand=x:a",
                          "ext::sh -c x",
                          "http://example.com/a",
                          "http://127.0.0.1.example.com/a",
                          "http://localhost@example.com/a",
                          "https://u:p@h/a",
                          "https:///a",
                          "https://h/a?x",
                          "https://h/a b",
                          "ftp://h/a",
                          "file://h/a",
                          "https://h:port/a",
                          "git@h:",
                          "git://h/a"})
    EXPECT_FALSE(config::CheckRemoteUrl(url)) << url;
}

TEST(RemoteText, Branches) {
  for (const char* name : {"main", "release/1.x", "a-b_c", "feature/\xc3\xa4"})
    EXPECT_TRUE(config::CheckBranchName(name)) << name;
  for (const char* name :
       {"",   "-x",   "a..b", "a b",  "a~",     "a^",       "a:b", "a?", "a*",   "a[",    "a\\b",         "/a",
        "a/", "a//b", ".a",   "a/.b", "a.lock", "a.lock/b", "a.",  "@",  "HEAD", "a@{1}", "refs/heads/a", "a\x01"})
    EXPECT_FALSE(config::CheckBranchName(name)) << name;
}

class Secret : public testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryDirectory::Create("ww-secret");
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }
  std::filesystem::path Write(std::string_view content, mode_t mode) {
    const auto path = folder_->path() / "secret";
    EXPECT_TRUE(base::WriteFileAtomically(path, content));
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::optional<base::TemporaryDirectory> folder_;
};

TEST_F(Secret, FromAFile) {
  EXPECT_EQ(config::ReadSecret({Write("s3cret\r\n\n", 0600), ""}).value_or("?"), "s3cret");
  EXPECT_EQ(config::ReadSecret({Write("s3cret", 0440), ""}).value_or("?"), "s3cret");
  const auto error = [](const std::filesystem::path& path) {
    auto secret = config::ReadSecret({path, ""});
    EXPECT_FALSE(secret);
    EXPECT_EQ(secret ? ErrorCode::kIo : secret.error().code, ErrorCode::kEnvironment);
    return secret ? "" : secret.error().Format();
  };
  EXPECT_NE(error(Write("s3cret", 0644)).find("chmod 600"), std::string::npos);
  EXPECT_EQ(error(Write("s3cret", 0604)).find("s3cret"), std::string::npos);
  EXPECT_NE(error(Write("\n", 0600)).find("is empty"), std::string::npos);
  EXPECT_NE(error(Write(std::string("a\0b", 3), 0600)).find("not text"), std::string::npos);
  EXPECT_NE(error(Write(std::string(65537, 'x'), 0600)).find("64 KiB"), std::string::npos);
  EXPECT_NE(error(folder_->path()).find("regular file"), std::string::npos);
  EXPECT_NE(error("/nonexistent/secret").find("/nonexistent/secret: "), std::string::npos);
  EXPECT_FALSE(config::ReadSecret({}));
}

TEST_F(Secret, FromTheEnvironmentAndFromSystemd) {
  ::setenv("WW_TEST_SECRET", "from the environment", 1);
  EXPECT_EQ(config::ReadSecret({"", "WW_TEST_SECRET"}).value_or("?"), "from the environment");
  ::unsetenv("WW_TEST_SECRET");
  auto missing = config::ReadSecret({"", "WW_TEST_SECRET"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().Format().find("$WW_TEST_SECRET is not set"), std::string::npos);

  Write("credential", 0400);
  ::unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_NE(config::ReadSecret({"secret", ""}).error().Format().find("LoadCredential=secret"), std::string::npos);
  ::setenv("CREDENTIALS_DIRECTORY", folder_->path().c_str(), 1);
  EXPECT_EQ(config::ReadSecret({"secret", ""}).value_or("?"), "credential");
  ::unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_F(Secret, TheOperatorFileItselfMustNotBeWritableByEverybody) {
  auto path = Write("version: 1\ndevices: [cuda]\nrepositories: [{url: /srv/k}]\n", 0644);
  auto loaded = config::LoadOperatorConfig(path);
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->path, path.string());
  Write("version: 1\n", 0646);
  loaded = config::LoadOperatorConfig(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfig);
  EXPECT_NE(loaded.error().Format().find("chmod o-w"), std::string::npos);
  EXPECT_EQ(config::LoadOperatorConfig("/nonexistent.yml").error().code, ErrorCode::kConfig);
}

TEST(Tighten, TakesTheStricterValueByValue) {
  const config::Ceilings ceilings{20, 8, 2, 4, 100, 0};
  const core::Policy policy = config::Tighten(core::Policy{1.2, 10, 5, 3}, ceilings);
  EXPECT_EQ(policy.min_speedup, 1.2);
  EXPECT_EQ(policy.max_rounds, 8);
  EXPECT_EQ(policy.max_minutes, 5);
  core::PullRequestPolicy wanted;
  wanted.max_open = 1;
  wanted.max_per_day = 50;
  wanted.draft = true;
  wanted = config::Tighten(wanted, ceilings);
  EXPECT_EQ(wanted.max_open, 1);
  EXPECT_EQ(wanted.max_per_day, 4);
  EXPECT_TRUE(wanted.draft);
}

}  // namespace
}  // namespace warpwright
