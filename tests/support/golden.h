// Golden files: WW_UPDATE_GOLDEN=1 rewrites them; review the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace warpwright {

inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(WW_SOURCE_DIR) + "/tests/golden/" + name;
  if (const char* update = std::getenv("WW_UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    ASSERT_TRUE(base::WriteFileAtomically(path, text));
    return;
  }
  const auto golden = base::ReadFile(path);
  ASSERT_TRUE(golden) << path << " is missing; run with WW_UPDATE_GOLDEN=1";
  EXPECT_EQ(*golden, text) << "WW_UPDATE_GOLDEN=1 rewrites " << path;
}

}  // namespace warpwright
