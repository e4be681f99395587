// Computations of well-known operations, for tests: what lifting should make of their kernels.
#pragma once

#include <map>

#include "tests/support/computation_builder.h"

namespace warpwright::testing {

struct Sample {
  std::string name;
  core::Computation computation;
  std::map<std::string, int64_t> sizes;  // a small shape
  std::map<std::string, double> scalars;
  std::map<std::string, int64_t> index_below;  // tensors of indices: what their elements stay below
};

core::Computation Finished(core::Computation computation);  // with its sizes' names

core::Computation Gelu();
core::Computation MatmulWithBias();
core::Computation Softmax();
core::Computation LayerNorm();
core::Computation Convolution();  // padded by one, stride two, dilation two
core::Computation MaxPool();
core::Computation CausalSoftmax();
core::Computation CumulativeSum();
core::Computation Embedding();
core::Computation ArgMax();
core::Computation Histogram();
core::Computation Piecewise();  // the copy of one half, the double of the other
core::Computation Transposition();
core::Computation Stencil();
core::Computation Attention();
core::Computation TransposedConvolution();  // stride two: a divided position, a guard on the remainder
core::Computation InPlaceScale();           // f16, rounded, through a flag in a mask of integers
core::Computation GroupNorm();              // channels by quotient

std::vector<Sample> Samples();  // all of them

}  // namespace warpwright::testing
