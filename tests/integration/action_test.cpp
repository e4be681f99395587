// The Action as its steps run it, without a runner: guard decides what may run, run turns inputs into one command, and
// this optimizes a kernel on the simulator and opens a pull request at a stand-in for GitHub.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/github_stand_in/github_stand_in.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kSource = WW_SOURCE_DIR;
constexpr const char *kToken = "ghs_0123456789abcdefghijABCDEFGHIJ012345", *kRepository = "acme/kernels";
constexpr const char* kManifest = R"yaml(version: 1
kernels:
  - name: transpose
    file: src/transpose.cu
    entry: transpose
    args:
      out: {buffer: f32, shape: [cols, rows], role: out}
      inp: {buffer: f32, shape: [rows, cols], role: in}
      rows: {scalar: i32}
      cols: {scalar: i32}
    cases:
      - {name: large, rows: 1024, cols: 768}
      - {name: odd, rows: 37, cols: 65, on: [sim]}
policy: {max_rounds: 1}
pull_requests: {labels: [speed], max_open: 1}
)yaml";

std::string Pem(EVP_PKEY* key, bool public_half) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (public_half) PEM_write_bio_PUBKEY(bio.get(), key);
  else PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

// The outputs of a step.
struct Step {
  int exit_code = -1;
  std::string out, err, summary;
  std::map<std::string, std::string> outputs;
};

// "name=value" and "name<<WORD\nvalue\nWORD", as the runner reads them.
std::map<std::string, std::string> ParseOutputs(const std::string& text) {
  std::map<std::string, std::string> outputs;
  for (size_t at = 0; at < text.size();) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const size_t equals = line.find('='), heredoc = line.find("<<");
    if (heredoc == std::string::npos || equals < heredoc) {
      outputs[line.substr(0, equals)] = equals == std::string::npos ? "" : line.substr(equals + 1);
      continue;
    }
    const std::string end = "\n" + line.substr(heredoc + 2) + "\n";
    const size_t stop = text.find(end, at - 1);
    EXPECT_NE(stop, std::string::npos) << line;
    if (stop == std::string::npos) break;
    outputs[line.substr(0, heredoc)] = stop < at ? "" : text.substr(at, stop - at);
    at = stop + end.size();
  }
  return outputs;
}

class Action : public testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryDirectory::Create("ww-action");
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }
  Step RunStep(const std::string& name, const std::map<std::string, std::string>& environment,
               const fs::path& directory) {
    const fs::path output = folder_->path() / "output", summary = folder_->path() / "summary";
    fs::remove(output);
    fs::remove(summary);
    base::Command command;
    command.argv = {kSource + "/config/action/" + name};
    command.directory = directory;
    command.env = base::MinimalEnvironment();
    command.env["PATH"] = std::string(WW_BINARY_DIR) + "/daemon/cli:" + command.env["PATH"];
    command.env.merge(std::map<std::string, std::string>{
        {"GITHUB_OUTPUT", output.string()},
        {"GITHUB_STEP_SUMMARY", summary.string()},
        {"GITHUB_ACTIONS", "true"},
        {"GITHUB_WORKFLOW_REF", std::string(kRepository) + "/.github/workflows/warpwright.yml@refs/heads/main"},
        {"RUNNER_TEMP", folder_->path().string()},
        {"XDG_CACHE_HOME", CompiledCacheHome().string()}});
    for (const auto& [key, value] : environment) command.env[key] = value;
    command.deadline = std::chrono::minutes(5);
    const auto done = warpwright::base::Run(command);
    Step step;
    EXPECT_TRUE(done);
    if (!done) return step;
    step.exit_code = done->exit_code;
    step.out = done->out;
    step.err = done->err;
    step.outputs = ParseOutputs(base::ReadFile(output).value_or(""));
    step.summary = base::ReadFile(summary).value_or("");
    return step;
  }
  Step Guard(const std::string& event, const std::string& pull_request_head,
             const std::string& workflow_run_head = "") {
    return RunStep("guard",
                   {{"WW_EVENT", event},
                    {"WW_REPOSITORY", kRepository},
                    {"WW_PULL_REQUEST_HEAD", pull_request_head},
                    {"WW_WORKFLOW_RUN_HEAD", workflow_run_head}},
                   folder_->path());
  }
  std::optional<base::TemporaryDirectory> folder_;
};

TEST_F(Action, GuardLetsNoStrangersCodeRun) {
  struct Row {
    const char *event, *pull_request, *workflow_run;
    int exit_code;
    const char *go, *result;
  };
  const Row kRows[] = {
      {"push", "", "", 0, "true", ""},
      {"workflow_dispatch", "", "", 0, "true", ""},
      {"schedule", "", "", 0, "true", ""},
      {"pull_request", "acme/kernels", "", 0, "true", ""},
      {"pull_request", "mallory/kernels", "", 0, "false", "skipped"},
      {"pull_request", "", "", 0, "false", "skipped"},  // the fork was deleted
      {"pull_request_review", "mallory/kernels", "", 0, "false", "skipped"},
      {"pull_request_target", "acme/kernels", "", 2, "false", "error"},
      {"pull_request_target", "mallory/kernels", "", 2, "false", "error"},
      {"workflow_run", "", "acme/kernels", 0, "true", ""},
      {"workflow_run", "", "mallory/kernels", 2, "false", "error"},
  };
  for (const Row& row : kRows) {
    Step step = Guard(row.event, row.pull_request, row.workflow_run);
    EXPECT_EQ(step.exit_code, row.exit_code) << row.event << " " << row.pull_request;
    EXPECT_EQ(step.outputs["go"], row.go) << row.event << " " << row.pull_request;
    EXPECT_EQ(step.outputs["result"], row.result) << row.event << " " << row.pull_request;
  }
}

// The event of a comment does not say where its pull request comes from, nor what its author may do.
TEST_F(Action, GuardAsksAboutComments) {
  httplib::Server api;
  int asked = 0;
  api.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response&) {
    asked += request.get_header_value("Authorization") == std::string("Bearer ") + kToken ? 1 : 0;
    return httplib::Server::HandlerResponse::Unhandled;
  });
  api.Get(R"(/repos/acme/kernels/collaborators/([^/]+)/permission)",
          [](const httplib::Request& request, httplib::Response& answer) {
            const std::string login = request.matches[1];
            if (login == "nobody") answer.status = 404;
            else answer.set_content(json{{"permission", login == "writer" ? "write" : "read"}}.dump(), "text/json");
          });
  api.Get(R"(/repos/acme/kernels/pulls/(\d+))", [](const httplib::Request& request, httplib::Response& answer) {
    const std::string number = request.matches[1];
    // A title that looks like a field of the payload.
    json pull = {{"title", R"("full_name":"acme/kernels", "full_name":"acme/kernels")"},
                 {"head", {{"repo", {{"full_name", number == "1" ? "acme/kernels" : "mallory/kernels"}}}}},
                 {"base", {{"repo", {{"full_name", "acme/kernels"}}}}}};
    if (number == "3") pull["head"]["repo"] = nullptr;  // the fork was deleted
    answer.set_content(pull.dump(number == "1" ? 2 : -1), "text/json");
  });
  const int port = api.bind_to_any_port("127.0.0.1");
  std::thread server([&] { api.listen_after_bind(); });
  struct Row {
    const char *author, *issue;
    bool on_pull_request;
    int exit_code;
    const char *go, *result;
  };
  const Row kRows[] = {
      {"writer", "1", true, 0, "true", ""},
      {"writer", "7", false, 0, "true", ""},
      {"writer", "2", true, 0, "false", "skipped"},
      {"writer", "3", true, 0, "false", "skipped"},
      {"reader", "1", true, 0, "false", "skipped"},
      {"reader", "7", false, 0, "false", "skipped"},
      {"nobody", "1", true, 2, "false", "error"},
      {"warpwright[bot]", "1", true, 0, "false", "skipped"},
      {"../writer", "1", true, 0, "false", "skipped"},
      {"writer", "1/../2", true, 2, "false", "error"},
      {"", "", false, 0, "false", "skipped"},
  };
  for (const Row& row : kRows) {
    Step step = RunStep("guard",
                        {{"WW_EVENT", "issue_comment"},
                         {"WW_REPOSITORY", kRepository},
                         {"WW_PULL_REQUEST_HEAD", ""},
                         {"WW_WORKFLOW_RUN_HEAD", ""},
                         {"WW_COMMENT_AUTHOR", row.author},
                         {"WW_COMMENT_ISSUE", row.issue},
                         {"WW_COMMENT_PULL_REQUEST", row.on_pull_request ? "https://api.example/pulls/1" : ""},
                         {"WW_TOKEN", kToken},
                         {"WW_API_URL", fmt::format("http://127.0.0.1:{}", port)}},
                        folder_->path());
    EXPECT_EQ(step.exit_code, row.exit_code) << row.author << " " << row.issue << step.out << step.err;
    EXPECT_EQ(step.outputs["go"], row.go) << row.author << " " << row.issue << step.out << step.err;
    EXPECT_EQ(step.outputs["result"], row.result) << row.author << " " << row.issue;
    EXPECT_EQ(step.out.find("::error") != std::string::npos, row.exit_code != 0) << step.out;
    EXPECT_EQ(step.summary.find("Remedy") != std::string::npos, row.exit_code != 0) << step.summary;
  }
  EXPECT_GE(asked, 8);
  api.stop();
  server.join();
}

// No command ends the installation without saying why and what to do.
TEST_F(Action, InstallSaysWhyItFails) {
  const fs::path mirror = folder_->path() / "mirror", bin = folder_->path() / "bin";
  ASSERT_TRUE(base::WriteFileAtomically(mirror / "broken", "no archive"));
  ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "file", "no folder"));
  // Instead of the network: the tarball is in the mirror, whatever its address.
  ASSERT_TRUE(base::WriteFileAtomically(bin / "curl",
                                        "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\n"
                                        "cp '" +
                                            (mirror / "broken").string() + "' \"$2\"\n"));
  fs::permissions(bin / "curl", fs::perms::owner_all);
  const std::string right = base::Sha256("no archive"), wrong(64, '0');
  const struct {
    std::map<std::string, std::string> changes;
    int exit_code;
    std::string why, remedy;
  } rows[] = {
      {{}, 3, "cannot be unpacked", "use another version"},
      {{{"WW_CHECKSUM", wrong}}, 3, "does not match its checksum", "do not use this file"},
      {{{"WW_CHECKSUM", ""}}, 3, "does not list warpwright-1.2.3-linux-x86_64.tar.gz", "give checksum"},
      {{{"WW_CHECKSUM", "123"}}, 2, "64 hexadecimal digits", "leave checksum out"},
      {{{"WW_VERSION", "latest"}}, 2, "'latest' is not a version", "write 1.2.3"},
      {{{"WW_RELEASE_URL", "http://example.com"}}, 2, "must begin with https://", "https://"},
      {{{"RUNNER_TEMP", folder_->path() / "nowhere"}}, 3, "mktemp -d", "RUNNER_TEMP"},
      {{{"RUNNER_TOOL_CACHE", folder_->path() / "file"}}, 3, "'mkdir -p", "tool cache"},
  };
  for (const auto& row : rows) {
    std::map<std::string, std::string> environment = {{"PATH", bin.string() + ":" + base::MinimalEnvironment()["PATH"]},
                                                      {"GITHUB_PATH", folder_->path() / "path"},
                                                      {"RUNNER_TOOL_CACHE", folder_->path() / "cache"},
                                                      {"WW_VERSION", "1.2.3"},
                                                      {"WW_CHECKSUM", right},
                                                      {"WW_RELEASE_URL", ""},
                                                      {"WW_SERVER_URL", "https://github.example"},
                                                      {"WW_ACTION_REPOSITORY", kRepository}};
    for (const auto& [name, value] : row.changes) environment[name] = value;
    const Step step = RunStep("install", environment, folder_->path());
    EXPECT_EQ(step.exit_code, row.exit_code) << row.why << step.out << step.err;
    EXPECT_NE(step.out.find("::error file=.github/workflows/warpwright.yml,line=1,"), std::string::npos) << step.out;
    EXPECT_EQ(step.out.find("::error "), step.out.rfind("::error ")) << "once: " << step.out;
    EXPECT_NE(step.out.find(row.why), std::string::npos) << row.why << step.out << step.err;
    EXPECT_NE(step.summary.find(row.why), std::string::npos) << row.why << step.summary;
    const size_t remedy = step.summary.find("**Remedy:**");
    ASSERT_NE(remedy, std::string::npos) << row.why << step.summary;
    EXPECT_NE(step.summary.find(row.remedy, remedy), std::string::npos) << row.why << step.summary;
  }
}

class ActionRun : public Action {
 protected:
  void SetUp() override {
    Action::SetUp();
    StandInOptions options;
    options.repositories = folder_->path() / "hub";
    options.rules = kSource + "/tests/support/github_stand_in/rules.json";
    auto hub = GithubStandIn::Start(options);
    ASSERT_TRUE(hub) << hub.error().Format();
    hub_ = std::move(*hub);
    ASSERT_TRUE(hub_->AddRepository(kRepository));
    hub_->AddToken(kToken, "github-actions[bot]", true);
    for (const char* file : {"src/transpose.cu", "include/common.cuh"})
      clone_.Write(file, base::ReadFile(kSource + "/config/examples/kernels/" + file).value_or(""));
    clone_.Write(".warpwright.yml", kManifest);
    head_ = clone_.Commit("Add a kernel");
    clone_.Git({"push", "-q", hub_->GitFolder(kRepository).string(), "main"});
  }
  std::map<std::string, std::string> Inputs() const {
    return {{"WW_COMMAND", "optimize"},
            {"WW_DEVICE", "sim:h200"},
            {"WW_KERNELS", ""},
            {"WW_SHARD", ""},
            {"WW_REVISION", "HEAD"},
            {"WW_CHANGED_SINCE", "auto"},
            {"WW_EVENT_BEFORE", "0000000000000000000000000000000000000000"},
            {"WW_PUBLISH", "pull-request"},
            {"WW_DRY_RUN", "off"},
            {"WW_BASE_BRANCH", ""},
            {"WW_PULL_REQUEST_HEAD_REF", ""},
            {"WW_PULL_REQUEST_HEAD_SHA", ""},
            {"WW_DEFAULT_BRANCH", "main"},
            {"WW_DRAFT", "false"},
            {"WW_LABELS", ""},
            {"WW_REVIEWERS", ""},
            {"WW_MAX_OPEN", ""},
            {"WW_MAX_ROUNDS", ""},
            {"WW_MAX_MINUTES", ""},
            {"WW_FAIL_ON", "unverified"},
            {"WW_TOKEN", kToken},
            {"WW_APP_ID", ""},
            {"WW_APP_KEY", ""},
            {"WW_API_URL", hub_->api()},
            {"WW_SERVER_URL", hub_->url()},
            {"WW_ANNOTATIONS", "true"},
            {"WW_JOB_SUMMARY", "true"},
            {"WW_STATE", ""},
            {"GITHUB_REPOSITORY", kRepository},
            {"GITHUB_REF", "refs/heads/main"},
            {"GITHUB_REF_TYPE", "branch"},
            {"GITHUB_EVENT_NAME", "push"}};
  }
  Step Optimize(const std::map<std::string, std::string>& changes = {}) {
    auto inputs = Inputs();
    for (const auto& [key, value] : changes) inputs[key] = value;
    return RunStep("run", inputs, clone_.path());
  }
  std::string Tip() { return clone_.Tip("main"); }
  // In the kernel's file, committed and pushed.
  void Edit(const std::string& from, const std::string& to) {
    std::string text = *base::ReadFile(clone_.path() / "src/transpose.cu");
    ASSERT_NE(text.find(from), std::string::npos) << text;
    clone_.Write("src/transpose.cu", text.replace(text.find(from), from.size(), to));
    clone_.Commit(from + " is " + to);
    clone_.Git({"push", "-q", hub_->GitFolder(kRepository).string(), "main"});
  }
  std::string HubGit(std::vector<std::string> arguments) {
    const std::string folder = hub_->GitFolder(kRepository).string();
    arguments.insert(arguments.begin(), {"--git-dir", folder});
    return clone_.Git(arguments);
  }
  std::vector<std::string> Comments() const {
    std::vector<std::string> bodies;
    const json there = hub_->Dump(kRepository);
    for (const json& comment : there["comments"]) bodies.push_back(comment["body"]);
    return bodies;
  }
  TempRepository clone_;
  std::unique_ptr<GithubStandIn> hub_;
  std::string head_;
};

TEST_F(ActionRun, OpensOnePullRequestAndBringsItUpToDate) {
  Step first = Optimize();
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_EQ(first.outputs["result"], "improved");
  EXPECT_EQ(first.outputs["improved"], "1");
  EXPECT_EQ(first.outputs["pull-request-operation"], "created");
  EXPECT_EQ(first.outputs["branch"], "warpwright/transpose");
  EXPECT_EQ(first.outputs["cost-usd"], "0.00");
  EXPECT_GT(std::stod(first.outputs["best-speedup"]), 1.05);
  EXPECT_TRUE(fs::exists(first.outputs["trajectory-path"]));
  EXPECT_TRUE(fs::exists(fs::path(first.outputs["report-path"]) / "transpose.md"));
  EXPECT_TRUE(fs::exists(fs::path(first.outputs["report-path"]) / "transpose.html"));
  const json kernels = json::parse(first.outputs["kernels"]);
  EXPECT_EQ(kernels[0]["pull_request"]["url"], first.outputs["pull-request-url"]);
  EXPECT_EQ(kernels[0]["publication"]["disposition"], "proposed");
  EXPECT_NE(first.summary.find("transpose"), std::string::npos);

  // Output of others is between stop-commands and its end; the token is masked and appears nowhere else.
  EXPECT_EQ(first.out.rfind("::stop-commands::", 0), 0u) << first.out;
  EXPECT_NE(first.out.find(std::string("::add-mask::") + kToken), std::string::npos);
  EXPECT_EQ(first.out.find(kToken), first.out.rfind(kToken));
  EXPECT_EQ(first.err.find(kToken), std::string::npos);
  EXPECT_EQ(first.summary.find(kToken), std::string::npos);

  json there = hub_->Dump(kRepository);
  ASSERT_EQ(there["pulls"].size(), 1u);
  const json pull = there["pulls"][0];
  EXPECT_EQ(pull["draft"], true) << "a modelled gain is a draft";
  EXPECT_EQ(std::to_string(pull["number"].get<int>()), first.outputs["pull-request-number"]);
  EXPECT_EQ(there["checks"].size(), 1u);
  const std::string diff = clone_.Git(
      {"--git-dir", hub_->GitFolder(kRepository).string(), "diff", "--stat", "main", "warpwright/transpose"});
  EXPECT_NE(diff.find("src/transpose.cu"), std::string::npos);
  EXPECT_NE(diff.find("1 file changed"), std::string::npos) << diff;

  // Again: the finished task is in the trajectory, nothing new is published.
  Step second = Optimize();
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(second.outputs["pull-request-operation"], "unchanged") << second.out;
  EXPECT_EQ(second.outputs["pull-request-head-sha"], first.outputs["pull-request-head-sha"]);
  EXPECT_EQ(hub_->Dump(kRepository)["pulls"].size(), 1u);
  EXPECT_EQ(hub_->Dump(kRepository)["checks"].size(), 1u);

  // Closed by a user: not opened again, unless a user requests it.
  hub_->SetPullRequestState(kRepository, pull["number"], "closed", "ann");
  Step closed = Optimize();
  EXPECT_EQ(closed.exit_code, 0) << closed.err;
  EXPECT_EQ(closed.outputs["pull-request-number"], "");
  EXPECT_EQ(json::parse(closed.outputs["kernels"])[0]["publication"]["disposition"], "ignored");
  Step asked = Optimize({{"GITHUB_EVENT_NAME", "workflow_dispatch"}});
  EXPECT_EQ(asked.outputs["pull-request-operation"], "created") << asked.out << asked.err;
  EXPECT_EQ(hub_->Dump(kRepository)["pulls"].size(), 2u);
  for (const std::string& violation : hub_->Violations()) ADD_FAILURE() << violation;
}

// Main changes a line of the kernel's file, and nothing that the kernel does.
TEST_F(ActionRun, CarriesAConflictingPullRequestOver) {
  Step first = Optimize();
  ASSERT_EQ(first.outputs["pull-request-operation"], "created") << first.out << first.err;
  const std::string before = Tip();
  Edit("int x = blockIdx.x * blockDim.x + threadIdx.x;", "int x = blockIdx.x * blockDim.x + threadIdx.x;  // column");
  Step second = Optimize({{"WW_EVENT_BEFORE", before}});
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(second.outputs["result"], "improved") << second.out << second.err;
  EXPECT_EQ(second.outputs["pull-request-operation"], "updated") << second.out << second.err;
  EXPECT_NE(second.outputs["pull-request-head-sha"], first.outputs["pull-request-head-sha"]);
  HubGit({"merge-base", "--is-ancestor", "main", "warpwright/transpose"});
  EXPECT_EQ(hub_->Dump(kRepository)["pulls"].size(), 1u);
  ASSERT_EQ(Comments().size(), 1u) << second.out << second.err;
  EXPECT_NE(Comments()[0].find("Carried over to"), std::string::npos) << Comments()[0];
  for (const std::string& violation : hub_->Violations()) ADD_FAILURE() << violation;
}

TEST_F(ActionRun, MergingItsOwnPullRequestStartsNothing) {
  Step first = Optimize();
  ASSERT_EQ(first.outputs["pull-request-operation"], "created") << first.out << first.err;
  clone_.Git({"fetch", "-q", hub_->GitFolder(kRepository).string(), "warpwright/transpose"});
  clone_.Git({"merge", "-q", "--squash", "FETCH_HEAD"});
  clone_.Commit("perf: squashed by a user");
  clone_.Git({"push", "-q", hub_->GitFolder(kRepository).string(), "main"});
  hub_->SetPullRequestState(kRepository, std::stoll(first.outputs["pull-request-number"]), "closed", "ann", true);
  Step second = Optimize({{"WW_EVENT_BEFORE", head_}});
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(second.outputs["result"], "skipped");
  EXPECT_NE((second.out + second.err).find("warpwright's own result, merged"), std::string::npos) << second.err;
  EXPECT_EQ(hub_->Dump(kRepository)["pulls"].size(), 1u);
  EXPECT_EQ(hub_->Dump(kRepository)["checks"].size(), 1u);
}

// Where it stops, one comment says so, however often it runs.
TEST_F(ActionRun, SaysInOneCommentThatItStops) {
  Step first = Optimize();
  ASSERT_EQ(first.outputs["pull-request-operation"], "created") << first.out << first.err;
  std::string before = Tip();
  std::string strict = kManifest;
  strict.replace(strict.find("{max_rounds: 1}"), 15, "{max_rounds: 1, min_speedup: 90}");
  clone_.Write(".warpwright.yml", strict);
  Edit("out[x * rows + y]", "out[y + x * rows]");
  for (int run = 0; run < 2; ++run) {
    Step nothing = Optimize({{"WW_EVENT_BEFORE", before}});
    EXPECT_EQ(nothing.outputs["result"], "unchanged") << nothing.out << nothing.err;
    ASSERT_EQ(Comments().size(), 1u) << nothing.out << nothing.err;
    EXPECT_NE(Comments()[0].find("Nothing faster was found"), std::string::npos) << Comments()[0];
  }
  const std::string title = hub_->Dump(kRepository)["pulls"][0]["title"];
  EXPECT_EQ(title.find("faster"), std::string::npos) << "the old gain does not hold: " << title;

  // Somebody pushes to the branch, and the kernel would be improved again.
  clone_.Git({"fetch", "-q", hub_->GitFolder(kRepository).string(), "warpwright/transpose"});
  clone_.Git({"checkout", "-q", "-b", "theirs", "FETCH_HEAD"});
  clone_.Write("NOTES", "mine");
  const std::string theirs = clone_.Commit("mine");
  clone_.Git({"push", "-q", hub_->GitFolder(kRepository).string(), "theirs:warpwright/transpose"});
  clone_.Git({"checkout", "-q", "main"});
  clone_.Write(".warpwright.yml", kManifest);
  before = Tip();
  Edit("out[y + x * rows]", "out[rows * x + y]");
  for (int run = 0; run < 2; ++run) {
    Step foreign = Optimize({{"WW_EVENT_BEFORE", before}});
    EXPECT_EQ(json::parse(foreign.outputs["kernels"])[0]["publication"]["disposition"], "left_alone") << foreign.err;
    ASSERT_EQ(Comments().size(), 1u) << foreign.out << foreign.err;
    EXPECT_NE(Comments()[0].find("no longer updates"), std::string::npos) << Comments()[0];
    EXPECT_NE(Comments()[0].find(theirs.substr(0, 12)), std::string::npos) << Comments()[0];
  }
  EXPECT_EQ(HubGit({"rev-parse", "warpwright/transpose"}), theirs + "\n");
  for (const std::string& violation : hub_->Violations()) ADD_FAILURE() << violation;
}

TEST_F(ActionRun, SaysWhatItWouldDoAndDoesIt) {
  Step detect = Optimize({{"WW_DRY_RUN", "detect"}});
  EXPECT_EQ(detect.exit_code, 0) << detect.err;
  EXPECT_EQ(detect.outputs["result"], "skipped");
  EXPECT_EQ(json::parse(detect.outputs["kernels"])[0]["outcome"], "detected");

  Step unchanged = Optimize({{"WW_CHANGED_SINCE", head_}});
  EXPECT_EQ(unchanged.exit_code, 0) << unchanged.err;
  EXPECT_EQ(unchanged.outputs["result"], "skipped");
  EXPECT_EQ(unchanged.outputs["kernels"], "[]");

  Step full = Optimize({{"WW_DRY_RUN", "full"}});
  EXPECT_EQ(full.exit_code, 0) << full.err;
  EXPECT_EQ(full.outputs["result"], "improved");
  EXPECT_TRUE(fs::exists(fs::path(full.outputs["report-path"]) / "transpose.md"));
  EXPECT_EQ(hub_->Log().size(), 0u) << "nothing was sent";

  Step other_shard = Optimize({{"WW_SHARD", "1/2"}, {"WW_DRY_RUN", "detect"}}),
       this_shard = Optimize({{"WW_SHARD", "2/2"}, {"WW_DRY_RUN", "detect"}});
  EXPECT_EQ(json::parse(other_shard.outputs["kernels"]).size() + json::parse(this_shard.outputs["kernels"]).size(), 1u);
}

// With an App's key warpwright creates the tokens, and masks each in the runner.
TEST_F(ActionRun, SpeaksAsAnApp) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  ASSERT_TRUE(key);
  hub_->SetApp("Iv1.abc", "warpwright", Pem(key.get(), true), std::chrono::seconds(3600));
  const std::string secret = Pem(key.get(), false);
  Step step = Optimize({{"WW_APP_ID", "Iv1.abc"},
                        {"WW_APP_KEY", secret},
                        {"WW_TOKEN", "not used"},
                        {"WW_DRAFT", "true"},
                        {"WW_LABELS", "fast, cuda"}});
  ASSERT_EQ(step.exit_code, 0) << step.out << step.err;
  EXPECT_EQ(step.outputs["pull-request-operation"], "created");
  EXPECT_GE(hub_->minted_tokens(), 1);
  const json pull = hub_->Dump(kRepository)["pulls"][0];
  EXPECT_NE(pull["labels"].dump().find("cuda"), std::string::npos) << pull["labels"];
  size_t masks = 0;
  for (size_t at = step.out.find("::add-mask::"); at != std::string::npos; at = step.out.find("::add-mask::", at + 1))
    ++masks;
  EXPECT_GT(masks, 20u) << "lines of the key, and a token";
  // The key appears only in masks.
  const std::string line = secret.substr(secret.find('\n') + 1, 60);
  EXPECT_EQ(step.err.find(line), std::string::npos);
  EXPECT_EQ(step.out.find(line), step.out.rfind(line));
  for (const std::string& violation : hub_->Violations()) ADD_FAILURE() << violation;
}

TEST_F(ActionRun, FailsOnARegressionWhereAsked) {
  std::string text = *base::ReadFile(clone_.path() / "src/transpose.cu");
  const std::string block = "dim3 block(";
  const size_t at = text.find(block);
  ASSERT_NE(at, std::string::npos);
  text.insert(text.find("  dim3 block("),
              "  cudaMemsetAsync(out, 0, sizeof(float) * rows * cols);\n  cudaMemsetAsync(out, 0, sizeof(float) * rows "
              "* cols);\n");
  clone_.Write("src/transpose.cu", text);
  clone_.Commit("Clear the output first, twice");
  const std::map<std::string, std::string> changed = {
      {"WW_CHANGED_SINCE", head_}, {"WW_PUBLISH", "none"}, {"WW_FAIL_ON", "regression"}};
  Step step = Optimize(changed);
  EXPECT_EQ(step.exit_code, 1) << step.out << step.err;
  EXPECT_EQ(step.outputs["result"], "regression");
  EXPECT_GT(json::parse(step.outputs["kernels"])[0].value("regression", 0.0), 1.03) << step.outputs["kernels"];
  auto lenient = changed;
  lenient["WW_FAIL_ON"] = "unverified";
  EXPECT_EQ(Optimize(lenient).exit_code, 0);
}

TEST_F(ActionRun, RefusesWhatCannotBeMeantBeforeAnythingRuns) {
  EXPECT_EQ(Optimize({{"WW_DRAFT", "perhaps"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_PUBLISH", "merge"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_SHARD", "3/2"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_BASE_BRANCH", "a..b"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_API_URL", "http://example.com"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_KERNELS", "--repo=/etc"}}).exit_code, 2);
  EXPECT_EQ(Optimize({{"WW_TOKEN", ""}}).exit_code, 3);
  Step own = Optimize({{"GITHUB_REF", "refs/heads/warpwright/transpose"}});
  EXPECT_EQ(own.exit_code, 0);
  EXPECT_EQ(own.outputs["result"], "skipped") << "its own branches never trigger it";
  EXPECT_EQ(hub_->Log().size(), 0u);
}

// Whoever reads the job's page alone learns what failed, where, and what to do.
TEST_F(ActionRun, SaysWhyItFailsAndWhatToDo) {
  const auto expect = [&](const Step& step, int code, std::string_view why, std::string_view remedy) {
    EXPECT_EQ(step.exit_code, code) << step.out << step.err;
    const std::string printed = step.out + step.err;
    const size_t error = printed.find("::error ");
    ASSERT_NE(error, std::string::npos) << printed;
    EXPECT_EQ(printed.find("::error file=."), error) << "of the workflow or the manifest: " << printed;
    EXPECT_NE(printed.find(why, error), std::string::npos) << printed;
    EXPECT_NE(step.summary.find(why), std::string::npos) << step.summary;
    EXPECT_NE(step.summary.find(remedy), std::string::npos) << step.summary;
    EXPECT_EQ(step.outputs.at("result"), "error");
    EXPECT_EQ(step.outputs.at("improved"), "0");
    EXPECT_EQ(step.outputs.at("kernels"), "[]");
  };
  expect(Optimize({{"WW_DEVICE", "cuda"}, {"CUDA_VISIBLE_DEVICES", ""}}), 3, "", "**Remedy:**");
  expect(Optimize({{"WW_TOKEN", "ghs_wrongwrongwrongwrongwrongwrongwrongwrong"}}), 3, "token", "**Remedy:**");
  expect(Optimize({{"WW_TOKEN", ""}}), 3, "is not set", "**Remedy:**");
  expect(Optimize({{"WW_PUBLISH", "merge"}}), 2, "merge", "**Remedy:**");
  expect(Optimize({{"WW_DRAFT", "perhaps"}}), 2, "draft must be true or false", "**Remedy:**");
  expect(Optimize({{"WW_REVISION", "nowhere"}}), 2, "nowhere", "**Remedy:**");

  const fs::path shallow = folder_->path() / "shallow", empty = folder_->path() / "empty";
  clone_.Write("README", "text");
  clone_.Commit("second");
  clone_.Git({"clone", "-q", "--depth", "1", "file://" + clone_.path().string(), shallow.string()});
  expect(RunStep("run", Inputs(), shallow), 2, "this clone is shallow", "fetch-depth: 0");
  fs::create_directories(empty);
  expect(RunStep("run", Inputs(), empty), 2, "there is no repository", "actions/checkout");

  clone_.Write(".warpwright.yml", "version: 1\nkernels:\n  - {name: a, fil: x}\n");
  clone_.Commit("a mistake");
  const Step manifest = Optimize();
  expect(manifest, 78, "fil", "it failed");
  EXPECT_NE((manifest.out + manifest.err).find("::error file=.warpwright.yml,line=3,"), std::string::npos)
      << manifest.out << manifest.err;
  clone_.Git({"rm", "-q", "-f", ".warpwright.yml"});
  clone_.Commit("no manifest");
  expect(Optimize(), 78, "no .warpwright.yml", "warpwright init");
}

TEST_F(ActionRun, NamesTheKernelThatFails) {
  std::string text = *base::ReadFile(clone_.path() / "src/transpose.cu");
  const size_t at = text.find("blockIdx.x");
  ASSERT_NE(at, std::string::npos);
  clone_.Write("src/transpose.cu", text.replace(at, 10, "blockIdx.nowhere"));
  clone_.Commit("broken");
  Step step = Optimize({{"WW_PUBLISH", "none"}});
  EXPECT_EQ(step.exit_code, 78) << "a mistake in a file of the user" << step.out << step.err;
  EXPECT_NE(step.out.find("::error file=src/transpose.cu,line=5,"), std::string::npos) << step.out;
  EXPECT_NE(step.summary.find("`transpose` was not optimized: "), std::string::npos) << step.summary;
  EXPECT_NE(step.summary.find("**Remedy:** mend the source"), std::string::npos) << step.summary;
  EXPECT_EQ(step.outputs["improved"], "0");
  EXPECT_EQ(step.outputs["result"], "error");
}

TEST_F(ActionRun, SaysAtItsLineWhyAKernelIsRefused) {
  std::string text = *base::ReadFile(clone_.path() / "src/transpose.cu");
  const size_t launch = text.rfind("<<<"), line = text.rfind('\n', launch);
  ASSERT_NE(launch, std::string::npos);
  clone_.Write("src/transpose.cu", text.insert(line, "\n  cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);"));
  clone_.Commit("captures a graph");
  Step step = Optimize({{"WW_PUBLISH", "none"}});
  EXPECT_EQ(step.exit_code, 1) << "refused, and no mistake in a file" << step.out << step.err;
  const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line) + 1, '\n');
  EXPECT_NE(step.out.find(fmt::format("::error file=src/transpose.cu,line={},", number)), std::string::npos)
      << step.out;
  EXPECT_NE(step.summary.find("| `transpose` | refused |"), std::string::npos) << step.summary;
  EXPECT_NE(step.summary.find("`transpose` was not optimized: src/transpose.cu"), std::string::npos) << step.summary;
  EXPECT_NE(step.summary.find("**Remedy:** make a kernel"), std::string::npos) << step.summary;
  EXPECT_EQ(step.summary.find("warpwright failed"), std::string::npos) << step.summary;
  EXPECT_EQ(json::parse(step.outputs["kernels"]).at(0).at("outcome"), "refused") << step.outputs["kernels"];
  EXPECT_EQ(step.outputs["improved"], "0");
}

}  // namespace
}  // namespace warpwright
