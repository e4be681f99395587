// The threads around the steps: which event wakes which thread, and how the daemon stops.
#include "service/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/service/world.h"

namespace warpwright {
namespace {

using namespace std::chrono_literals;

bool Eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

// The date can be moved; what waits is not changed.
class MovableDate final : public base::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override { return real_.Now() + std::chrono::hours(hours_.load()); }
  std::chrono::steady_clock::time_point Steady() const override { return real_.Steady(); }
  void Advance(std::chrono::hours by) { hours_ += by.count(); }

 private:
  const base::SystemClock real_;
  std::atomic<int64_t> hours_{0};
};

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    world_.forge.before = world_.forge.after = nullptr;  // points are counted by one thread only
    world_.runner.act = nullptr;
    world_.store->OnCommit(nullptr);
    service::Daemon::BlockSignals();
  }
  ~DaemonTest() override {
    if (!thread_.joinable()) return;
    daemon_->Stop();
    thread_.join();
  }
  void Start(std::chrono::seconds grace = 0s) {
    auto watcher = repo::RefWatcher::Create({1h, 1h, 1}, clock_);  // what it detects by itself is due immediately
    ASSERT_TRUE(watcher);
    watcher_ = std::move(*watcher);
    service::DaemonOptions options;
    options.devices = {"sim:h200"};
    options.grace = grace;
    service::DaemonHooks hooks;
    hooks.ready = [this] { ready_ = true; };
    hooks.draining = [this] { refused_ = true; };
    hooks.reload = [this]() -> Status {
      ++reloads_;
      if (bad_) return Fail(ErrorCode::kConfig, "no");
      return {};
    };
    daemon_ = std::make_unique<service::Daemon>(options, *world_.store, *world_.pipeline, *watcher_, clock_, hooks);
    thread_ = std::thread([this] { ended_ = daemon_->Run().has_value(); });
    ASSERT_TRUE(Eventually([this] { return ready_.load(); }));
  }

  World world_;
  MovableDate clock_;
  std::unique_ptr<repo::RefWatcher> watcher_;
  std::atomic<bool> ready_{false}, refused_{false}, ended_{false}, bad_{false};
  std::atomic<int> reloads_{0};
  std::unique_ptr<service::Daemon> daemon_;
  std::thread thread_;
};

TEST_F(DaemonTest, FromPushToRunningJobWithinASecond) {
  std::atomic<int64_t> begun{0};
  world_.runner.during = [&](const service::RunRequest&, const service::ChildWatch&) {
    begun = std::chrono::steady_clock::now().time_since_epoch().count();
  };
  Start();
  world_.Push("softmax", "// softmax 2\n");
  const auto pushed = std::chrono::steady_clock::now().time_since_epoch().count();
  ASSERT_TRUE(Eventually([&] { return begun != 0; }));
  EXPECT_LT(std::chrono::nanoseconds(begun - pushed), 1s);
  EXPECT_TRUE(Eventually([&] { return world_.Job("softmax").phase == service::JobPhase::kDone; }));
}

TEST_F(DaemonTest, ADeliveryWakesIt) {
  Start();
  world_.Push("softmax", "// softmax 2\n");
  world_.Deliver("d1", "push",
                 R"({"ref":"refs/heads/main","before":")" + std::string(40, 'a') + R"(","after":")" +
                     std::string(40, 'b') +
                     R"(","repository":{"full_name":"acme/kernels"},"sender":{"login":"x","type":"User"}})");
  daemon_->Wake();
  EXPECT_TRUE(Eventually([&] { return world_.Job("softmax").phase == service::JobPhase::kDone; }));
}

// What is kept for days goes by the date, however long the process has run.
TEST_F(DaemonTest, ForgetsByTheDate) {
  ASSERT_TRUE(*world_.store->RememberDelivery("old", "ping", "{}"));
  Start();
  ASSERT_TRUE(Eventually([&] { return world_.store->WaitingDeliveries(10, true)->empty(); }));
  world_.clock.Advance(std::chrono::hours(24 * 4));  // the store's
  ASSERT_FALSE(*world_.store->RememberDelivery("old", "ping", "{}"));
  clock_.Advance(2h);
  EXPECT_TRUE(Eventually([&] {
    daemon_->Wake();
    return *world_.store->RememberDelivery("old", "ping", "{}");
  }));
}

TEST_F(DaemonTest, SigtermLetsTheRunningJobFinishAndBeginsNothing) {
  std::atomic<bool> running{false};
  world_.runner.during = [&](const service::RunRequest&, const service::ChildWatch&) {
    running = true;
    ASSERT_TRUE(Eventually([&] { return refused_.load(); }));
  };
  Start(20s);
  world_.remote.Write("gelu.cu", "// gelu 2\n");
  world_.Push("softmax", "// softmax 2\n");
  ASSERT_TRUE(Eventually([&] { return running.load(); }));
  ::kill(::getpid(), SIGTERM);
  thread_.join();
  EXPECT_TRUE(ended_);
  EXPECT_TRUE(daemon_->draining());
  EXPECT_EQ(world_.runner.runs.size(), 1u);
  world_.Restart();
  world_.Drive();
  EXPECT_EQ(world_.runner.runs.size(), 2u) << "what was finished is not done again, the other one is";
  EXPECT_EQ(world_.Logged("create pull request").size(), 2u);
}

TEST_F(DaemonTest, TheSecondSignalDoesNotWait) {
  std::atomic<bool> running{false};
  world_.runner.during = [&](const service::RunRequest&, const service::ChildWatch& watch) {
    running = true;
    ASSERT_TRUE(Eventually([&] { return watch.stop->load(); }));
  };
  Start(1000s);
  world_.Push("softmax", "// softmax 2\n");
  ASSERT_TRUE(Eventually([&] { return running.load(); }));
  ::kill(::getpid(), SIGTERM);
  ASSERT_TRUE(Eventually([&] { return refused_.load(); }));
  ::kill(::getpid(), SIGTERM);
  thread_.join();
  EXPECT_EQ(world_.Job("softmax").phase, service::JobPhase::kQueued) << "it resumes";
}

TEST_F(DaemonTest, SighupReloadsAndABadConfigurationChangesNothing) {
  Start();
  ::kill(::getpid(), SIGHUP);
  ASSERT_TRUE(Eventually([&] { return reloads_ == 1; }));
  bad_ = true;
  ::kill(::getpid(), SIGHUP);
  ASSERT_TRUE(Eventually([&] { return reloads_ == 2; }));
  EXPECT_FALSE(daemon_->draining());
  EXPECT_LT(daemon_->HeartbeatAge(), 5s);
}

}  // namespace
}  // namespace warpwright
