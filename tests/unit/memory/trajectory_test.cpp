#include "memory/trajectory.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "base/file.h"
#include "base/hash.h"
#include "memory/step_json.h"

namespace warpwright {
namespace {

class FixedClock final : public base::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  }
  std::chrono::steady_clock::time_point Steady() const override { return {}; }
};

core::Candidate MakeCandidate(const std::string& text, const std::string& parent, const std::string& method) {
  return {base::Sha256(text), text, parent, method, {{"width", "4"}}, "did " + method};
}
memory::StepRecord Evaluate(int round, const std::string& base, const std::string& candidate,
                            const std::string& method) {
  memory::StepRecord r;
  r.kind = memory::StepKind::kEvaluate;
  r.round = round;
  r.base = base;
  r.candidate = candidate;
  r.method = method;
  r.parameters = {{"width", "4"}};
  r.evidence_digest = "e1";
  r.reason = "because";
  r.evidence = {"load_efficiency_pct = 12.5 %"};
  r.prediction = {{"dram_throughput_pct", true, 2}};
  return r;
}
memory::StepOutcome Outcome(core::Verdict verdict, double gain = 0, bool accepted = false) {
  memory::StepOutcome o;
  o.verdict = std::move(verdict);
  o.summary = "done";
  o.data = R"({"x":1})";
  o.gain = gain;
  o.accepted = accepted;
  o.before = {{"dram_throughput_pct", 20}};
  o.after = {{"dram_throughput_pct", 55}};
  o.prediction = {{"dram_throughput_pct", true, 2, 20, 55, true}};
  o.time_before_us = 100;
  o.time_after_us = gain > 0 ? 100 / gain : 0;
  o.seconds = 1.5;
  return o;
}

class TrajectoryFile : public testing::Test {
 protected:
  memory::Trajectory Open() {
    auto opened = memory::Trajectory::Open(path_, &clock_);
    EXPECT_TRUE(opened) << opened.error().Format();
    return std::move(*opened);
  }
  void Execute(const char* sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  FixedClock clock_;
  base::TemporaryDirectory folder_ = *base::TemporaryDirectory::Create("trajectory");
  std::filesystem::path path_ = folder_.path() / "state" / "trajectory.db";
  memory::TaskKey key_{"softmax", "base0", "sim:h200", "config0"};
};

TEST_F(TrajectoryFile, TheSameKeyIsTheSameTask) {
  memory::Trajectory t = Open();
  const auto first = t.BeginTask(key_);
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_FALSE(first->result);
  EXPECT_EQ(t.BeginTask(key_)->id, first->id);
  memory::TaskKey other = key_;
  other.config_digest = "config1";
  EXPECT_NE(t.BeginTask(other)->id, first->id);
  ASSERT_TRUE(t.FinishTask(first->id, {core::TaskOutcome::kImproved, "2.5 times faster", "h", 2.5}));
  const auto again = t.BeginTask(key_);
  ASSERT_TRUE(again->result);
  EXPECT_EQ(again->result->outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(again->result->gain, 2.5);
  EXPECT_FALSE(t.FinishTask(99, {}));
}

TEST_F(TrajectoryFile, FinishedStepsAreNotRepeatedAcrossRuns) {
  memory::StepId id = 0;
  {
    memory::Trajectory t = Open();
    const memory::TaskId task = t.BeginTask(key_)->id;
    const auto step = t.Begin(task, Evaluate(1, "b", "c", "m"));
    ASSERT_TRUE(step);
    EXPECT_FALSE(step->outcome);
    id = step->id;
  }  // killed here: started, not finished
  {
    memory::Trajectory t = Open();
    const memory::TaskId task = t.BeginTask(key_)->id;
    const auto step = t.Begin(task, Evaluate(1, "b", "c", "m"));
    EXPECT_EQ(step->id, id);
    EXPECT_FALSE(step->outcome) << "it has to act again";
    ASSERT_TRUE(t.Finish(step->id, Outcome(core::Measured{}, 2.0, true)));
    EXPECT_FALSE(t.Finish(step->id, Outcome(core::Measured{}, 3.0))) << "an outcome is written once";
  }
  memory::Trajectory t = Open();
  const memory::TaskId task = t.BeginTask(key_)->id;
  memory::StepRecord same = Evaluate(1, "b", "c", "m");
  same.reason = "other words";
  const auto step = t.Begin(task, same);
  ASSERT_TRUE(step->outcome);
  EXPECT_EQ(step->outcome->gain, 2.0);
  EXPECT_TRUE(step->outcome->accepted);
  EXPECT_EQ(step->outcome->data, R"({"x":1})");
  EXPECT_TRUE(std::holds_alternative<core::Measured>(*step->outcome->verdict));
}

TEST_F(TrajectoryFile, EachPartOfTheIdentityTellsStepsApart) {
  const memory::StepRecord base = Evaluate(1, "b", "c", "m");
  std::vector<memory::StepRecord> others(8, base);
  others[0].kind = memory::StepKind::kRewrite;
  others[1].round = 2;
  others[2].attempt = 1;
  others[3].base = "b2";
  others[4].candidate = "c2";
  others[5].method = "m2";
  others[6].parameters["width"] = "2";
  others[7].evidence_digest = "e2";
  for (size_t i = 0; i < others.size(); ++i)
    EXPECT_NE(memory::StepIdentity(others[i]), memory::StepIdentity(base)) << i;
}

TEST_F(TrajectoryFile, NoCandidateIsEvaluatedTwice) {
  memory::Trajectory t = Open();
  const memory::TaskId task = t.BeginTask(key_)->id;
  EXPECT_FALSE(*t.FindEvaluation(task, "c"));
  const memory::StepId step = t.Begin(task, Evaluate(1, "b", "c", "m"))->id;
  EXPECT_FALSE(*t.FindEvaluation(task, "c")) << "only when it is finished";
  ASSERT_TRUE(t.Finish(step, Outcome(core::WrongResult{core::Check::kComparison, "gpt2", "off"})));
  const auto found = t.FindEvaluation(task, "c");
  ASSERT_TRUE(*found);
  EXPECT_EQ(core::VerdictName(*(*found)->verdict), "wrong_result");
  memory::TaskKey other = key_;
  other.base_hash = "base1";
  EXPECT_FALSE(*t.FindEvaluation(t.BeginTask(other)->id, "c")) << "another original, another judgement";
}

// The first schema named two kinds that no version stored. A trajectory that contains them nevertheless can be read.
TEST_F(TrajectoryFile, StepsOfKindsThatNoLongerExistAreLeftOut) {
  {
    memory::Trajectory t = Open();
    const memory::TaskId task = t.BeginTask(key_)->id;
    ASSERT_TRUE(t.Finish(t.Begin(task, Evaluate(1, "b", "c1", "m"))->id, Outcome(core::Measured{}, 2)));
    ASSERT_TRUE(t.Begin(task, Evaluate(1, "b", "c2", "m")));
    ASSERT_TRUE(t.Begin(task, Evaluate(1, "b", "c3", "m")));
  }
  Execute(
      "UPDATE step SET kind = 'diagnose', record = replace(record, '\"evaluate\"', '\"diagnose\"') WHERE candidate = "
      "'c2';"
      "UPDATE step SET kind = 'publish', record = replace(record, '\"evaluate\"', '\"publish\"') WHERE candidate = "
      "'c3'");
  memory::Trajectory t = Open();
  const auto view = t.View(t.BeginTask(key_)->id);
  ASSERT_TRUE(view) << view.error().Format();
  ASSERT_EQ(view->steps.size(), 1u);
  EXPECT_EQ(view->steps[0].record.candidate, "c1");
}

TEST_F(TrajectoryFile, CandidatesByContent) {
  memory::Trajectory t = Open();
  const memory::TaskId task = t.BeginTask(key_)->id;
  const core::Candidate candidate = MakeCandidate(std::string("text\0with zero", 14), "parent", "m");
  ASSERT_TRUE(t.PutCandidate(task, candidate));
  ASSERT_TRUE(t.PutCandidate(task, candidate)) << "again changes nothing";
  const auto found = t.FindCandidate(task, candidate.hash);
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->text, candidate.text);
  EXPECT_EQ((*found)->parameters, candidate.parameters);
  EXPECT_EQ((*found)->summary, "did m");
  EXPECT_EQ((*found)->origin, std::nullopt);
  core::Candidate written = MakeCandidate("written", "parent", "m");
  written.origin = core::Origin{core::AgentRole::kRepairer, "the question"};
  ASSERT_TRUE(t.PutCandidate(task, written));
  EXPECT_EQ((*t.FindCandidate(task, written.hash))->origin, written.origin);
  EXPECT_EQ(t.View(task)->candidates.at(written.hash).origin, written.origin);
  EXPECT_FALSE(*t.FindCandidate(task, "absent"));
  core::Candidate lie = candidate;
  lie.text = "other";
  EXPECT_FALSE(t.PutCandidate(task, lie));
}

TEST_F(TrajectoryFile, VersionsOfTheFirstSchemaHaveNoOrigin) {
  const core::Candidate candidate = MakeCandidate("text", "parent", "m");
  {
    memory::Trajectory t = Open();
    ASSERT_TRUE(t.PutCandidate(t.BeginTask(key_)->id, candidate));
  }
  Execute(
      "ALTER TABLE candidate DROP COLUMN agent; ALTER TABLE candidate DROP COLUMN question; PRAGMA user_version = 1");
  memory::Trajectory t = Open();
  const auto found = t.FindCandidate(t.BeginTask(key_)->id, candidate.hash);
  ASSERT_TRUE(found && *found) << found.error().Format();
  EXPECT_EQ((*found)->text, "text");
  EXPECT_EQ((*found)->origin, std::nullopt);
}

TEST_F(TrajectoryFile, ViewHoldsEverythingThatTheReportNeeds) {
  memory::Trajectory t = Open();
  const memory::TaskId task = t.BeginTask(key_)->id;
  const core::Candidate c = MakeCandidate("candidate", "base0", "vectorize");
  ASSERT_TRUE(t.PutCandidate(task, c));
  const memory::StepId failed = t.Begin(task, Evaluate(1, "base0", "x", "vectorize"))->id;
  ASSERT_TRUE(t.Finish(failed, Outcome(core::Faulted{})));
  memory::StepRecord repair = Evaluate(1, "base0", c.hash, "vectorize");
  repair.attempt = 1;
  repair.repairs = failed;
  ASSERT_TRUE(t.Finish(t.Begin(task, repair)->id, Outcome(core::Measured{}, 1.7, true)));
  ASSERT_TRUE(t.Begin(task, Evaluate(2, c.hash, "y", "z")));
  ASSERT_TRUE(t.FinishTask(task, {core::TaskOutcome::kImproved, "", c.hash, 1.7}));
  const auto view = t.View(task);
  ASSERT_TRUE(view) << view.error().Format();
  EXPECT_EQ(view->task.key.kernel, "softmax");
  EXPECT_EQ(view->task.steps, 3);
  EXPECT_EQ(view->task.counts.evaluations, 2);
  EXPECT_EQ(view->task.started, "2027-01-15T08:00:00Z");
  EXPECT_EQ(view->task.result->best_hash, c.hash);
  ASSERT_EQ(view->steps.size(), 3u);
  EXPECT_EQ(view->steps[0].mended_by, view->steps[1].id) << "a repaired attempt does not stay a failure";
  EXPECT_EQ(view->steps[1].record.reason, "because");
  EXPECT_EQ(view->steps[1].record.evidence, std::vector<std::string>{"load_efficiency_pct = 12.5 %"});
  ASSERT_EQ(view->steps[1].outcome->prediction.size(), 1u);
  EXPECT_TRUE(view->steps[1].outcome->prediction[0].held);
  EXPECT_EQ(view->steps[1].outcome->after.at("dram_throughput_pct"), 55);
  EXPECT_EQ(view->steps[1].mended_by, 0);
  EXPECT_FALSE(view->steps[2].outcome);
  EXPECT_EQ(view->candidates.at(c.hash).method, "vectorize");
  EXPECT_FALSE(t.View(99));
}

TEST_F(TrajectoryFile, TasksNewestFirstAndDiscard) {
  memory::Trajectory t = Open();
  const memory::TaskId first = t.BeginTask(key_)->id;
  memory::TaskKey other = key_;
  other.kernel = "gelu";
  const memory::TaskId second = t.BeginTask(other)->id;
  const core::Candidate shared = MakeCandidate("shared", "", "original"), own = MakeCandidate("own", "", "m");
  ASSERT_TRUE(t.PutCandidate(first, shared));
  ASSERT_TRUE(t.PutCandidate(second, shared));
  ASSERT_TRUE(t.PutCandidate(first, own));
  ASSERT_TRUE(t.Begin(first, Evaluate(1, "b", "c", "m")));
  EXPECT_EQ((*t.Tasks())[0].key.kernel, "gelu");
  ASSERT_TRUE(t.DiscardTask(first));
  EXPECT_EQ(t.Tasks()->size(), 1u);
  EXPECT_TRUE(*t.FindCandidate(second, shared.hash)) << "the text is still referred to";
  EXPECT_TRUE(t.View(t.BeginTask(key_)->id)->steps.empty()) << "it begins anew";
}

TEST_F(TrajectoryFile, TwoConnectionsShareTheFile) {
  memory::Trajectory a = Open(), b = Open();
  const memory::TaskId task = a.BeginTask(key_)->id;
  EXPECT_EQ(b.BeginTask(key_)->id, task);
  const auto step = a.Begin(task, Evaluate(1, "b", "c", "m"));
  ASSERT_TRUE(a.Finish(step->id, Outcome(core::Measured{}, 2)));
  EXPECT_TRUE(b.Begin(task, Evaluate(1, "b", "c", "m"))->outcome);
}

TEST_F(TrajectoryFile, DamageIsAnErrorAndNeverACrash) {
  {
    memory::Trajectory t = Open();
    const memory::TaskId task = t.BeginTask(key_)->id;
    ASSERT_TRUE(t.Finish(t.Begin(task, Evaluate(1, "b", "c", "m"))->id, Outcome(core::Measured{}, 2)));
    ASSERT_TRUE(t.PutCandidate(task, MakeCandidate("text", "", "m")));
  }
  Execute("UPDATE step SET outcome = '{\"gain\":\"much\"}'; UPDATE content SET text = 'forged'");
  memory::Trajectory t = Open();
  const memory::TaskId task = t.BeginTask(key_)->id;
  const auto view = t.View(task);
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(t.Begin(task, Evaluate(1, "b", "c", "m")));
  EXPECT_FALSE(t.FindCandidate(task, base::Sha256(std::string_view("text")))) << "a forged text is noticed by its hash";
}

TEST_F(TrajectoryFile, EveryFlippedPageIsSurvived) {
  {
    memory::Trajectory t = Open();
    const memory::TaskId task = t.BeginTask(key_)->id;
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(
          t.Finish(t.Begin(task, Evaluate(i, "b", "c" + std::to_string(i), "m"))->id, Outcome(core::Measured{}, 2)));
  }
  const std::string original = *base::ReadFile(path_);
  int refused = 0, survived = 0;
  for (size_t at = 0; at < original.size(); at += 509) {
    std::string damaged = original;
    for (size_t i = at; i < std::min(at + 40, damaged.size()); ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    const auto copy = folder_.path() / "damaged.db";
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(copy.string() + tail);
    ASSERT_TRUE(base::WriteFileAtomically(copy, damaged));
    auto t = memory::Trajectory::Open(copy);
    if (!t) {
      ++refused;
      continue;
    }
    ++survived;
    const auto tasks = t->Tasks();
    if (tasks)
      for (const memory::TaskSummary& task : *tasks) (void)t->View(task.id);
  }
  EXPECT_GT(refused, 5);
  EXPECT_GT(refused + survived, 20);
}

}  // namespace
}  // namespace warpwright
