#include "service/job_runner.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <thread>

#include "base/file.h"

namespace warpwright {
namespace {

using Strings = std::vector<std::string>;

// A program that executes the given script.
class JobRunnerTest : public testing::Test {
 protected:
  JobRunnerTest() : folder_(std::move(*base::TemporaryDirectory::Create("ww-runner"))) {}
  service::ProcessJobRunner Runner(const std::string& script) {
    const auto path = folder_.path() / "program";
    EXPECT_TRUE(base::WriteFileAtomically(path, "#!/bin/sh\n" + script));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return service::ProcessJobRunner({path.string()}, {"--cache", "/cache"});
  }
  service::RunRequest Request() {
    return {{"/mirror", "/state", "sim:h200"}, std::string(40, 'a'), "softmax", 3, 1.5, true, "A <a@b>"};
  }
  std::string Read(const std::string& name) { return base::ReadFile(folder_.path() / name).value_or("no file"); }
  std::string Folder() { return folder_.path().string(); }

  base::TemporaryDirectory folder_;
};

constexpr char kImproved[] =
    R"({"device":"sim:h200","kernels":[{"name":"softmax","outcome":"improved","message":"m","gain":1.5,"modelled":true,"rounds":2,"evaluations":9,"seconds":1.5,"task":7,)"
    R"("model":{"questions":3,"tokens_in":900,"tokens_out":90,"dollars":null,"known_dollars":0.25,"unknown_costs":1,"gains":2,"models":["m"]},"branch":"warpwright/softmax","commit":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","cases":[{"name":"c","gain_low":1.4,"gain_high":1.6},{"name":"d","gain_low":1.2,"gain_high":1.3}]}]})";

TEST_F(JobRunnerTest, PassesWhatIsAskedAndReadsTheResult) {
  auto runner = Runner("echo \"$@\" > " + Folder() + "/args; echo '" + kImproved + "'");
  Strings lines;
  service::ChildWatch watch;
  watch.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const auto result = runner.Optimize(Request(), watch);
  ASSERT_TRUE(result) << result.error().Format();
  EXPECT_EQ(Read("args"), "optimize --revision " + std::string(40, 'a') +
                              " --kernel softmax --publish branch --max-rounds 3 --max-minutes 1.5 --again --author A "
                              "<a@b> --repo /mirror --state /state --device sim:h200 --json --cache /cache\n");
  EXPECT_EQ(result->outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(result->branch, "warpwright/softmax");
  EXPECT_EQ(result->trajectory_task, 7);
  EXPECT_DOUBLE_EQ(result->models.dollars, 0.25);
  EXPECT_EQ(result->models.questions, 3);
  EXPECT_EQ(result->models.unknown, 1);
  EXPECT_EQ(result->models.gains, 2);
  EXPECT_DOUBLE_EQ(result->gain_low, 1.2);
  EXPECT_DOUBLE_EQ(result->gain_high, 1.6);
}

// In no environment and on no command line; a child that does not read them is not waited for.
TEST_F(JobRunnerTest, KeysOfModelsComeOnStandardInput) {
  for (const char* reads : {"cat > ", "true > "}) {
    (void)Runner(std::string("echo \"$@\" > ") + Folder() + "/args; env > " + Folder() + "/env; " + reads + Folder() +
                 "/keys; echo '" + kImproved + "'");
    const service::ProcessJobRunner runner({(folder_.path() / "program").string()}, {},
                                           {.options = {"--config", "/etc/w.yml", "--model-keys"}, .keys = [] {
                                              return Result<std::string>(R"({"writer":"sk-very-secret"})");
                                            }});
    auto asked = runner;
    ASSERT_TRUE(asked.Optimize(Request(), {}));
    EXPECT_NE(Read("args").find(" --config /etc/w.yml --model-keys "), std::string::npos) << Read("args");
    EXPECT_EQ(Read("args").find("secret"), std::string::npos);
    EXPECT_EQ(Read("env").find("secret"), std::string::npos);
    EXPECT_EQ(Read("keys"), std::string(reads) == "cat > " ? R"({"writer":"sk-very-secret"})" : "");
  }
  const service::ProcessJobRunner without(
      {"/bin/true"}, {},
      {.options = {}, .keys = [] { return Result<std::string>(Fail(ErrorCode::kEnvironment, "no key")); }});
  auto asked = without;
  EXPECT_EQ(asked.Optimize(Request(), {}).error().message, "no key");
}

TEST_F(JobRunnerTest, NoSecretReachesAChild) {
  ::setenv("GITHUB_TOKEN", "very-secret", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  auto runner =
      Runner("env > " + Folder() + "/env; ls -l /proc/self/fd > " + Folder() + "/fds; echo '" + kImproved + "'");
  ASSERT_TRUE(runner.Optimize(Request(), {}));
  ::unsetenv("GITHUB_TOKEN");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(Read("env").find("secret"), std::string::npos) << Read("env");
  EXPECT_NE(Read("env").find("CUDA_VISIBLE_DEVICES=1"), std::string::npos);
  EXPECT_EQ(Read("fds").find("sqlite"), std::string::npos) << Read("fds");
}

TEST_F(JobRunnerTest, ProgressIsToldLineByLineAndMadeHarmless) {
  auto runner =
      Runner("printf 'one\\ntwo \\033[31mred\\n' >&2; printf 'three' >&2; echo '" + std::string(kImproved) + "'");
  Strings lines;
  service::ChildWatch watch;
  watch.progress = [&](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(runner.Optimize(Request(), watch));
  EXPECT_EQ(lines, (Strings{"one", "two  [31mred", "three"}));
}

TEST_F(JobRunnerTest, AnErrorNamesTheLastWords) {
  auto runner = Runner("echo 'warpwright: no compiler' >&2; exit 3");
  const auto result = runner.Optimize(Request(), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(result.error().message.find("no compiler"), std::string::npos);
  auto config = Runner("exit 78");
  EXPECT_EQ(config.Optimize(Request(), {}).error().code, ErrorCode::kConfig);
  auto killed = Runner("kill -9 $$");
  EXPECT_EQ(killed.Optimize(Request(), {}).error().code, ErrorCode::kWorkerDied);
}

TEST_F(JobRunnerTest, AResultWithAnErrorInItIsAResult) {
  std::string text = kImproved;
  text.replace(text.find("improved"), 8, "error");
  auto runner = Runner("echo '" + text + "'; exit 3");
  EXPECT_EQ(runner.Optimize(Request(), {})->outcome, core::TaskOutcome::kError);
  // A mistake in the repository's files is told at once, and not tried again.
  EXPECT_EQ(Runner("echo '" + text + "'; exit 78").Optimize(Request(), {})->outcome, core::TaskOutcome::kRefused);
}

TEST_F(JobRunnerTest, TheDeadlineEndsTheWholeGroup) {
  auto runner = Runner("sleep 1000 & echo $! > " + Folder() + "/pid; wait");
  service::ChildWatch watch;
  watch.deadline = std::chrono::milliseconds(300);
  const auto result = runner.Optimize(Request(), watch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
  const int pid = std::atoi(Read("pid").c_str());
  ASSERT_GT(pid, 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const auto gone = [&] {
    const auto stat = base::ReadFile("/proc/" + std::to_string(pid) + "/stat");
    return !stat || stat->find(") Z") != std::string::npos;
  };
  while (!gone() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(gone());
}

TEST_F(JobRunnerTest, StopEndsIt) {
  auto runner = Runner("echo begun >&2; sleep 1000");
  std::atomic<bool> stop{false};
  service::ChildWatch watch;
  watch.stop = &stop;
  watch.progress = [&](std::string_view) { stop = true; };
  const auto result = runner.Optimize(Request(), watch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, service::kInterrupted);
}

TEST_F(JobRunnerTest, ReadsPlans) {
  const std::string key(64, 'b');
  auto runner = Runner(
      "echo \"$@\" > " + Folder() +
      "/args; echo "
      "'{\"entries\":[{\"kernel\":\"softmax\",\"file\":\"a/softmax.cu\",\"entry\":\"f\",\"changed\":true,\"key\":\"" +
      key + "\"}]}'");
  const auto entries = runner.Detect({{"/mirror", "/state", "sim:h200"}, "aaa", "bbb", ""}, {});
  ASSERT_TRUE(entries) << entries.error().Format();
  EXPECT_EQ(Read("args"),
            "plan --revision bbb --changed-since aaa --repo /mirror --state /state --device sim:h200 --json --cache "
            "/cache\n");
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_TRUE(entries->front().changed);
  EXPECT_EQ(entries->front().job.key, key);
}

TEST(JobOutput, WhatChildrenPrintIsNotTrusted) {
  const std::string key(64, 'b');
  const auto plan = [&](const std::string& kernel, const std::string& file, const std::string& k) {
    return service::ParsePlan("{\"entries\":[{\"kernel\":\"" + kernel + "\",\"file\":\"" + file +
                              "\",\"entry\":\"f\",\"changed\":true,\"key\":\"" + k + "\"}]}");
  };
  EXPECT_TRUE(plan("softmax", "a.cu", key));
  EXPECT_FALSE(plan("../x", "a.cu", key));
  EXPECT_FALSE(plan("--again", "a.cu", key));
  EXPECT_FALSE(plan("softmax", "/etc/passwd", key));
  EXPECT_FALSE(plan("softmax", "a.cu", "short"));
  EXPECT_FALSE(plan("softmax", "a.cu", ""));
  EXPECT_FALSE(service::ParsePlan("{\"entries\":" + std::string(100'000, '[')));
  EXPECT_FALSE(service::ParsePlan("[]"));
  EXPECT_FALSE(service::ParsePlan(""));
  EXPECT_FALSE(service::ParseOptimization("{\"kernels\":[]}", "softmax"));
  std::string foreign = kImproved;
  foreign.replace(foreign.find("warpwright/softmax"), 18, "main");
  EXPECT_FALSE(service::ParseOptimization(foreign, "softmax"));
  std::string unknown = kImproved;
  unknown.replace(unknown.find("improved"), 8, "great");
  EXPECT_FALSE(service::ParseOptimization(unknown, "softmax"));
}

// What waits for an answer goes on; what had all of its time does not, or it would be run again without end.
TEST(JobOutput, AJobThatIsOutOfTimeIsFinished) {
  for (const auto& [field, outcome] : {std::pair(R"("out_of_time":true)", core::TaskOutcome::kUnchanged),
                                       std::pair(R"("pending":["a"])", core::TaskOutcome::kUnfinished)}) {
    const auto result = service::ParseOptimization(
        std::string(R"({"kernels":[{"name":"softmax","outcome":"unfinished","message":"m",)") + field + "}]}",
        "softmax");
    ASSERT_TRUE(result) << result.error().Format();
    EXPECT_EQ(result->outcome, outcome) << field;
  }
}

TEST(JobOutput, ReadsNights) {
  const auto night = service::ParseNight(
      R"({"outcome":"regression","message":"1 became slower","branch":"warpwright-history","branch_commit":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",)"
      R"("findings":[{"kernel":"softmax","cause":"code","message":"1.2x","optimize":true}]})");
  ASSERT_TRUE(night) << night.error().Format();
  EXPECT_EQ(night->findings.at(0).kernel, "softmax");
  EXPECT_TRUE(night->findings[0].optimize);
  EXPECT_FALSE(service::ParseNight("{}"));
}

}  // namespace
}  // namespace warpwright
