// One run of the loop: its inputs, and all that changes while it runs. Steps (steps.h) read it; only refine.cpp updates
// versions, tried methods and rounds.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/feature_extractor.h"
#include "memory/journal.h"
#include "search/refine.h"

namespace warpwright::search {

inline constexpr size_t kMaxEvaluations = 30;

class RefineRun {
 public:
  RefineRun(const RefineTask& task_in, const RefineServices& services_in, memory::TaskId id_in)
      : task(task_in),
        services(services_in),
        id(id_in),
        journal(services.trajectory, id),
        started(services.began.value_or(services.clock.Steady())) {}

  const Base& original() const { return pool.original(); }
  const Base& base() const { return pool.present(); }
  const Selector& selector() const { return services.selector != nullptr ? *services.selector : *latest_gain_; }
  int base_number() const { return static_cast<int>(pool.present_number()); }
  double Seconds() const;
  // Of built-in plans; models have budgets of their own.
  bool OutOfEvaluations() const { return evaluated.size() >= kMaxEvaluations; }
  // The best version, if it is worth accepting.
  std::optional<size_t> BestToAccept() const;
  // What is left is for accepting.
  bool OutOfTime() const { return journal.at_end() || Seconds() >= SearchSeconds(); }
  // The limit ended a step of the search, in this run or in the one that it repeats.
  bool SearchBrokeOff() const { return journal.at_end() || BrokeOff(); }
  // From now on work may take all that is left of the limit.
  void BeginAcceptance() const { EndAfter(60 * task.policy.max_minutes); }
  // The limit ended a step, whose outcome is unknown.
  bool BrokeOff() const { return services.deadline != nullptr && services.deadline->broke_off(); }
  void Say(const std::string& text) const;

  // What agents are told of the present base: with what was tried in earlier rounds, and for this plan.
  agents::Situation At() const;
  void Await(const agents::Waiting& waiting);
  // Of the questions without an answer, no one is with somebody who may answer: all could not be asked.
  bool OnlyFailed() const { return !failures.empty() && failures.size() == pending.size(); }
  void Note(agents::PastAttempt attempt) { tried_for_plan.push_back(std::move(attempt)); }

  Result<core::Inspection> Inspect(const core::Candidate& candidate) const;
  // Feature Extractor, on the text that was measured, with what is known of the original.
  Result<agents::ExtractedFeatures> Extract(const core::Candidate& candidate, const core::Measured& measured) const;
  // Reviewer. Counts, and warns of what could not be counted since the last time.
  Result<judge::Baseline> ReviewOriginal();
  Result<core::Verdict> Review(const core::Candidate& candidate, judge::VerificationLevel effort);

  const RefineTask& task;
  const RefineServices& services;
  const memory::TaskId id;
  memory::Journal journal;
  const std::chrono::steady_clock::time_point started;

  judge::Baseline baseline;
  core::Inspection original_inspection;
  std::optional<agents::Form> form;  // what the original computes; none: not lifted
  // What segments of its launcher compute, as far as that is known; a step when it is first asked for. Empty: never.
  std::function<Result<std::vector<core::SegmentForm>>()> segments;
  Pool pool;
  std::map<std::string, std::map<std::string, std::string>> tried;  // evidence digest -> method -> outcome
  std::map<std::string, std::string> tried_anew;  // of methods that start from the formula, whatever the base is
  std::map<std::pair<std::string, std::string>, int> inapplicable;  // line by method and reason, written down already
  std::string out_of_plans;                                         // why no plan was made; empty: rounds or time ended
  std::string first_failure;                                        // of a candidate; its verdict
  std::string not_accepted;  // why the best base was not, after the rounds; empty: none was asked
  bool any_passed = false;   // a candidate that was not the original
  bool found = false;        // one that is worth accepting
  bool planted = false;      // the first candidates were tried
  int rounds = 0;
  int dropped = 0;            // plans that nothing was evaluated for, or nothing came of at the full judge
  int written_rounds = 0;     // of these, by plans of language models
  int fruitless = 0;          // of these, the last ones that led to no new base
  double longest_review = 0;  // seconds of a quick one in this process
  // Of the task's evaluations, as the trajectory has them.
  double evaluation_seconds = 0;
  int evaluations = 0;
  double SecondsPerEvaluation() const { return evaluations > 0 ? evaluation_seconds / evaluations : 0; }

  std::map<std::string, std::string> judged_by_tokens;  // digest of an entry's tokens -> hash of a text that was judged
  std::vector<core::Candidate> unread;                  // of built-in plans: judged, and not in judged_by_tokens yet

  std::set<std::string> evaluated;  // hashes of what built-in plans led to
  // Versions that the quick judge took and the full one did not, by method.
  struct NotAccepted {
    core::Candidate candidate;
    core::Verdict verdict;
  };
  std::map<std::string, std::vector<NotAccepted>> refused;

  agents::Team team;
  std::vector<agents::PastAttempt> history;         // of earlier rounds
  std::vector<agents::PastAttempt> tried_for_plan;  // since this plan began
  std::vector<std::string> pending;                 // questions that nobody answered yet
  std::vector<std::string> failures;                // of those of them that could not be asked: why

 private:
  double SearchSeconds() const;
  // Work that begins now ends after these seconds of the task.
  void EndAfter(double seconds) const;
  void WarnOfCounters();
  std::set<std::string> warned_;
  const std::unique_ptr<Selector> latest_gain_ = LatestGain();
};

}  // namespace warpwright::search
