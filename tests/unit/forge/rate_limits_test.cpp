#include "forge/rate_limits.h"

#include <gtest/gtest.h>

#include "tests/unit/forge/scripted_http.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;

class RateLimitsTest : public testing::Test {
 protected:
  FakeTime time;
  forge::RateLimits limits{forge::RetryRules{}, time, 7};
};

TEST_F(RateLimitsTest, WritesToOneHostStartASecondApart) {
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 0);
  EXPECT_EQ(limits.Reserve("a", "y", true).count(), 1000);  // another account, the same host
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 2000);
  EXPECT_EQ(limits.Reserve("b", "x", true).count(), 0);
  EXPECT_EQ(limits.Reserve("a", "x", false).count(), 0);  // reading does not wait
  time.passed += milliseconds(2500);
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 500);
  time.passed += milliseconds(10'000);
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 0);
}

TEST_F(RateLimitsTest, AndASecondAfterTheLastOneEnded) {
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 0);
  time.passed += milliseconds(400);  // it was under way
  limits.WriteEnded("a");
  EXPECT_EQ(limits.Reserve("b", "x", true).count(), 0);
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 1000);
  limits.WriteEnded("a");  // what is reserved later stays
  EXPECT_EQ(limits.Reserve("a", "x", true).count(), 2000);
}

TEST_F(RateLimitsTest, AnAnswerNamesTheWait) {
  const std::string now = std::to_string(1'800'000'000), soon = std::to_string(1'800'000'090);
  struct Row {
    const char* what;
    http::ClientResponse answer;
    int64_t wait_ms;  // -1: no limit
  };
  const Row rows[] = {
      {"served", Answer(200), -1},
      {"served, the last one", Answer(200, "", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", soon}}), -1},
      {"no permission", Answer(403, R"({"message":"Resource not accessible by integration"})"), -1},
      {"no permission, with quota", Answer(403, "{}", {{"x-ratelimit-remaining", "12"}, {"x-ratelimit-reset", soon}}),
       -1},
      {"not found", Answer(404), -1},
      {"retry-after", Answer(403, "{}", {{"retry-after", "7"}}), 7'000},
      {"retry-after before reset",
       Answer(429, "{}", {{"retry-after", "7"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", soon}}), 7'000},
      {"used up", Answer(403, "{}", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", soon}}), 91'000},
      {"used up until now", Answer(429, "{}", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", now}}), 1'000},
      {"nonsense in the headers",
       Answer(429, "{}", {{"retry-after", "-3"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "soon"}}),
       60'000},
      {"far too long", Answer(429, "{}", {{"retry-after", "99999999999"}}), 24 * 3600 * 1000},
      {"secondary", Answer(429), 60'000},
      {"secondary in words", Answer(403, R"({"message":"You have exceeded a secondary rate limit."})"), 60'000},
      {"secondary in older words", Answer(403, R"({"message":"You have triggered an abuse detection mechanism."})"),
       60'000},
  };
  for (const Row& row : rows) {
    forge::RateLimits fresh(forge::RetryRules{}, time, 7);
    const auto wait = fresh.Observe("h", "a", row.answer);
    EXPECT_EQ(wait ? wait->count() : -1, row.wait_ms) << row.what;
    EXPECT_EQ(fresh.Reserve("h", "a", false).count(), wait ? row.wait_ms : fresh.Blocked("h", "a").count()) << row.what;
    EXPECT_EQ(fresh.Reserve("h", "other", false).count(), 0) << row.what;
  }
}

TEST_F(RateLimitsTest, SecondaryLimitsGrowUntilSomethingIsServed) {
  EXPECT_EQ(limits.Observe("h", "a", Answer(429))->count(), 60'000);
  EXPECT_EQ(limits.Observe("h", "a", Answer(429))->count(), 120'000);
  EXPECT_EQ(limits.Observe("h", "a", Answer(429))->count(), 240'000);
  for (int i = 0; i < 100; ++i) limits.Observe("h", "a", Answer(429));
  EXPECT_EQ(limits.Observe("h", "a", Answer(429))->count(), 900'000);
  EXPECT_FALSE(limits.Observe("h", "a", Answer(200)));
  EXPECT_EQ(limits.Observe("h", "a", Answer(429))->count(), 60'000);
}

TEST_F(RateLimitsTest, TheLastAllowedRequestHoldsTheNextBack) {
  EXPECT_FALSE(
      limits.Observe("h", "a", Answer(200, "", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1800000030"}})));
  EXPECT_EQ(limits.Blocked("h", "a").count(), 31'000);
  EXPECT_EQ(limits.Reserve("h", "a", true).count(), 31'000);
  EXPECT_EQ(limits.Reserve("h", "a", true).count(), 32'000);
  time.passed += milliseconds(40'000);
  EXPECT_EQ(limits.Blocked("h", "a").count(), 0);
}

TEST_F(RateLimitsTest, WaitsGrowWithJitterAndHaveAnEnd) {
  for (const auto& [attempt, low] : {std::pair(1, 1000), {2, 2000}, {3, 4000}, {6, 30'000}, {1000, 30'000}}) {
    const auto wait = limits.Backoff(attempt).count();
    EXPECT_GE(wait, low) << attempt;
    EXPECT_LE(wait, low * 3 / 2) << attempt;
  }
  EXPECT_NE(limits.Backoff(5), limits.Backoff(5));
}

}  // namespace
}  // namespace warpwright
