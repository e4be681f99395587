// Paired timing of a candidate against its original on a real device, and the check of what it computed meanwhile.
// Private to judge/.
//
// A quick evaluation times a few blocks once. A full one proceeds look by look (core/timing.h) until the weighted mean
// over the cases is decided; a candidate that came out faster is timed again in a fresh process with other seeds, and
// those numbers are published: the best of many candidates is partly the luckiest. Inputs have their own secret seed;
// the number of pairs follows from the original's time, before the candidate runs.
//
// Timed outputs are verified too:
//  - for every pair the device reports how far the outputs are from the original's. No element may be of another class
//    (NaN, an infinity) or unwritten. The relative difference may be what verification of this case allowed, 4 times
//    the largest that it saw, or one rounding of the output's type (outputs that were bit-equal on a few inputs need
//    not be on hundreds). Cheaper arithmetic for timed launches alone is orders of magnitude beyond that. A sum over
//    few elements may come out near zero, and the worst of a sample's launches is reported: for small outputs the
//    median over the pairs may be the limit times the number of launches, since the decision is also by medians. If no
//    output has a floating-point type the limit is 0; the device's number is the worst over all outputs, so for
//    integers alongside floats it is the next check that enforces equality;
//  - for pairs that the candidate cannot predict the whole outputs are returned, and the comparator checks them. The
//    original's result on their inputs is recomputed in the trusted process, since the candidate was in the one that
//    timed. If a buffer is `inout`, whose old content is not returned, the comparison is with the original's own timed
//    output.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "judge/judge_state.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// Pairs in a block: as many as a look has time for, and few of what takes tenths of a second, for which others wait.
int PairsPerBlock(VerificationLevel effort, double original_us, uint64_t bytes);

class PairedTiming {
 public:
  PairedTiming(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
               VerificationLevel effort)
      : state_(state), candidate_(candidate), evaluator_(evaluator), effort_(effort) {}

  // A run of the case that was verified.
  void AddVerified(const std::string& case_name, const TrialReference& reference,
                   const std::vector<base::Bytes>& buffers);
  // Fills in the decision, and the timing and the time of each case with a weight.
  Result<Failure> Run(core::Measured& measured);

 private:
  struct Timing {  // of one case in one process
    core::CaseMeasurement* measured = nullptr;
    const core::CaseMeasurement* original = nullptr;
    const core::Case* c = nullptr;
    uint64_t seed = 0;
    int pairs_per_block = 0, launches_per_sample = 0;
    std::vector<core::TimedPair> pairs;
    double hot_original_us = 0, hot_candidate_us = 0;
    core::TimingSummary summary;
  };
  std::vector<Timing> TimedCases(core::Measured& measured) const;
  Result<Failure> Pass(uint64_t secret, std::vector<Timing>& timings, core::TimingOverall& overall);
  Result<Failure> AddBlocks(Timing& timing, int first_block, int blocks);
  struct DeviationLimit {
    double relative = 0;
    bool small = false;  // an output has few elements
    // rms of the small outputs as verified. Timed inputs are rotations of one another, so that a sum that comes out
    // near zero does so in every pair, and a difference that is small relative to the usual sum is large relative to
    // this one.
    std::map<std::string, double> usual_rms;
  };
  Failure CheckDeviation(const Timing& timing, const std::vector<core::TimedPair>& pairs, int launches_per_sample,
                         double luck) const;
  // How many times smaller than usual the original's small outputs are in the timed runs; at least 1.
  double SmallOutputFactor(const Timing& timing, const core::SampledPair& kept) const;
  Result<Failure> CheckKept(const Timing& timing, const std::vector<core::BufferContent>& sent,
                            core::SampledPair& kept);
  DeviationLimit LimitOf(const std::string& case_name) const;
  core::TimingRules Rules() const;
  uint64_t NextSecret();

  Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator& evaluator_;
  const VerificationLevel effort_;
  uint64_t passes_ = 0;
  std::map<std::string, DeviationLimit> limits_;  // by case
};

}  // namespace warpwright::judge
