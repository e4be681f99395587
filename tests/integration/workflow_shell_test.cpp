// The shell in the shipped workflows, taken from their files and run as a runner runs it: who may start a job by a
// comment and what is passed to that job, and a nightly run whose history outlives its clone. The Action's own steps
// are in action_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/elementwise_entry.h"
#include "tests/support/github_stand_in/github_stand_in.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Variables = std::map<std::string, std::string>;

constexpr const char *kToken = "ghs_0123456789abcdefghijABCDEFGHIJ012345", *kRepository = "acme/kernels";

// The step with that id or name, in any job.
YAML::Node ShippedStep(const std::string& workflow, const std::string& name) {
  const YAML::Node root = YAML::LoadFile(std::string(WW_SOURCE_DIR) + "/config/workflows/" + workflow);
  EXPECT_FALSE(root["defaults"]) << "Shell() looks at steps only";
  for (const auto& job : root["jobs"])
    for (const YAML::Node& step : job.second["steps"])
      for (const char* key : {"id", "name"})
        if (step[key] && step[key].as<std::string>() == name) return step;
  ADD_FAILURE() << workflow << " has no step " << name;
  return {};
}

// The runner's command. Only a step that names bash gets pipefail.
std::vector<std::string> Shell(const YAML::Node& step) {
  if (!step["shell"]) return {"bash", "-e"};
  EXPECT_EQ(step["shell"].as<std::string>(), "bash");
  return {"bash", "--noprofile", "--norc", "-eo", "pipefail"};
}

// The outputs of a step: the output file as written, since an unexpected output is a failure.
struct Step {
  int exit_code = -1;
  std::string out, err, outputs, summary;
};

class WorkflowShell : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"bin", "work"}) fs::create_directory(folder_.path() / name);
  }
  void Program(const std::string& name, const std::string& script) {
    const fs::path file = folder_.path() / "bin" / name;
    ASSERT_TRUE(base::WriteFileAtomically(file, script));
    fs::permissions(file, fs::perms::owner_all);
  }
  // `values`: of the step's expressions, for each name in its env. `settings`: of the runner.
  Step RunStep(const YAML::Node& step, const Variables& values, const fs::path& directory, const Variables& settings) {
    const fs::path script = folder_.path() / "script", output = folder_.path() / "output",
                   summary = folder_.path() / "summary";
    EXPECT_TRUE(base::WriteFileAtomically(script, step["run"].as<std::string>()));
    for (const fs::path& file : {output, summary}) EXPECT_TRUE(base::WriteFileAtomically(file, ""));
    base::Command command;
    command.argv = Shell(step);
    command.argv.push_back(script.string());
    command.directory = directory;
    command.env = base::MinimalEnvironment();
    for (const auto& [key, value] : settings) command.env[key] = value;
    command.env["PATH"] = (folder_.path() / "bin").string() + ":" + command.env["PATH"];
    command.env["GITHUB_OUTPUT"] = output.string();
    command.env["GITHUB_STEP_SUMMARY"] = summary.string();
    for (const auto& variable : step["env"]) {
      const std::string name = variable.first.as<std::string>();
      EXPECT_TRUE(values.contains(name)) << "the step's env has a new " << name;
      if (values.contains(name)) command.env[name] = values.at(name);
    }
    const auto done = warpwright::base::Run(command);
    EXPECT_TRUE(done);
    if (!done) return {};
    return {done->exit_code, done->out, done->err, base::ReadFile(output).value_or("?"),
            base::ReadFile(summary).value_or("?")};
  }
  const base::TemporaryDirectory folder_ = std::move(*base::TemporaryDirectory::Create("ww-workflow"));
};

// --- /warpwright in a comment ----------------------------------------------------------------------------------------

const std::string kHead(40, 'a'), kBaseHead(40, 'b');
constexpr const char* kHeadFilter =
    R"([.head.repo.full_name // "", .head.sha, .head.ref, .base.ref, (.base.ref | @uri)] | @tsv)";

// Logs each request, and responds from files named like the paths.
constexpr const char* kGh = R"sh(#!/bin/bash
printf '%s\n' "$*" >>"$GH_LOG"
if [ "$2" = --silent ]; then exit 0; fi
cat "$GH_ANSWERS/$2" 2>/dev/null || { printf 'gh: Not Found (HTTP 404)\n' >&2; exit 1; }
)sh";

// As kHeadFilter prints it.
std::string Pull(const std::string& owner, const std::string& sha, const std::string& branch,
                 const std::string& base = "main", const std::string& base_in_path = "main") {
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", owner, sha, branch, base, base_in_path);
}

class SlashWorkflow : public WorkflowShell {
 protected:
  struct Comment {
    std::string body, permission = "write",
                      pull = Pull(kRepository, kHead, "feature");  // empty: GitHub responds with 404
    std::string ref_path = "main", ref_sha = kBaseHead;            // of the base
  };
  // Afterwards asked_ has the requests to GitHub.
  Step Check(const Comment& comment) {
    const fs::path answers = folder_.path() / "answers", log = folder_.path() / "log";
    fs::remove_all(answers);
    fs::remove(log);
    const auto answer = [&](const std::string& path, const std::string& text) {
      if (text.empty()) return;
      ASSERT_TRUE(base::WriteFileAtomically(answers / "repos" / kRepository / path, text));
    };
    answer("collaborators/ann/permission", comment.permission.empty() ? "" : comment.permission + "\n");
    answer("pulls/7", comment.pull);
    answer("git/ref/heads/" + comment.ref_path, comment.ref_sha.empty() ? "" : comment.ref_sha + "\n");
    Program("gh", kGh);
    const Variables values = {{"GH_TOKEN", kToken}, {"REPOSITORY", kRepository}, {"NUMBER", "7"}, {"COMMENT", "77"},
                              {"LOGIN", "ann"},     {"BODY", comment.body}};
    const Step step = RunStep(ShippedStep("slash.yml", "check"), values, folder_.path() / "work",
                              {{"GH_LOG", log.string()}, {"GH_ANSWERS", answers.string()}});
    asked_ = base::ReadFile(log).value_or("");
    return step;
  }
  static std::string Asked(const std::string& path, const std::string& filter) {
    return fmt::format("api repos/{}/{} --jq {}\n", kRepository, path, filter);
  }
  static std::string Reaction(const std::string& content) {
    return content.empty()
               ? ""
               : fmt::format("api --silent --method POST repos/{}/issues/comments/77/reactions -f content={}\n",
                             kRepository, content);
  }
  static std::string AskedPermission() { return Asked("collaborators/ann/permission", ".permission"); }
  static std::string AskedPull() { return AskedPermission() + Asked("pulls/7", kHeadFilter); }
  static std::string AskedRef(const std::string& path) {
    return AskedPull() + Asked("git/ref/heads/" + path, ".object.sha");
  }
  // The comments and branches below try to create a file.
  void ExpectNothingRan() { EXPECT_TRUE(fs::is_empty(folder_.path() / "work")); }
  std::string asked_;
};

TEST_F(SlashWorkflow, HandsTheCommitAndTheKernelToTheJob) {
  const auto of_pull = [](std::string pull) { return Comment{"/warpwright optimize", "write", std::move(pull)}; };
  const std::string longest(64, 'k');
  struct Row {
    Comment comment;
    std::string kernel, branch = "feature", sha = kHead;
    std::string ref_path = "";  // that is requested
  };
  const Row kRows[] = {
      {{"/warpwright optimize"}, ""},
      {{"/warpwright retry"}, ""},
      {{"/warpwright optimize", "admin"}, ""},
      {{"/warpwright optimize softmax"}, "softmax"},
      {{"/warpwright retry  softmax_v2.f32-fast"}, "softmax_v2.f32-fast"},
      {{"/warpwright optimize " + longest}, longest},
      {{"/warpwright optimize   "}, ""},
      {{"/warpwright\toptimize"}, ""},
      {{"/warpwright\t optimize \tsoftmax\t"}, "softmax"},
      {{"/warpwright  retry\tlayer_norm.v2-a  \r\nand more"},
       "layer_norm.v2-a"},  // as in the test of the daemon's reader
      {{"/warpwright optimize softmax   "}, "softmax"},
      {{"/warpwright optimize softmax\r\nPlease."}, "softmax"},
      {{"/warpwright optimize softmax\nsha=" + kBaseHead + "\nkernel=other\n"}, "softmax"},
      {{"/warpwright optimize softmax\r\nsha=" + kBaseHead}, "softmax"},
      {{"/warpwright optimize softmax\rsha=" + kBaseHead}, "softmax"},
      {{"/warpwright optimize\n$(touch ran) `touch ran`; touch ran"}, ""},
      {{"/warpwright optimize\n" + std::string(10'000, 'x')}, ""},
      {{"/warpwright optimize" + std::string(10'000, ' ')}, ""},
      // Branch names are as odd as git permits.
      {of_pull(Pull(kRepository, kHead, "fix/$(touch ran)`touch ran`;touch${IFS}ran&|'\"")), "",
       "fix/$(touch ran)`touch ran`;touch${IFS}ran&|'\""},
      {of_pull(Pull(kRepository, kHead, "sha=" + kBaseHead)), "", "sha=" + kBaseHead},
      {of_pull(Pull(kRepository, kHead, "a<<EOF")), "", "a<<EOF"},
      {of_pull(Pull(kRepository, kHead, "-n")), "", "-n"},
      {of_pull(Pull(kRepository, kHead, "%s%n#1")), "", "%s%n#1"},
      {of_pull(Pull(kRepository, kHead, "warpwright-notes")), "", "warpwright-notes"},
      // warpwright's own: the kernel in its name, from its base.
      {of_pull(Pull(kRepository, kHead, "warpwright/softmax")), "softmax", "main", kBaseHead, "main"},
      {{"/warpwright retry relu", "write", Pull(kRepository, kHead, "warpwright/softmax")},
       "relu",
       "main",
       kBaseHead,
       "main"},
      {of_pull(Pull(kRepository, kHead, "warpwright/$(touch ran)")), "$(touch ran)", "main", kBaseHead, "main"},
      {{"/warpwright retry", "write",
        Pull(kRepository, kHead, "warpwright/softmax", "release/1#2%", "release%2F1%232%25"), "release%2F1%232%25"},
       "softmax",
       "release/1#2%",
       kBaseHead,
       "release%2F1%232%25"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.comment.body.substr(0, 100) + " on " + row.comment.pull);
    const Step step = Check(row.comment);
    EXPECT_EQ(step.exit_code, 0) << step.out << step.err;
    EXPECT_EQ(step.outputs, fmt::format("sha={}\nkernel={}\nbranch={}\n", row.sha, row.kernel, row.branch));
    EXPECT_EQ(asked_, (row.ref_path.empty() ? AskedPull() : AskedRef(row.ref_path)) + Reaction("eyes"));
    EXPECT_EQ(step.out + step.err, "");
    ExpectNothingRan();
  }
}

TEST_F(SlashWorkflow, RefusesWhatIsNoCommandOrNotForTheOneWhoAsks) {
  const std::string usage = "write: /warpwright optimize", access = "only people with write access",
                    fork = "comes from a fork", head = "has no head, or";
  const auto of_pull = [](std::string pull) { return Comment{"/warpwright optimize", "write", std::move(pull)}; };
  const std::string softmax = Pull(kRepository, kHead, "warpwright/softmax");
  struct Row {
    Comment comment;
    std::string said, asked, reaction = "-1";
  };
  const Row kRows[] = {
      {{"/warpwright optimize", "read"}, access, AskedPermission()},
      {{"/warpwright optimize", "none"}, access, AskedPermission()},
      {{"/warpwright optimize", "write-ish"}, access, AskedPermission()},
      {{"/warpwright optimize $(touch ran)", "read"}, access, AskedPermission()},
      {{"/warpwright explain"}, usage, AskedPermission()},
      {{"/warpwright "}, usage, AskedPermission()},
      {{"/warpwright"}, usage, AskedPermission()},
      {{""}, usage, AskedPermission()},
      {{"please /warpwright optimize"}, usage, AskedPermission()},
      {{"\n/warpwright optimize"}, usage, AskedPermission()},
      {{"/warpwright optimizer"}, usage, AskedPermission()},
      {{"/warpwright\u00a0optimize"}, usage, AskedPermission()},
      {{"/warpwrightoptimize"}, usage, AskedPermission()},
      {{"/warpwright optimize softmax relu"}, usage, AskedPermission()},
      {{"/warpwright optimize $(touch ran)"}, usage, AskedPermission()},
      {{"/warpwright optimize $(touch${IFS}ran)"}, usage, AskedPermission()},
      {{"/warpwright optimize softmax; touch ran"}, usage, AskedPermission()},
      {{"/warpwright optimize softmax;touch${IFS}ran"}, usage, AskedPermission()},
      {{"/warpwright optimize `touch ran`"}, usage, AskedPermission()},
      {{"/warpwright optimize a[$(touch ran)]"}, usage, AskedPermission()},
      {{"/warpwright optimize ../../etc/passwd"}, usage, AskedPermission()},
      {{"/warpwright optimize .."}, usage, AskedPermission()},
      {{"/warpwright optimize --repo=/etc"}, usage, AskedPermission()},
      {{"/warpwright optimize *"}, usage, AskedPermission()},
      {{"/warpwright optimize softmax%0Asha=" + kBaseHead}, usage, AskedPermission()},
      {{"/warpwright optimize softmax\\nsha=" + kBaseHead}, usage, AskedPermission()},
      {{"/warpwright optimize softmax\vsha=" + kBaseHead}, usage, AskedPermission()},
      {{"/warpwright optimize " + std::string(65, 'k')}, usage, AskedPermission()},
      {{"/warpwright optimize " + std::string(10'000, 'k')}, usage, AskedPermission()},
      {of_pull(Pull("mallory/kernels", kHead, "feature")), fork, AskedPull()},
      {of_pull(Pull("acme/kernels-fork", kHead, "feature")), fork, AskedPull()},
      {of_pull(Pull("mallory/kernels", kHead, "warpwright/softmax")), fork, AskedPull()},
      {of_pull(Pull("", kHead, "feature")), fork, AskedPull()},  // the fork was deleted
      {of_pull(Pull(kRepository, "main", "feature")), head, AskedPull()},
      {of_pull(Pull(kRepository, kHead.substr(1), "feature")), head, AskedPull()},
      {of_pull(Pull(kRepository, kHead + "0", "feature")), head, AskedPull()},
      {of_pull(Pull(kRepository, "--upload-pack=touch${IFS}ran;aaaaaaaaaaaa", "feature")), head, AskedPull()},
      {{"/warpwright retry", "write", softmax, "main", "null"}, head, AskedRef("main")},
      // The user, pull request or branch does not exist on GitHub: the job ends there.
      {{"/warpwright optimize", ""}, "", AskedPermission(), ""},
      {of_pull(""), "", AskedPull(), ""},
      {{"/warpwright retry", "write", softmax, "main", ""}, "", AskedRef("main"), ""},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.comment.permission + ": " + row.comment.body.substr(0, 100) + " on " + row.comment.pull);
    const Step step = Check(row.comment);
    EXPECT_EQ(step.exit_code, 1) << step.out << step.err;
    EXPECT_EQ(step.outputs, "");
    EXPECT_EQ(asked_, row.asked + Reaction(row.reaction));
    if (row.said.empty()) {
      EXPECT_EQ(step.out, "");
    } else {
      // One workflow command by the step, and nothing from the comment.
      EXPECT_TRUE(step.out.starts_with("::error title=warpwright::")) << step.out;
      EXPECT_NE(step.out.find(row.said), std::string::npos) << step.out;
      EXPECT_EQ(std::count(step.out.begin(), step.out.end(), '\n'), 1);
      EXPECT_LT(step.out.size(), 200u);
    }
    ExpectNothingRan();
  }
}

// The responses above are what the filter produces from GitHub's.
TEST_F(SlashWorkflow, TheFilterGivesTheFieldsOfAPullRequest) {
  const json head = {{"sha", kHead}, {"ref", "a\"b"}, {"repo", {{"full_name", kRepository}}}};
  json deleted = head;
  deleted["repo"] = nullptr;
  const std::pair<json, std::string> kRows[] = {
      {{{"head", head}, {"base", {{"ref", "main"}}}}, Pull(kRepository, kHead, "a\"b")},
      {{{"head", head}, {"base", {{"ref", "release/1#2%"}}}},
       Pull(kRepository, kHead, "a\"b", "release/1#2%", "release%2F1%232%25")},
      {{{"head", deleted}, {"base", {{"ref", "main"}}}}, Pull("", kHead, "a\"b")},
  };
  for (const auto& [pull, fields] : kRows) {
    base::Command command;
    command.argv = {"jq", "--raw-output", kHeadFilter};  // gh has a built-in one
    command.env = base::MinimalEnvironment();
    command.input = pull.dump();
    const auto done = warpwright::base::Run(command);
    if (!done || done->exit_code == 127) GTEST_SKIP() << "jq is not installed";
    EXPECT_EQ(done->out, fields) << done->err;
  }
}

// --- nights ----------------------------------------------------------------------------------------------------------

const std::string kManifest = ManifestOf(ElementwiseEntry("scale", "{N: 65536}"));
// A file that fails in the parser, not only in the kernel.
constexpr const char* kBrokenEntry = R"(  - name: broken
    file: broken.cu
    entry: broken
    args:
      out: {buffer: f32, shape: [N], role: out}
      N: {scalar: i32}
    cases:
      - {N: 64}
)";
constexpr const char* kBroken = "#pragma clang __debug crash\nvoid broken(float* out, int N) {}\n";
constexpr const char* kKeep = "Keep the history";

class NightlyWorkflow : public WorkflowShell {
 protected:
  struct Night {
    Step night, keep;
    std::string history;  // the output
    bool kept = false;    // that step ran
    json report;
    fs::path clone;
  };
  void SetUp() override {
    WorkflowShell::SetUp();
    StandInOptions options;
    options.repositories = folder_.path() / "hub";
    options.rules = std::string(WW_SOURCE_DIR) + "/tests/support/github_stand_in/rules.json";
    auto hub = GithubStandIn::Start(options);
    ASSERT_TRUE(hub) << hub.error().Format();
    hub_ = std::move(*hub);
    hub_->AddToken(kToken, "github-actions[bot]", true);
    // Without a GPU; everything else is as shipped.
    Program("warpwright",
            fmt::format("#!/bin/bash\nexec '{}/daemon/cli/warpwright' \"${{@/%--device=cuda/--device=sim:h200}}\"\n",
                        WW_BINARY_DIR));
    kernels_.Write(".warpwright.yml", kManifest);
    kernels_.Write("scale.cu", ScaleSource(1));
  }
  void Push(const std::string& repository, const std::string& message) {
    kernels_.Commit(message);
    kernels_.Git({"push", "-q", hub_->GitFolder(repository).string(), "main"});
  }
  std::string Bare(const std::string& repository, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--git-dir", hub_->GitFolder(repository).string()});
    return kernels_.Git(std::move(arguments));
  }
  // As after a checkout, except that only pushes use HTTP.
  fs::path Clone(const std::string& repository) {
    const fs::path clone = folder_.path() / fmt::format("clone{}", ++clones_);
    kernels_.Git({"clone", "-q", hub_->GitFolder(repository).string(), clone.string()});
    kernels_.Git({"-C", clone.string(), "config", "remote.origin.pushurl", hub_->CloneUrl(repository)});
    return clone;
  }
  Step Keep(const fs::path& clone, const std::string& history, const std::string& token) {
    return RunStep(ShippedStep("nightly.yml", kKeep), {{"HISTORY", history}, {"TOKEN", token}, {"SERVER", hub_->url()}},
                   clone, {{"GIT_TERMINAL_PROMPT", "0"}});
  }
  Night Time(const fs::path& clone) {
    Night job;
    job.clone = clone;
    const fs::path pages = job.clone.string() + "-pages";
    // A nightly run is identified by its second.
    while (base::FormatUtc(base::SystemClock().Now()) == last_)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    job.night = RunStep(ShippedStep("nightly.yml", "night"), {{"PAGES", pages.string()}}, job.clone,
                        {{"XDG_CACHE_HOME", CompiledCacheHome().string()}});
    job.report = json::parse(base::ReadFile(pages / "night.json").value_or(""), nullptr, false);
    if (job.report.is_object()) last_ = job.report.value("time", "");
    job.history = Output(job.night, "history");
    return job;
  }
  // A job of the workflow.
  Night RunNight(const std::string& repository) {
    Night job = Time(Clone(repository));
    job.kept = Runs(kKeep, job, "history");
    if (job.kept) job.keep = Keep(job.clone, job.history, kToken);
    return job;
  }
  static std::string Output(const Step& step, const std::string& name) {
    std::istringstream lines(step.outputs);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    return "";
  }
  // As a runner decides: unless its condition overrides it, a step runs if all previous steps succeeded.
  static bool Runs(const std::string& name, const Night& job, const std::string& output) {
    const YAML::Node step = ShippedStep("nightly.yml", name);
    const std::string condition = step["if"] ? step["if"].as<std::string>() : "";
    const std::string filled = fmt::format("steps.night.outputs.{} != ''", output);
    const bool has = !Output(job.night, output).empty();
    if (condition == "${{ !cancelled() && " + filled + " }}") return has;
    if (condition == filled) return job.night.exit_code == 0 && has;
    EXPECT_EQ(condition, "") << "the test does not know this condition";
    return job.night.exit_code == 0;
  }
  static bool Optimizes(const Night& job) { return Runs("Optimize what became slower", job, "slower"); }
  std::unique_ptr<GithubStandIn> hub_;
  TempRepository kernels_;
  int clones_ = 0;
  std::string last_;  // night's time
};

TEST_F(NightlyWorkflow, TheHistoryOutlivesTheCloneAndWhatBecameSlowerIsNamedOnce) {
  ASSERT_TRUE(hub_->AddRepository(kRepository));
  Push(kRepository, "A kernel");
  struct Row {
    int stride;
    const char *slower, *summary;
  };
  const Row kNights[] = {
      {1, "", "1 entry timed, no new regression\n"},
      {16, "scale", "1 entry timed, 1 became slower\n"},
      {16, "", "1 entry timed, no new regression\n"},
  };
  std::string before;
  int count = 0;
  for (const Row& row : kNights) {
    SCOPED_TRACE(fmt::format("night {}", ++count));
    kernels_.Write("scale.cu", ScaleSource(row.stride));
    Push(kRepository, "Night");
    const Night job = RunNight(kRepository);
    EXPECT_EQ(job.night.exit_code, 0) << job.night.out << job.night.err;
    EXPECT_EQ(job.night.outputs, fmt::format("history=warpwright-history\nslower={}\n", row.slower));
    EXPECT_EQ(job.night.summary, row.summary);
    EXPECT_EQ(Optimizes(job), *row.slower != '\0');
    ASSERT_TRUE(job.kept);
    EXPECT_EQ(job.keep.exit_code, 0) << job.keep.out << job.keep.err;

    // In the bare repository: one more commit, with the previous lines and this run's.
    ASSERT_TRUE(job.report.is_object());
    EXPECT_EQ(Bare(kRepository, {"rev-parse", "warpwright-history"}), job.report.value("branch_commit", "") + "\n");
    EXPECT_EQ(Bare(kRepository, {"rev-list", "--count", "warpwright-history"}), fmt::format("{}\n", count));
    const std::string lines = Bare(kRepository, {"show", "warpwright-history:scale.jsonl"});
    EXPECT_TRUE(lines.starts_with(before)) << before << "\n" << lines;
    EXPECT_EQ(before.find(job.report.value("time", "?")), std::string::npos);
    EXPECT_NE(lines.find(job.report.value("time", "?")), std::string::npos) << lines;
    before = lines;

    // The token was sent with the push and stored nowhere; its encoded form is masked.
    ASSERT_EQ(hub_->Pushes().size(), static_cast<size_t>(count));
    EXPECT_EQ(hub_->Pushes().back().login, "github-actions[bot]");
    ASSERT_TRUE(job.keep.out.starts_with("::add-mask::")) << job.keep.out;
    const std::string mask = job.keep.out.substr(12, job.keep.out.find('\n') - 12),
                      config = base::ReadFile(job.clone / ".git/config").value_or("");
    EXPECT_GT(mask.size(), 40u);
    EXPECT_NE(config, "");
    for (const std::string& secret : {std::string(kToken), mask})
      for (const std::string& text : {config, job.keep.err, job.keep.out.substr(12 + mask.size())})
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
  }
}

TEST_F(NightlyWorkflow, KeepsWhatThereIsToKeep) {
  struct Row {
    const char *repository, *manifest;  // added to kManifest
    int exit_code;
    const char *history, *summary;
  };
  const Row kRows[] = {
      {"acme/switched-off", "nightly: {enabled: false}\n", 0, "", "nightly runs are disabled in the manifest\n"},
      {"acme/other-branch", "nightly: {branch: warpwright-perf/times}\n", 0, "warpwright-perf/times",
       "1 entry timed, no new regression\n"},
      // A failed entry fails the job, but the others' results are kept.
      {"acme/one-fails", kBrokenEntry, 3, "warpwright-history", "1 entry timed, 1 failed, no new regression\n"},
      {"acme/wrong", "nightly: 3\n", 78, "", ""},
  };
  kernels_.Write("broken.cu", kBroken);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.repository);
    ASSERT_TRUE(hub_->AddRepository(row.repository));
    kernels_.Write(".warpwright.yml", kManifest + row.manifest);
    Push(row.repository, row.repository);
    const Night job = RunNight(row.repository);
    EXPECT_EQ(job.night.exit_code, row.exit_code) << job.night.out << job.night.err;
    EXPECT_EQ(job.night.outputs, fmt::format("history={}\nslower=\n", row.history));
    EXPECT_EQ(job.night.summary, row.summary);
    EXPECT_FALSE(Optimizes(job));
    EXPECT_EQ(job.kept, *row.history != '\0');
    const std::string branches = Bare(row.repository, {"for-each-ref", "--format=%(refname:short)", "refs/heads"});
    EXPECT_EQ(branches, job.kept ? fmt::format("main\n{}\n", row.history) : "main\n");
    if (!job.kept) continue;
    EXPECT_EQ(job.keep.exit_code, 0) << job.keep.out << job.keep.err;
    EXPECT_EQ(Bare(row.repository, {"ls-tree", "--name-only", row.history}), "scale.jsonl\n");
  }
}

// Two runners, one persistent checkout: what could not be pushed because someone else pushed first is pushed with the
// next run.
TEST_F(NightlyWorkflow, ANightThatLostTheRaceIsJoinedByTheNext) {
  ASSERT_TRUE(hub_->AddRepository(kRepository));
  Push(kRepository, "A kernel");
  const fs::path clone = Clone(kRepository);
  const Night lost = Time(clone), faster = RunNight(kRepository);
  EXPECT_EQ(faster.keep.exit_code, 0) << faster.keep.err;
  EXPECT_NE(Keep(clone, lost.history, kToken).exit_code, 0);
  kernels_.Git({"-C", clone.string(), "fetch", "-q", "origin"});
  const Night next = Time(clone);
  const Step kept = Keep(clone, next.history, kToken);
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  const std::string lines = Bare(kRepository, {"show", "warpwright-history:scale.jsonl"});
  for (const Night* night : {&lost, &faster, &next})
    EXPECT_NE(lines.find(night->report.value("time", "?")), std::string::npos) << lines;
}

// A push that GitHub refuses fails the job: otherwise it would go unnoticed that every run is the first.
TEST_F(NightlyWorkflow, AHistoryThatCannotBePushedIsAFailure) {
  ASSERT_TRUE(hub_->AddRepository(kRepository));
  Push(kRepository, "A kernel");
  const fs::path clone = Clone(kRepository);
  kernels_.Git({"-C", clone.string(), "branch", "warpwright-history", "main"});
  EXPECT_NE(Keep(clone, "warpwright-history", "ghs_revoked").exit_code, 0);
  EXPECT_TRUE(hub_->Pushes().empty());
}

}  // namespace
}  // namespace warpwright
