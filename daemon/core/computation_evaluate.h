// The value of a Computation in float64, integers exactly in 64 bits, and a bound on how far an evaluation in a
// narrower format may be from it.
//
// The bound is a running error analysis (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002,
// section 3.3; sums: sections 4.2 and 4.3): beside each value v stands a bound e on |computed - v|, with u the unit
// roundoff of the format of accumulation and h half of its smallest subnormal (fast: its smallest normal).
//   sum of n terms, any order   sum e_i + g(n) u sum(|v_i| + e_i);  g(n) = n - 1
//   product, each factor        |a| e_b + |b| e_a + e_a e_b + u |ab| + h
//   function f(v)               spread of f over [v - e, v + e] + (2 k + 1) u |f(v)| + h;  k: ulps of the function
//   maximum, minimum            the largest e_i
//   rounding to a type          e + u' (|v| + e) + h', with that type's u' and h'; twice if the value itself is rounded
//   comparison                  uncertain if |a - b| <= e_a + e_b; a selection by it may be off by both branches'
//                               difference; an index that is uncertain has no bound
// Terms of second order are kept where they are cheap, else they are smaller than the slack of the first. With
// `probable`, g(n) = 6 sqrt(n - 1) where that is less: it fails for one sum in 10^7 if roundings are independent
// (N. Higham and T. Mary, A new approach to probabilistic rounding error analysis, 2019).
#pragma once

#include <memory>
#include <span>

#include "base/uninitialized.h"
#include "core/computation_program.h"

namespace warpwright::core {

// Of an argument, before the call; the one that its type calls for.
struct TensorContent {
  std::span<const double> real;
  std::span<const int64_t> integers;
};
struct ArgumentValues {
  std::map<std::string, double> scalars;
  std::map<std::string, TensorContent> tensors;  // those that are read
};

// A GPU takes long sums in parts, by many threads or passes: this many terms one after another, and then the parts'
// sums. So a term passes through at most c - 1 + ceil(n / c) - 1 roundings (Higham, section 4.2: blocked sums). It is
// 2^16: beyond 2^24 equal terms a chain in f32 no longer grows.
inline constexpr int64_t kLongestChain = 1 << 16;

struct ErrorModel {
  DType accumulation = DType::kF32;
  bool fast = false;  // approximate functions and flushed subnormals, as with -use_fast_math
  bool probable = false;
  bool chained = false;  // sums are taken in chains of at most kLongestChain terms
  bool single = false;   // sums round once: what is left is not accumulation
  // Results of reductions and of functions are rounded to it once: they lie in memory between kernels, or are factors
  // of 16 bits. What is computed of them is computed in the format of accumulation.
  std::optional<DType> stores = {};
  bool stores_parts = false;  // all that is computed, and parts of sums: what one may be too large for is unbounded
  double literal = 0;  // relative error of literals that the format does not hold exactly, if more than a rounding
};
// An honest run in f32 instead of the value: every operation is rounded, sums take their terms one after another, where
// terms are in lanes (TermProgram) in chains of kLongestChain.
struct FormatTrial {
  bool random_rounding = false;  // to either neighbour, so that no sum is exact by chance (Monte Carlo arithmetic)
  uint64_t order = 0;            // of the terms; 0: theirs
  uint64_t seed = 0;
  // Sums of products of matrices toward zero, term by term: about as tensor cores, which align the products of an
  // instruction to the largest and cut off what is below its last bit. Where no factor belongs to several results, as
  // in sums of squares, they have nothing to gain: others round to nearest.
  bool truncates_sums = false;
};
struct EvaluateOptions {
  bool rounds = true;          // Convert to a floating-point type rounds; else it is looked through
  bool rounds_outputs = true;  // errors include the rounding to a narrower type of an output
  std::optional<ErrorModel> errors;
  std::optional<FormatTrial> trial;
  uint64_t work_limit = 4'000'000'000;   // steps
  uint64_t element_limit = 256'000'000;  // of all stages
};

struct TensorResult {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  base::UninitializedVector<double> real;       // of a floating-point output, not rounded to its type
  base::UninitializedVector<int64_t> integers;  // of an integer one
  std::vector<uint8_t> written;                 // by element: 1 within the domains
  bool whole = false;                           // all are written
  base::UninitializedVector<double> errors;     // with an ErrorModel: bounds, rounding to the output's type included
};

// Elements of outputs, by name: indices in the buffer, ascending.
using OutputElements = std::map<std::string, std::vector<int64_t>>;

class ComputationEvaluator {
 public:
  // `computation` is valid and outlives it. Errors: those of CompileProgram; kLimit if a limit would be exceeded.
  static Result<ComputationEvaluator> Compile(const Computation& computation, const SizeValues& sizes,
                                              const EvaluateOptions& options = {});
  // The outputs, in the order in which they are first written. kUsage: an argument is missing or has another size.
  // kCorrupt: an output's element depends on what does not exist, is written twice or lies outside its buffer.
  Result<std::vector<TensorResult>> Run(const ArgumentValues& arguments) const;
  // These elements alone, and what they need of earlier stages: the vectors of a result are parallel to its indices.
  // kLimit: they take more than `work_limit` steps.
  Result<std::vector<TensorResult>> RunAt(const ArgumentValues& arguments, const OutputElements& elements,
                                          uint64_t work_limit) const;
  uint64_t work() const { return program_->work; }
  uint64_t elements() const { return program_->elements; }  // of all stages

 private:
  Result<std::vector<TensorResult>> Evaluate(const ArgumentValues& arguments, const OutputElements* elements,
                                             uint64_t work_limit) const;

  const Computation* computation_ = nullptr;
  std::shared_ptr<const Program> program_;
  EvaluateOptions options_;
};

}  // namespace warpwright::core
