#include "repo/ref_watcher.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Names = std::vector<std::string>;

class PollScheduleTest : public testing::Test {
 protected:
  // The time until the next poll, in whole seconds, rounded up: the jitter only shortens it.
  int64_t Wait() const { return std::chrono::ceil<seconds>(*schedule.NextDue() - now).count(); }
  void Look(repo::PollResult outcome) {
    now = std::max(now, *schedule.NextDue());
    ASSERT_EQ(schedule.Due(now), Names{"a"});
    schedule.Finished("a", outcome, now);
  }
  repo::PollSchedule schedule{{seconds(60), seconds(900), 7}};
  repo::PollSchedule::Time now{std::chrono::hours(1)};
};

TEST_F(PollScheduleTest, WaitsDoubleWhileNothingHappensAndBeginAgainWithAChange) {
  schedule.Set({"a"}, now);
  struct Row {
    repo::PollResult outcome;
    int64_t seconds;
  };
  for (const Row& row : {Row{repo::PollResult::kChanged, 60},
                         {repo::PollResult::kNothing, 120},
                         {repo::PollResult::kNothing, 240},
                         {repo::PollResult::kFailed, 480},
                         {repo::PollResult::kFailed, 900},
                         {repo::PollResult::kNothing, 900},
                         {repo::PollResult::kChanged, 60},
                         {repo::PollResult::kNothing, 120}}) {
    Look(row.outcome);
    EXPECT_LE(Wait(), row.seconds);
    EXPECT_GE(Wait(), row.seconds * 9 / 10);
  }
}

TEST_F(PollScheduleTest, AWakeUpIsDueAtOnceAndDuringALookRightAfterIt) {
  schedule.Set({"a"}, now);
  Look(repo::PollResult::kChanged);
  now += seconds(1);
  EXPECT_EQ(schedule.Due(now), Names{});
  EXPECT_TRUE(schedule.Wake("a", now));
  EXPECT_EQ(schedule.NextDue(), now);
  EXPECT_EQ(schedule.Due(now), Names{"a"});
  EXPECT_TRUE(schedule.Wake("a", now));
  EXPECT_EQ(schedule.Due(now), Names{}) << "it is being looked at";
  EXPECT_EQ(schedule.NextDue(), std::nullopt);
  schedule.Finished("a", repo::PollResult::kNothing, now);
  EXPECT_EQ(schedule.Due(now), Names{}) << "not one look after the other, however often it is woken";
  now += milliseconds(500);
  EXPECT_EQ(schedule.Due(now), Names{"a"}) << "what woke it may have come too late for that look";
  schedule.Wake("a", now);
  schedule.Finished("a", repo::PollResult::kFailed, now);
  EXPECT_EQ(schedule.Due(now), Names{}) << "a remote that fails is not hammered";
  EXPECT_LE(Wait(), 60);
  EXPECT_FALSE(schedule.Wake("b", now));
  schedule.Finished("b", repo::PollResult::kNothing, now);
}

TEST_F(PollScheduleTest, HundredsOfWakeUpsASecondAreAFewLooks) {
  schedule.Set({"a"}, now);
  int looks = 0;
  for (int i = 0; i < 5000; ++i, now += milliseconds(2)) {
    schedule.Wake("a", now);
    if (schedule.Due(now).empty()) continue;
    ++looks;
    schedule.Finished("a", repo::PollResult::kChanged, now);
  }
  EXPECT_EQ(looks, 20);
}

TEST_F(PollScheduleTest, ManyAreSpreadAndTheLongestDueComesFirst) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert("r" + std::to_string(i));
  schedule.Set(names, now);
  for (const auto& name : schedule.Due(now)) schedule.Finished(name, repo::PollResult::kChanged, now);
  EXPECT_LT(schedule.Due(now + seconds(55)).size(), 60u);
  schedule.Set({"x", "y"}, now + seconds(1));
  schedule.Set({"x", "y", "a"}, now);
  EXPECT_EQ(schedule.Due(now + seconds(2)), (Names{"a", "x", "y"}));
  schedule.Set({"y"}, now + seconds(5));
  schedule.Finished("x", repo::PollResult::kNothing, now);
  EXPECT_EQ(schedule.NextDue(), std::nullopt) << "y is busy, x is gone";
}

class RefWatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    repository.Write("a.cu", "1\n");
    repository.Commit("first");
    watcher = std::move(*repo::RefWatcher::Create({seconds(600), seconds(900), 1, milliseconds(0)}, clock));
  }
  void Begin(const std::string& url) {
    watcher->Set({{"r", url}});
    EXPECT_EQ(Next(), Names{"r"}) << "new ones are looked at once";
    watcher->Finished("r", repo::PollResult::kNothing);
    Quiet();
  }
  // What becomes due within two seconds, as the daemon's loop would see it.
  Names Next() {
    const auto deadline = clock.Steady() + seconds(2);
    while (clock.Steady() < deadline) {
      pollfd waiting{watcher->fd(), POLLIN, 0};
      if (::poll(&waiting, 1, 2000) <= 0) break;
      if (auto due = watcher->Due(); !due.empty()) return due;
    }
    return {};
  }
  // Drains whatever is still to be reported about past events.
  void Quiet() {
    for (pollfd waiting{watcher->fd(), POLLIN, 0}; ::poll(&waiting, 1, 20) > 0;)
      for (const auto& name : watcher->Due()) watcher->Finished(name, repo::PollResult::kNothing);
  }
  testing::AssertionResult Notices(const std::string& what, const std::function<void()>& act) {
    act();
    const Names due = Next();
    for (const auto& name : due) watcher->Finished(name, repo::PollResult::kNothing);
    Quiet();
    return due == Names{"r"} ? testing::AssertionSuccess() : testing::AssertionFailure() << what << " went unnoticed";
  }
  base::SystemClock clock;
  TempRepository repository;
  std::unique_ptr<repo::RefWatcher> watcher;
};

TEST_F(RefWatcherTest, EveryWayInWhichABranchMovesIsNoticed) {
  for (const bool bare : {false, true}) {
    if (bare) {
      repository.Git({"clone", "-q", "--bare", repository.path().string(), (repository.path() / "bare.git").string()});
      repository.Git({"remote", "add", "bare", (repository.path() / "bare.git").string()});
      watcher = std::move(*repo::RefWatcher::Create({seconds(600), seconds(900), 1, milliseconds(0)}, clock));
    }
    Begin(bare ? "file://" + (repository.path() / "bare.git").string() : repository.path().string());
    ASSERT_TRUE(watcher->Notices("r"));
    const auto move = [&](const std::string& spec) {
      if (bare) repository.Git({"push", "-q", "-f", "bare", spec});
      else if (spec[0] == ':') repository.Git({"branch", "-q", "-D", spec.substr(spec.rfind("heads/") + 6)});
      else if (spec != "main")
        repository.Git({"branch", "-f", spec.substr(spec.rfind("heads/") + 6), spec.substr(0, spec.find(':'))});
    };
    EXPECT_TRUE(Notices("a commit", [&] {
      repository.Commit("more");
      move("main");
    }));
    EXPECT_TRUE(Notices("a new branch", [&] { move("main:refs/heads/topic"); }));
    EXPECT_TRUE(Notices("a branch in new folders", [&] { move("main:refs/heads/deep/er/branch"); }));
    EXPECT_TRUE(Notices("its next move", [&] { move("main~1:refs/heads/deep/er/branch"); }));
    EXPECT_TRUE(Notices("its end", [&] { move(":refs/heads/deep/er/branch"); }));
    EXPECT_TRUE(Notices("packing", [&] { repository.Git({"-C", bare ? "bare.git" : ".", "pack-refs", "--all"}); }));
    EXPECT_TRUE(Notices("the end of a packed branch", [&] { move(":refs/heads/topic"); }));
    EXPECT_TRUE(Notices("a branch after all", [&] { move("main:refs/heads/deep/again"); }));
  }
}

TEST_F(RefWatcherTest, TheIndexAndTheWorkingTreeSayNothing) {
  Begin(repository.path().string());
  repository.Write("b.cu", "2\n");
  repository.Git({"add", "-A"});
  repository.Git({"status"});
  pollfd waiting{watcher->fd(), POLLIN, 0};
  Names due;
  while (::poll(&waiting, 1, 100) > 0)
    for (const auto& name : watcher->Due()) due.push_back(name);
  EXPECT_EQ(due, Names{});
}

TEST_F(RefWatcherTest, ItIsNoticedWithinMilliseconds) {
  Begin(repository.path().string());
  std::vector<int64_t> microseconds;
  for (int i = 0; i < 20; ++i) {
    const std::filesystem::path ref = repository.path() / ".git/refs/heads/made";
    ASSERT_TRUE(base::WriteFileAtomically(ref, "0123456789012345678901234567890123456789\n"));
    const auto moved = clock.Steady();
    ASSERT_EQ(Next(), Names{"r"});
    microseconds.push_back(std::chrono::duration_cast<std::chrono::microseconds>(clock.Steady() - moved).count());
    watcher->Finished("r", repo::PollResult::kNothing);
    Quiet();
  }
  std::sort(microseconds.begin(), microseconds.end());
  RecordProperty("median_us", static_cast<int>(microseconds[10]));
  EXPECT_LT(microseconds[10], 20'000);
}

TEST_F(RefWatcherTest, ARepositoryThatComesLaterOrIsMadeAnewIsWatchedFromItsNextLook) {
  const std::string late = (repository.path() / "late.git").string();
  Begin(late);
  EXPECT_FALSE(watcher->Notices("r"));
  for (int round = 0; round < 2; ++round) {
    repository.Git({"clone", "-q", "--bare", repository.path().string(), late});
    ASSERT_TRUE(watcher->Wake("r"));
    ASSERT_EQ(Next(), Names{"r"});
    EXPECT_TRUE(watcher->Notices("r"));
    watcher->Finished("r", repo::PollResult::kNothing);
    Quiet();
    std::filesystem::remove_all(late);
    EXPECT_EQ(Next(), Names{"r"});
    watcher->Finished("r", repo::PollResult::kFailed);
    Quiet();
    EXPECT_FALSE(watcher->Notices("r"));
  }
}

TEST_F(RefWatcherTest, OthersWakeItFromTheirThreadsAndTimeDoesToo) {
  watcher = std::move(*repo::RefWatcher::Create({milliseconds(50), milliseconds(100), 1}, clock));
  watcher->Set({{"far", "https://github.com/acme/kernels.git"}});
  EXPECT_FALSE(watcher->Notices("far"));
  ASSERT_EQ(Next(), Names{"far"});
  watcher->Finished("far", repo::PollResult::kNothing);
  EXPECT_EQ(Next(), Names{"far"}) << "its time came";
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) watcher->Wake("far");
  });
  other.join();
  watcher->Finished("far", repo::PollResult::kNothing);
  EXPECT_EQ(Next(), Names{"far"});
  EXPECT_FALSE(watcher->Wake("unknown"));
}

}  // namespace
}  // namespace warpwright
