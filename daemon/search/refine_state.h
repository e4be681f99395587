// What the parts of the refine loop share. Not for other folders.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "agents/generator.h"
#include "agents/planner.h"
#include "search/refine.h"

namespace warpwright {

// The version that plans start from.
struct Base {
  Candidate candidate;
  Measured measured;
  ExtractedFeatures features;
  std::set<std::string> methods;   // behind it
};

struct Reviewed {
  Candidate candidate;
  Verdict verdict;
  StepId step = 0;
  double gain = 0;        // over the base; 0: not measured
  double worst_case = 0;  // the smallest gain of a case
};

// A candidate that no case lost by comes first, whatever another gains over all cases.
inline bool IsBetter(const Reviewed& a, const Reviewed& b) {
  const bool a_sound = a.worst_case >= kWorstCase, b_sound = b.worst_case >= kWorstCase;
  return a_sound != b_sound ? a_sound : a.gain > b.gain;
}

struct Tried {
  size_t candidates = 0;            // that the transformation gave
  std::optional<Reviewed> best;     // of those that were measured
};

class RefineLoop {
 public:
  RefineLoop(const RefineTask& task, const RefineServices& services) : task_(task), services_(services) {}

  Result<RefineResult> Run();

 private:
  // refine.cpp
  Result<std::optional<TaskResult>> PrepareBaseline();
  Status Seeds();
  Status Rounds();
  bool OutOfTime() const;
  Result<ExtractedFeatures> Features(const Candidate& candidate, const Measured& measured);
  void Say(const std::string& text) const;
  void GiveNotice();  // of what could not be counted since the last time
  Result<RefineResult> Finish(TaskResult result, std::string text);

  // refine_round.cpp
  enum class RoundEnd { kNoPlan, kNotCarriedOut, kEvaluated };
  Result<RoundEnd> Round(int round);
  Result<Tried> TryPlan(int round, const Plan& plan);
  Result<std::optional<Plan>> PlanStep(int round, const MatchResult& match);
  Result<std::vector<Candidate>> OptimizeStep(int round, const Plan& plan);
  Result<Reviewed> ReviewStep(int round, int attempt, const Candidate& candidate, const Plan& plan, StepId repairs);
  Result<std::optional<Reviewed>> RepairStep(int round, const Reviewed& failed, const Plan& plan);
  Status Remember(const Reviewed& reviewed);
  Status ConsiderAsBase(int round, const Reviewed& best);
  MatchContext Context(const std::string& evidence_digest);

  // refine_accept.cpp
  Result<RefineResult> Accept();
  Result<std::optional<RefineResult>> AcceptOne(const Base& base);
  void AskTools(const Candidate& final, StepOutcome& outcome);

  const RefineTask& task_;
  const RefineServices& services_;
  TaskId task_id_ = 0;
  Baseline baseline_;
  Measured original_;
  std::optional<Base> base_;
  std::vector<Base> history_;      // bases that were left for better ones, oldest first; the original is the first
  ExperienceKey key_;              // of the present base
  std::map<std::string, std::map<std::string, std::string>> tried_;  // evidence digest -> method -> what came of it
  std::set<std::string> noticed_;
  int rounds_ = 0, evaluations_ = 0;
  std::chrono::steady_clock::time_point started_;
};

// The smallest gain over the cases that both have and whose time counts.
double WorstCase(const Measured& before, const Measured& after);

}  // namespace warpwright
