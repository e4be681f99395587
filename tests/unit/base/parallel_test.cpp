#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>

namespace warpwright {
namespace {

class ParallelForTest : public testing::TestWithParam<size_t> {};

TEST_P(ParallelForTest, VisitsEveryElementOnce) {
  std::vector<unsigned char> visits(GetParam(), 0);
  std::atomic<int> empty = 0;
  base::ParallelFor(visits.size(), [&](size_t begin, size_t end) {
    if (begin == end) ++empty;
    for (size_t i = begin; i < end; ++i) ++visits[i];
  });
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(visits.size()));
  EXPECT_EQ(empty, GetParam() == 0 ? 1 : 0);
}
INSTANTIATE_TEST_SUITE_P(Sizes, ParallelForTest, testing::Values(0, 1, 262143, 262144, 262145, 1000003, 2097152));

}  // namespace
}  // namespace warpwright
