// Originals and candidates as C++ functions in real f32 arithmetic, with the form of what the originals compute: honest
// reassociations, which must pass whatever the seed, and what loses precision or is subtly wrong, which must not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/computation.h"
#include "core/kernel_spec.h"
#include "judge/judge.h"
#include "tests/support/fake_evaluator.h"

namespace warpwright::testing {

struct KernelPair {
  std::string name;
  bool honest = true;
  core::KernelSpec spec;
  core::Computation form;
  FakeKernel original, candidate;
  bool needs_form = false;  // a shadow cannot tell
};
std::vector<KernelPair> KernelPairs();

enum class Truth { kForm, kShadow };
struct PairVerdict {
  std::string truth;  // as the judge says it
  core::Verdict verdict;
};
// A full evaluation; the secret that other inputs and odd shapes are drawn from follows from the seed.
Result<PairVerdict> JudgePair(const KernelPair& pair, Truth truth, uint64_t seed);

}  // namespace warpwright::testing
