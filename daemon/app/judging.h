// What judges a kernel of a workspace. Used by record, verify, profile, optimize and nights.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/progress.h"
#include "app/workspace.h"
#include "judge/judge.h"
#include "nights/night_timer.h"
#include "worker/acceptance_tools.h"

namespace warpwright {

// A worker that may see candidates: it is replaced when its word is to count.
struct RestartableEvaluator {
  Evaluator& evaluator;
  std::function<void()> restart;  // its next call meets a new process
};

struct JudgingServices {
  Evaluator& trusted;  // only ever sees the repository's own code
  ToolchainSource toolchain;
  ProgressCallbacks progress = {};
};

struct JudgeSetup {
  const TargetDevice& device;
  const KernelSpec& spec;
  const SourceRef& original;
  const Manifest& manifest;
  std::filesystem::path references;  // folder that holds .warpwright/references and init files
  std::string toolchain;
  std::function<void()> fresh_worker = {};  // as in JudgeOptions
};
std::unique_ptr<Judge> MakeJudge(const JudgeSetup& setup, Evaluator& trusted);

// How nights and `--fail-on regression` time two revisions in pairs.
NightTimerOptions PairTiming(const TargetDevice& device, const Manifest& manifest, const std::filesystem::path& tree,
                             std::function<void()> fresh_worker);

// compute-sanitizer and nvcc over a winner, on the smallest case. Nothing where the device is simulated: its simulator
// is a sanitizer.
std::vector<ToolFinding> RunAcceptanceTools(const TargetDevice& device, const WorkerCommand& worker,
                                            const KernelSpec& spec, const SourceRef& winner, const Measured& measured);

}  // namespace warpwright
