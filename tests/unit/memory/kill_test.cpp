// A child process works through a task and is killed at a random moment, fifty times over. Whenever it is killed: the
// file opens, what was finished is never done again, and in the end everything is done.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "memory/trajectory.h"
#include "tests/unit/memory/samples.h"

namespace warpwright {
namespace {

constexpr int kSteps = 400, kKills = 50;

struct Paths {
  std::filesystem::path trajectory, log, experience;
};

memory::StepRecord RecordOf(int i) {
  memory::StepRecord r;
  r.kind = memory::StepKind::kEvaluate;
  r.round = i;
  r.candidate = "c" + std::to_string(i);
  r.method = "m";
  return r;
}

// Exit codes: 0 all done, 1 an error. Writes "run i" before step i acts and "done i" after it is finished.
int Work(const Paths& paths) {
  auto t = memory::Trajectory::Open(paths.trajectory);
  if (!t) return 1;
  const auto task = t->BeginTask({"k", "b", "sim:h200", "c"});
  if (!task) return 1;
  if (task->result) return 0;
  memory::JsonLinesStore store(paths.experience);
  for (int i = 0; i < kSteps; ++i) {
    const auto step = t->Begin(task->id, RecordOf(i));
    if (!step) return 1;
    if (step->outcome) continue;
    if (!base::AppendLine(paths.log, "run " + std::to_string(i))) return 1;
    const std::string text = "text " + std::to_string(i);
    if (!t->PutCandidate(task->id, {base::Sha256(text), text, "", "m", {}, ""})) return 1;
    memory::Experience e = SampleExperience();
    e.method = "m" + std::to_string(i);
    if (!store.Append(e)) return 1;
    memory::StepOutcome outcome;
    outcome.gain = i;
    outcome.verdict = core::Measured{};
    if (!t->Finish(step->id, outcome)) return 1;
    if (!base::AppendLine(paths.log, "done " + std::to_string(i))) return 1;
  }
  return t->FinishTask(task->id, {.outcome = core::TaskOutcome::kImproved, .gain = 2}) ? 0 : 1;
}

pid_t Fork(const Paths& paths) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(Work(paths));
  return pid;
}

void CheckInvariants(const Paths& paths) {
  auto t = memory::Trajectory::Open(paths.trajectory);  // includes the database's integrity check
  ASSERT_TRUE(t) << t.error().Format();
  const auto tasks = t->Tasks();
  ASSERT_TRUE(tasks) << tasks.error().Format();
  ASSERT_LE(tasks->size(), 1u);
  if (tasks->empty()) return;
  const auto view = t->View((*tasks)[0].id);
  ASSERT_TRUE(view) << view.error().Format();
  int unfinished = 0;
  for (size_t i = 0; i < view->steps.size(); ++i) {
    EXPECT_EQ(view->steps[i].record.round, static_cast<int>(i)) << "steps begin in order, without gaps";
    unfinished += !view->steps[i].outcome;
    if (view->steps[i].outcome) {
      EXPECT_EQ(view->steps[i].outcome->gain, static_cast<double>(i));
    }
  }
  EXPECT_LE(unfinished, 1) << "at most the step that was under way";
}

TEST(Kill, FiftyKillsLoseAtMostTheStepUnderWay) {
  const auto folder = *base::TemporaryDirectory::Create("kill");
  const Paths paths{folder.path() / "t.db", folder.path() / "log", folder.path() / "experience.jsonl"};
  const base::CounterRandom random(11, 0);
  int killed = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t pid = Fork(paths);
    ASSERT_GT(pid, 0);
    ::usleep(static_cast<useconds_t>(500 + random.Below(static_cast<uint64_t>(i), 25'000)));
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    killed += WIFSIGNALED(status);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    if (i % 5 == 0) CheckInvariants(paths);
  }
  EXPECT_GT(killed, 3) << "the kills came too late to test anything";
  int status = 0;
  const pid_t last = Fork(paths);
  ASSERT_EQ(::waitpid(last, &status, 0), last);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CheckInvariants(paths);

  std::ifstream log(paths.log);
  std::set<int> done, run;
  std::string word;
  for (int step = 0; log >> word >> step;) {
    if (word == "run") {
      EXPECT_EQ(done.count(step), 0u) << "finished step " << step << " ran again";
      run.insert(step);
    } else {
      done.insert(step);
    }
  }
  EXPECT_EQ(run.size(), static_cast<size_t>(kSteps));
  auto t = memory::Trajectory::Open(paths.trajectory);
  EXPECT_TRUE(t->BeginTask({"k", "b", "sim:h200", "c"})->result);
  const auto content = memory::ReadStore(paths.experience);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->experiences.size(), static_cast<size_t>(kSteps))
      << "every step left its experience; repeated ones count once";
}

}  // namespace
}  // namespace warpwright
