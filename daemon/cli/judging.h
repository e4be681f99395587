// What judges a kernel of a session. Used by record, verify, profile, optimize and nightly.
#pragma once

#include <functional>
#include <memory>

#include "cli/session.h"
#include "judge/judge.h"
#include "nights/night_timer.h"
#include "worker/acceptance_tools.h"

namespace warpwright {

// `references`: the folder that holds .warpwright/references and init files. `fresh_worker`: as in JudgeOptions.
std::unique_ptr<Judge> MakeJudge(const Session& session, const KernelSpec& spec, const SourceRef& original, const Manifest& manifest,
                                 const std::filesystem::path& references, const std::string& toolchain, Evaluator& trusted,
                                 std::function<void()> fresh_worker = {});

// How nights and `--fail-on regression` time two revisions in pairs. `worker` must outlive what it is given to.
NightTimerOptions PairTiming(const Session& session, const Manifest& manifest, const std::filesystem::path& tree, WorkerEvaluator& worker);

// compute-sanitizer and nvcc over a winner, on the smallest case. Nothing where the device is simulated: its simulator is a sanitizer.
std::vector<ToolFinding> LookAtWinner(const Session& session, const KernelSpec& spec, const SourceRef& winner, const Measured& measured);

}  // namespace warpwright
