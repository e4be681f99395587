// Products of warpgroups against what a GPU computed (tests/golden/sim/warpgroup_products.txt, recorded by
// tests/gpu/wgmma_golden.cu): every bit of every trial.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/number_kinds.h"
#include "tests/support/sim_kit.h"
#include "tests/support/warpgroup_table.h"

namespace warpwright::sim {
namespace {

std::map<std::string, std::vector<uint64_t>> ReadWarpgroupGolden() {
  std::map<std::string, std::vector<uint64_t>> golden;
  std::ifstream file(WW_SOURCE_DIR "/tests/golden/sim/warpgroup_products.txt");
  for (std::string line; std::getline(file, line);) {
    const size_t bar = line.rfind('|');
    std::istringstream values(line.substr(bar + 1));
    std::vector<uint64_t>& hashes = golden[line.substr(0, bar)];
    for (std::string v; values >> v;) hashes.push_back(std::stoull(v, nullptr, 16));
  }
  return golden;
}

TEST(WarpgroupGolden, AgreesWithTheHardware) {
  const auto golden = ReadWarpgroupGolden();
  EXPECT_EQ(golden.size(), WarpgroupTable().size());
  for (size_t i = 0; i < WarpgroupTable().size(); ++i) {
    const WarpgroupCase& c = WarpgroupTable()[i];
    const auto known = golden.find(c.name);
    ASSERT_NE(known, golden.end()) << c.name;
    ASSERT_EQ(known->second.size(), static_cast<size_t>(kWarpgroupTrials)) << c.name;
    SimKit kit(WarpgroupModule(i));
    const auto in = kit.Make<uint32_t>("in", WarpgroupInputs(c), true);
    const size_t words = static_cast<size_t>(c.sums()) * kWarpgroupThreads;
    const auto out = kit.Make<uint32_t>("out", words * kWarpgroupTrials, false);
    ASSERT_TRUE(kit.Run(WarpgroupKernel(i), {kWarpgroupTrials, 1, 1}, {kWarpgroupThreads, 1, 1}, 0, out, in))
        << c.name << ": " << kit.fault.message;
    for (size_t trial = 0; trial < kWarpgroupTrials; ++trial)
      EXPECT_EQ(HashWords(out.data + trial * words, words), known->second[trial])
          << c.name << ", inputs of kind " << trial % kNumberKinds;
  }
}

}  // namespace
}  // namespace warpwright::sim
