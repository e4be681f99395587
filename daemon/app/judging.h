// What judges a kernel of a workspace. Used by record, verify, profile, optimize and nightly.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/progress.h"
#include "app/workspace.h"
#include "judge/judge.h"
#include "nights/night_timer.h"
#include "worker/acceptance_tools.h"

namespace warpwright::app {

// A worker that may run candidates: it is replaced before its results must be trusted.
struct RestartableEvaluator {
  core::Evaluator& evaluator;
  std::function<void()> restart;  // its next call runs in a new process
};

struct JudgingServices {
  core::Evaluator& trusted;  // only ever runs the repository's own code
  ToolchainSource toolchain;
  ProgressCallbacks progress = {};
  core::ProcessSource another = {};  // as in JudgeOptions
};

struct JudgeSetup {
  const TargetDevice& device;
  const core::KernelSpec& spec;
  const core::SourceRef& original;
  const core::Manifest& manifest;
  std::filesystem::path references;  // folder that contains .warpwright/references and init files
  std::string toolchain;
  std::function<void()> fresh_worker = {};  // as in JudgeOptions
  // The same; empty: the trusted worker lifts the original when the judge first needs to know.
  std::function<Result<core::LiftOutcome>()> lift = {};
  std::function<Result<uint64_t>(const std::string& of)> draw_secret = {};  // as in JudgeOptions
  core::ProcessSource another = {};                                         // the same
  std::set<std::string> judged_beside = {};                                 // the same
};
// The setup's device, and `trusted`, outlive the judge.
std::unique_ptr<judge::Judge> MakeJudge(const JudgeSetup& setup, core::Evaluator& trusted);

// Kernels whose questions nobody answered yet are left out, and this is said.
void MentionUnanswered(const core::Manifest& manifest, const ProgressCallbacks& progress);

// How nightly runs and `--fail-on regression` time two revisions in pairs.
nights::NightTimerOptions PairTiming(const TargetDevice& device, const core::Manifest& manifest,
                                     const std::filesystem::path& tree, std::function<void()> fresh_worker);

// compute-sanitizer over a winner, on the smallest case; nvcc, which compiles it; and a quick evaluation of the kernels
// that nvcc makes of its whole file, in place of those that were judged. On a simulated device, which is a sanitizer,
// nvcc alone. `worker`: what compute-sanitizer watches; nullptr: it does not run.
struct ToolSetup {
  const TargetDevice& device;
  const core::KernelSpec& spec;
  const core::Policy& policy;
  const core::SourceRef& original;
  judge::Reviewer& judge;  // prepared
  core::Evaluator& candidates;
  const worker::WorkerCommand* worker = nullptr;
  base::Deadline* deadline = nullptr;
};
std::vector<core::ToolFinding> RunAcceptanceTools(const ToolSetup& setup, const core::SourceRef& winner,
                                                  const core::Measured& measured);

}  // namespace warpwright::app
