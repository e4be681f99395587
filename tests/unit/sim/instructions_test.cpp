// Single instructions against what an H200 computed (tests/golden/sim/instructions.txt): exact ones bit for bit on
// 2,048 inputs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/instruction_table.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

struct Golden {
  uint64_t hash = 0;
  std::vector<uint64_t> results;
};

std::map<std::string, Golden> ReadGolden() {
  std::map<std::string, Golden> golden;
  std::ifstream file(WW_SOURCE_DIR "/tests/golden/sim/instructions.txt");
  for (std::string line; std::getline(file, line);) {
    const size_t last = line.rfind('|'), before = line.rfind('|', last - 1);
    Golden entry;
    entry.hash = std::stoull(line.substr(before + 1, last - before - 1), nullptr, 16);
    std::istringstream values(line.substr(last + 1));
    for (std::string v; values >> v;) entry.results.push_back(std::stoull(v, nullptr, 16));
    golden[line.substr(0, before)] = entry;
  }
  return golden;
}

double ToDouble(uint64_t bits, const std::string& text) {
  if (text.find("D2") == std::string::npos) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (text.find("bf16") != std::string::npos) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double mantissa = static_cast<double>(bits & 0x3ff), sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

bool Near(uint64_t actual, uint64_t expected, const InstructionCase& c) {
  const double a = ToDouble(actual, c.text), e = ToDouble(expected, c.text);
  if ((a != a && e != e) || a == e) return true;
  const double last_subnormal = c.text.find(".f16") != std::string::npos ? 6e-8 : 1.5e-45;
  const double scale = c.tolerance < 0 ? std::max(1.0, std::fabs(e)) : std::fabs(e);
  return std::fabs(a - e) - last_subnormal <= std::fabs(c.tolerance) * scale;
}

TEST(Instructions, AgreeWithTheHardware) {
  const auto golden = ReadGolden();
  ASSERT_GT(golden.size(), 900u);
  const auto& table = InstructionTable();
  SimKit kit(InstructionModule(0, table.size()));
  const auto out = kit.Make<uint64_t>("out", kHashedResults);
  const auto in = kit.Make<Triple>("in", kHashedResults);
  size_t compared = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto known = golden.find(table[i].text);
    if (known == golden.end()) continue;  // ptxas rejects this form
    ++compared;
    const auto inputs = InstructionInputs(table[i].inputs);
    std::copy(inputs.begin(), inputs.end(), in.data);
    ASSERT_TRUE(kit.Run(InstructionKernel(i), {kHashedResults / 256, 1, 1}, {256, 1, 1}, 0, out, in))
        << table[i].text << ": " << kit.fault.message;
    for (size_t k = 0; k < known->second.results.size(); ++k) {
      const uint64_t actual = out[k], expected = known->second.results[k];
      const bool same = table[i].tolerance == 0 ? actual == expected : Near(actual, expected, table[i]);
      EXPECT_TRUE(same) << table[i].text << std::hex << " of " << inputs[k].a << ", " << inputs[k].b << ", "
                        << inputs[k].c << ": " << actual << " instead of " << expected;
    }
    if (table[i].tolerance == 0) {
      EXPECT_EQ(HashResults(out.data, out.size), known->second.hash) << table[i].text;
    }
  }
  EXPECT_EQ(compared, golden.size());
}

}  // namespace
}  // namespace warpwright::sim
