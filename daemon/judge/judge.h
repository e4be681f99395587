// The judge: whether a candidate does what the original does, and how fast it is.
//
// Original and candidate run in different processes (two Evaluators); all comparisons happen here. Stages, cheap ones
// first; each has the check name under which a verdict reports it:
//
//   (compile, slice, record, device faults: from the evaluator)
//   guard-bands, input-hash  what the candidate wrote outside its outputs
//   module-state             no result depends on what an earlier call left (state_check.h)
//   unwritten-output         two runs with complementary poison: an element equal to its poison in both was not
//                            written; on a GPU the second with nothing mapped around the buffers and read-only inputs
//   determinism              these and further runs agree bit for bit, unless the original's do not or the manifest
//                            allows it. Simulated: 2 runs of the cheapest case, or 3 of each (full), in other orders
//                            of the blocks. On a GPU 3, or 20 (full), and one each with half of the multiprocessors
//                            occupied and alongside a kernel that makes noise (full)
//   comparison               every element, by compare.h
//   (splice)                 what functions of the file beside the entry use is as in the original (run_checks.h)
//   build-dependent          no text that other builds compile to something else, if the original has none
//                            (run_checks.h)
//   host-code                a launcher computes, prints and calls the CUDA runtime; it does nothing else that the
//                            original does not (run_checks.h)
//   ptx-rules                (full and quick) no narrower types than in the original's code (run_checks.h)
//   recorded-reference       what `warpwright record` or the user stored for the case
//   secret-seed              inputs whose seed was drawn after the candidate had compiled and run (a quick evaluation
//                            uses one secret for all candidates of this judge: the original runs once)
//   in-place                 an output in the place of an input, where the original computes the same there, also at
//                            its largest verified case (in_place.h); (full) one buffer for two outputs, where the
//                            original has results then that callers can use (shared_outputs.h)
//   pointer-offset, distributions, exact-integers, needle, scale-ladder, special-values: other inputs, the same shape;
//                            among them integers beyond their range where the original tolerates them, and the numbers
//                            that the candidate's code names and the original's does not. Of infinite inputs counts
//                            what a caller can rely on (special_values.h). Also two inputs with one content
//                            (equal_inputs.h)
//   odd-shape                n-1, n+1, a prime, 1, less than a warp, two secret ones; n-1 and n+1 of the largest case;
//                            (full) n-1 and n+1 at other alignments too, zero where it empties every output, more than
//                            65,535 in each dimension and 2^20 elements in all, squares of powers of two, sizes that
//                            the candidate names; small ones with the taps and strides of the case that counts, one of
//                            them with special values. What takes more than its budget is halved until it fits
//                            (shapes.h);
//                            on a GPU, sizes at which the original faults when it is simulated prove nothing;
//                            (full) buffers aligned less than others at multiples of 32, and millions of equal integers
//                            (full) more elements than 32 bits count, in sparse memory, by samples of both sides
//                            (huge_shapes.h), and so, where work grows with its square, more than 16 bits count
//   other-scalars            (full) floating-point scalars that the manifest does not give, each by itself, zero also with
//                            inputs that are no ordinary numbers; integers
//                            that are no sizes; a null pointer for each buffer (absent_buffers.h)
//   large-case               (full) cases too large to be verified are at least written to
//   reduced-shape            (full) cases too large to be verified, reduced in one dimension at a time to a size that
//                            can be run
//   equivalence              (full) a second witness beside these numbers: what the candidate computes, as expressions
//                            over symbols at small shapes and at sizes that its text names, is what the original
//                            computes (equivalence.h). A difference counts if the numbers on its input show it
//   timed-output, roofline-floor   (a GPU) paired timing, see timing.h: Measured::decision has the outcome. A candidate
//                            that is not faster is still Measured: it is correct
//   dead-code                every added line runs (dead_code.h); on a GPU in full evaluations, by simulating it
//   host-time                a call's own host code takes no more of the processor than the kernels gain
//   bytes-read               the inputs that the original reads are read. Counted last, and on a GPU only of a
//   candidate
//                            that is faster than all before it: of others, (full) alone says it
//
// Other inputs are tried on the cheapest case that is verified and has a thousand elements, those that need long rows
// also on the largest. Where on a GPU that cheapest case is large itself, a path that depends on the size is tried on
// all of it with inputs that need it, with infinities, subnormal and largest numbers and unaligned (trial.h:
// NeedsProductionSize), and how values are spread, on which no size bears, on a part of it. Odd shapes around the
// cheapest case; secret seeds on every one (in a quick evaluation all on the cheapest alone; if it is large and on a
// GPU, the timed outputs cover secret inputs at full size).
//
// Which cases are verified: on the simulator those that the original runs whole within `verify_instructions`, and those
// marked for the simulator alone; the others are only measured, by sampled blocks. On a GPU also small ones that are
// marked for the simulator, which are not timed. A case whose reference cannot tell
// wrong results from right ones (mutants.h) is rejected ("tolerance-self-test"). At least one case must be verified.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/chip.h"
#include "core/evaluator.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"
#include "judge/trial.h"

namespace warpwright::judge {

// Begins the notes of that check.
inline constexpr std::string_view kEquivalenceNote = "equivalence: ";

struct JudgeOptions {
  std::filesystem::path repository;     // where references and init files are looked up
  uint64_t seed = 1;                    // of the case's own inputs, unless a recorded reference has another
  std::optional<uint64_t> secret_seed;  // for tests; otherwise drawn for each candidate
  // Draws it, `of` being what is evaluated: the same number for the same. Empty: from the system, each time another.
  std::function<Result<uint64_t>(const std::string& of)> draw_secret = {};
  uint64_t verify_instructions = 40'000'000;  // thread instructions of one run
  uint64_t sample_instructions = 20'000'000;  // of one measurement
  uint64_t max_case_bytes = 1ull << 30;       // of all buffers; larger cases are skipped, and this is reported
  uint64_t small_case_bytes = 16u << 20;  // up to so many a GPU verifies cases that are marked for the simulator alone
  uint64_t max_long_bytes = 96u << 20;    // of shapes that are long in one dimension, or of many elements
  uint64_t max_long_instructions = 80'000'000;  // of the original there
  uint64_t guard_bytes = 64u << 10;
  uint64_t max_input_bytes = 64u << 20;    // of a case on which a GPU's candidates are tried with all inputs
  std::string manifest_digest, toolchain;  // for recorded references
  std::optional<core::Chip> chip;          // of a real device: bounds plausible results
  std::string simulator;                   // where a GPU's candidates are simulated: "sim:h200"; empty: nowhere
  std::set<std::string> judged_beside;     // entries of the same file that are judged with their own manifest as well
  std::function<void()> fresh_worker;      // makes the next call of the candidates' evaluator run in a new process
  // For checks and builds that need no GPU: they run beside the others then, in processes of their own. Empty: one
  // after another.
  core::ProcessSource another = {};
  // What the original computes, found out by a process that sees no candidate: asked at most once. Empty: not asked.
  std::function<Result<core::LiftOutcome>()> lift = {};
};

struct CaseStatus {
  std::string name;
  bool verified = false;  // whole, by every check; otherwise measured at most
  bool measured = false;
  std::optional<core::Check> check;  // why not verified: too large, blind, for other devices
  std::string note;                  // the same for people
};
struct Baseline {
  core::Verdict original;         // Measured; otherwise why no candidate can be judged
  std::vector<CaseStatus> cases;  // those of the manifest, in its order
  std::string truth;              // "float64 from the form", "float64 shadow", or why there is none
};

struct CaseRecord {
  std::string case_name;
  std::string path;    // of the .json, relative to the repository
  uint64_t bytes = 0;  // of both files
  bool sketched = false;
  bool recorded = false;
  std::string note;  // accuracy, or why it was not recorded
};
struct RecordReport {
  std::vector<CaseRecord> cases;
};

// The judge's interface for callers that need verdicts; their tests script one.
class Reviewer {
 public:
  virtual ~Reviewer() = default;
  virtual Result<Baseline> Prepare() = 0;
  // Versions that Evaluate will be asked about next, in this order: they may be built in the meantime.
  virtual void Expect(const std::vector<core::SourceRef>&) {}
  // This one may be asked about as nvcc builds its whole file, which takes seconds: that too may be built meanwhile.
  virtual void ExpectRealBuild(const core::SourceRef&) {}
  virtual Result<core::Verdict> Evaluate(const core::SourceRef& candidate, core::Evaluator& evaluator,
                                         VerificationLevel effort) = 0;
  virtual const std::vector<std::string>& notes() const = 0;
};

class Judge final : public Reviewer {
 public:
  // `trusted` runs the original; it must outlive the judge.
  Judge(core::KernelSpec spec, core::SourceRef original, std::string device, core::Evaluator& trusted,
        JudgeOptions options);
  ~Judge() override;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // Measures the original and checks that its cases can tell wrong results from right ones. Runs once; Evaluate and
  // Record call it if no caller has.
  Result<Baseline> Prepare() override;

  void Expect(const std::vector<core::SourceRef>& candidates) override;
  void ExpectRealBuild(const core::SourceRef& candidate) override;

  // `evaluator` must not be `trusted`'s process if the candidate is untrusted.
  Result<core::Verdict> Evaluate(const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 VerificationLevel effort) override;

  // Writes .warpwright/references for every case that can be verified. Existing ones are replaced, not consulted.
  Result<RecordReport> Record();

  struct State;  // judge_state.h

  // What could not be tested and why ("special-values: the original itself faults (...)"), in the order of occurrence.
  const std::vector<std::string>& notes() const override;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::judge
