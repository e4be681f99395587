// The steps of the loop, one file each. Every one goes through the run's journal (memory/journal.h): in a run that goes
// on, a step that finished before answers from the trajectory. Only two act in every run, since what they leave is in
// memory: the baseline (the judge needs the original's outputs) and a new base (its features). Optimize acts again too:
// transformations of the same text give the same candidates, and only their refusals are written down. Not for other
// folders.
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
  int number = 0;  // 0: a seed from experience
  core::Plan plan;
  memory::ExperienceKey key;  // under which its outcomes are remembered
};

struct EvaluatedCandidate {
  core::Candidate candidate;
  core::Verdict verdict;
  memory::StepId step = 0;
  double gain = 0;        // over the base; 0: not measured
  double worst_case = 0;  // the smallest gain of a case
};

struct Accepted {
  std::string hash, text;  // of the spliced file
  core::Measured measured;
  double gain = 1;  // over the original
  std::string summary;
};

// Generate. The original, measured and able to be judged; else what is wrong with it.
Result<std::variant<Base, memory::TaskResult>> BaselineStep(RefineRun& run);
// What experience says of kernels like the original.
Result<std::vector<PlannedRound>> SeedStep(RefineRun& run);

// Retrieve: what the skills say of the present base, less what was tried on its evidence.
skills::MatchResult Retrieve(const RefineRun& run);
// Nothing where no method is left, or nothing is left to gain.
Result<std::optional<PlannedRound>> PlanStep(RefineRun& run, int round, const skills::MatchResult& match);

// One candidate for each parameter set of the plan that the transformation could carry out.
Result<std::vector<core::Candidate>> OptimizeStep(RefineRun& run, const PlannedRound& round);

// Which repair a candidate is, and of which failed step; 0: none.
struct RepairOf {
  int attempt = 0;
  memory::StepId failed = 0;
};
Result<EvaluatedCandidate> ReviewStep(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate,
                                      const RepairOf& repair = {});

// Nothing: abandoned.
Result<std::optional<core::Candidate>> RepairStep(RefineRun& run, const PlannedRound& round, int attempt,
                                                  const EvaluatedCandidate& failed, const core::Diagnosis& diagnosis);

// Nothing where the gain is too small, or a case lost.
Result<std::optional<Base>> PromoteStep(RefineRun& run, int round, const EvaluatedCandidate& best);

// Splices the version into the user's file and puts it before the full judge and the tools, in a fresh worker. Nothing:
// it did not pass.
Result<std::optional<Accepted>> AcceptStep(RefineRun& run, const Base& base);

// The ends of a run: finishes the task. `text` is what was accepted.
Result<RefineResult> Conclude(const RefineRun& run, memory::TaskResult result, std::string text = {});
Result<RefineResult> ConcludeImproved(const RefineRun& run, const Base& base, Accepted accepted);
Result<RefineResult> ConcludeUnchanged(const RefineRun& run);
// Of a task that an earlier run finished.
Result<RefineResult> Recall(const RefineRun& run, const memory::TaskResult& result);

// What a step of this round on the present base is about.
memory::StepRecord RecordOf(memory::StepKind kind, const RefineRun& run, const PlannedRound& round);

// The smallest gain over the cases that both have and whose time counts.
double WorstCase(const core::Measured& before, const core::Measured& after);

}  // namespace warpwright::search
