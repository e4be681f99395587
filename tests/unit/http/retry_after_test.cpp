#include "http/retry_after.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(RetryAfter, IsReadInEveryForm) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::from_time_t(1'800'000'000);  // Fri, 15 Jan 2027 08:00:00 GMT
  const struct {
    std::map<std::string, std::string> headers;
    std::optional<milliseconds> expected;
  } rows[] = {
      {{}, std::nullopt},
      {{{"retry-after", "3"}}, milliseconds(3000)},
      {{{"retry-after", "0"}}, milliseconds(0)},
      {{{"retry-after", "1.5"}}, milliseconds(1500)},
      {{{"retry-after", "Fri, 15 Jan 2027 08:00:20 GMT"}}, milliseconds(20'000)},
      {{{"retry-after", "Friday, 15-Jan-27 08:00:05 GMT"}}, milliseconds(5000)},
      {{{"retry-after", "Fri, 15 Jan 2027 07:00:00 GMT"}}, milliseconds(0)},
      {{{"retry-after", "Fri, 15 Jan 2038 07:00:00 GMT"}}, std::chrono::hours(24)},
      {{{"retry-after", "999999999999"}}, std::chrono::hours(24)},
      {{{"retry-after", "-3"}}, std::nullopt},
      {{{"retry-after", "soon"}}, std::nullopt},
      {{{"retry-after", "3s"}}, std::nullopt},
      {{{"retry-after", "nan"}}, std::nullopt},
      {{{"retry-after", ""}}, std::nullopt},
      {{{"retry-after-ms", "250"}, {"retry-after", "3"}}, milliseconds(250)},
      {{{"retry-after-ms", "x"}, {"retry-after", "3"}}, milliseconds(3000)},
  };
  for (const auto& row : rows) {
    http::ClientResponse response;
    response.headers = row.headers;
    EXPECT_EQ(http::RetryAfter(response, now), row.expected)
        << (row.headers.empty() ? "" : row.headers.rbegin()->second);
  }
}

}  // namespace
}  // namespace warpwright
