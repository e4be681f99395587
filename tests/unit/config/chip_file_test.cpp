#include "config/chip_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "config/gpu_chip.h"

namespace warpwright {
namespace {

TEST(ChipFile, EveryChipLoads) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WW_SOURCE_DIR) + "/config/chips"))
    if (entry.path().extension() == ".yml") files.insert(entry.path().stem().string());
  EXPECT_EQ(config::ChipIds(), (std::vector<std::string>{files.begin(), files.end()}));
  for (const std::string& id : config::ChipIds()) {
    auto chip = config::LoadChip(id);
    ASSERT_TRUE(chip) << chip.error().Format();
    EXPECT_EQ(chip->id, id);
    EXPECT_LT(chip->l2_latency_ns, chip->dram_latency_ns) << id;
    EXPECT_LT(chip->l1_latency_cycles, chip->l2_latency_ns * chip->clock_ghz) << id;
    EXPECT_LT(chip->dram_bytes_per_second, chip->l2_bytes_per_second) << id;
    EXPECT_LT(chip->l2_bytes_per_second, chip->l1_bytes_per_cycle * chip->multiprocessors * chip->clock_ghz * 1e9)
        << id;
    auto figures = config::LoadChipFigures(id);
    ASSERT_TRUE(figures);
    EXPECT_EQ(figures->size(), 35u);
    for (const config::ChipFigure& figure : *figures) EXPECT_GT(figure.source.size(), 5u) << id << " " << figure.key;
  }
}

TEST(ChipFile, HelpListsEverySimulatedDevice) {
  const std::string text = config::SimulatedDevices();
  for (const std::string& id : config::ChipIds()) EXPECT_NE(text.find("sim:" + id), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" or sim:" + config::ChipIds().back())) << text;
}

// Files that list the chips literally, because other programs read them, name all of them and no others.
TEST(ChipFile, FilesThatNameChipsNameEveryChip) {
  const std::vector<std::string> ids = config::ChipIds();
  const std::set<std::string> chips(ids.begin(), ids.end());
  const struct {
    const char* file;
    const char* begin;  // the text that is checked begins here
    const char* end;    // and ends there
    const char* chip;   // the text before a chip's name
  } rows[] = {
      {"config/reference.md", "`--device cuda|", "`", "sim:"},
      {"action.yml", "  device:\n    description: ", "\n", "sim:"},
      {"config/schemas/operator.schema.json", "sim:(", ")", "[(|]"},
  };
  for (const auto& row : rows) {
    const std::string text = *base::ReadFile(std::string(WW_SOURCE_DIR) + "/" + row.file);
    const size_t begin = text.find(row.begin);
    ASSERT_NE(begin, std::string::npos) << row.file << " has no '" << row.begin << "'";
    const std::string list = text.substr(begin, text.find(row.end, begin + std::strlen(row.begin)) - begin);
    std::set<std::string> named;
    const std::regex chip(std::string(row.chip) + "([a-z0-9-]+)");
    for (std::sregex_iterator match(list.begin(), list.end(), chip), end; match != end; ++match)
      named.insert((*match)[1]);
    EXPECT_EQ(named, chips) << row.file << " must name the chips of config/chips: " << config::SimulatedDevices();
  }
}

TEST(ChipFile, KnownFigures) {
  auto h200 = config::LoadChip("h200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->arch, "sm_90");
  EXPECT_EQ(h200->multiprocessors, 132);
  EXPECT_EQ(h200->l2_bytes, 60.0 * 1024 * 1024);
  EXPECT_EQ(h200->dram_bytes_per_second, 4.27e12);
  EXPECT_EQ(config::LoadChip("rtx4090")->max_warps, 48);
}

TEST(ChipFile, UnknownChipNamesTheNearest) {
  auto chip = config::LoadChip("h20");
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, ErrorCode::kUsage);
  EXPECT_NE(chip.error().message.find("did you mean 'h200'"), std::string::npos);
}

// A new file must win over one whose name is a prefix of its own.
TEST(GpuChip, TheLongestNameWins) {
  core::Chip l4, l40s;
  l4.id = "l4", l4.name = "NVIDIA L4", l4.arch = "sm_89";
  l40s.id = "l40s", l40s.name = "NVIDIA L40S", l40s.arch = "sm_89";
  core::GpuFacts gpu;
  gpu.compute_major = 8, gpu.compute_minor = 9;
  for (const auto& chips : {std::vector{l4, l40s}, std::vector{l40s, l4}}) {
    gpu.name = "NVIDIA L40S";
    EXPECT_EQ(config::ChipOf(gpu, chips)->id, "l40s");
    gpu.name = "NVIDIA L4";
    EXPECT_EQ(config::ChipOf(gpu, chips)->id, "l4");
  }
}

class ChipText : public testing::Test {
 protected:
  void SetUp() override {
    auto text = base::ReadFile(std::string(WW_SOURCE_DIR) + "/config/chips/h200.yml");
    ASSERT_TRUE(text);
    text_ = *text;
  }
  std::string ErrorWith(const std::string& from, const std::string& to) {
    std::string text = text_;
    text.replace(text.find(from), from.size(), to);
    auto chip = config::ParseChip(text, "c.yml");
    return chip ? "" : chip.error().Format();
  }
  std::string text_;
};

TEST_F(ChipText, RefusesMistakes) {
  EXPECT_EQ(ErrorWith("arch: sm_90", "arch: sm_90"), "");
  EXPECT_NE(ErrorWith("arch: sm_90", "arch: hopper").find("sm_90"), std::string::npos);
  EXPECT_NE(ErrorWith("max_warps", "max_wraps").find("did you mean 'max_warps'"), std::string::npos);
  EXPECT_NE(ErrorWith("max_warps", "warps").find("needs the key 'max_warps'"), std::string::npos);
  EXPECT_NE(ErrorWith("value: 132", "value: 132.5").find("integer"), std::string::npos);
  EXPECT_NE(ErrorWith("value: 132, source: \"NVIDIA H200 data sheet\"", "value: 132").find("needs the key 'source'"),
            std::string::npos);
  EXPECT_NE(ErrorWith("value: 132", "value: 0").find("must be from"), std::string::npos);
  EXPECT_NE(ErrorWith("multiprocessors: {", "multiprocessors: [").find("c.yml:"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
