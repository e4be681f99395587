#include "tests/support/kernel_pairs.h"

#include "base/file.h"
#include "tests/support/kernel_pair_family.h"

namespace warpwright::testing {

std::vector<KernelPair> KernelPairs() {
  std::vector<KernelPair> pairs;
  AddSums(pairs);
  AddNorms(pairs);
  AddProducts(pairs);
  return pairs;
}

Result<PairVerdict> JudgePair(const KernelPair& pair, Truth truth, uint64_t seed) {
  WW_ASSIGN(const auto folder, base::TemporaryDirectory::Create("pairs"));
  FakeEvaluator trusted, untrusted;
  trusted.Add("original", pair.original);
  untrusted.Add("candidate", pair.candidate);
  judge::JudgeOptions options;
  options.repository = folder.path();

  options.secret_seed = 1'000'000 + seed;
  // These kernels run whole where a device would run a sample of their blocks.
  options.max_long_bytes = 4u << 20;
  options.max_long_instructions = 4'000'000;  // 4 per byte
  if (truth == Truth::kForm)
    options.lift = [&]() -> Result<core::LiftOutcome> {
      return core::LiftOutcome(core::Lifted{.computation = pair.form, .shapes = 3, .verified = true});
    };
  judge::Judge judge(pair.spec, {"/tmp", "k.cu", "// original\n"}, "sim:h200", trusted, options);
  WW_ASSIGN(const judge::Baseline baseline, judge.Prepare());
  if (!core::Passed(baseline.original)) return PairVerdict{baseline.truth, baseline.original};
  WW_ASSIGN(core::Verdict verdict,
            judge.Evaluate({"/tmp", "k.cu", "// candidate\n"}, untrusted, judge::VerificationLevel::kFull));
  return PairVerdict{baseline.truth, std::move(verdict)};
}

}  // namespace warpwright::testing
