// Single PTX instructions with inputs, for comparing the simulator with a GPU. tests/golden/sim/instructions.txt
// contains what an H200 computed (recorded by tests/golden/sim/record_instructions.cpp); the unit test runs the same
// kernels on the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::sim {

struct InstructionCase {
  char inputs = 'i';  // i: integers, s: f32, d: f64, h: f16 pairs, b: bf16 pairs
  // With A, B, C as sources and D as result, each followed by its size in bytes (A8, A4, A2); P is a predicate source,
  // DP and DQ are predicate results.
  std::string text;
  double tolerance = 0;  // of approximate functions: relative, or below 0 relative to at least 1; 0: every bit
};

inline constexpr int kExplicitResults = 32;  // stored individually
inline constexpr int kHashedResults = 2048;  // stored as a hash, for exact instructions

struct Triple {
  uint64_t a = 0, b = 0, c = 0;
};

const std::vector<InstructionCase>& InstructionTable();
std::vector<Triple> InstructionInputs(char kind);  // kHashedResults of them, edge values first
std::string InstructionKernel(size_t index);       // "case_12"
// A module with all kernels from `begin` to `end`: out and in are parameters; one thread for each triple.
std::string InstructionModule(size_t begin, size_t end);
uint64_t HashResults(const uint64_t* results, size_t count);

}  // namespace warpwright::sim
