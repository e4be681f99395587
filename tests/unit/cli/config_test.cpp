// config check and config print: what they report for valid and invalid files, and that no secret is shown.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr const char* kManifest = R"yaml(version: 1
kernels:
  - name: scale
    file: scale.cu
    entry: scale
    args:
      x: {buffer: f32, shape: [n], role: inout}
      n: {scalar: i32}
    cases: [{n: 100}]
policy: {max_rounds: 12, min_speedup: 1.2}
)yaml";
constexpr const char* kOperator = R"yaml(version: 1
devices: [sim:h200]
github: {token: {file: SECRET}}
limits: {max_rounds: 4, max_open: 2}
repositories: [{url: "https://github.com/acme/kernels.git"}]
)yaml";

class ConfigCommand : public testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryDirectory::Create("ww-config");
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    Write("repo/.warpwright.yml", kManifest);
    Write("repo/scale.cu", "__global__ void scale(float* x, int n) {}\n");
    Write("token", "ghp_topsecret\n");
    ::chmod((folder_->path() / "token").c_str(), 0600);
    std::string text = kOperator;
    text.replace(text.find("SECRET"), 6, (folder_->path() / "token").string());
    Write("operator.yml", text);
    options_.repo = (folder_->path() / "repo").string();
    options_.operator_file = (folder_->path() / "operator.yml").string();
    options_.json = true;
  }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / name, text));
  }
  std::string Output() {
    testing::internal::CaptureStdout();
    const auto done = cli::RunConfig(options_);
    std::string text = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(done) << done.error().Format();
    EXPECT_EQ(done.value_or(-1), cli::kExitDone);
    return text;
  }
  // key -> row
  std::map<std::string, json> Rows() {
    options_.action = cli::ConfigAction::kPrint;
    std::map<std::string, json> rows;
    const json printed = json::parse(Output());
    for (const json& row : printed["values"]) rows[row["key"]] = row;
    return rows;
  }
  std::optional<base::TemporaryDirectory> folder_;
  cli::ConfigOptions options_;
};

TEST_F(ConfigCommand, PrintsWhatHoldsAndWhereItComesFrom) {
  options_.effective = true;
  auto rows = Rows();
  EXPECT_EQ(rows["policy.max_rounds"]["value"], 4) << "the operator's limit";
  const std::string source = rows["policy.max_rounds"]["source"];
  EXPECT_NE(source.find("limits.max_rounds (" + options_.operator_file + ":4)"), std::string::npos) << source;
  EXPECT_NE(source.find(".warpwright.yml:10 requests 12"), std::string::npos) << source;
  EXPECT_EQ(rows["policy.min_speedup"]["value"], 1.2);
  EXPECT_EQ(rows["policy.min_speedup"]["source"], ".warpwright.yml:10");
  EXPECT_EQ(rows["policy.max_minutes"]["source"], "default");
  EXPECT_EQ(rows["pull_requests.max_open"]["value"], 2) << "a default is under the limit, too";
  EXPECT_EQ(rows["limits.queue"]["source"], "default");
  EXPECT_EQ(rows["repositories[0].publish"]["value"], "pull_request");
}

TEST_F(ConfigCommand, PrintsOnlyWhatStandsInTheFilesUnlessAsked) {
  auto rows = Rows();
  EXPECT_EQ(rows["policy.max_rounds"]["value"], 12);
  EXPECT_FALSE(rows.count("policy.max_minutes"));
  EXPECT_FALSE(rows.count("limits.queue"));
}

TEST_F(ConfigCommand, NeverShowsASecret) {
  options_.effective = options_.secrets = true;
  for (const auto action : {cli::ConfigAction::kCheck, cli::ConfigAction::kPrint})
    for (const bool as_json : {true, false}) {
      options_.action = action;
      options_.json = as_json;
      EXPECT_EQ(Output().find("ghp_topsecret"), std::string::npos) << static_cast<int>(action);
    }
}

TEST_F(ConfigCommand, ChecksEachFileWithPlaces) {
  EXPECT_EQ(json::parse(Output())["files"].size(), 2u);
  options_.repo.clear();
  EXPECT_EQ(json::parse(Output())["files"].size(), 1u) << "the repository is looked at where it is named";
  options_.json = false;
  EXPECT_EQ(Output(), options_.operator_file +
                          ": valid: 1 repository, 1 device; not read: github.token (--secrets "
                          "reads what the daemon's user must be able to read)\n");
  options_.secrets = true;
  EXPECT_EQ(Output(), options_.operator_file + ": valid: 1 repository, 1 device, every secret can be read\n");
  options_.secrets = false;

  Write("operator.yml", "version: 1\ndevices: [sim:h200]\nrepositorys: []\n");
  auto failed = cli::RunConfig(options_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(cli::ExitCodeOf(failed.error()), cli::kExitConfig);
  EXPECT_NE(failed.error().Format().find(options_.operator_file +
                                         ":3:1: unknown key 'repositorys'; did you mean 'repositories'?"),
            std::string::npos)
      << failed.error().Format();

  options_.operator_file.clear();
  options_.repo = (folder_->path() / "repo").string();
  Write("repo/.warpwright.yml", "version: 1\nkernels: []\npolicy: {max_rouns: 1}\n");
  failed = cli::RunConfig(options_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(cli::ExitCodeOf(failed.error()), cli::kExitConfig);
  EXPECT_NE(failed.error().Format().find(".warpwright.yml:3:10: unknown key 'max_rouns'"), std::string::npos)
      << failed.error().Format();
}

TEST_F(ConfigCommand, ReadsTheSchedule) {
  options_.repo.clear();
  for (const char* nights : {"{at: \"61 2 * * *\"}", "{at: \"1 2 * * *\", zone: Europe/Berln}"}) {
    Write("operator.yml",
          std::string("version: 1\ndevices: [sim:h200]\nnights: ") + nights + "\nrepositories: [{url: /srv/k}]\n");
    const auto failed = cli::RunConfig(options_);
    ASSERT_FALSE(failed) << nights;
    EXPECT_EQ(cli::ExitCodeOf(failed.error()), cli::kExitConfig);
    EXPECT_NE(failed.error().Format().find(options_.operator_file + ":3: "), std::string::npos)
        << failed.error().Format();
  }
}

TEST_F(ConfigCommand, ReadsSecretsOnlyWhereAsked) {
  Write("token", "");
  const json unread = json::parse(Output());
  EXPECT_EQ(unread["ok"], true);
  EXPECT_EQ(unread["files"][0]["unread_secrets"], json({"github.token"})) << "serve may refuse it";
  options_.secrets = true;
  const auto failed = cli::RunConfig(options_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(cli::ExitCodeOf(failed.error()), cli::kExitEnvironment);
  EXPECT_NE(failed.error().Format().find("github.token: "), std::string::npos) << failed.error().Format();
}

// `serve` ends at once with such a key.
TEST_F(ConfigCommand, AKeyThatSignsNothingIsRefused) {
  Write("operator.yml",
        "version: 1\ndevices: [sim:h200]\ngithub: {app: {id: Iv1, key: {file: " + (folder_->path() / "token").string() +
            "}}}\nrepositories: [{url: \"https://github.com/acme/kernels.git\"}]\n");
  options_.secrets = true;
  const auto failed = cli::RunConfig(options_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(cli::ExitCodeOf(failed.error()), cli::kExitEnvironment) << failed.error().Format();
  EXPECT_NE(failed.error().Format().find("github.app.key: the App's private key is no PEM"), std::string::npos)
      << failed.error().Format();
}

}  // namespace
}  // namespace warpwright
