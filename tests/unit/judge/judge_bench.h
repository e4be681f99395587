// A judge on a scripted device: the common set-up of the judge's tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "judge/judge.h"
#include "tests/support/fake_evaluator.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {

inline void Twice(FakeRun& run) {
  std::vector<double> values = run.Values("in");
  for (double& value : values) value *= 2;
  run.SetValues("out", values);
}

inline core::SourceRef MarkedSource(const std::string& marker) {
  return {"/tmp", "kernels/k.cu", "// " + marker + "\nfloat x;\n"};
}

struct JudgeBench {
  explicit JudgeBench(core::KernelSpec spec_in = ElementwiseSpec(core::DType::kF32, 1000),
                      const FakeKernel& original = Twice)
      : spec(std::move(spec_in)), folder(*base::TemporaryDirectory::Create("judge")) {
    trusted.Add("original", original);
    untrusted.Add("original", original);
    options.repository = folder.path();
    options.secret_seed = 4711;
    options.max_long_bytes = 1 << 20;
  }
  explicit JudgeBench(const FakeKernel& original) : JudgeBench(ElementwiseSpec(core::DType::kF32, 1000), original) {}

  Result<core::Verdict> Try(const FakeKernel& candidate,
                            judge::VerificationLevel effort = judge::VerificationLevel::kFull) {
    untrusted.Add("candidate", candidate);
    judge::Judge judge(spec, MarkedSource("original"), device, trusted, options);
    auto verdict = judge.Evaluate(MarkedSource("candidate"), untrusted, effort);
    notes = judge.notes();
    return verdict;
  }
  core::KernelSpec spec;
  std::string device = "sim:h200";
  FakeEvaluator trusted, untrusted;
  base::TemporaryDirectory folder;
  judge::JudgeOptions options;
  std::vector<std::string> notes;
};

}  // namespace warpwright
