// The comparator: is this output the original's, up to rounding?
//
// Every element counts (the matched ratio is 1). Nothing is a wildcard: NaN matches only NaN, an infinity only the same
// infinity, the largest numbers, or the other one where partial sums are too large whose order decides; only where the
// original sums in 16 bits, or keeps values in them between kernels, and may overflow on its way, an output may have
// the form's truth instead. Every test has the form !(error <= tolerance), so that a NaN error fails. Tolerances are
// scaled by the magnitude of the reference itself in the element's row, never absolute (an absolute one lets zeros pass
// for small outputs). Integers and bools are exact.
//
// Three rules give the tolerance of an element, by what is known about it:
//  - The form's truth t with a bound B (form_truth.h): what roundings in the original's formats may do at most,
//  whatever
//    the order of the sums. B is the first-order bound sum |d_i| gamma_(n-1) of running error analysis (Higham,
//    Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, sections 3.3 and 4.2: any order of n terms has each
//    pass through at most n-1 roundings; pairwise sums through log2 n). Allowed is k B with k = 4: an algorithm that
//    keeps its sums scaled (an online softmax, Welford's update) rounds up to four times per term. As worst cases
//    hardly happen, a share s of it is allowed in the first place, s B with s = min(k, max(16 rms(e/B), 4 max(e/B))),
//    where e are the errors of the original and of honest runs (one term after another; with random roundings; in
//    another order; of 16-bit inputs also with sums that are cut off, as on tensor cores) over the whole output. An
//    output that over the whole is no farther from the truth than the original is allowed k B everywhere, and so is one
//    of constant, tied or sorted inputs, whose roundings are not independent. At least k B' is allowed, with B' the
//    bound if every sum rounded once: s is about sums. Where these are wider than the output, its last rounding is
//    allowed beside it; in f32 at least 8 ulps; where B is 0 and nothing is rounded, nothing. Over the whole output (64
//    and more elements): rms(e/B) <= 2 times the largest of the original and the honest runs, plus (eps |t| + B') / B,
//    of 16-bit outputs at most that largest again, and no bias, as below. Of these 33/64 of a unit are no error: what
//    changes one element in 64 by the last bit loses nothing.
//    Where B is infinite (a variance as the difference of two large numbers), the table speaks, and k B', what
//    roundings of sums come to that nearly cancel; where that is infinite too, k times the original's largest error
//    there. Where most of the original's values are not near t then, under inputs far from zero, they are noise:
//    nothing is compared there, but under the case's own inputs.
//  - Accuracy budget, if a float64 shadow of the original gives the truth t. The original's own error sets the scale:
//    |a - t| <= max(4 E, U ulp(t), 2 eps_acc * rms(row), 8 S rms(row), C) with E the original's largest error in the
//    row, or its usual share of a row's magnitude where it is less by chance; S what 16-bit outputs of it are off
//    beyond their last rounding, as values are that were kept in 16 bits on the way: the mean square of all errors
//    tells it, where the last rounding hides it in nearly every row; U = sqrt(K), at least 8 and at most 32; 1.5 for
//    16-bit outputs, for which the last rounding is excluded from the original's error; and over all elements rms(a -
//    t) <= 2 rms(original - t) + eps_acc * rms(t) + C, and no bias: a mean signed error of more than 6 standard errors
//    that the original does not have (dropped terms, truncation). An output that over the whole is no farther from the
//    truth than the original is held to the table at single elements.
//  - Fallback table without truth: |a - r| <= max(rtol |r| + c eps_acc sqrt(K) max(|r|, rms(row)), ulp(r)) + C f64:
//    rtol 1e-10, c 16; f32: 2e-6, 16; f16: 1e-3, 8; bf16: 1e-2, 8, the 16-bit ones with eps_acc of f32. K is the length
//    of the longest sum. If the manifest allows tf32 or reduced precision, inputs are rounded to 2^-11 or 2^-8 of their
//    size, which a sum averages: 4 such units of rms(row) are added; so they are where values wait in 16 bits between
//    kernels, and nothing tells what becomes of their roundings. `tighten` divides the table's terms; the self-test
//    (mutants.h) raises it if wrong results would pass.
//    Where bounds are known of a sample only, another element is allowed at least what half of the sample is and half
//    as much again as the original is off in it, in proportion to their rows' magnitudes.
// An infinity beside a number: of an output that is narrower than its sums it may be a matter of the last rounding.
// With bounds, the number must be within its tolerance of the truth, or of the truth what is rounded to the infinity.
// Under inputs that are not the case's own, where nothing bounds an element and the original is not near the truth,
// something of it became infinite on the way: either infinity, and the 0 that an activation makes of no number, may
// stand there; and where that is so anywhere in the output, in every element that nothing bounds.
// Where the original adds by atomics on f32, K smallest normal numbers are allowed beside all that: these flush.
// C is max(4, 2 sqrt(K)) times the conditioning: how far the row (or the whole output) moves when the inputs move by
// their rounding error; the layer norm of a constant row is all rounding noise. A sum of K terms, in any order, is the
// exact sum of inputs that are off by about sqrt(K) roundings. C is at most 1e-3 of the output's usual magnitude.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/uninitialized.h"
#include "core/dtype.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"
#include "judge/element_values.h"

namespace warpwright::judge {

struct Shares;  // error_shares.h

struct OutputLayout {
  std::string name;
  core::DType dtype = core::DType::kF32;
  std::vector<int64_t> shape;
  double accumulation = 1;  // K
  double kept = 0;          // unit roundoff of the 16 bits in which values wait between kernels; 0: they do not
};

// The manifest's relaxations.
struct ToleranceOverrides {
  std::optional<double> relative;  // replaces rtol, and scales the rest of the table in proportion
  bool tf32 = false;
  bool reduced_precision = false;
  bool Any() const { return relative.has_value() || tf32 || reduced_precision; }
};
ToleranceOverrides ToleranceOverridesOf(const core::KernelSpec& spec);

enum class TruthSource : uint8_t { kNone, kShadow, kForm };
std::string_view Name(TruthSource source);  // "none", "float64 shadow", "float64 from the form"
constexpr TruthSource Last(TruthSource) { return TruthSource::kForm; }

// Errors of an output against a truth with bounds, over all of it: in units of the bound.
struct ErrorShares {
  double rms = 0, largest = 0;
  double bias = 0, shrinkage = 0;  // magnitudes of means, with the sign of the error, and of the error toward zero
  void Widen(const ErrorShares& other);
};

// The output of the original under one input, with what is known about it. Empty vectors: unknown.
struct OutputReference {
  base::Bytes bytes;
  ElementValues truth;  // NaN: unknown
  TruthSource source = TruthSource::kNone;
  ElementValues bound;   // of the form's truth: B, without the rounding to a narrower output; NaN: unknown
  ElementValues single;  // B', of the same elements; empty: not known, and taken as 0
  ErrorShares honest;    // the largest of honest runs; with bounds
  core::DType accumulation = core::DType::kF32;    // format in which the original sums; with bounds
  base::UninitializedVector<double> conditioning;  // absolute change of each element
  std::vector<bool> unwritten;                     // the original does not write these; nor may the candidate
  double kept = 0;         // as OutputLayout::kept, where the original is only what the form says if it keeps them so
  double typical_rms = 0;  // of the output under the case's own inputs, which caps the conditioning
  // What additions lose that flush subnormal operands and results: atomics on f32 do (PTX ISA, red and atom), and
  // another order of the same additions flushes others.
  double flushed = 0;
  bool own_inputs = false;  // these are the case's own inputs
  bool structured = false;  // roundings depend on one another: constant, tied or sorted inputs
  bool exact = false;       // linear on exact integers: bit-equal values are required

  bool has_bounds() const { return !bound.empty(); }
  void ForgetTruth();
};

// Elements without a bound, or with one of 0, do not count.
ErrorShares MeasureErrors(const OutputLayout& layout, const OutputReference& reference,
                          std::span<const std::byte> actual);
// Of values that were not rounded to the output's type, of each element whose bound is kept; NaN: unknown.
ErrorShares MeasureErrors(const OutputReference& reference, std::span<const double> values);

struct Mismatch {
  std::string output;  // which
  size_t index = 0;    // of the first wrong element; of no element if only a rule over the whole output failed
  uint64_t wrong = 0;  // elements
  std::string
      message;  // "out[3, 17] is 0.25, expected 0.5 (off by 0.25, allowed 1.2e-06); 130 of 4096 elements are wrong"
  std::optional<core::WrongSample> sample = {};
};

// "out[3, 17]"
std::string ElementName(const OutputLayout& layout, size_t index);

// The length of the longest sum in an element of `output`: the manifest's `accumulation`, else the product of the
// extents that the inputs have and the output lacks, else the output's last extent (row operations), else 1
// (element-wise in one dimension).
double EstimateAccumulation(const core::KernelSpec& spec, const core::Case& c, const core::Argument& output);

// The largest unit roundoff of the entry's scratch buffers of 16 bits.
double KeptRounding(const core::KernelSpec& spec);

class Comparator {
 public:
  // `reference` must outlive the comparator.
  Comparator(OutputLayout layout, const OutputReference& reference, const ToleranceOverrides& leniency,
             double tighten = 1);

  std::optional<Mismatch> Check(std::span<const std::byte> actual) const;
  // The elements that Check finds wrong, where nothing is known of any of them: they are in no sample. Empty: there are
  // more than `most`, or something else is wrong.
  std::vector<int64_t> WrongUnknown(std::span<const std::byte> actual, size_t most) const;
  // Whether Check would find no mismatch; stops at the first wrong element.
  bool Accepts(std::span<const std::byte> actual) const;
  // The tolerance of Check at this element; 0 for integers.
  double ToleranceAt(size_t index) const { return ToleranceAt(index, Allowance::kUsual); }
  // What its error is measured against: the truth, where it is known and is the measure, or the original's value.
  double TargetAt(size_t index) const;
  // rms(original - truth) / rms(truth); 0 without truth.
  double OriginalRelativeError() const;
  const OutputLayout& layout() const { return layout_; }
  const OutputReference& reference() const { return reference_; }

 private:
  struct Group {  // a row, or several short ones
    double rms = 0;
    double original_error = 0;
    double conditioning = 0;  // C
  };
  // kNear: of an output that is no farther from the truth than the original.
  enum class Allowance : uint8_t { kUsual, kNear };
  void Measure();
  void MeasureNoise();
  void MeasureNarrowSums();
  void MeasureSample();
  void MeasureKept();
  bool UsesTruth(size_t index) const;
  bool UsesBound(size_t index) const;
  bool MayOverflowOnItsWay(size_t index) const;
  bool HasHugeTerms(size_t index) const;
  bool IsBoundless(size_t index) const;
  bool IsAsNearAsTheOriginal(size_t index, double value, double original) const;
  bool IsOverflown(size_t index, double original) const;
  bool IsTheTruth(size_t index, double value, double original) const;
  bool IsRoundedToInfinity(size_t index, double value, double original, Allowance allowance) const;
  struct Whole;  // what is measured over all elements
  // What is wrong with an element.
  enum class Fault : uint8_t { kNone, kWritten, kDiffers, kInexact, kOff };
  Whole MeasureWhole(std::span<const std::byte> actual) const;
  double ToleranceAt(size_t index, Allowance allowance) const;
  double RoundingTolerance(size_t index, Allowance allowance) const;
  double AccumulatedTolerance(size_t index, Allowance allowance) const;  // without the last rounding
  double BoundTolerance(size_t index, Allowance allowance) const;
  double TableTolerance(size_t index, double around) const;
  Fault FaultOf(size_t index, const std::byte* actual, Allowance allowance) const;
  std::string Explain(Fault fault, size_t index, const std::byte* actual, Allowance allowance) const;
  // visit(index) for each element of [begin, end) that has a fault, and some that have none.
  template <typename Visit>
  void ForEachSuspect(size_t begin, size_t end, const std::byte* actual, Visit visit) const;
  void MarkFine(size_t first, const std::byte* actual, std::span<bool> fine) const;
  std::optional<std::string> CheckTotals(const Whole& whole) const;
  std::optional<std::string> CheckShares(const Shares& all) const;
  core::WrongSample SampleOf(std::span<const std::byte> actual, Allowance allowance) const;

  OutputLayout layout_;
  const OutputReference& reference_;
  double rtol_ = 0, row_factor_ = 0, epsilon_accumulate_ = 0,
         row_share_ = 0;  // of the fallback table, including leniency and tightening
  bool budget_ = false;
  bool noise_ = false;          // what has an infinite bound is not compared
  double unbounded_error_ = 0;  // the original's largest where B' is infinite too
  double boundless_share_ = 0;  // of the table's tolerance: the original's largest error where the bound is infinite
  double narrow_error_ = 0;     // of sums in 16 bits, for elements whose truth is not known
  double sampled_share_ = 0;    // of its row's magnitude, what half of a sample is allowed beside its last rounding
  bool measured_ = true;        // rows, and errors without regard to bounds
  size_t count_ = 0, group_size_ = 1;
  std::vector<Group> groups_;
  ErrorShares original_shares_, usual_shares_;  // usual: of the original and honest runs
  double share_ = 0;                            // s
  double kept_ = 0;                             // OutputLayout::kept, or the reference's
  double units_rms_ = 0;                        // OriginalShares::units
  // Of what waits in 16 bits, roundings go either way: the largest error of the original's, in units of a row's rms or
  // of the usual row's, where that is larger.
  double largest_share_ = 0, usual_rms_ = 0;
  // Some of the original's elements are what an overflow between kernels left: those of another order may be others.
  bool overflows_ = false;
  double usual_row_error_ = 0;  // of the original, relative to rows' magnitudes
  double kept_error_ = 0;       // S
  double rms_truth_ = 0, rms_original_error_ = 0, all_conditioning_ = 0, bias_original_ = 0, shrinkage_original_ = 0;
};

// Distance from |value| to the next larger value of the dtype.
double UlpOf(core::DType dtype, double value);

// The same for many values of one type.
class UnitsOf {
 public:
  explicit UnitsOf(core::DType dtype) : normal_(core::SmallestNormal(dtype)), epsilon_(core::MachineEpsilon(dtype)) {}
  double At(double value) const {
    const double magnitude = std::fabs(value);
    if (!(magnitude > normal_)) return normal_ * epsilon_;
    // The power of two at or below it.
    constexpr uint64_t kExponent = 0x7ff0000000000000;
    return std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) & kExponent) * epsilon_;
  }

 private:
  double normal_, epsilon_;
};

}  // namespace warpwright::judge
