// Runs a fuzz target once over every file of a folder, and over truncations and small changes of each: what libFuzzer
// would try first.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Try(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void TryChanges(const std::string& bytes, uint64_t seed) {
  const warpwright::base::CounterRandom random(seed, 0);
  constexpr uint64_t kRounds = 200;
  for (uint64_t round = 0; round < kRounds && !bytes.empty(); ++round) {
    std::string changed = bytes;
    const size_t at = random.Below(4 * round, bytes.size());
    switch (random.Below(4 * round + 1, 4)) {
      case 0: changed.resize(at); break;
      case 1: changed[at] = static_cast<char>(random.Bits(4 * round + 2)); break;
      case 2: changed.erase(at, 1 + random.Below(4 * round + 3, 16)); break;
      default:
        changed.insert(at,
                       bytes.substr(random.Below(4 * round + 2, bytes.size()), 1 + random.Below(4 * round + 3, 32)));
        break;
    }
    Try(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]), 2;
  Try("");
  uint64_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::printf("%s: %zu bytes\n", file.path().filename().c_str(), bytes.size());
    std::fflush(stdout);
    Try(bytes);
    TryChanges(bytes, ++files);
  }
  if (files == 0) return std::fprintf(stderr, "%s holds no files\n", argv[1]), 1;
  return 0;
}
