// Counter-based pseudo-random numbers: the value at (seed, stream, index) needs no state, so that inputs can be
// generated in any order, piecewise and in another process, always with the same result.
#pragma once

#include <cstdint>

namespace warpwright::base {

// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
constexpr uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class CounterRandom {
 public:
  constexpr CounterRandom(uint64_t seed, uint64_t stream) : key_(MixBits(seed ^ MixBits(stream))) {}

  constexpr uint64_t Bits(uint64_t index) const { return MixBits(key_ + index * 0xd1342543de82ef95ULL); }
  // In [0, 1), 53 bits.
  constexpr double Uniform(uint64_t index) const { return static_cast<double>(Bits(index) >> 11) * 0x1.0p-53; }
  // In [0, bound); bound > 0. The bias of the multiplication is below bound / 2^64.
  constexpr uint64_t Below(uint64_t index, uint64_t bound) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Bits(index)) * bound) >> 64);
  }

 private:
  uint64_t key_;
};

// 64 bits that no other process can predict (getrandom).
uint64_t SecretSeed();

}  // namespace warpwright::base
