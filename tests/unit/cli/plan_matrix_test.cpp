// What `plan --shards` prints for GitHub Actions.
#include <gtest/gtest.h>

#include "cli/commands.h"

namespace warpwright {
namespace {

TEST(PlanMatrix, IsGitHubs) {
  EXPECT_EQ(cli::MatrixJson({{"a", "b"}, {}, {"c"}}),
            R"({"include":[{"kernels":"a b","shard":"1/3"},{"kernels":"c","shard":"3/3"}]})");
  EXPECT_EQ(cli::MatrixJson({{}, {}}), R"({"include":[]})");
}

}  // namespace
}  // namespace warpwright
