#include "service/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/subprocess.h"
#include "tests/support/synthetic_snapshot.h"

namespace warpwright {
namespace {

std::string Whole(const service::DaemonSnapshot& snapshot) {
  service::EndpointMetrics own;
  own.Answered("webhooks", 202);
  own.Refused("status");
  own.webhook_seconds.Observe(std::chrono::milliseconds(3));
  return service::RenderMetrics(snapshot) + own.Render();
}

TEST(Metrics, HaveHelpAndTypeOnceAndBeforeTheirLines) {
  for (const service::DaemonSnapshot& snapshot :
       {testing::BusySnapshot(), testing::IdleSnapshot(), testing::SnapshotOf("x\n# HELP \"evil\" \\ \xff")}) {
    std::istringstream lines(Whole(snapshot));
    std::map<std::string, std::string> types;
    std::set<std::string> helped, seen;
    const std::regex sample(R"(^([a-z_][a-z0-9_]*)(\{([a-z]+="([^"\\]|\\.)*",?)+\})? (-?[0-9.e+-]+|NaN|\+Inf)$)");
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (line.starts_with("# HELP ")) {
        EXPECT_TRUE(helped.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
      } else if (line.starts_with("# TYPE ")) {
        const size_t space = line.find(' ', 7);
        EXPECT_TRUE(types.emplace(line.substr(7, space - 7), line.substr(space + 1)).second) << line;
      } else {
        ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
        EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << "twice: " << line;
        std::string name = match[1];
        EXPECT_TRUE(name.starts_with("warpwright_")) << line;
        for (const std::string ending : {"_bucket", "_sum", "_count"})
          if (name.ends_with(ending) && types.count(name.substr(0, name.size() - ending.size())) != 0)
            name.resize(name.size() - ending.size());
        ASSERT_EQ(types.count(name), 1u) << line;
        EXPECT_EQ(helped.count(name), 1u) << line;
        EXPECT_EQ(types[name] == "counter", name.ends_with("_total")) << line;
      }
    }
  }
}

TEST(Metrics, SayWhatTheSnapshotSays) {
  const std::string text = Whole(testing::BusySnapshot());
  for (const char* line :
       {"warpwright_build_info{version=\"0.4.0\"} 1\n", "warpwright_ready 1\n", "warpwright_queue_depth 3\n",
        "warpwright_jobs_total{outcome=\"improved\"} 41\n", "warpwright_deliveries_total{outcome=\"seen\"} 4\n",
        "warpwright_experience_lines 4312\n", "warpwright_gpu_seconds_total 547200\n",
        "warpwright_model_dollars_today 1.234\n", "warpwright_pull_requests_open{repository=\"acme/attention\"} 10\n",
        "warpwright_repository_failing{repository=\"lab/stencils\"} 1\n",
        "warpwright_webhook_duration_seconds_bucket{le=\"0.0025\"} 0\n",
        "warpwright_webhook_duration_seconds_bucket{le=\"0.005\"} 1\n",
        "warpwright_webhook_duration_seconds_bucket{le=\"+Inf\"} 1\n",
        "warpwright_webhook_duration_seconds_sum 0.003\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST(Metrics, TellTheCostOfAGainOnlyWhereAllCostsAreKnown) {
  service::DaemonSnapshot snapshot = testing::BusySnapshot();
  EXPECT_EQ(service::RenderMetrics(snapshot).find("model_dollars_per_gain"), std::string::npos);
  EXPECT_NE(service::RenderMetrics(snapshot).find("warpwright_model_unknown_costs_total 2\n"), std::string::npos);
  snapshot.spend["model_unknown_costs_total"] = 0;
  snapshot.spend["model_dollars_total"] = 88;
  EXPECT_NE(service::RenderMetrics(snapshot).find("warpwright_model_dollars_per_gain 8\n"), std::string::npos);
  snapshot.spend["model_gains_total"] = 0;
  EXPECT_EQ(service::RenderMetrics(snapshot).find("model_dollars_per_gain"), std::string::npos);
}

TEST(Metrics, BoundTheirLabels) {
  service::DaemonSnapshot snapshot = testing::IdleSnapshot();
  for (int i = 0; i < 1000; ++i) snapshot.counters["jobs_total"]["label " + std::to_string(i)] = i == 500 ? 100 : 1;
  const std::string text = service::RenderMetrics(snapshot);
  size_t count = 0;
  for (size_t at = text.find("warpwright_jobs_total{"); at != std::string::npos;
       at = text.find("warpwright_jobs_total{", at + 1))
    ++count;
  EXPECT_EQ(count, service::kMaxLabels + 1);
  EXPECT_NE(text.find("warpwright_jobs_total{outcome=\"label 500\"} 100\n"), std::string::npos);
  EXPECT_NE(text.find("warpwright_jobs_total{outcome=\"other\"} 936\n"), std::string::npos) << text;
}

TEST(Metrics, LoseNoCounterThatTheyDoNotKnow) {
  service::DaemonSnapshot snapshot = testing::IdleSnapshot();
  snapshot.counters = {{"surprises", {{"a", 2}}}, {"odd name!_total", {{"", 3}}}};
  snapshot.gauges["things_total"] = 5;
  const std::string text = service::RenderMetrics(snapshot);
  EXPECT_NE(text.find("warpwright_surprises_total{kind=\"a\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("warpwright_odd_name__total 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("warpwright_things 5\n"), std::string::npos) << text;
}

TEST(Metrics, PassPromtool) {
  base::Command command;
  command.argv = {"promtool", "check", "metrics"};
  command.env = base::MinimalEnvironment();
  for (const service::DaemonSnapshot& snapshot :
       {testing::BusySnapshot(), testing::IdleSnapshot(), testing::SnapshotOf("x\n\"y\\")}) {
    command.input = Whole(snapshot);
    const auto done = warpwright::base::Run(command);
    if (!done || done->exit_code == 127) GTEST_SKIP() << "promtool (Debian's prometheus) is not installed";
    EXPECT_EQ(done->exit_code, 0) << done->out << done->err;
    EXPECT_EQ(done->out + done->err, "");
  }
}

}  // namespace
}  // namespace warpwright
