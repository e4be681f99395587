// Numbers of several kinds for comparing the simulator with a GPU: near 1, of few exponents, of many, of all, tiny,
// huge, mostly zero, with infinities and NaNs. Plain C++17: nvcc compiles it too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpwright::sim {

inline constexpr int kNumberKinds = 8;

class NumberRandom {
 public:
  explicit NumberRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(Next() >> 32) % n; }

 private:
  uint64_t state_;
};

// The bits of a number with that many exponent and mantissa bits.
uint64_t MakeNumber(NumberRandom& random, int kind, int exponent_bits, int mantissa_bits);
uint64_t HashWords(const uint32_t* words, size_t count);  // FNV-1a

}  // namespace warpwright::sim
