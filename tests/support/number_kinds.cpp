#include "tests/support/number_kinds.h"

namespace warpwright::sim {

uint64_t MakeNumber(NumberRandom& random, int kind, int exponent_bits, int mantissa_bits) {
  const uint64_t mantissa = random.Next() & ((1ull << mantissa_bits) - 1), sign = random.Next() & 1;
  const auto all = static_cast<uint32_t>((1u << exponent_bits) - 1), bias = all / 2;
  const auto number = [&](uint64_t exponent, uint64_t fraction) {
    return sign << (exponent_bits + mantissa_bits) | exponent << mantissa_bits | fraction;
  };
  switch (kind) {
    case 0: return number(bias - 1 - random.Below(2), mantissa);
    case 1: return number(bias - 4 + random.Below(9), mantissa);
    case 2: return number(bias - bias / 2 + random.Below(bias), mantissa);
    case 3: return number(random.Below(all), mantissa);
    case 4: return number(random.Below(4) == 0 ? 1 + random.Below(3) : 0, mantissa);
    case 5: return number(all - 1 - random.Below(3), mantissa);
    case 6:
      if (random.Below(10) < 7) return number(0, 0);
      return number(bias + random.Below(4), mantissa >> (mantissa_bits - 2) << (mantissa_bits - 2));
    default:
      if (random.Below(50) == 0) return number(all, random.Below(2) == 0 ? 0 : mantissa | 1);
      return number(bias - 4 + random.Below(9), mantissa);
  }
}

uint64_t HashWords(const uint32_t* words, size_t count) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t k = 0; k < count; ++k)
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (words[k] >> (8 * byte) & 0xff)) * 0x100000001b3ull;
  return hash;
}

}  // namespace warpwright::sim
