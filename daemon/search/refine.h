// The refine loop (after KernelSkill): generate, review; then up to N rounds of profile, extract, retrieve, plan,
// optimize, review; on failure diagnose and repair, a few times, then back to the base.
//
// - Every verified gain of more than kMinGain becomes the new base, so that small gains compound, unless a case is
//   slower than in the original (worth.h). A selector may go back to another one (pool.h).
// - A candidate is evaluated once in a task, whatever led to it. A method is tried once for the same evidence.
// - It ends at the roofline, and where nothing that is left is expected to be worth its time.
// - A round counts only if something was evaluated; a plan that no transformation could carry out costs only itself,
//   and the reason why a method does not apply is written down once.
// - Agents may be language models. Plans of theirs come where the built-in planner has none left; of one round's plans,
//   each goes on by itself while another waits for an answer, or is itself waited for, and knows nothing of the others.
//   Of a plan's versions one of each kind of failure is repaired, whether others passed or not; why the others are
//   not, and why repairs end, is in the trajectory.
// - A model that cannot be asked (an outage, the money of a day) ends nothing for good: the task stays unfinished,
// unless
//   a gain is found already, which is accepted.
// - The limit of minutes is one: of it the search leaves what accepting may take, and whatever still runs at its end is
//   broken off. What was broken off is no verdict. Where it was the acceptance of the best version, the task stays
//   unfinished: another run goes on there.
// - Every step is in the trajectory before it acts. A killed run resumes where it stopped: finished steps return their
//   outcome.
// - The best base is accepted only by the full judge in a fresh worker, after it was spliced into the user's file.
//   Where it is refused, the search goes on with what is left of its time.
//
// The loop is in refine.cpp, each step in its own file (steps.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/team.h"
#include "base/deadline.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "core/tool_finding.h"
#include "judge/judge.h"
#include "memory/experience.h"
#include "memory/journal.h"
#include "memory/trajectory.h"
#include "search/pool.h"
#include "search/worth.h"
#include "skills/match.h"

namespace warpwright::search {

struct RefineTask {
  core::KernelSpec spec;
  core::SourceRef original;
  core::Policy policy;
  core::Chip chip;
  std::string device;
  std::string config_digest;  // of all other inputs
  std::string toolchain, version;
};

struct RefineServices {
  judge::Reviewer& judge;       // of this task's spec and original
  core::Evaluator& candidates;  // a process that may see candidates
  const skills::SkillLibrary& skills;
  memory::ExperienceStore& experience;
  memory::Trajectory& trajectory;
  const base::Clock& clock;
  std::function<void()> fresh_worker;  // makes the next call of `candidates` run in a new process
  std::function<void(const std::string&)> progress;
  // What the original computes, found out by a process that sees no candidate, in bounded time; empty: not asked. That
  // it fails never fails the task.
  std::function<Result<core::LiftOutcome>()> lift = {};
  // The same of the segments of its launcher (core/scheduling.h), those of which it was found out; asked after `lift`.
  std::function<Result<std::vector<core::SegmentForm>>()> lift_segments = {};
  // Other tools that check what would be accepted (worker/acceptance_tools.h); empty: none.
  std::function<std::vector<core::ToolFinding>(const core::SourceRef& winner, const core::Measured& measured)> tools;
  // What users should know of this run regardless of its outcome: each text once in a task, not once for every
  // candidate.
  std::function<void(const std::string&)> warn;
  // The agents; empty: all built in. What a language model answers is to be a step of the task's journal, which
  // outlives them.
  std::function<Result<agents::Team>(memory::Journal&)> team = {};
  const Selector* selector = nullptr;  // which version is worked on; nullptr: LatestGain
  // Obeyed by `candidates`, by what the judge runs originals with, and by `tools`; nullptr: nothing is cut short.
  base::Deadline* deadline = nullptr;
  std::optional<base::Deadline::TimePoint> began = {};  // when the task's minutes began; none: now
};

struct RefineResult {
  memory::TaskId task = 0;
  memory::TaskResult result;
  std::string text;  // of the accepted candidate; empty unless improved
  judge::Baseline baseline;
  std::optional<core::Measured> accepted;                  // what the full judge measured
  double roofline_pct_before = 0, roofline_pct_after = 0;  // of the hottest kernel; 0: unknown
  memory::TaskCounts counts;                               // of all runs of the task
  double seconds = 0;
  bool out_of_time = false;          // the limit of minutes ended it
  std::vector<std::string> pending;  // questions without an answer; then the task is unfinished, and goes on
                                     // where it stopped as soon as it runs again
};

// An Error is a failure of warpwright; "refused" and "unchanged" are results.
Result<RefineResult> Refine(const RefineTask& task, const RefineServices& services);

}  // namespace warpwright::search
