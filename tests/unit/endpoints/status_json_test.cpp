#include "service/status_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/synthetic_snapshot.h"

namespace warpwright {
namespace {

using nlohmann::json;

TEST(StatusJson, SaysWhatTheSnapshotSays) {
  const json out = json::parse(service::SnapshotJson(testing::BusySnapshot()));
  EXPECT_EQ(out["queued"], 3);
  EXPECT_EQ(out["jobs"].size(), 48u);
  EXPECT_EQ(out["jobs"][3]["kernel"], "layernorm_forward");
  EXPECT_EQ(out["jobs"][3]["has_trajectory"], true);
  EXPECT_EQ(out["jobs"][4]["has_trajectory"], false);
  EXPECT_EQ(out["repositories"][1]["ignored"], json({"legacy_scan", "old_gemm"}));
  EXPECT_EQ(out["counters"]["jobs_total"]["improved"], 41);
  EXPECT_EQ(out["spend"]["gpu_minutes_today"], 137.4);
}

TEST(StatusJson, IsBoundedAndKeepsThoseWhoWaitLongest) {
  service::DaemonSnapshot snapshot = testing::IdleSnapshot();
  for (int i = 1000; i > 0; --i) {
    service::JobSnapshot job;
    job.id = i;
    job.phase = service::JobPhase::kQueued;
    job.kernel = std::string(10'000, 'k') + "\xc3\xa4";
    snapshot.jobs.push_back(job);
  }
  const std::string text = service::SnapshotJson(snapshot);
  const json out = json::parse(text);
  EXPECT_LT(text.size(), 150'000u);
  EXPECT_EQ(out["queued"], 1000);
  EXPECT_EQ(out["queued_left_out"], 900);
  ASSERT_EQ(out["jobs"].size(), 100u);
  EXPECT_EQ(out["jobs"].back()["id"], 1);
  EXPECT_EQ(out["jobs"].front()["id"], 100);
}

TEST(StatusJson, TakesAnyBytesAndNumbers) {
  service::DaemonSnapshot snapshot = testing::SnapshotOf("\xff\xfe <img onerror> \"\\ \xe2\x80");
  snapshot.jobs[0].gain = std::nan("");
  snapshot.gauges["x"] = INFINITY;
  const json out = json::parse(service::SnapshotJson(snapshot));
  EXPECT_TRUE(out["jobs"][0]["gain"].is_null());
  EXPECT_TRUE(out["gauges"]["x"].is_null());
}

TEST(TrajectoryJson, ShowsWhatWasTaken) {
  const json out = json::parse(service::TrajectoryJson(testing::BusyTrajectory()));
  EXPECT_DOUBLE_EQ(out["original_us"], 100.2);
  EXPECT_TRUE(out["outcome"].is_null());
  EXPECT_EQ(out["left_out"], 0);
  int taken = 0, failed = 0, running = 0;
  for (const json& step : out["steps"]) {
    if (step["kind"] != "evaluate") continue;
    if (step["running"]) {
      ++running;
      EXPECT_FALSE(step.contains("verdict"));
      continue;
    }
    taken += step["accepted"].get<bool>();
    failed += step["verdict"] != "measured";
  }
  EXPECT_EQ(running, 1);
  EXPECT_EQ(failed, 5);
  EXPECT_GT(taken, 1);
}

TEST(TrajectoryJson, TellsTheConversationWithItsCost) {
  memory::TrajectoryView view = testing::BusyTrajectory();
  for (const char* data : {"", "no JSON", "[]", R"({"answer": 3})", R"({"answer": {"receipt": [], "text": 7}})"}) {
    memory::StepView odd = view.steps.front();
    odd.record.kind = memory::StepKind::kAsk;
    odd.outcome->data = data;
    view.steps.push_back(odd);
  }
  const json out = json::parse(service::TrajectoryJson(view));
  std::vector<json> asked;
  for (const json& step : out["steps"])
    if (step["kind"] == "ask") asked.push_back(step);
  ASSERT_EQ(asked.size(), 7u);
  EXPECT_EQ(asked[0]["method"], "planner");
  EXPECT_TRUE(asked[0]["asked"]["question"].get<std::string>().starts_with("4f2c2a572d45"));
  EXPECT_EQ(asked[0]["asked"]["about"], "# What was measured\n- case gpt2: 100.2 us");
  EXPECT_EQ(asked[0]["asked"]["model"], "large");
  EXPECT_EQ(asked[0]["asked"]["answer"], "{\"plans\": []} ");
  EXPECT_DOUBLE_EQ(asked[0]["asked"]["dollars"], 0.0125);
  EXPECT_TRUE(asked[1]["running"]);
  for (size_t i = 1; i < asked.size(); ++i) {
    EXPECT_FALSE(asked[i]["asked"].contains("dollars")) << "unknown, which is not nothing";
    EXPECT_FALSE(asked[i]["asked"].contains("answer"));
  }
}

TEST(TrajectoryJson, KeepsTheLastSteps) {
  memory::TrajectoryView view = testing::BusyTrajectory();
  while (view.steps.size() < 1000) view.steps.push_back(view.steps[1]);
  const json out = json::parse(service::TrajectoryJson(view));
  EXPECT_EQ(out["steps"].size(), service::kMaxTrajectorySteps);
  EXPECT_EQ(out["left_out"], 1000 - service::kMaxTrajectorySteps);
  EXPECT_DOUBLE_EQ(out["original_us"], 100.2);
}

TEST(TrajectoryJson, TakesAnyBytes) {
  EXPECT_TRUE(json::accept(service::TrajectoryJson(testing::BusyTrajectory("\xff<script>\x01"))));
}

}  // namespace
}  // namespace warpwright
