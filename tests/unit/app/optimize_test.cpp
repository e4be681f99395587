// From changed entries to branches and pull requests, without a process.
#include "app/optimize.h"
#include "app/carry_over.h"
#include "app/time_spent.h"

#include <fmt/format.h>

#include "app/publication_reports.h"
#include "app/task_explanation.h"
#include "tests/support/fake_forge.h"
#include "tests/unit/app/app_bench.h"
#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

class NoExperience final : public memory::ExperienceStore {
 public:
  Status Append(const memory::Experience&) override { return {}; }
  Result<memory::ExperienceMatches> Query(const memory::ExperienceKey&) override { return memory::ExperienceMatches{}; }
};

class OptimizeTest : public AppTest {
 protected:
  OptimizeTest() {
    candidates_.kernels.Add("=", TwiceOf, 100);  // whatever the method's settings
    candidates_.kernels.Add("original", TwiceOf, 400);
    remote_.Git({"config", "receive.denyCurrentBranch", "ignore"});
  }
  app::OptimizeServices Services() {
    return {.trusted = {device_, [] {}},
            .candidates = {candidates_, [] {}},
            .seconds = {},
            .toolchain = toolchain(),
            .skills = [] { return Result<skills::SkillLibrary>(BuiltIn()); },
            .experience = experience_,
            .clock = clock_,
            .tools_worker = {},
            .publisher = publisher_,
            .progress = {.line = [this](const std::string& line) { lines_.push_back(line); }}};
  }
  std::vector<app::OptimizedKernel> Optimize(app::OptimizeRequest request = {}) {
    request.version = "1.0";
    app::Workspace workspace = Open();
    const app::OptimizeServices services = Services();
    auto kernels = app::OptimizeKernels(workspace, request, services);
    EXPECT_TRUE(kernels) << kernels.error().Format();
    return kernels.value_or(std::vector<app::OptimizedKernel>());
  }
  // The repository is pushed to a remote first, as users do.
  void PublishToForge() {
    repository_.Git({"push", "-q", remote_.path().string(), "main:main"});
    publisher_ = [this](const repo::Signature& author) -> Result<std::unique_ptr<app::ResultPublisher>> {
      repo::RemoteAddress address;
      address.url = remote_.path().string();
      WW_ASSIGN(repo::Mirror mirror, app::OpenBorrowingMirror(Open(), address, author));
      app::PublicationSettings settings;
      settings.repository = *forge::RepositoryName::Parse("acme/kernels");
      settings.base_branch = "main";
      settings.labels = {{"speed"}};
      settings.author = author;
      return std::make_unique<app::ResultPublisher>(settings, std::move(mirror), &forge_, &forge_);
    };
  }
  FakeDevice candidates_;
  NoExperience experience_;
  const base::SystemClock clock_;
  FakeForge forge_;
  TempRepository remote_;
  app::PublisherSource publisher_;
  std::vector<std::string> lines_;
};

TEST_F(OptimizeTest, WhatIsFasterGetsABranchAndAPullRequest) {
  const std::string commit = CommitKernels({"a"});
  PublishToForge();
  const auto kernels = Optimize();
  ASSERT_EQ(kernels.size(), 1u);
  const app::OptimizedKernel& a = kernels[0];
  ASSERT_EQ(a.outcome, core::TaskOutcome::kImproved) << a.message;
  EXPECT_GT(a.gain, 1.05);
  EXPECT_EQ(a.branch, "warpwright/a");
  EXPECT_EQ(a.commit, *Open().repository().Resolve("warpwright/a"));
  EXPECT_EQ(*Open().repository().Resolve("warpwright/a~1"), commit);
  ASSERT_EQ(a.cases.size(), 1u);
  EXPECT_LT(a.cases[0].us, a.cases[0].original_us);
  EXPECT_EQ(a.publication.disposition, service::Disposition::kProposed) << a.publication.message;
  ASSERT_EQ(forge_.pull_requests.size(), 1u);
  EXPECT_TRUE(forge_.pull_requests[0].draft) << "a modelled gain opens nothing else";
  EXPECT_EQ(forge_.requests[0].labels, std::vector<std::string>{"speed"});
  EXPECT_EQ(a.summary.pull_request_url, forge_.pull_requests[0].url);
  EXPECT_EQ(a.summary.pull_request_operation, "created");
  EXPECT_EQ(app::Name(app::ResultOf(kernels)), "improved");
  ASSERT_FALSE(lines_.empty());
  EXPECT_EQ(lines_.back(), fmt::format("a: improved, {:.2f}x", a.gain));

  // The same again: resumed from the trajectory, published in place.
  const int before = candidates_.executions;
  const auto again = Optimize();
  EXPECT_EQ(again[0].commit, a.commit);
  EXPECT_EQ(again[0].summary.pull_request_operation, "unchanged");
  EXPECT_EQ(forge_.pull_requests.size(), 1u);
  EXPECT_EQ(candidates_.executions, before);
}

TEST(WhereTimeWent, NamesWhatTookMostAndWhatSetsTheLimit) {
  EXPECT_EQ(
      app::WhereTimeWent({{"compile", 31.2}, {"run", 9}, {"run: simulate", 8}, {"slice", 0.2}, {"transfer", 1}}, 48),
      "the time: 31 s to compile kernels, 9 s to run kernels, 8 s for inputs, references, comparisons and starting "
      "workers; --max-minutes, or the manifest's policy.max_minutes, is the limit");
  EXPECT_EQ(app::WhereTimeWent({}, 0.25),
            "the time: 0.2 s; --max-minutes, or the manifest's policy.max_minutes, is the limit");
}

TEST_F(OptimizeTest, OneKernelThatFailsDoesNotTakeTheOthersAlong) {
  CommitKernels({"a", "b"});
  device_.failing = "a";
  const auto kernels = Optimize({.make_branches = false});
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].outcome, core::TaskOutcome::kError);
  EXPECT_NE(kernels[0].message.find("the GPU is lost"), std::string::npos);
  EXPECT_EQ(kernels[0].summary.explanation.chip_name, config::LoadChip("h200")->name);
  EXPECT_EQ(kernels[1].outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(kernels[1].branch, "");
  EXPECT_FALSE(Open().repository().Resolve("warpwright/b"));
}

// What is refused, or wrong, in the user's files is said of the kernel with its remedy, and is no failure of ours.
TEST_F(OptimizeTest, AKernelThatDoesNotRunIsRefused) {
  struct Row {
    core::ExecuteOutcome outcome;
    ErrorCode error;
    std::string_view remedy;
  };
  for (const Row& row :
       {Row{core::Refused{core::Check::kSlice, "the launcher uses CUDA graphs", "a.cu", 1}, ErrorCode::kUnsupported,
            "make a kernel"},
        Row{core::CompileFailed{"a.cu(1): error: no such thing"}, ErrorCode::kConfig, "mend the source"},
        Row{core::Faulted{{.message = "misaligned", .file = "a.cu", .line = 1}, ""}, ErrorCode::kConfig,
            "mend the kernel"}}) {
    CommitKernels({"a"});
    device_.kernels = FakeEvaluator();
    device_.kernels.Add("original", [&](FakeRun& run) { run.outcome = row.outcome; });
    const auto kernels = Optimize({.make_branches = false});
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].outcome, core::TaskOutcome::kRefused) << kernels[0].message;
    EXPECT_EQ(kernels[0].error, row.error) << kernels[0].message;
    const report::Explanation& e = kernels[0].summary.explanation;
    EXPECT_TRUE(e.remedy.starts_with(row.remedy)) << e.remedy;
    EXPECT_EQ(e.outcome_reason.find("remedy"), std::string::npos) << e.outcome_reason;
    EXPECT_TRUE(kernels[0].message.ends_with("; remedy: " + e.remedy)) << kernels[0].message;
    EXPECT_EQ(app::Name(app::ResultOf(kernels)), "error");
  }
}

TEST_F(OptimizeTest, AForgeThatFailsIsSaidOfTheKernel) {
  CommitKernels({"a"});
  PublishToForge();
  forge_.before = [](const std::string& verb) {
    return verb == "put pull request" ? Status(Fail(ErrorCode::kIo, "the forge is away")) : Status();
  };
  const auto kernels = Optimize();
  EXPECT_EQ(kernels[0].outcome, core::TaskOutcome::kImproved);
  EXPECT_TRUE(kernels[0].publication.failed);
  EXPECT_NE(kernels[0].publication.message.find("the forge is away"), std::string::npos);
  EXPECT_FALSE(kernels[0].publication.disposition);
}

TEST_F(OptimizeTest, DetectsOnlyWhatChangedInItsShard) {
  CommitKernels({"a", "b", "c"});
  repository_.Write("b.cu", "// original b, otherwise\n");
  repository_.Write("c.cu", "// original c, otherwise\n");
  repository_.Commit("b and c");
  const auto detected = Optimize({.changed_since = "HEAD~1", .detect_only = true});
  ASSERT_EQ(detected.size(), 2u);
  EXPECT_EQ(detected[0].outcome, core::TaskOutcome::kDetected);
  EXPECT_EQ(detected[0].message, "b.cu launch");
  EXPECT_EQ(lines_, std::vector<std::string>{"changed since HEAD~1: b, c"});
  EXPECT_EQ(device_.executions, 0);
  std::vector<std::string> dealt;
  for (int index = 1; index <= 2; ++index)
    for (const auto& kernel : Optimize({.changed_since = "HEAD~1", .detect_only = true, .shard = app::Shard{index, 2}}))
      dealt.push_back(kernel.name);
  std::sort(dealt.begin(), dealt.end());
  EXPECT_EQ(dealt, (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(Optimize({.changed_since = "HEAD", .detect_only = true}).empty());
  EXPECT_EQ(lines_.back(), "no kernel changed since HEAD");
}

TEST_F(OptimizeTest, FindsWhatTheChangeMadeSlower) {
  CommitKernels({"a"});
  repository_.Write("a.cu", "// slow a\n");
  repository_.Commit("slower");
  for (FakeDevice* device : {&device_, &candidates_}) device->kernels.Add("slow", TwiceOf, 800);
  candidates_.kernels = FakeEvaluator();  // no candidate compiles
  const auto kernels = Optimize({.changed_since = "HEAD~1", .find_regressions = true});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NEAR(kernels[0].regression, 2, 0.01);
  EXPECT_NEAR(kernels[0].summary.regression, 2, 0.01);
  EXPECT_EQ(kernels[0].summary.slower_than, "HEAD~1");
  EXPECT_EQ(app::Name(app::ResultOf(kernels)), "regression");
}

TEST_F(OptimizeTest, ReportsWhatCameOut) {
  CommitKernels({"a"});
  PublishToForge();
  const auto kernels = Optimize();
  const std::filesystem::path out = folder_.path() / "out";
  const app::ReportPlaces places{.summary = (folder_.path() / "summary.md").string(),
                                 .output = (folder_.path() / "outputs").string(),
                                 .folder = out.string()};
  ASSERT_TRUE(app::WriteReports(
      places, kernels,
      {.report = "{}", .kernels = "[]", .trajectory = "/t.sqlite", .result = app::RunResult::kImproved},
      [](const std::string&) {}));
  EXPECT_EQ(*base::ReadFile(out / "report.json"), "{}\n");
  EXPECT_TRUE(base::ReadFile(out / "a.md")->starts_with("# perf(a): "));
  EXPECT_TRUE(base::ReadFile(out / "a.html")->starts_with("<!"));
  EXPECT_NE(base::ReadFile(folder_.path() / "summary.md")->find("a"), std::string::npos);
  const std::string outputs = *base::ReadFile(folder_.path() / "outputs");
  for (const std::string& value : {std::string("improved"), forge_.pull_requests[0].url, std::string("warpwright/a"),
                                   std::string("/t.sqlite"), kernels[0].publication.head_sha})
    EXPECT_NE(outputs.find("\n" + value + "\n"), std::string::npos) << value << "\n" << outputs;
}

// Somebody wrote a comment into the file: the result is spliced into it, and what is said of it was measured there.
TEST_F(OptimizeTest, WhatIsCarriedOverIsToldAsItWasMeasuredThere) {
  CommitKernels({"a"});
  const auto found = Optimize();
  ASSERT_EQ(found[0].outcome, core::TaskOutcome::kImproved) << found[0].message;
  EXPECT_FALSE(found[0].summary.explanation.carried);
  repository_.Write("a.cu", "// original a\n// remark\n");
  const std::string commit = repository_.Commit("a remark");
  candidates_.kernels = FakeEvaluator();
  candidates_.kernels.Add("=", TwiceOf, 200);  // it is twice as slow by now
  app::Workspace workspace = Open({"a"});
  const auto carried = app::CarryOver(
      workspace, {.revision = commit, .commit = found[0].commit, .author = {}, .version = "1.0"}, Services());
  ASSERT_TRUE(carried) << carried.error().Format();
  ASSERT_EQ(carried->outcome, core::TaskOutcome::kImproved) << carried->message;
  const report::Explanation& told = carried->summary.explanation;
  EXPECT_TRUE(told.carried);
  EXPECT_NEAR(told.gain, carried->gain, 1e-9);
  EXPECT_LT(told.gain, found[0].gain);
  EXPECT_NEAR(told.before_us / told.after_us, told.gain, 1e-9);
  EXPECT_EQ(told.result_hash, base::Sha256(*workspace.repository().Read(carried->commit, "a.cu").value()));
  const std::string body = app::ProposedText(workspace.repository(), told);
  EXPECT_NE(body.find("Found on an earlier commit."), std::string::npos) << body;
  // As the daemon and `show` tell it later, from the trajectory alone.
  auto trajectory = workspace.OpenTrajectory();
  ASSERT_TRUE(trajectory);
  const report::Explanation later = app::ExplainTask(workspace, *trajectory->View(carried->task), toolchain(), "1.0");
  EXPECT_TRUE(later.carried);
  EXPECT_EQ(later.gain, told.gain);
}

// The file changed around the entry, so that the open pull request no longer merges.
TEST_F(OptimizeTest, AConflictingPullRequestIsCarriedOver) {
  CommitKernels({"a"});
  PublishToForge();
  const auto found = Optimize();
  ASSERT_EQ(found[0].publication.disposition, service::Disposition::kProposed) << found[0].publication.message;
  const auto remark = [&](const std::string& text) {
    repository_.Write("a.cu", "// original a\n// remark" + text + "\n");
    const std::string commit = repository_.Commit("remark" + text);
    repository_.Git({"push", "-q", remote_.path().string(), "main:main"});
    return commit;
  };
  const std::string commit = remark("");
  const auto carried = Optimize({.changed_since = "HEAD~1"});
  ASSERT_EQ(carried.size(), 1u);
  ASSERT_EQ(carried[0].outcome, core::TaskOutcome::kImproved) << carried[0].message;
  EXPECT_EQ(carried[0].summary.pull_request_operation, "updated");
  EXPECT_EQ(remote_.Tip("warpwright/a"), carried[0].commit);
  remote_.Git({"merge-base", "--is-ancestor", commit, "warpwright/a"});
  EXPECT_EQ(forge_.pull_requests.size(), 1u);
  ASSERT_EQ(forge_.comments.size(), 1u);
  EXPECT_NE(forge_.comments[0].request.body.find("**Carried over to "), std::string::npos);

  // Nothing changed since: it merges.
  EXPECT_TRUE(Optimize({.changed_since = "HEAD~1"}).empty());
  // What cannot be carried over is said in the same comment, and fails nothing.
  candidates_.kernels = FakeEvaluator();
  remark(" again");
  const auto refused = Optimize({.changed_since = "HEAD~1"});
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].outcome, core::TaskOutcome::kUnchanged) << refused[0].message;
  EXPECT_EQ(remote_.Tip("warpwright/a"), carried[0].commit);
  ASSERT_EQ(forge_.comments.size(), 1u);
  EXPECT_NE(forge_.comments[0].request.body.find("cannot be carried over"), std::string::npos)
      << forge_.comments[0].request.body;
}

TEST_F(OptimizeTest, OurOwnResultThatWasMergedIsNotOptimized) {
  CommitKernels({"a"});
  PublishToForge();
  ASSERT_EQ(Optimize()[0].publication.disposition, service::Disposition::kProposed);
  repository_.Git({"merge", "-q", "--ff-only", "warpwright/a"});
  repository_.Git({"push", "-q", remote_.path().string(), "main:main"});
  forge_.Close(1, /*merged=*/true);
  for (const bool deleted : {false, true}) {
    if (deleted) remote_.Git({"branch", "-q", "-D", "warpwright/a"});
    const int before = candidates_.executions;
    EXPECT_TRUE(Optimize({.changed_since = "HEAD~1"}).empty()) << deleted;
    EXPECT_EQ(lines_.back(), "a: what changed is warpwright's own result, merged; there is nothing to do");
    EXPECT_EQ(candidates_.executions, before);
  }
  repository_.Write("a.cu", "// original a, otherwise\n");
  repository_.Commit("a user's change");
  EXPECT_EQ(Optimize({.changed_since = "HEAD~1"}).size(), 1u);
}

TEST_F(OptimizeTest, AModelOfUnknownPriceCostsNotNothing) {
  for (const auto& [unknown, cost] : {std::pair(0, "\n0.50\n"), std::pair(1, "\nunknown\n")}) {
    app::OptimizedKernel asked, other;
    asked.asked = {.questions = 2, .known = 500'000'000, .unknown = unknown};
    const std::string file = (folder_.path() / ("outputs" + std::to_string(unknown))).string();
    ASSERT_TRUE(app::WriteReports({.summary = {}, .output = file, .folder = {}}, {asked, other}, {},
                                  [](const std::string&) {}));
    EXPECT_NE(base::ReadFile(file)->find(cost), std::string::npos) << *base::ReadFile(file);
  }
}

TEST_F(OptimizeTest, AndIsExplainedAfterwards) {
  const std::string commit = CommitKernels({"a"});
  const auto kernels = Optimize();
  const app::Workspace workspace = Open();
  auto trajectory = workspace.OpenTrajectory();
  ASSERT_TRUE(trajectory);
  const auto view = trajectory->View(kernels[0].task);
  ASSERT_TRUE(view);
  const report::Explanation explanation = app::ExplainTask(workspace, *view, toolchain(), "1.0");
  EXPECT_EQ(explanation.kernel, "a");
  EXPECT_EQ(explanation.file, "a.cu");
  EXPECT_EQ(explanation.entry, "launch");
  EXPECT_EQ(explanation.base_commit, commit);
  EXPECT_EQ(explanation.gain, kernels[0].gain);
  EXPECT_NE(app::ProposedText(workspace.repository(), explanation).find(commit.substr(0, 7)), std::string::npos);
}

TEST(RunResult, OfAllKernels) {
  struct Row {
    std::vector<core::TaskOutcome> outcomes;
    double regression;
    std::string_view result;
  };
  using enum core::TaskOutcome;
  for (const Row& row : {Row{{}, 0, "skipped"}, Row{{kDetected}, 0, "skipped"}, Row{{kUnchanged}, 0, "unchanged"},
                         Row{{kUnchanged, kImproved, kError}, 0, "improved"}, Row{{kRefused, kError}, 0, "error"},
                         Row{{kRefused}, 0, "unchanged"}, Row{{kImproved}, 1.5, "regression"}}) {
    std::vector<app::OptimizedKernel> kernels;
    for (const core::TaskOutcome outcome : row.outcomes) {
      app::OptimizedKernel kernel;
      kernel.outcome = outcome;
      kernel.regression = row.regression;
      kernels.push_back(kernel);
    }
    EXPECT_EQ(app::Name(app::ResultOf(kernels)), row.result);
  }
}

}  // namespace
}  // namespace warpwright
