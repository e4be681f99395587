// How much a Computation costs at a shape, whoever computes it: operations of the formula as it is written, and bytes
// that must move once. The roofline of the mathematics.
#pragma once

#include <string>
#include <vector>

#include "core/computation_program.h"

namespace warpwright::core {

// Of real numbers but for `integer`. A sum of n terms in a reduction counts n additions, a product of arguments one
// multiplication less than factors; a factor of 1 or -1 and the absolute value are free, a reciprocal is a division.
struct OperationCounts {
  uint64_t additions = 0, multiplications = 0, divisions = 0;
  uint64_t functions = 0;    // roots, exponentials, ...
  uint64_t comparisons = 0;  // maxima, minima, comparisons, selections
  uint64_t conversions = 0;  // roundings, also to integers
  uint64_t integer = 0;
  uint64_t Flops() const { return additions + multiplications + divisions + functions; }
  bool operator==(const OperationCounts&) const = default;
};

struct StageCounts {
  std::string stage;
  size_t index = 0;       // in Computation::stages
  uint64_t elements = 0;  // in its domain
  uint64_t terms = 0;     // of its reductions, those whose guards hold
  OperationCounts operations;
};
// Of an argument: elements that are read, each once however often it is, and elements that are written. Where a
// position is data, at most so many.
struct TensorTraffic {
  std::string tensor;
  uint64_t read = 0, written = 0;
  uint64_t uses = 0;  // reads of an element, each as often as it is
  bool exact = true;
  uint64_t read_bytes = 0, written_bytes = 0;
};
struct ComputationCounts {
  OperationCounts operations;
  uint64_t terms = 0;
  uint64_t read_bytes = 0, written_bytes = 0;
  bool exact = true;  // the bytes
  std::vector<StageCounts> stages;
  std::vector<TensorTraffic> tensors;  // those that are read or written
};

// `computation` is valid. Errors: those of CompileProgram; kLimit if guards or positions would have to be tried at more
// than `limit` points.
Result<ComputationCounts> CountAt(const Computation& computation, const SizeValues& sizes,
                                  uint64_t limit = 100'000'000);

}  // namespace warpwright::core
