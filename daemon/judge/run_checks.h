// Checks of one run of a candidate, or of its counters, against the original's. Each returns its verdict, or nothing.
// Private to judge/.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/chip.h"
#include "core/verdict.h"
#include "judge/oracle.h"

namespace warpwright::judge {

using Failure = std::optional<core::Verdict>;

// How core::Executed::precision names atomic additions; the type follows (compile/ptx_rules.h).

core::WrongResult Wrong(core::Check check, const Trial& trial, std::string message,
                        std::optional<core::WrongSample> sample = {});

// guard-bands and input-hash.
Failure CheckSideEffects(const core::KernelSpec& spec, const Trial& trial,
                         const std::vector<core::BufferContent>& inputs, const core::Executed& run);
// unwritten-output: from two runs with complementary poison.
Failure CheckUnwritten(const Trial& trial, const TrialReference& reference, const core::Executed& first,
                       const std::vector<core::BufferContent>& complemented, const core::Executed& second);

// The same from one run, of elements that hold their poison bit for bit where the original has something else: a wrong
// value may be too small to be seen. Of types with few bits many, since some have that value by chance.
Failure CheckPoison(const Trial& trial, const TrialReference& reference, const core::Executed& run);

// The first output that differs between two runs: "out[3] differs"; nothing if everything that the original writes
// agrees.
std::optional<std::string> DifferentOutput(const TrialReference& reference, const std::vector<base::Bytes>& first,
                                           const std::vector<base::Bytes>& second);

// ptx-rules: conversions, products, sums and arithmetic in narrower types than the original's code has and the manifest
// allows. Products in the inputs' own type are not a downgrade.
Failure CheckPrecision(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run);
// determinism: atomic additions of real numbers by several blocks, whose order no two runs need share, if the original
// has none and the manifest does not allow it. Of a single block's, as a rule one thread adds what the block summed up.
Failure CheckOrder(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run);
// build-dependent: text that other builds (for another architecture, with another compiler, on another day) compile to
// something else, if the original has none and the manifest does not allow it.
Failure CheckBuildDependence(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run);
// splice: a change of what functions beside the entry use, and what they compute with it is judged by nobody.
// `judged_beside`: those of them that the same run judges.
Failure CheckSharedCode(const core::KernelSpec& spec, const std::set<std::string>& judged_beside,
                        const TrialReference& reference, const core::Executed& run);
// host-code: what a launcher uses beyond computing, printing and the CUDA runtime (source/closed_world.h), if the
// original does not use the same; and what it returns.
Failure CheckHostCode(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run);
// Approximate instructions that the original does not use: the accuracy budget bounds what they cost, and a reviewer
// may want to know of them.
std::vector<std::string> PrecisionNotes(const TrialReference& reference, const core::Executed& run);

// bytes-read: a candidate that reads less than 90 % of the inputs that the original read cannot depend on all of them.
// The original's bytes are those that it fetched from memory, at most the inputs' size. Nothing if a side was sampled
// or not counted.
Failure CheckBytesRead(const core::KernelSpec& spec, const core::Case& c, const core::CaseMeasurement& original,
                       const core::CaseMeasurement& candidate);
// The same by the bytes that the two touch, each counted once: of inputs whose rows end in the middle of a sector, the
// memory fetches more than is read. True if that is not known.
bool ReadsLess(const core::Executed& original, const core::Executed& candidate);
// roofline-floor: no kernel is faster than its compulsory traffic. That is what the original moved, at most the
// buffers' size, less the part of the outputs that L2 can retain. Applied only to cases larger than twice the L2, with
// a margin of 5 %.
Failure CheckRooflineFloor(const core::Chip& chip, const core::KernelSpec& spec, const core::Case& c,
                           const core::CaseMeasurement& original, double candidate_us);

// host-time: callers wait for a launcher as well. A candidate whose own host code takes more of the processor per call
// than its kernels gain is no improvement.
Failure CheckHostTime(const core::KernelSpec& spec, const core::CaseMeasurement& original,
                      const core::CaseMeasurement& candidate);

// large-case: what is obviously missing from the outputs of a case that is too large to be verified. A run of the whole
// grid must have written them, except those that the original writes only in part (`reference`, of a verified case); a
// run of a sample of its blocks must have written something, and what it has not written is zero.
std::optional<std::string> FindIdle(const TrialReference& reference, const std::vector<core::BufferContent>& inputs,
                                    const core::Executed& run);

// Numbers that the candidate's launcher compared with, and that are neither arguments nor what the original's did.
std::set<double> ComparedAnew(const Trial& trial, const TrialReference& reference, const core::Executed& run);

// Gives the elements that a sample of the blocks has not written, which are zero, the original's values.
void CompleteSample(const TrialReference& reference, core::Executed& run);

// rms(run - original) / rms(original) of the floating-point outputs, over elements that are finite in both: the worst
// output.
double RelativeDifference(const TrialReference& reference, const std::vector<base::Bytes>& buffers);

}  // namespace warpwright::judge
