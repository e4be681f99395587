// The status page in a real browser: what it shows in each state, that no text becomes markup, and that the browser
// reports no problem. Skipped without Chromium.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "core/agent_role.h"
#include "service/endpoints.h"
#include "service/status_json.h"
#include "tests/support/synthetic_snapshot.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

std::string FindChromium() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    for (const char* folder : {"/usr/bin", "/usr/local/bin", "/snap/bin"})
      if (const fs::path path = fs::path(folder) / name; fs::exists(path)) return path;
  return {};
}

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

class StatusPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (chromium_.empty()) GTEST_SKIP() << "no Chromium is installed";
    base::SetLogSink([](std::string_view) {});
    options_.status = "127.0.0.1:0";
    hooks_.heartbeat_age = [] { return std::chrono::milliseconds(0); };
    hooks_.trajectory = [](int64_t job) -> Result<std::string> {
      return job == 120 ? service::TrajectoryJson(testing::BusyTrajectory()) : std::string();
    };
  }
  void TearDown() override { base::SetLogSink({}); }

  void Start() {
    auto started = service::Endpoints::Start(options_, hooks_);
    ASSERT_TRUE(started) << started.error().Format();
    endpoints_ = std::move(*started);
  }
  // The document after `budget_ms` of the page's own time. The browser's console output is in console_.
  std::string Dom(int budget_ms = 3000, const std::string& size = "1200,900") {
    const auto profile = base::TemporaryDirectory::Create("ww-chromium");
    EXPECT_TRUE(profile);
    base::Command command;
    command.argv = {chromium_,
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--no-first-run",
                    "--enable-logging=stderr",
                    "--user-data-dir=" + profile->path().string(),
                    "--window-size=" + size,
                    fmt::format("--virtual-time-budget={}", budget_ms),
                    "--dump-dom",
                    fmt::format("http://127.0.0.1:{}/", endpoints_->status_port())};
    command.env = base::MinimalEnvironment();
    command.env["HOME"] = profile->path().string();
    command.deadline = std::chrono::seconds(90);
    const auto done = warpwright::base::Run(command);
    EXPECT_TRUE(done) << done.error().Format();
    if (!done) return {};
    EXPECT_FALSE(done->timed_out);
    EXPECT_EQ(done->exit_code, 0) << done->err;
    console_.clear();
    std::istringstream lines(done->err);
    for (std::string line; std::getline(lines, line);)
      if (line.find("CONSOLE") != std::string::npos) console_ += line + "\n";
    return done->out;
  }

  const std::string chromium_ = FindChromium();
  service::EndpointOptions options_;
  service::EndpointHooks hooks_;
  std::unique_ptr<service::Endpoints> endpoints_;
  std::string console_;
};

// In words for each agent that may ask a model.
TEST(StatusPageLabels, SayWhatEveryAgentAsks) {
  const auto script = base::ReadFile(std::string(WW_SOURCE_DIR) + "/daemon/service/status_page.js");
  ASSERT_TRUE(script) << script.error().Format();
  const size_t begin = script->find("const asks = {");
  ASSERT_NE(begin, std::string::npos);
  const std::string labels = script->substr(begin + 13, script->find('}', begin) - begin);
  for (int role = 0; role <= static_cast<int>(Last(core::AgentRole{})); ++role) {
    const std::string name(Name(static_cast<core::AgentRole>(role)));
    EXPECT_TRUE(labels.find("{" + name + ": '") != std::string::npos ||
                labels.find(" " + name + ": '") != std::string::npos)
        << name;
  }
}

TEST_F(StatusPageTest, ShowsWhatTheDaemonDoes) {
  hooks_.snapshot = [] { return testing::BusySnapshot(); };
  Start();
  const std::string dom = Dom();
  EXPECT_EQ(console_, "");
  for (const char* text : {"<title>running · warpwright</title>",
                           ">Ready<",
                           "layernorm_forward",
                           "round 3: vectorize_loads (width=4): 1.08x",
                           "softmax_online",
                           "dequantize_q4",
                           "10 of 10 pull requests are open: merge or close one",
                           "https://github.com/acme/kernels/pull/90",
                           "cannot be recorded",
                           "legacy_scan, old_gemm",
                           "the limit of open pull requests is reached",
                           "Name or service not known",
                           "4,312 lines",
                           "new base",
                           "wrong result",
                           "does not compile",
                           "Best so far",
                           "$1.23",
                           "2 questions to language models, $0.01",
                           "$0.0125",
                           "What to try next",
                           "- case gpt2: 100.2 us",
                           "Carry out the plan",
                           "$1.23, and 2 answers of unknown cost",
                           "waits for an answer"})
    EXPECT_NE(dom.find(text), std::string::npos) << text << "\n" << dom;
  EXPECT_EQ(Count(dom, "role=\"img\""), 2u);  // the attempts of the running job, and the gains
  EXPECT_GT(Count(dom, "class=\"taken\""), 5u);
  EXPECT_EQ(dom.find("[object "), std::string::npos);
  EXPECT_EQ(dom.find("undefined</"), std::string::npos);
  EXPECT_EQ(dom.find("NaN"), std::string::npos);
}

TEST_F(StatusPageTest, ASupersededJobSaysNothingOfAGain) {
  hooks_.snapshot = [] { return testing::BusySnapshot(); };
  Start();
  const std::string dom = Dom();
  EXPECT_NE(dom.find("topk"), std::string::npos) << "it is in the table";
  EXPECT_NE(dom.find(">superseded<"), std::string::npos) << dom;
  EXPECT_EQ(dom.find("<title>topk"), std::string::npos) << "it is not drawn";
  EXPECT_NE(dom.find("<title>gelu_half: no improvement</title>"), std::string::npos) << dom;
}

TEST_F(StatusPageTest, CanBeReadWithoutEyes) {
  hooks_.snapshot = [] { return testing::BusySnapshot(); };
  Start();
  const std::string dom = Dom();
  EXPECT_NE(dom.find("<html lang=\"en\""), std::string::npos);
  EXPECT_EQ(Count(dom, "<h1"), 1u);
  EXPECT_EQ(Count(dom, "<section aria-labelledby="), 6u);
  EXPECT_EQ(Count(dom, "<img "), Count(dom, "alt=\"\""));
  EXPECT_GT(Count(dom, "<table"), 3u);
  EXPECT_EQ(Count(dom, "<table"), Count(dom, "<table role=\"table\""));
  EXPECT_EQ(Count(dom, "<th "), Count(dom, "scope=\"col\""));
  EXPECT_EQ(Count(dom, "<svg "), Count(dom, "role=\"img\"") + Count(dom, "aria-hidden=\"true\""));
  EXPECT_NE(dom.find("role=\"status\""), std::string::npos);
  EXPECT_NE(dom.find("role=\"alert\""), std::string::npos);
  EXPECT_NE(dom.find("href=\"#main\""), std::string::npos);
  EXPECT_NE(dom.find("aria-pressed=\"false\""), std::string::npos);
  EXPECT_NE(dom.find("Show<span class=\"hidden\"> what was tried for softmax</span>"), std::string::npos);
}

// A night is of no kernel, and gains have the form that they have everywhere.
TEST_F(StatusPageTest, ANightHasANameAndGainsHaveTheUsualForm) {
  hooks_.snapshot = [] {
    service::DaemonSnapshot snapshot = testing::BusySnapshot();
    snapshot.jobs.back().kind = service::JobKind::kNightly;
    snapshot.jobs.back().kernel.clear();
    snapshot.jobs.back().message = "1 became slower\nrow_sum: twice the time";
    std::erase_if(snapshot.jobs, [](const service::JobSnapshot& job) {
      return job.kind == service::JobKind::kOptimize && job.outcome != core::TaskOutcome::kImproved;
    });
    std::swap(snapshot.jobs.front(), snapshot.jobs.back());  // the page begins with the latest
    return snapshot;
  };
  Start();
  const std::string dom = Dom();
  EXPECT_NE(dom.find("nightly run<span class=\"sub\"><bdi>acme/kernels"), std::string::npos) << dom;
  EXPECT_NE(dom.find("1 became slower</bdi><br><bdi>row_sum: twice the time"), std::string::npos) << dom;
  EXPECT_NE(dom.find("class=\"gain\">"), std::string::npos);
  EXPECT_EQ(dom.find("×"), std::string::npos);
}

TEST_F(StatusPageTest, SaysThatThereIsNothing) {
  hooks_.snapshot = [] { return testing::IdleSnapshot(); };
  Start();
  const std::string dom = Dom();
  EXPECT_EQ(console_, "");
  for (const char* text : {"No job is running", "No job is waiting.", "No job has ended yet.",
                           "No repository is watched.", "Nothing has been measured yet."})
    EXPECT_NE(dom.find(text), std::string::npos) << text;
}

TEST_F(StatusPageTest, TextNeverBecomesMarkup) {
  const std::string evil =
      "\"'><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script><svg "
      "onload=alert(1)>\xe2\x80\xae\x07&lt;b&gt;";
  hooks_.snapshot = [&] { return testing::SnapshotOf(evil); };
  hooks_.trajectory = [&](int64_t) -> Result<std::string> {
    return service::TrajectoryJson(testing::BusyTrajectory(evil));
  };
  Start();
  const std::string dom = Dom();
  EXPECT_EQ(console_, "");
  EXPECT_NE(dom.find("&lt;img src=x onerror"), std::string::npos) << dom;
  EXPECT_EQ(dom.find("<img src=\"x\""), std::string::npos);
  EXPECT_EQ(dom.find("<svg onload"), std::string::npos);
  EXPECT_EQ(Count(dom, "<script"), 1u);
  EXPECT_EQ(Count(dom, "owned</title>"), 0u);
  EXPECT_EQ(dom.find("\xe2\x80\xae"), std::string::npos);
}

TEST_F(StatusPageTest, FollowsOnlyWebLinks) {
  hooks_.snapshot = [] {
    service::DaemonSnapshot snapshot = testing::SnapshotOf("javascript:document.title='owned'");
    snapshot.jobs.back().pull_request_url = "https://github.com/acme/kernels/pull/7";
    snapshot.jobs.back().phase = snapshot.jobs.front().phase = service::JobPhase::kDone;
    return snapshot;
  };
  Start();
  const std::string dom = Dom();
  EXPECT_EQ(dom.find("href=\"javascript:"), std::string::npos);
}

TEST_F(StatusPageTest, SaysWhyItIsNotReady) {
  hooks_.snapshot = [] {
    service::DaemonSnapshot snapshot = testing::IdleSnapshot();
    snapshot.ready = false;
    snapshot.not_ready = {"device cuda:0 does not answer"};
    return snapshot;
  };
  Start();
  const std::string dom = Dom();
  EXPECT_NE(dom.find(">Not ready<"), std::string::npos);
  EXPECT_NE(dom.find("device cuda:0 does not answer"), std::string::npos);
}

TEST_F(StatusPageTest, SaysThatTheDaemonFails) {
  hooks_.snapshot = []() -> service::DaemonSnapshot { throw std::runtime_error("a bug"); };
  Start();
  const std::string dom = Dom();
  EXPECT_NE(dom.find("The daemon responded with an error (500)"), std::string::npos) << dom;
  EXPECT_NE(dom.find("class=\"blank\""), std::string::npos);
}

TEST_F(StatusPageTest, SaysThatTheDaemonStoppedAndKeepsWhatItSaid) {
  std::atomic<int> calls = 0;
  hooks_.snapshot = [&] {
    ++calls;
    return testing::BusySnapshot();
  };
  Start();
  std::jthread stopper([&] {
    while (calls == 0) std::this_thread::yield();
    endpoints_->Stop();
  });
  const std::string dom = Dom(60'000);
  stopper.join();
  EXPECT_NE(dom.find("The daemon has stopped, or cannot be reached. The data shown is from "), std::string::npos)
      << dom;
  EXPECT_NE(dom.find("<title>stopped · warpwright</title>"), std::string::npos);
  EXPECT_NE(dom.find("layernorm_forward"), std::string::npos);
  EXPECT_NE(dom.find("class=\"stale\""), std::string::npos);
}

}  // namespace
}  // namespace warpwright
