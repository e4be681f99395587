// Commands to the runner of GitHub Actions cannot be forged by other output.
#include "cli/workflow_commands.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "cli/publication_options.h"

namespace warpwright {
namespace {

std::string Read(std::FILE* file) {
  std::fflush(file);
  EXPECT_EQ(std::fseek(file, 0, SEEK_SET), 0);
  std::string text(65536, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(WorkflowCommands, StopBetweenRandomWords) {
  std::set<std::string> words;
  for (int i = 0; i < 3; ++i) {
    std::FILE* file = std::tmpfile();
    {
      cli::WorkflowCommands commands(true, file);
      commands.Stop();
      commands.Stop();  // once is enough
      std::fputs("::set-env name=PATH::/evil\n", file);
      commands.Mask("s3cret-token");
      std::fputs("::warning::forged\n", file);
    }
    const std::string text = Read(file);
    std::fclose(file);
    ASSERT_EQ(text.rfind("::stop-commands::", 0), 0u) << text;
    const std::string first = text.substr(17, text.find('\n') - 17);
    EXPECT_GE(first.size(), 34u);
    EXPECT_TRUE(words.insert(first).second);
    const size_t resume = text.find("::" + first + "::\n"), mask = text.find("::add-mask::s3cret-token\n"),
                 stop = text.find("::stop-commands::", 20);
    EXPECT_LT(text.find("::set-env"), resume) << text;
    EXPECT_LT(resume, mask) << text;
    EXPECT_LT(mask, stop) << text;
    const std::string second = text.substr(stop + 17, text.find('\n', stop) - stop - 17);
    EXPECT_NE(second, first) << "a word that was seen is worth nothing";
    EXPECT_LT(text.find("::warning::forged"), text.find("::" + second + "::\n")) << "resumed at the end: " << text;
  }
}

TEST(WorkflowCommands, SayNothingOutsideOfActions) {
  std::FILE* file = std::tmpfile();
  {
    cli::WorkflowCommands commands(false, file);
    commands.Stop();
    commands.Mask("s3cret-token");
    commands.Print("::notice::x");
  }
  EXPECT_EQ(Read(file), "");
  std::fclose(file);
}

TEST(WorkflowCommands, MaskEveryLineOfAKey) {
  std::FILE* file = std::tmpfile();
  cli::WorkflowCommands(true, file).Mask("-----BEGIN KEY-----\nMIIEabcdef\r\nab\n-----END KEY-----\n");
  const std::string text = Read(file);
  std::fclose(file);
  EXPECT_NE(text.find("::add-mask::MIIEabcdef\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("::add-mask::ab\n"), std::string::npos) << "would mask half of the log";
}

// The runner decodes what it is told to hide: raw, it would hide "a,b" where the log says "a%2Cb%25".
TEST(WorkflowCommands, MaskWhatTheSecretSays) {
  std::FILE* file = std::tmpfile();
  cli::WorkflowCommands(true, file).Mask("s3cret%2Ctoken%25%0A");
  EXPECT_EQ(Read(file), "::add-mask::s3cret%252Ctoken%2525%250A\n");
  std::fclose(file);
}

TEST(TakeFromEnvironment, LeavesNothingBehind) {
  ::setenv("WW_TEST_TOKEN", "s3cret-from-environment", 1);
  const char* place = std::getenv("WW_TEST_TOKEN");
  EXPECT_EQ(cli::TakeFromEnvironment("WW_TEST_TOKEN").value_or(""), "s3cret-from-environment");
  EXPECT_EQ(std::getenv("WW_TEST_TOKEN"), nullptr);
  EXPECT_EQ(place[0], 0) << "also where /proc/<pid>/environ would show it";
  const auto again = cli::TakeFromEnvironment("WW_TEST_TOKEN");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kEnvironment);
}

TEST(Publication, OptionsThatCannotBeMeant) {
  const auto check = [](auto change, config::PublishTo publish = config::PublishTo::kNone) {
    cli::PublicationOptions options;
    change(options);
    const Status status = cli::CheckPublication(options, publish);
    return status ? ""
           : status.error().code == ErrorCode::kUsage || status.error().code == ErrorCode::kConfig
               ? status.error().message
               : "not a usage error";
  };
  EXPECT_EQ(check([](auto&) {}), "");
  EXPECT_EQ(check([](auto& o) { o.repository = "acme/kernels"; }, config::PublishTo::kPullRequest), "");
  EXPECT_NE(check([](auto&) {}, config::PublishTo::kPullRequest).find("needs --github-repository"), std::string::npos);
  EXPECT_NE(check([](auto& o) { o.repository = "acme/kernels/../x"; }), "");
  for (const char* shard : {"0/4", "5/4", "1", "1/", "/4", "1/0", "a/b", "1/4x", "-1/4"})
    EXPECT_NE(check([&](auto& o) { o.shard = shard; }), "") << shard;
  EXPECT_EQ(check([](auto& o) { o.shard = "4/4"; }), "");
  EXPECT_NE(check([](auto& o) { o.api = "http://example.com"; }).find("--github-api"), std::string::npos);
  EXPECT_NE(check([](auto& o) { o.remote = "ext::sh"; }).find("--remote"), std::string::npos);
  EXPECT_NE(check([](auto& o) { o.base_branch = "-x"; }).find("--base-branch"), std::string::npos);
  EXPECT_NE(check([](auto& o) { o.app_id = "Iv1"; }).find("must be given together"), std::string::npos);
}

TEST(Publication, Lists) {
  EXPECT_EQ(cli::SplitList(" a, b c ,,\n,team:x"), (std::vector<std::string>{"a", "b c", "team:x"}));
  EXPECT_EQ(cli::SplitList(""), std::vector<std::string>{});
}

}  // namespace
}  // namespace warpwright
