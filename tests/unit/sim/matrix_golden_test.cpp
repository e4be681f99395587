// Products of matrices and moves of their fragments against what a GPU computed (tests/golden/sim/matrix_products.txt,
// recorded by tests/gpu/mma_golden.cu): every bit of every trial.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/matrix_table.h"
#include "tests/support/number_kinds.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

std::map<std::string, std::vector<uint64_t>> ReadMatrixGolden() {
  std::map<std::string, std::vector<uint64_t>> golden;
  std::ifstream file(WW_SOURCE_DIR "/tests/golden/sim/matrix_products.txt");
  for (std::string line; std::getline(file, line);) {
    const size_t bar = line.rfind('|');
    std::istringstream values(line.substr(bar + 1));
    std::vector<uint64_t>& hashes = golden[line.substr(0, bar)];
    for (std::string v; values >> v;) hashes.push_back(std::stoull(v, nullptr, 16));
  }
  return golden;
}

TEST(MatrixGolden, AgreesWithTheHardware) {
  const auto golden = ReadMatrixGolden();
  EXPECT_EQ(golden.size(), MatrixTable().size());
  for (size_t i = 0; i < MatrixTable().size(); ++i) {
    const MatrixCase& c = MatrixTable()[i];
    const auto known = golden.find(c.name);
    ASSERT_NE(known, golden.end()) << c.name;
    ASSERT_EQ(known->second.size(), static_cast<size_t>(kMatrixTrials)) << c.name;
    SimKit kit(MatrixModule(i));
    const auto in = kit.Make<uint32_t>("in", MatrixInputs(c), true);
    const size_t words = static_cast<size_t>(c.outputs) * 32;
    const auto out = kit.Make<uint32_t>("out", words * kMatrixTrials, false);
    ASSERT_TRUE(kit.Run(MatrixKernel(i), {kMatrixTrials, 1, 1}, {32, 1, 1}, 0, out, in)) << kit.fault.message;
    std::map<size_t, int> differing;  // trials by kind of inputs
    for (size_t trial = 0; trial < kMatrixTrials; ++trial)
      if (HashWords(out.data + trial * words, words) != known->second[trial]) ++differing[trial % 8];
    for (const auto& [kind, count] : differing)
      ADD_FAILURE() << c.name << ": " << count << " of 8 trials of kind " << kind << " differ";
  }
}

}  // namespace
}  // namespace warpwright::sim
