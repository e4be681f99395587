// A judge for one kernel of a session. Used by record, verify, profile and optimize.
#pragma once

#include <functional>
#include <memory>

#include "cli/session.h"
#include "judge/judge.h"

namespace warpwright {

// `references`: the folder that holds .warpwright/references and init files. `fresh_worker`: as in JudgeOptions.
std::unique_ptr<Judge> MakeJudge(const Session& session, const KernelSpec& spec, const SourceRef& original, const Manifest& manifest,
                                 const std::filesystem::path& references, const std::string& toolchain, Evaluator& trusted,
                                 std::function<void()> fresh_worker = {});

}  // namespace warpwright
