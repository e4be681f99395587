#include "service/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "memory/sqlite.h"
#include "service/store_state.h"
#include "tests/unit/service/fake_clock.h"

namespace warpwright {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""h;

const std::string kRepo = "acme/kernels", kMain = "refs/heads/main";
const std::string kA(40, 'a'), kB(40, 'b'), kC(40, 'c');

service::NewJob Entry(const std::string& kernel, const std::string& key) {
  service::NewJob job;
  job.kernel = kernel;
  job.file = kernel + ".cu";
  job.entry = kernel;
  job.key = key;
  job.file_hash = "hash of " + key;
  return job;
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() : folder_(std::move(*base::TemporaryDirectory::Create("ww-store"))) { Open(); }
  void Open(service::StoreLimits limits = {}) {
    store_.reset();
    auto store = service::Store::Open(folder_.path(), clock_, limits);
    ASSERT_TRUE(store) << store.error().Format();
    store_ = std::move(*store);
    ASSERT_TRUE(store_->Watch(kRepo, "https://example.org/acme/kernels.git"));
  }
  // A move of main to `to`, and the detected entries.
  service::Detected Push(const std::string& to, const std::vector<service::NewJob>& jobs,
                         const std::string& repository = kRepo) {
    EXPECT_EQ(*store_->RecordTips(repository, {{kMain, to}}), 1);
    const auto event = *store_->NextEvent();
    EXPECT_TRUE(event);
    return *store_->FinishEvent(*event, jobs);
  }
  void Finish(int64_t job, core::TaskOutcome outcome) {
    service::JobChange change;
    change.result = service::JobResult{
        .outcome = outcome, .gain = 1, .rounds = 1, .evaluations = 1, .seconds = 1.0, .trajectory_task = 1};
    ASSERT_TRUE(store_->Advance(job, service::JobState::kFinished, change));
    ASSERT_TRUE(store_->Advance(job, service::JobState::kReported));
    ASSERT_TRUE(store_->Advance(job, service::JobState::kDone));
  }
  std::vector<std::string> Names(service::JobPhase phase) {
    std::vector<std::string> names;
    for (const auto& job : store_->Snapshot().jobs)
      if (job.phase == phase) names.push_back(job.kernel);
    std::sort(names.begin(), names.end());
    return names;
  }

  base::TemporaryDirectory folder_;
  FakeClock clock_;
  std::unique_ptr<service::Store> store_;
};
using Strings = std::vector<std::string>;

TEST_F(StoreTest, OnlyOneDaemonWorksOnAFolder) {
  const auto second = service::Store::Open(folder_.path(), clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos) << second.error().message;
}

TEST_F(StoreTest, ANewerSchemaIsRefused) {
  store_.reset();
  {
    auto db = memory::OpenDatabase(folder_.path() / "daemon.sqlite", 0x57574431);
    ASSERT_TRUE(db);
    db->exec("PRAGMA user_version=999");
  }
  const auto store = service::Store::Open(folder_.path(), clock_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kUnsupported);
}

TEST_F(StoreTest, AMigrationLeavesACopyOfWhatWas) {
  const auto path = folder_.path() / "other.sqlite";
  auto db = memory::OpenDatabase(path, 7);
  ASSERT_TRUE(db);
  const char* const first[] = {"CREATE TABLE t(a); INSERT INTO t VALUES(1)"};
  const char* const both[] = {first[0], "DELETE FROM t"};
  ASSERT_TRUE(service::MigrateWithCopy(*db, path, first));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".schema-0")) << "there was nothing";
  ASSERT_TRUE(service::MigrateWithCopy(*db, path, both));
  auto copy = memory::OpenDatabase(path.string() + ".schema-1", 7);
  ASSERT_TRUE(copy);
  EXPECT_EQ(*memory::SchemaVersion(*copy), 1);
  EXPECT_EQ(copy->execAndGet("SELECT count(*) FROM t").getInt(), 1);
}

// Of a state folder from before the table of proposals.
TEST_F(StoreTest, AnOlderSchemaKeepsItsMergedGains) {
  store_.reset();
  {
    auto db = memory::OpenDatabase(folder_.path() / "daemon.sqlite", 0x57574431);
    ASSERT_TRUE(db);
    db->exec("DROP TABLE proposals; PRAGMA user_version=2");
    for (const char* table : {"jobs", "spend"})
      for (const char* column : {"model_questions", "model_unknown", "model_gains"})
        db->exec(std::string("ALTER TABLE ") + table + " DROP COLUMN " + column);
    db->exec(
        "ALTER TABLE jobs DROP COLUMN model_dollars; INSERT INTO spend VALUES('2026-01-01', 'acme/kernels', 7, 2)");
    db->exec(
        "INSERT INTO jobs(id, repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, "
        "state, again, answer_issue, answer_comment, queued, gain, gain_low, gain_high, modelled) VALUES(9, "
        "'acme/kernels', 'r', 'c', 'optimize', 'softmax', 'f', 'e', 'k', 'h', 0, 'done', 0, 0, 0, 1, 1.5, 1.4, 1.6, "
        "0)");
    for (const char* row : {"'softmax', 'b', 'c', 'base', 'h', 3, 'https://x/3', 'merged', 5, 9",
                            "'gelu', 'b', 'c', 'base', 'h', 4, 'https://x/4', 'open', 6, 10",
                            "'scan', 'b', 'c', 'base', 'h', 5, 'https://x/5', 'merged', 7, 10"})
      db->exec(std::string("INSERT INTO publications VALUES('acme/kernels', ") + row + ")");
  }
  Open();
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "daemon.sqlite.schema-2"));
  const auto merged = store_->Merged(kRepo);
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->size(), 2u);
  EXPECT_EQ(merged->at(0).kernel, "scan");
  EXPECT_EQ(merged->at(0).gain, 0) << "its job is forgotten";
  EXPECT_EQ(merged->at(1).url, "https://x/3");
  EXPECT_EQ(merged->at(1).gain, 1.5);
  EXPECT_EQ(merged->at(1).gain_high, 1.6);
  EXPECT_FALSE(merged->at(1).modelled);
  ASSERT_TRUE(store_->RecordMerged(kRepo, 4));
  EXPECT_EQ(store_->Merged(kRepo)->size(), 3u);
}

// A job is told again after each of its runs, with all that its task took so far.
TEST_F(StoreTest, CountsWhatModelsCostOnceAndTheUnknownAsUnknown) {
  ASSERT_TRUE(store_->Watch("other", "https://example.org/other.git"));
  for (const std::string& repository : {kRepo, std::string("other")})
    (void)store_->RecordTips(repository, {{kMain, kA}});
  Push(kB, {Entry("softmax", "1")});
  Push(kB, {Entry("gelu", "2")}, "other");
  const int64_t job = (*store_->Lease("d"))->id, other = (*store_->Lease("e"))->id;
  const auto spent = [&](const std::string& name) { return store_->Snapshot().spend.at(name); };
  ASSERT_TRUE(store_->Spend(job, 2, {.dollars = 0.5, .questions = 2, .unknown = 0, .gains = 0}));
  ASSERT_TRUE(store_->Spend(job, 1, {.dollars = 0.75, .questions = 4, .unknown = 1, .gains = 1}));
  EXPECT_EQ(spent("gpu_minutes_today"), 3);
  EXPECT_EQ(spent("model_dollars_total"), 0.75);
  EXPECT_EQ(spent("model_questions_today"), 4);
  EXPECT_EQ(spent("model_unknown_costs_total"), 1);
  EXPECT_EQ(spent("model_gains_total"), 1);
  ASSERT_TRUE(store_->Spend(job, 0, {.dollars = 0.25, .questions = 1, .unknown = 0, .gains = 1}));
  EXPECT_EQ(spent("model_dollars_total"), 1) << "a task that was begun anew";
  ASSERT_TRUE(store_->Spend(other, 5, {.dollars = 0, .questions = 0, .unknown = 0, .gains = 3}));
  EXPECT_EQ(spent("model_gains_total"), 2) << "no model was asked for these";
  for (const auto& repository : store_->Snapshot().repositories) {
    EXPECT_EQ(repository.spend.at("gpu_minutes_total"), repository.name == "other" ? 5 : 3) << repository.name;
    EXPECT_EQ(repository.spend.at("model_questions_total"), repository.name == "other" ? 0 : 5) << repository.name;
  }
}

TEST_F(StoreTest, TheFirstLookMakesNoEventAndTheSecondOne) {
  EXPECT_EQ(*store_->RecordTips(kRepo, {{kMain, kA}}), 0);
  EXPECT_FALSE(*store_->NextEvent());
  EXPECT_EQ(*store_->RecordTips(kRepo, {{kMain, kB}}), 1);
  EXPECT_EQ(*store_->RecordTips(kRepo, {{kMain, kB}}), 0);
  Open();
  const auto event = *store_->NextEvent();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->from, kA);
  EXPECT_EQ(event->to, kB);
}

TEST_F(StoreTest, MovesThatNobodyLookedIntoAreOneEvent) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  (void)store_->RecordTips(kRepo, {{kMain, kB}});
  (void)store_->RecordTips(kRepo, {{kMain, kC}});
  auto event = *store_->NextEvent();
  EXPECT_EQ(event->from + event->to, kA + kC);
  (void)store_->RecordTips(kRepo, {{kMain, kA}});  // moved there and back
  EXPECT_FALSE(*store_->NextEvent());
}

TEST_F(StoreTest, WhatMovesDuringDetectionIsNotLost) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  (void)store_->RecordTips(kRepo, {{kMain, kB}});
  const auto event = *store_->NextEvent();
  (void)store_->RecordTips(kRepo, {{kMain, kC}});
  ASSERT_TRUE(store_->FinishEvent(*event, {Entry("softmax", "k1")}));
  const auto rest = *store_->NextEvent();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->from + rest->to, kB + kC);
}

TEST_F(StoreTest, ADeletedBranchThatReturnsIsComparedWithWhatItWas) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  EXPECT_EQ(*store_->RecordTips(kRepo, {}), 0);
  EXPECT_TRUE(store_->Tips(kRepo)->empty());
  EXPECT_EQ(*store_->RecordTips(kRepo, {{kMain, kB}}), 1);
  EXPECT_EQ((*store_->NextEvent())->from, kA);
}

TEST_F(StoreTest, TheSameWorkIsNotDoneTwice) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  EXPECT_EQ(Push(kB, {Entry("softmax", "k1"), Entry("gelu", "g1")}).queued, 2);
  EXPECT_EQ(Push(kC, {Entry("softmax", "k1")}).repeated, 1);  // queued: it moves to the newer commit
  auto job = *store_->Lease("sim:h200");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->what.kernel, "softmax");
  EXPECT_EQ(job->commit, kC);
  EXPECT_EQ(Push(kA, {Entry("softmax", "k1")}).repeated, 1);  // running
  Finish(job->id, core::TaskOutcome::kUnchanged);
  EXPECT_EQ(Push(kB, {Entry("softmax", "k1")}).repeated, 1);  // done
  EXPECT_EQ(Push(kC, {Entry("softmax", "k2")}).queued, 1);
}

TEST_F(StoreTest, AnErrorMayBeTriedAgainAndSoMayWhatSomebodyAsksFor) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kError);
  EXPECT_EQ(Push(kC, {Entry("softmax", "k1")}).queued, 1);
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kUnchanged);
  service::Event event;
  event.repository = kRepo;
  event.ref = kMain;
  event.to = kC;
  event.priority = service::JobPriority::kCommand;
  ASSERT_TRUE(store_->AddEvent(event));
  EXPECT_EQ(store_->FinishEvent(**store_->NextEvent(), {Entry("softmax", "k1")})->repeated, 1);
  event.again = true;
  ASSERT_TRUE(store_->AddEvent(event));
  ASSERT_TRUE(store_->AddEvent(event));  // requested twice
  EXPECT_EQ(store_->FinishEvent(**store_->NextEvent(), {Entry("softmax", "k1")})->queued, 1);
  EXPECT_FALSE(*store_->NextEvent());
  EXPECT_TRUE((*store_->Lease("d"))->again);
}

TEST_F(StoreTest, ANewerVersionSupersedesWhatIsNotPushed) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  const service::Detected second = Push(kC, {Entry("softmax", "k2")});
  EXPECT_EQ(second.queued, 1);
  EXPECT_EQ(second.superseded, 1);
  const auto running = *store_->Lease("d");
  EXPECT_EQ(running->what.key, "k2");
  EXPECT_EQ(Push(kA, {Entry("softmax", "k3")}).superseded, 0);  // a running one ends by itself
  EXPECT_TRUE(*store_->IsOutdated(*running));
  EXPECT_FALSE(*store_->Lease("e")) << "two devices must not work on one entry";
}

TEST_F(StoreTest, AfterARevertTheOldVersionIsPublishedAgain) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kImproved);
  Push(kC, {Entry("softmax", "k2")});
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kImproved);
  EXPECT_EQ(Push(kB, {Entry("softmax", "k1")}).queued, 1);
}

TEST_F(StoreTest, LeasesByPriorityThenInTurn) {
  ASSERT_TRUE(store_->Watch("other", "/other"));
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  (void)store_->RecordTips("other", {{kMain, kA}});
  Push(kB, {Entry("a1", "1"), Entry("a2", "2"), Entry("a3", "3")});
  Push(kB, {Entry("b1", "1"), Entry("b2", "2")}, "other");
  service::Event event;
  event.repository = kRepo;
  event.ref = kMain;
  event.to = kB;
  event.priority = service::JobPriority::kCommand;
  event.kernel = "urgent";
  ASSERT_TRUE(store_->AddEvent(event));
  (void)store_->FinishEvent(**store_->NextEvent(), {Entry("urgent", "u")});
  Strings order;
  for (int i = 0; i < 6; ++i) {
    const auto job = *store_->Lease("d");
    ASSERT_TRUE(job);
    order.push_back(job->what.kernel);
    EXPECT_FALSE(*store_->Lease("d")) << "one job at a time";
    Finish(job->id, core::TaskOutcome::kUnchanged);
  }
  EXPECT_EQ(order, (Strings{"urgent", "b1", "a1", "b2", "a2", "a3"}));
}

TEST_F(StoreTest, WhatDoesNotFitStaysAnEvent) {
  Open({.queue = 2});
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  const std::vector<service::NewJob> jobs = {Entry("a", "1"), Entry("b", "2"), Entry("c", "3")};
  EXPECT_FALSE(Push(kB, jobs).all);
  EXPECT_FALSE(*store_->NextEvent()) << "there is no room";
  EXPECT_EQ(store_->Snapshot().gauges.at("events_waiting"), 1);
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kUnchanged);
  const auto event = *store_->NextEvent();
  ASSERT_TRUE(event);
  const auto rest = *store_->FinishEvent(*event, jobs);
  EXPECT_TRUE(rest.all);
  EXPECT_EQ(rest.queued, 1);
  EXPECT_EQ(rest.repeated, 2);
}

TEST_F(StoreTest, IgnoredUntilTheFileChangesOrSomebodyAsks) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  ASSERT_TRUE(store_->Ignore({kRepo, "softmax", "hash of k1", "closed", 0}));
  EXPECT_EQ(Push(kB, {Entry("softmax", "k1")}).ignored, 1);
  EXPECT_EQ(Push(kC, {Entry("softmax", "k2")}).queued, 1);
  EXPECT_FALSE(*store_->FindIgnored(kRepo, "softmax"));
  ASSERT_TRUE(store_->Ignore({kRepo, "gelu", "", "told so", 0}));
  EXPECT_EQ(Push(kA, {Entry("gelu", "g9")}).ignored, 1);
}

TEST_F(StoreTest, ARunningJobIsQueuedAgainAfterARestart) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  const auto job = *store_->Lease("d");
  Open();
  EXPECT_EQ(Names(service::JobPhase::kQueued), Strings{"softmax"});
  const auto again = *store_->Lease("e");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, job->id);
  EXPECT_EQ(again->attempts, 0) << "it was not its fault";
}

TEST_F(StoreTest, FailuresWaitLongerEachTime) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  service::JobChange failed;
  failed.failed_attempt = true;
  failed.note = "no compiler";
  for (const auto wait : {31s, 121s, 481s}) {
    const auto job = *store_->Lease("d");
    ASSERT_TRUE(job);
    ASSERT_TRUE(store_->Advance(job->id, service::JobState::kFailed, failed));
    EXPECT_FALSE(*store_->Lease("d"));
    clock_.Advance(wait);
  }
  EXPECT_EQ((*store_->Lease("d"))->attempts, 3);
}

TEST_F(StoreTest, IllegalChangesOfStateAreRefused) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("softmax", "k1")});
  const auto job = *store_->Lease("d");
  EXPECT_FALSE(store_->Advance(job->id, service::JobState::kDone));
  EXPECT_FALSE(store_->Advance(job->id, service::JobState::kRunning));
  EXPECT_FALSE(store_->Advance(999, service::JobState::kRunning));
  EXPECT_EQ(store_->FindJob(job->id)->state, service::JobState::kRunning);
}

TEST_F(StoreTest, StopCancelsWhatWaitsAndNamesWhatRuns) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("a", "1"), Entry("b", "2")});
  const auto job = *store_->Lease("d");
  EXPECT_EQ(*store_->Cancel(kRepo, "", "stop"), std::vector<int64_t>{job->id});
  EXPECT_EQ(Names(service::JobPhase::kDone), (Strings{"a", "b"}));
  EXPECT_FALSE(*store_->Lease("d"));
  EXPECT_EQ(store_->Snapshot().counters.at("jobs_total").at("cancelled"), 2);
}

TEST_F(StoreTest, DeliveriesCountOnceAlsoAfterARestart) {
  EXPECT_TRUE(*store_->RememberDelivery("id1", "push", "{}"));
  EXPECT_FALSE(*store_->RememberDelivery("id1", "push", "{}"));
  Open();
  EXPECT_FALSE(*store_->RememberDelivery("id1", "push", "{}"));
  auto waiting = *store_->WaitingDeliveries(10, false);
  ASSERT_EQ(waiting.size(), 1u);
  ASSERT_TRUE(store_->TriageDeliveries({{"id1", 2, ""}}));
  EXPECT_TRUE(store_->WaitingDeliveries(10, false)->empty());
  EXPECT_EQ(store_->WaitingDeliveries(10, true)->size(), 1u);
  service::Event event;
  event.repository = kRepo;
  event.to = kA;
  ASSERT_TRUE(store_->FinishDelivery("id1", "done", {event}));
  ASSERT_TRUE(store_->FinishDelivery("id1", "done", {event}));
  EXPECT_TRUE(*store_->NextEvent());
  EXPECT_TRUE(store_->WaitingDeliveries(10, true)->empty());
  EXPECT_FALSE(*store_->RememberDelivery("id1", "push", "{}"));
  clock_.Advance(std::chrono::hours(71));
  ASSERT_TRUE(store_->ApplyRetention());
  EXPECT_FALSE(*store_->RememberDelivery("id1", "push", "{}")) << "GitHub redelivers for three days";
  clock_.Advance(std::chrono::hours(3));
  ASSERT_TRUE(store_->ApplyRetention());
  EXPECT_TRUE(*store_->RememberDelivery("id1", "push", "{}"));
}

TEST_F(StoreTest, WaitingDeliveriesAreBounded) {
  Open({.waiting_deliveries = 2, .waiting_delivery_bytes = 100});
  EXPECT_TRUE(*store_->RememberDelivery("1", "push", std::string(60, 'x')));
  EXPECT_FALSE(store_->RememberDelivery("2", "push", std::string(60, 'x')));
  EXPECT_TRUE(*store_->RememberDelivery("3", "push", "x"));
  EXPECT_FALSE(store_->RememberDelivery("4", "push", "x"));
  ASSERT_TRUE(store_->FinishDelivery("1", "done"));
  EXPECT_TRUE(*store_->RememberDelivery("4", "push", std::string(60, 'x')));
  Open({.waiting_deliveries = 2, .waiting_delivery_bytes = 100});
  EXPECT_FALSE(store_->RememberDelivery("5", "push", "x")) << "counted anew after a restart";
}

TEST_F(StoreTest, ADeliveryThatCannotBeHandledIsGivenUpInTheEnd) {
  (void)store_->RememberDelivery("1", "push", "{}");
  int tries = 0;
  for (; tries < 20 && store_->Snapshot().gauges.at("deliveries_waiting") > 0; ++tries) {
    ASSERT_TRUE(store_->DeliveryFailed("1", "no answer"));
    clock_.Advance(901s);
  }
  EXPECT_EQ(tries, 8);
}

TEST_F(StoreTest, PullRequestsAreCountedByDayAndByWhatIsOpen) {
  const auto open = [&](const std::string& kernel, int64_t number) {
    ASSERT_TRUE(store_->PutPublication(
        {kRepo, kernel, "warpwright/" + kernel, kA, kB, "h", number, "url", service::PublicationState::kOpen, 0, 1}));
  };
  open("a", 1);
  open("b", 2);
  auto usage = *store_->PullRequests(kRepo, "a");
  EXPECT_EQ(usage.open, 1) << "its own does not count";
  EXPECT_EQ(usage.opened_today, 2);
  ASSERT_TRUE(store_->PutPublication(
      {kRepo, "b", "warpwright/b", kA, kB, "h", 2, "url", service::PublicationState::kClosed, 0, 1}));
  open("b", 3);
  usage = *store_->PullRequests(kRepo, "");
  EXPECT_EQ(usage.open, 2);
  EXPECT_EQ(usage.opened_today, 3);
  clock_.Advance(24h);
  EXPECT_EQ(store_->PullRequests(kRepo, "")->opened_today, 0);
}

TEST_F(StoreTest, ARepositoryThatLeftTheConfigurationLeavesNoWork) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("a", "1")});
  ASSERT_TRUE(store_->Forget(kRepo));
  EXPECT_FALSE(*store_->Lease("d"));
  EXPECT_TRUE(store_->Snapshot().repositories.empty());
}

TEST_F(StoreTest, ANightIsStartedOnce) {
  ASSERT_TRUE(store_->StartNight(kRepo, 1000, "", ""));
  EXPECT_EQ(*store_->NightStarted(kRepo), 1000);
  ASSERT_TRUE(store_->StartNight(kRepo, 2000, kMain, kA));
  ASSERT_TRUE(store_->StartNight(kRepo, 2000, kMain, kA));
  const auto job = *store_->Lease("d");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->what.kind, service::JobKind::kNightly);
  ASSERT_TRUE(store_->StartNight(kRepo, 3000, kMain, kA));  // the last run is still unfinished
  EXPECT_FALSE(*store_->Lease("e"));
}

TEST_F(StoreTest, OldJobsGo) {
  Open({.kept_jobs = 2});
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("a", "1"), Entry("b", "2"), Entry("c", "3"), Entry("d", "4")});
  for (int i = 0; i < 3; ++i) Finish((*store_->Lease("d"))->id, core::TaskOutcome::kUnchanged);
  ASSERT_TRUE(store_->ApplyRetention());
  EXPECT_EQ(Names(service::JobPhase::kDone), (Strings{"b", "c"}));
  EXPECT_EQ(Names(service::JobPhase::kQueued), (Strings{"d"}));
  ASSERT_TRUE(store_->Checkpoint());
}

TEST_F(StoreTest, DashboardsAreStaleAfterAChangeOnly) {
  (void)store_->RecordTips(kRepo, {{kMain, kA}});
  Push(kB, {Entry("a", "1")});
  auto stale = *store_->StaleDashboards();
  ASSERT_EQ(stale.size(), 1u);
  Finish((*store_->Lease("d"))->id, core::TaskOutcome::kUnchanged);
  ASSERT_TRUE(store_->DashboardShown(kRepo, stale[kRepo], "digest"));
  EXPECT_EQ(store_->StaleDashboards()->size(), 1u) << "it changed meanwhile";
  ASSERT_TRUE(store_->DashboardShown(kRepo, store_->StaleDashboards()->at(kRepo), "digest"));
  EXPECT_TRUE(store_->StaleDashboards()->empty());
}

}  // namespace
}  // namespace warpwright
