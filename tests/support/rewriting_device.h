// A device of C++ functions for tests of the loop: rewriting adds a line with the method and its parameters, so that
// each setting of a method is a different candidate.
#pragma once

#include <string>

#include "core/added_lines.h"
#include "core/evaluator.h"
#include "tests/support/fake_evaluator.h"

namespace warpwright {

class RewritingDevice : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef& source) override { return kernels.Inspect(source); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    if (request.transform == core::kAddedLines) return kernels.Rewrite(request);
    std::string text = request.source.text + "// " + request.transform;
    for (const auto& [name, value] : request.parameters) text += " " + name + "=" + value;
    return core::RewriteOutcome(core::Rewritten{text + "\n", {"adds a line"}});
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override { return kernels.Splice(request); }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    auto outcome = kernels.Execute(request);
    // A kernel dominated by launch overhead: the policy then requests other block sizes.
    if (auto* run = outcome ? std::get_if<core::Executed>(&*outcome) : nullptr) {
      core::LaunchReport& launch = run->launches.front();
      launch.time.total_us = run->time_us;
      launch.time.overhead_us = 0.7 * run->time_us;
      launch.occupancy.waves = 1.5;
    }
    return outcome;
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override { return kernels.Time(request); }

  FakeEvaluator kernels;
};

}  // namespace warpwright
