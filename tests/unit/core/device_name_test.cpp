#include "core/device_name.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

struct NameRow {
  const char* text;
  core::DeviceKind kind;
  const char* chip;
  int index;
  const char* again;
};
class DeviceNames : public ::testing::TestWithParam<NameRow> {};
TEST_P(DeviceNames, AreReadAndWritten) {
  const NameRow& row = GetParam();
  const auto name = core::DeviceName::Parse(row.text);
  ASSERT_TRUE(name) << row.text;
  EXPECT_EQ(name->kind, row.kind) << row.text;
  EXPECT_EQ(name->chip, row.chip);
  EXPECT_EQ(name->index, row.index) << row.text;
  EXPECT_EQ(name->Text(), row.again);
  EXPECT_EQ(core::IsSimulated(row.text), row.kind == core::DeviceKind::kSim) << row.text;
}
INSTANTIATE_TEST_SUITE_P(All, DeviceNames,
                         ::testing::Values(NameRow{"sim:h200", core::DeviceKind::kSim, "h200", 0, "sim:h200"},
                                           NameRow{"sim:", core::DeviceKind::kSim, "", 0, "sim:"},
                                           NameRow{"cuda", core::DeviceKind::kCuda, "", 0, "cuda:0"},
                                           NameRow{"cuda:0", core::DeviceKind::kCuda, "", 0, "cuda:0"},
                                           NameRow{"cuda:12", core::DeviceKind::kCuda, "", 12, "cuda:12"}));

TEST(DeviceNames, NothingElseIsOne) {
  for (const char* text : {"", "sim", "h200", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:99999999999", "cudaq",
                           "CUDA", "GPU-8f6d2c1e-0000-0000-0000-000000000000"}) {
    EXPECT_FALSE(core::DeviceName::Parse(text)) << text;
    EXPECT_FALSE(core::IsSimulated(text)) << text;
  }
}

}  // namespace
}  // namespace warpwright
