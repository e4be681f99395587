// The steps of the loop, one file each. Every one goes through the run's journal (memory/journal.h): in a resumed run,
// a step that finished before returns its outcome from the trajectory. Only two act in every run, since their results
// are in memory: the baseline (the judge needs the original's outputs) and a new base (its features). Optimize acts
// again too: transformations of the same text give the same candidates, and only their refusals are stored. Not for
// other folders.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/plan.h"
#include "memory/experience.h"
#include "search/run.h"
#include "skills/match.h"

namespace warpwright::search {

// A plan for the present base.
struct PlannedRound {
  int number = 0;  // 0: a plan from experience
  core::Plan plan;
  memory::ExperienceKey key;  // under which its outcomes are remembered
};

// A plan with what its author wrote for it; empty: the Optimizer carries it out.
struct Seed {
  PlannedRound round;
  std::vector<agents::Attempt> written;
};
// nullopt: somebody outside has not answered yet (RefineRun::pending).
template <typename T>
using IfReady = std::optional<T>;

// What is ready, while somebody outside has not answered yet for the rest.
template <typename T>
struct MaybePart {
  std::vector<T> ready;
  bool waits = false;
};

struct EvaluatedCandidate {
  core::Candidate candidate;
  core::Verdict verdict;
  memory::StepId step = 0;
  double gain = 0;        // over the base; 0: not measured
  double worst_case = 0;  // the smallest gain of a case over the original
  core::Plan plan = {};   // that it follows
};

struct Accepted {
  std::string hash, text;  // of the spliced file
  core::Measured measured;
  double gain = 1;  // over the original
  std::string summary;
};

// Generate. The original, measured and fit to be judged; else the result that states what is wrong with it.
Result<std::variant<Base, memory::TaskResult>> BaselineStep(RefineRun& run);
// What the original computes, once in a task: for its features and those of all versions; in the trajectory, for
// reports.
Status LiftStep(RefineRun& run);
// What the Feature Extractor says of the present base, once, before anything is planned for it. false: it waits.
Result<bool> ReadStep(RefineRun& run);
// What experience says, for a model that is asked in the step of `record`: the same for as long as it is asked. Empty
// where no model is.
Result<std::string> RecallStep(RefineRun& run, const memory::StepRecord& record,
                               const memory::ExperienceMatches& experience);
// A proposal as the trajectory stores it.
struct ProposalLine {
  std::string text;
  bool built_in = false;
};
// What built-in agents proposed in the step of `record` stays what it was when somebody began to be waited for: it is
// made from experience, which grows meanwhile, also by what goes on. Replaces those lines.
Status KeepStep(RefineRun& run, const memory::StepRecord& record, bool waits, std::vector<ProposalLine>& lines);
// First candidates, from the original.
Result<MaybePart<Seed>> SeedStep(RefineRun& run);

// Retrieve: what the skills propose for the present base, less what was tried on its evidence. `built_in`: only methods
// that a transformation carries out.
skills::MatchResult Retrieve(const RefineRun& run, bool built_in);
// None if no method is left, or nothing is left to gain.
Result<MaybePart<PlannedRound>> PlanStep(RefineRun& run, int round);

// One candidate for each parameter set of the plan that could be carried out.
Result<MaybePart<core::Candidate>> OptimizeStep(RefineRun& run, const Seed& seed);

// Whether critics let a candidate of a language model pass; what they say is written down.
Result<IfReady<bool>> CritiqueStep(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate);

// The number of a candidate's repair, and the failed step that it repairs; 0: none.
struct RepairOf {
  int attempt = 0;
  memory::StepId failed = 0;
};
Result<EvaluatedCandidate> ReviewStep(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate,
                                      const RepairOf& repair = {});

// Of several, the one that its author is most certain of.
Result<IfReady<core::Diagnosis>> DiagnoseStep(RefineRun& run, const EvaluatedCandidate& failed);
// Without a candidate: abandoned.
struct Repaired {
  std::optional<core::Candidate> candidate;
};
Result<IfReady<Repaired>> RepairStep(RefineRun& run, const PlannedRound& round, int attempt,
                                     const EvaluatedCandidate& failed, const core::Diagnosis& diagnosis);

// Writes down why a failed version is not mended, or not any more; `attempt` is the number that its repair would have.
Status LeaveUnmendedStep(RefineRun& run, const PlannedRound& round, int attempt, const EvaluatedCandidate& failed,
                         const std::string& why);

// nullopt if the gain is too small, or a case got slower.
Result<std::optional<Base>> PromoteStep(RefineRun& run, int round, const EvaluatedCandidate& best);

struct Rejected {
  core::Verdict verdict;  // Measured: not fast enough
  memory::StepId step = 0;
};
// Splices the version into the user's file and submits it to the full judge and the tools, in a fresh worker.
Result<std::variant<Accepted, Rejected>> AcceptStep(RefineRun& run, const Base& base);

// How a run ends: finishes the task. `text` is what was accepted.
Result<RefineResult> Conclude(const RefineRun& run, memory::TaskResult result, std::string text = {});
Result<RefineResult> ConcludeImproved(const RefineRun& run, const Base& base, Accepted accepted);
Result<RefineResult> ConcludeUnchanged(const RefineRun& run);
// The limit of minutes was over while a version was accepted: the task stays unfinished, and goes on there.
Result<RefineResult> LeaveUnverified(const RefineRun& run, size_t best);
// Nothing can move until somebody answers: the task stays unfinished.
Result<RefineResult> Pause(const RefineRun& run);
// The result of a task that an earlier run finished.
Result<RefineResult> Recall(const RefineRun& run, const memory::TaskResult& result);

// The record of a step of this round on the present base.
memory::StepRecord RecordOf(memory::StepKind kind, const RefineRun& run, const PlannedRound& round);

}  // namespace warpwright::search
