// Products of matrices and moves of their fragments as PTX, with inputs, for comparing the simulator with a GPU.
// tests/golden/sim/matrix_products.txt holds what a GPU computed (recorded by tests/gpu/mma_golden.cu); the unit test
// runs the same kernels on the simulator. Plain C++17: nvcc compiles it too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::sim {

struct MatrixCase {
  std::string name;    // "mma m16n8k16 f32.f16.f16.f32"
  std::string inputs;  // a letter for each word of a lane: h: two f16, b: two bf16, s: f32, i: bits, d: half a double
  int outputs = 0;     // words of a lane
  std::string body;    // of a warp: from %i0, %i1, ... to %o0, %o1, ...
};

// One warp each. Every eighth has the same kind of inputs (number_kinds.h).
inline constexpr int kMatrixTrials = 64;

const std::vector<MatrixCase>& MatrixTable();
std::vector<uint32_t> MatrixInputs(const MatrixCase& c);  // word w of lane l in trial t: [(t * words + w) * 32 + l]
std::string MatrixKernel(size_t index);                   // "product_12"
std::string MatrixModule(size_t index);                   // PTX; out and in are parameters, one block for each trial

}  // namespace warpwright::sim
