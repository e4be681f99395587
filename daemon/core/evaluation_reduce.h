// The state of a reduction while its terms arrive, for a group of lanes.
#pragma once

#include "core/evaluation_lanes.h"

namespace warpwright::core {

class LaneReduction {
 public:
  // `errors`: if bounds are asked for. `rounding`: in a run in a narrower format.
  LaneReduction(const CompiledReduce& reduce, int64_t count, const ErrorRules* errors, LaneRounding* rounding);
  // A term, for the lanes of `mask`, or for all. `index`: of an arg reduction.
  void Add(const LaneValues& term, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index);
  void Finish(LaneValues& out);

  // Where lanes hold terms of one sum (term_program.h). Some must be taken one after another, into the first lane: sums
  // that round after each, products, and choices, of which the first or the last counts.
  static bool IsInOrder(const CompiledReduce& reduce, const LaneRounding* rounding);
  void AddInOrder(const LaneValues& terms, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index, int64_t count);
  // The terms of `next`, which come after these, lane by lane. Not of products; sums round no more.
  void Merge(const LaneReduction& next);
  // All lanes into the first.
  void Fold();
  // The first lane, as that lane of `out`.
  void FinishLane(LaneValues& out, int64_t lane);

 private:
  template <typename T>
  void Combine(Lanes<T>& sum, const Lanes<T>& term, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index);
  template <typename T>
  void Choose(Lanes<T>& best, const Lanes<T>& term, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index);
  void AddErrors(const LaneValues& term, const Lanes<uint8_t>* mask);
  void AddErrorsOfSum(const LaneValues& term);
  void MergeLane(int64_t lane, const LaneReduction& from, int64_t other);
  template <typename T>
  void MergeChoice(Lanes<T>& best, int64_t lane, const Lanes<T>& others, const LaneReduction& from, int64_t other);
  double ErrorOf(int64_t lane) const;
  bool IsExact() const;
  LaneRounding::Terms TermsOfSum() const {
    return reduce_.of_matrices ? LaneRounding::Terms::kOfMatrices : LaneRounding::Terms::kOthers;
  }
  int64_t TermsOf(int64_t lane) const { return terms_[lane] + terms_of_all_; }

  const CompiledReduce& reduce_;
  const int64_t count_;
  const ErrorRules* const rules_;
  LaneRounding* const rounding_;
  Lanes<double> real_;
  Lanes<int64_t> whole_, index_, terms_;
  Lanes<uint8_t> missing_;
  bool any_missing_ = false;
  bool exact_ = true;         // all terms were
  int64_t terms_of_all_ = 0;  // beside those in terms_
  // Of sums: of terms' errors and of magnitudes. Of products: the error, and no magnitude. Of extrema: the largest
  // error. Of arg reductions: the chosen term's error, and the best that any other term may be.
  Lanes<double> errors_, magnitudes_;
};

}  // namespace warpwright::core
