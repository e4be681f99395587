// The comparator: is this output the original's, up to rounding?
//
// Every element counts (the matched ratio is 1). Nothing is a wildcard: NaN matches only NaN, an infinity only the same
// infinity. Every test has the form !(error <= tolerance), so that a NaN error fails. Tolerances are scaled by the
// magnitude of the reference itself in the element's row, never absolute (an absolute one lets zeros pass for small
// outputs). Integers and bools are exact.
//
// Two rules give the tolerance of an element with reference r:
//  - Accuracy budget, if a float64 shadow of the original gives the truth t. The original's own error sets the scale:
//    |a - t| <= max(4 * max error of the original in the row, U ulp(t), 2 eps_acc * rms(row), C) with U = sqrt(K), at
//    least 8 and at most 32; 1.5 for 16-bit outputs, for which the last rounding is excluded from the original's error;
//    and over all elements rms(a - t) <= 2 rms(original - t) + eps_acc * rms(t) + C, and no bias: a mean signed error
//    of more than 6 standard errors that the original does not have (dropped terms, truncation).
//  - Fallback table without truth: |a - r| <= max(rtol |r| + c eps_acc sqrt(K) max(|r|, rms(row)), ulp(r)) + C f64:
//    rtol 1e-10, c 16; f32: 2e-6, 16; f16: 1e-3, 8; bf16: 1e-2, 8, the 16-bit ones with eps_acc of f32. K is the length
//    of the longest sum. If the manifest allows tf32 or reduced precision, inputs are rounded to 2^-11 or 2^-8 of their
//    size, which a sum averages: 4 such units of rms(row) are added. `tighten` divides the table's terms; the self-test
//    (mutants.h) raises it if wrong results would pass.
// C is max(4, 2 sqrt(K)) times the conditioning: how far the row (or the whole output) moves when the inputs move by
// their rounding error; the layer norm of a constant row is all rounding noise. A sum of K terms, in any order, is the
// exact sum of inputs that are off by about sqrt(K) roundings. C is at most 1e-3 of the output's usual magnitude.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "core/dtype.h"
#include "core/kernel_spec.h"

namespace warpwright::judge {

struct OutputLayout {
  std::string name;
  core::DType dtype = core::DType::kF32;
  std::vector<int64_t> shape;
  double accumulation = 1;  // K
};

// The manifest's relaxations.
struct ToleranceOverrides {
  std::optional<double> relative;  // replaces rtol, and scales the rest of the table in proportion
  bool tf32 = false;
  bool reduced_precision = false;
  bool Any() const { return relative.has_value() || tf32 || reduced_precision; }
};
ToleranceOverrides ToleranceOverridesOf(const core::KernelSpec& spec);

// The output of the original under one input, with what is known about it. Empty vectors: unknown.
struct OutputReference {
  base::Bytes bytes;
  std::vector<double> truth;         // of the float64 shadow
  std::vector<double> conditioning;  // absolute change of each element
  std::vector<bool> unwritten;       // the original does not write these; nor may the candidate
  double typical_rms = 0;            // of the output under the case's own inputs, which caps the conditioning
  bool own_inputs = false;           // these are the case's own inputs
  bool exact = false;                // linear on exact integers: bit-equal values are required
};

struct Mismatch {
  std::string output;  // which
  size_t index = 0;    // of the first wrong element; of no element if only a rule over the whole output failed
  uint64_t wrong = 0;  // elements
  std::string
      message;  // "out[3, 17] is 0.25, expected 0.5 (off by 0.25, allowed 1.2e-06); 130 of 4096 elements are wrong"
};

// The length of the longest sum in an element of `output`: the manifest's `accumulation`, else the product of the
// extents that the inputs have and the output lacks, else the output's last extent (row operations), else 1
// (element-wise in one dimension).
double EstimateAccumulation(const core::KernelSpec& spec, const core::Case& c, const core::Argument& output);

class Comparator {
 public:
  // `reference` must outlive the comparator.
  Comparator(OutputLayout layout, const OutputReference& reference, const ToleranceOverrides& leniency,
             double tighten = 1);

  std::optional<Mismatch> Check(std::span<const std::byte> actual) const;
  // Whether Check would find no mismatch; stops at the first wrong element.
  bool Accepts(std::span<const std::byte> actual) const;
  // The tolerance of Check at this element; 0 for integers.
  double ToleranceAt(size_t index) const;
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
  void Measure();
  bool UsesTruth(size_t index) const;
  std::optional<std::string> CheckElement(size_t index, const std::byte* actual) const;
  std::optional<std::string> CheckTotals(std::span<const std::byte> actual) const;
  std::string Coordinates(size_t index) const;

  OutputLayout layout_;
  const OutputReference& reference_;
  double rtol_ = 0, row_factor_ = 0, epsilon_accumulate_ = 0,
         row_share_ = 0;  // of the fallback table, including leniency and tightening
  bool budget_ = false;
  size_t count_ = 0, group_size_ = 1;
  std::vector<Group> groups_;
  double rms_truth_ = 0, rms_original_error_ = 0, all_conditioning_ = 0, bias_original_ = 0, shrinkage_original_ = 0;
};

// Distance from |value| to the next larger value of the dtype.
double UlpOf(core::DType dtype, double value);

}  // namespace warpwright::judge
