#include "core/evaluation_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool IsMax(ReduceOp op) { return op == ReduceOp::kMax || op == ReduceOp::kArgMaxFirst || op == ReduceOp::kArgMaxLast; }
bool IsLast(ReduceOp op) { return op == ReduceOp::kArgMaxLast || op == ReduceOp::kArgMinLast; }

// NaN is never chosen over a number.
template <typename T>
bool Beats(ReduceOp op, T a, T b) {
  const bool better = IsMax(op) ? a > b : a < b;
  if constexpr (std::is_floating_point_v<T>) return better || (std::isnan(b) && !std::isnan(a));
  return better;
}

double AddReal(double a, double b) { return a + b; }
double MultiplyReal(double a, double b) { return a * b; }
int64_t AddWhole(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t MultiplyWhole(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
double Add(double a, double b) { return AddReal(a, b); }
int64_t Add(int64_t a, int64_t b) { return AddWhole(a, b); }
double Multiply(double a, double b) { return MultiplyReal(a, b); }
int64_t Multiply(int64_t a, int64_t b) { return MultiplyWhole(a, b); }

}  // namespace

LaneReduction::LaneReduction(const CompiledReduce& reduce, int64_t count, const ErrorRules* errors,
                             LaneRounding* rounding)
    : reduce_(reduce), count_(count), rules_(errors), rounding_(rounding) {
  const bool product = reduce.op == ReduceOp::kProduct, sum = reduce.op == ReduceOp::kSum, max = IsMax(reduce.op);
  real_.fill(product ? 1 : sum ? 0 : max ? -kInf : kInf);
  whole_.fill(product ? 1 : sum ? 0 : max ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max());
  terms_.fill(0), index_.fill(0), missing_.fill(0), errors_.fill(0);
  magnitudes_.fill(IsArg(reduce.op) ? (max ? -kInf : kInf) : 0);
}

void LaneReduction::Add(const LaneValues& term, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index) {
  if (rules_ != nullptr) AddErrors(term, mask);
  if (reduce_.integer) Combine(whole_, term.whole, mask, index);
  else Combine(real_, term.real, mask, index);
  if (rounding_ != nullptr && !reduce_.integer && (reduce_.op == ReduceOp::kSum || reduce_.op == ReduceOp::kProduct))
    rounding_->ApplyToSums(real_, count_, TermsOfSum());
  if (mask == nullptr) ++terms_of_all_;
  else
    for (int64_t l = 0; l < count_; ++l) terms_[l] += (*mask)[l];
  if (!term.any_missing) return;
  for (int64_t l = 0; l < count_; ++l) {
    if ((mask != nullptr && (*mask)[l] == 0) || term.missing[l] == 0) continue;
    missing_[l] = 1;
    any_missing_ = true;
  }
}

template <typename T>
void LaneReduction::Combine(Lanes<T>& sum, const Lanes<T>& term, const Lanes<uint8_t>* mask,
                            const Lanes<int64_t>& index) {
  const auto each = [&](auto op) {
    if (mask == nullptr)
      for (int64_t l = 0; l < count_; ++l) sum[l] = op(sum[l], term[l]);
    else
      for (int64_t l = 0; l < count_; ++l) sum[l] = (*mask)[l] != 0 ? op(sum[l], term[l]) : sum[l];
  };
  switch (reduce_.op) {
    case ReduceOp::kSum: return each([](T a, T b) { return core::Add(a, b); });
    case ReduceOp::kProduct: return each([](T a, T b) { return Multiply(a, b); });
    case ReduceOp::kMax: return each([](T a, T b) { return Beats(ReduceOp::kMax, b, a) ? b : a; });
    case ReduceOp::kMin: return each([](T a, T b) { return Beats(ReduceOp::kMin, b, a) ? b : a; });
    default: return Choose(sum, term, mask, index);
  }
}

template <typename T>
void LaneReduction::Choose(Lanes<T>& best, const Lanes<T>& term, const Lanes<uint8_t>* mask,
                           const Lanes<int64_t>& index) {
  for (int64_t l = 0; l < count_; ++l) {
    if (mask != nullptr && (*mask)[l] == 0) continue;
    const bool ties = IsLast(reduce_.op) && term[l] == best[l];
    if (TermsOf(l) != 0 && !ties && !Beats(reduce_.op, term[l], best[l])) continue;
    best[l] = term[l];
    index_[l] = index[l];
  }
}

void LaneReduction::AddErrorsOfSum(const LaneValues& term) {
  const Lanes<double>& error = term.Errors();
  for (int64_t l = 0; l < count_; ++l) {
    errors_[l] += error[l];
    magnitudes_[l] += std::fabs(term.real[l]) + error[l];
  }
}

void LaneReduction::AddErrors(const LaneValues& term, const Lanes<uint8_t>* mask) {
  exact_ = exact_ && term.exact;
  if (reduce_.op == ReduceOp::kSum && mask == nullptr && !reduce_.integer) return AddErrorsOfSum(term);
  for (int64_t l = 0; l < count_; ++l) {
    if (mask != nullptr && (*mask)[l] == 0) continue;
    const double value = reduce_.integer ? static_cast<double>(term.whole[l]) : term.real[l];
    const double so_far = reduce_.integer ? static_cast<double>(whole_[l]) : real_[l];
    const double error = term.Errors()[l];
    const bool first = TermsOf(l) == 0;
    if (reduce_.op == ReduceOp::kSum) {
      errors_[l] += error;
      magnitudes_[l] += std::fabs(value) + error;
    } else if (reduce_.op == ReduceOp::kProduct) {
      const double propagated = std::fabs(so_far) * error + std::fabs(value) * errors_[l] + errors_[l] * error;
      errors_[l] = first || reduce_.integer ? propagated : rules_->Rounded(so_far * value, propagated);
    } else if (!IsArg(reduce_.op)) {
      errors_[l] = std::max(errors_[l], error);
    } else {
      const double sign = IsMax(reduce_.op) ? 1 : -1;
      const bool chosen = first || Beats(reduce_.op, value, so_far);
      const double loser = chosen ? so_far + sign * errors_[l] : value + sign * error;
      if (!first) magnitudes_[l] = sign * std::max(sign * magnitudes_[l], sign * loser);
      if (chosen) errors_[l] = error;
    }
  }
}

double LaneReduction::ErrorOf(int64_t l) const {
  const double value = reduce_.integer ? static_cast<double>(whole_[l]) : real_[l];
  double error = errors_[l];
  if (reduce_.op == ReduceOp::kSum && !reduce_.integer)
    error = rules_->Stored(value, rules_->OfSum(value, static_cast<double>(TermsOf(l)), errors_[l], magnitudes_[l]));
  if (IsArg(reduce_.op)) {
    const double sign = IsMax(reduce_.op) ? 1 : -1;
    const bool uncertain = TermsOf(l) > 1 && sign * magnitudes_[l] > sign * value - errors_[l];
    error = uncertain ? kInf : 0;
  }
  return std::isnan(error) ? kInf : error;
}

// Whether no term's error and no rounding of its own make the result uncertain.
bool LaneReduction::IsExact() const {
  if (!exact_ || IsArg(reduce_.op)) return false;
  return reduce_.integer || reduce_.op == ReduceOp::kMax || reduce_.op == ReduceOp::kMin;
}

bool LaneReduction::IsInOrder(const CompiledReduce& reduce, const LaneRounding* rounding) {
  return IsArg(reduce.op) || reduce.op == ReduceOp::kProduct ||
         (reduce.op == ReduceOp::kSum && rounding != nullptr && !reduce.integer);
}

void LaneReduction::AddInOrder(const LaneValues& terms, const Lanes<uint8_t>* mask, const Lanes<int64_t>& index,
                               int64_t count) {
  if (reduce_.op == ReduceOp::kSum && rules_ == nullptr && rounding_ != nullptr && mask == nullptr &&
      !terms.any_missing) {
    real_[0] = rounding_->Accumulate(real_[0], std::span(terms.real).first(static_cast<size_t>(count)), TermsOfSum());
    terms_of_all_ += count;
    return;
  }
  LaneValues term;
  Lanes<int64_t> its_index;
  for (int64_t l = 0; l < count; ++l) {
    if (mask != nullptr && (*mask)[l] == 0) continue;
    term.real[0] = terms.real[l], term.whole[0] = terms.whole[l];
    term.exact = terms.exact;
    if (!terms.exact) term.error[0] = terms.error[l];
    term.any_missing = terms.any_missing && terms.missing[l] != 0;
    term.missing[0] = term.any_missing ? 1 : 0;
    its_index[0] = index[l];
    Add(term, nullptr, its_index);
  }
}

// The choice of a part against that of the terms before it; what is not chosen may be the better one within its error.
template <typename T>
void LaneReduction::MergeChoice(Lanes<T>& best, int64_t l, const Lanes<T>& others, const LaneReduction& from,
                                int64_t other) {
  const double sign = IsMax(reduce_.op) ? 1 : -1;
  const auto reach = [&](T value, double error) { return static_cast<double>(value) + sign * error; };
  const bool first = TermsOf(l) == 0;
  const bool ties = IsLast(reduce_.op) && others[other] == best[l];
  const bool chosen = first || ties || Beats(reduce_.op, others[other], best[l]);
  const double loser = chosen ? reach(best[l], errors_[l]) : reach(others[other], from.errors_[other]);
  double most = sign * from.magnitudes_[other];
  if (!first) most = std::max({most, sign * magnitudes_[l], sign * loser});
  magnitudes_[l] = sign * most;
  if (!chosen) return;
  best[l] = others[other];
  errors_[l] = from.errors_[other];
  index_[l] = from.index_[other];
}

void LaneReduction::MergeLane(int64_t l, const LaneReduction& from, int64_t other) {
  const int64_t terms = from.TermsOf(other);
  if (terms == 0) return;
  switch (reduce_.op) {
    case ReduceOp::kSum:
      real_[l] += from.real_[other];
      whole_[l] = AddWhole(whole_[l], from.whole_[other]);
      errors_[l] += from.errors_[other];
      magnitudes_[l] += from.magnitudes_[other];
      break;
    case ReduceOp::kProduct:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
      if (Beats(reduce_.op, from.real_[other], real_[l])) real_[l] = from.real_[other];
      if (Beats(reduce_.op, from.whole_[other], whole_[l])) whole_[l] = from.whole_[other];
      errors_[l] = std::max(errors_[l], from.errors_[other]);
      break;
    default:
      if (reduce_.integer) MergeChoice(whole_, l, from.whole_, from, other);
      else MergeChoice(real_, l, from.real_, from, other);
  }
  terms_[l] += terms;
  missing_[l] |= from.missing_[other];
}

void LaneReduction::Merge(const LaneReduction& next) {
  for (int64_t l = 0; l < count_; ++l) MergeLane(l, next, l);
  any_missing_ = any_missing_ || next.any_missing_;
  exact_ = exact_ && next.exact_;
}

void LaneReduction::Fold() {
  for (int64_t l = 1; l < count_; ++l) MergeLane(0, *this, l);
}

void LaneReduction::FinishLane(LaneValues& out, int64_t lane) {
  const bool arg = IsArg(reduce_.op), exact = rules_ == nullptr || IsExact();
  out.real[lane] = real_[0];
  out.whole[lane] = arg ? index_[0] : whole_[0];
  out.exact = out.exact && exact;
  out.error[lane] = exact ? 0 : ErrorOf(0);
  out.missing[lane] = missing_[0] != 0 || (arg && TermsOf(0) == 0) ? 1 : 0;
  out.any_missing = out.any_missing || out.missing[lane] != 0;
}

void LaneReduction::Finish(LaneValues& out) {
  const bool arg = IsArg(reduce_.op);
  out.exact = rules_ == nullptr || IsExact();
  for (int64_t l = 0; !out.exact && l < count_; ++l) out.error[l] = ErrorOf(l);
  for (int64_t l = 0; arg && l < count_; ++l) {
    if (TermsOf(l) != 0) continue;
    missing_[l] = 1;  // an empty arg reduction has no value
    any_missing_ = true;
  }
  std::copy_n(real_.begin(), count_, out.real.begin());
  std::copy_n(arg ? index_.begin() : whole_.begin(), count_, out.whole.begin());
  out.any_missing = any_missing_;
  if (any_missing_) out.missing = missing_;
}

}  // namespace warpwright::core
