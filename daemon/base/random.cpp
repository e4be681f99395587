#include "base/random.h"

#include <sys/random.h>

#include <stdexcept>

namespace warpwright::base {

uint64_t SecretSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) throw std::runtime_error("getrandom failed");
  return seed;
}

}  // namespace warpwright::base
