// The short-term memory: everything that was planned, tried, measured and repaired for one task, in SQLite (WAL).
//
// A step is written as *started* before it acts and as *finished*, with its outcome, afterwards. Steps of a task have
// an identity made of what they are about to do (kind, round, base, candidate, method, parameters, evidence, attempt).
// So a program that was killed is simply run again: Begin() returns the outcome of a step that finished before, to be
// used instead of acting (memory/journal.h does that). Only one process at a time works on a task; several may share
// the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/task_outcome.h"
#include "core/verdict.h"
#include "skills/cause.h"

namespace warpwright::memory {

using TaskId = int64_t;
using StepId = int64_t;

struct TaskKey {
  std::string kernel;         // name in the manifest
  std::string base_hash;      // content of the entry's file before the task
  std::string device;         // "sim:h200"
  std::string config_digest;  // of all other inputs: manifest, references, skills, version
};
struct TaskResult {
  core::TaskOutcome outcome = core::TaskOutcome::kUnchanged;  // improved, unchanged, refused
  std::string message;
  std::string best_hash;  // of the accepted candidate; empty: the original
  double gain = 1;        // of the best over the original
};
// How much was done for a task. Whatever shows these numbers takes them from here.
struct TaskCounts {
  int rounds = 0;       // in which a candidate was evaluated; seeds from experience are in none
  int attempts = 0;     // parameter sets of a plan: candidates, repaired ones too, and those that do not apply
  int evaluations = 0;  // different candidates that were judged; the final verification is not one
  bool operator==(const TaskCounts&) const = default;
};
struct TaskSummary {
  TaskId id = 0;
  TaskKey key;
  std::optional<TaskResult> result;  // none: unfinished
  std::string started, finished;     // UTC
  int steps = 0;
  TaskCounts counts;
};

// kRecall: what experience said when a model was asked. kCarry: the result was spliced into a later version of its file
// and judged there; one step for what was there (method kCarriedFrom) and one for the result, when both were measured.
enum class StepKind {
  kBaseline,
  kPlan,
  kRewrite,
  kEvaluate,
  kRepair,
  kAccept,
  kLift,
  kAsk,
  kCarry,
  kRecall,
  kLiftSegments
};
inline constexpr std::string_view kCarriedFrom = "original";
std::string_view Name(StepKind kind);

constexpr int kFinalRound = -1;  // of the step that accepts a result

// What a step is about to do.
struct StepRecord {
  StepKind kind = StepKind::kPlan;
  int round = 0;
  int attempt = 0;        // 0, or the number of the repair; distinguishes steps that are otherwise equal
  std::string base;       // hash of the current base
  std::string candidate;  // hash of what is evaluated, repaired, accepted
  std::string method;     // skill id
  std::map<std::string, std::string> parameters;
  std::string evidence_digest;
  // Not part of the identity:
  std::string reason;                 // why, one or more lines
  std::vector<std::string> evidence;  // lines with field = value
  std::vector<skills::ExpectedChange> prediction;
  StepId repairs = 0;  // the failed step that this one repairs; 0: none
};
// The outcome of a step.
struct StepOutcome {
  std::string candidate;  // hash of what was produced or judged
  std::string summary;    // one line for users
  std::string data;       // what the caller needs to continue, as JSON: plans, the parameters of a repair
  std::optional<core::Verdict> verdict;
  std::vector<skills::PredictionResult> prediction;
  std::vector<skills::SupportedCause> causes;    // what the method's card says of this change, as far as it holds
  std::map<std::string, double> before, after;   // counters and evidence by name
  double time_before_us = 0, time_after_us = 0;  // weighted, over the cases
  double gain = 0;                               // over the base; 0: not measured
  bool accepted = false;                         // became the base
  double seconds = 0;                            // duration of the step
};

struct StepView {
  StepId id = 0;
  StepRecord record;
  std::optional<StepOutcome> outcome;  // none: started, not finished
  std::string started, finished;
  StepId mended_by = 0;  // a later repair of this failed step that passed; 0: none
};
struct CandidateView {
  std::string hash, parent, method, summary;
  std::map<std::string, std::string> parameters;
  std::optional<core::Origin> origin;  // none: the original, or stored before origins were
};
struct TrajectoryView {
  TaskSummary task;
  std::vector<StepView> steps;                      // in the order in which they began
  std::map<std::string, CandidateView> candidates;  // by hash; texts through Trajectory::Text
};

class Trajectory {
 public:
  // `clock` must outlive the trajectory; nullptr: the system's.
  static Result<Trajectory> Open(const std::filesystem::path& path, const base::Clock* clock = nullptr);
  Trajectory(Trajectory&&) noexcept;
  Trajectory& operator=(Trajectory&&) noexcept;
  ~Trajectory();

  struct StartedTask {
    TaskId id = 0;
    std::optional<TaskResult> result;  // it is finished
  };
  Result<StartedTask> BeginTask(const TaskKey& key);  // the task with this key, or a new one
  Status FinishTask(TaskId task, const TaskResult& result);
  Status DiscardTask(TaskId task);  // with its steps; unreferenced texts are removed as well

  struct StartedStep {
    StepId id = 0;
    std::optional<StepOutcome> outcome;  // it finished before: continue with this instead of acting
  };
  Result<StartedStep> Begin(TaskId task, const StepRecord& record);
  Result<bool> IsFinished(TaskId task, const StepRecord& record);
  Status Finish(StepId step, const StepOutcome& outcome);

  // Refuses a text whose hash differs from candidate.hash. Storing it again changes nothing.
  Status PutCandidate(TaskId task, const core::Candidate& candidate);
  Result<std::optional<core::Candidate>> FindCandidate(TaskId task, std::string_view hash);

  // The finished evaluation of this candidate in the task, whichever base and round it belonged to.
  Result<std::optional<StepOutcome>> FindEvaluation(TaskId task, std::string_view candidate);

  Result<TrajectoryView> View(TaskId task);  // without steps of kinds that no longer exist
  Result<std::vector<TaskSummary>> Tasks();  // newest first
  Result<TaskCounts> Counts(TaskId task);    // so far

 private:
  struct State;
  explicit Trajectory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::memory
