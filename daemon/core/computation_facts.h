// What a Computation is at one shape, in numbers and kinds: what skills ask for, the roofline needs and experience is
// keyed by. Pure functions of the form and the sizes; nothing of how a kernel computes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/computation_counts.h"
#include "core/computation_structure.h"

namespace warpwright::core {

struct ContractionSizes {
  double batch = 1, m = 1, n = 1, k = 1;
  bool operator==(const ContractionSizes&) const = default;
};
struct ReductionSizes {
  double terms = 0, results = 0;  // terms of each result
  bool contiguous = false;        // the terms are neighbours in memory
  bool operator==(const ReductionSizes&) const = default;
};
struct WindowSizes {
  double taps = 0;    // elements that a result is of
  double stride = 1;  // of neighbouring results, the largest of all dimensions
  bool operator==(const WindowSizes&) const = default;
};
struct ConvolutionKind {
  int dimensions = 0;  // of the window
  bool depthwise = false, grouped = false, transposed = false;
  bool operator==(const ConvolutionKind&) const = default;
};
struct OperandUse {
  std::string tensor;
  double elements = 0, uses = 0;  // different ones that are read; reads, with repetition
  double reuse() const { return elements > 0 ? uses / elements : 0; }
  bool operator==(const OperandUse&) const = default;
};

struct ComputationFacts {
  OperationClass operation = OperationClass::kUnknown;
  std::optional<ContractionSizes> contraction;  // of several, the one with most products
  std::optional<ConvolutionKind> convolution;
  std::optional<ReductionSizes> reduction;  // of several, the one with most terms; contractions are none
  std::optional<WindowSizes> window;        // the largest
  std::vector<OperandUse> operands;         // arguments that are read
  double results = 0;                       // elements that are written
  size_t gathers = 0;                       // reads at positions that are data
  size_t data_branches = 0;                 // selections by data
  size_t stages = 0, fusable = 0;           // fusable: that can be computed where they are read, or with their reader
  OperationCounts operations;
  uint64_t read_bytes = 0, written_bytes = 0;
  bool exact = true;                             // the bytes
  std::vector<DType> read_types, written_types;  // sorted, each once

  double flops() const { return static_cast<double>(operations.Flops()); }
  double bytes() const { return static_cast<double>(read_bytes) + static_cast<double>(written_bytes); }
  double intensity() const { return bytes() > 0 ? flops() / bytes() : 0; }
};

// `computation` is valid; `sizes` has all integer scalars of the entry. kUnsupported: the form is of other sizes ("B =
// 2" is among its assumptions). Else the errors of CountAt.
Result<ComputationFacts> FactsAt(const Computation& computation, const SizeValues& sizes);

// Kernels of one class of shape want the same methods: the operation, its extents (of a contraction batch, m, n and k;
// of reductions and row programs results and terms; else results) in buckets of a factor of four, and the types that
// are read and written: "matmul b4^0 m4^5 n4^5 k4^5 f32>f32". The chip is a key of its own beside it.
std::string ShapeClassOf(const ComputationFacts& facts);

// In words, a sentence each: "a matrix product of M = 64, N = 32, K = 128", "0.5 Mflop on 57 kB: 9.2 flop/byte".
// `counted` are operations that an implementation was seen to make, if that is known. A formula that has many more of
// them repeats what implementations share (sums of prefixes, of equal keys): then nothing is said of their numbers.
std::vector<std::string> InWords(const ComputationFacts& facts, std::optional<double> counted = std::nullopt);

}  // namespace warpwright::core
