#include "core/stream_order.h"

#include <gtest/gtest.h>

#include <string>

#include "core/overlapping_calls.h"

namespace warpwright {
namespace {

// "a1" is a memset named a on stream 1; "r1" and "w2" record and wait for event 0 on those streams, "R" and "W" do so
// for event 1.
std::vector<core::PlanOp> Ops(const std::string& text) {
  std::vector<core::PlanOp> ops;
  for (size_t i = 0; i + 1 < text.size(); i += 3) {
    const auto stream = static_cast<uint32_t>(text[i + 1] - '0');
    switch (text[i]) {
      case 'r':
      case 'R': ops.emplace_back(core::EventOp{core::EventOp::Kind::kRecord, text[i] == 'R', stream}); break;
      case 'w':
      case 'W': ops.emplace_back(core::EventOp{core::EventOp::Kind::kWait, text[i] == 'W', stream}); break;
      default: ops.emplace_back(core::MemsetOp{{}, static_cast<uint32_t>(text[i]), 1, 0, stream});
    }
  }
  return ops;
}
core::LaunchPlan Plan(const std::string& text) {
  core::LaunchPlan plan;
  plan.ops = Ops(text);
  return plan;
}
std::string Text(const std::vector<core::PlanOp>& ops) {
  std::string text;
  for (const core::PlanOp& op : ops) {
    if (const auto* event = std::get_if<core::EventOp>(&op))
      text += event->kind == core::EventOp::Kind::kRecord ? (event->event ? 'R' : 'r') : (event->event ? 'W' : 'w');
    else text += static_cast<char>(std::get<core::MemsetOp>(op).value);
    text += std::to_string(std::visit([](const auto& o) { return o.stream; }, op)) + " ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(StreamOrder, WhatMayRunLaterDoes) {
  struct Row {
    const char *why, *ops, *order;
  };
  for (const Row& row : {Row{"nothing", "", ""},
                         {"one stream has one order", "a1 b1 c1", "a1 b1 c1"},
                         {"the default stream alone", "a0 b0", "a0 b0"},
                         {"two streams without anything between them", "a1 b2", "b2 a1"},
                         {"each stream keeps its own order", "a1 b2 c1 d2", "b2 d2 a1 c1"},
                         {"a wait follows its record", "a1 r1 w2 b2", "a1 r1 w2 b2"},
                         {"what stands before the wait need not", "a1 r1 b2 w2 c2", "b2 a1 r1 w2 c2"},
                         {"a wait for an event that nobody recorded waits for nothing", "a1 w2 b2", "w2 b2 a1"},
                         {"a wait means the newest record before it", "a1 r1 b3 r3 w2 c2", "b3 r3 w2 c2 a1 r1"},
                         {"and not a later one", "a1 r1 w2 c2 b3 r3", "b3 r3 a1 r1 w2 c2"},
                         {"another event is another matter", "a1 r1 b3 R3 w2 c2", "b3 R3 a1 r1 w2 c2"},
                         {"the default stream waits for all and all for it", "a1 b2 c0 d1 e2", "b2 a1 c0 e2 d1"},
                         {"fork and join by events", "r0 w1 w2 a1 b2 r1 R2 w0 W0 c0", "r0 w2 b2 R2 w1 a1 r1 w0 W0 c0"}})
    EXPECT_EQ(Text(core::LatestFirst(Plan(row.ops))), row.order) << row.why;
  core::LaunchPlan callers = Plan("r0 w1 a0 b1 r1 w0 c0");
  callers.has_callers_stream = true;
  EXPECT_EQ(Text(core::LatestFirst(callers)), "r0 a0 w1 b1 r1 w0 c0");
}

// The rows name operations by their places: "2<3" where the third always precedes the fourth.
TEST(StreamOrder, WhatAlwaysComesBefore) {
  struct Row {
    const char* ops;
    bool callers_stream;
    const char* before;
  };
  for (const Row& row : {Row{"a1 b1 c1", false, "0<1 0<2 1<2 "}, Row{"a1 b2", false, ""}, Row{"a0 b2", false, "0<1 "},
                         Row{"a0 b2", true, ""}, Row{"a1 r1 w2 b2", false, "0<1 0<2 1<2 0<3 1<3 2<3 "},
                         Row{"r0 w1 a0 b1", true, "0<1 0<2 0<3 1<3 "}}) {
    core::LaunchPlan plan = Plan(row.ops);
    plan.has_callers_stream = row.callers_stream;
    const auto before = core::AlwaysBefore(plan);
    std::string text;
    for (size_t i = 0; i < before.size(); ++i)
      for (size_t j = 0; j < before.size(); ++j)
        if (before[i][j]) text += std::to_string(j) + "<" + std::to_string(i) + " ";
    EXPECT_EQ(text, row.before) << row.ops;
  }
}

// x is an argument, w a workspace that each call makes, k one that all calls share.
TEST(OverlappingCalls, TakeTurnsAndShareWhatIsKept) {
  core::LaunchPlan plan;
  plan.buffers = {{core::PlanBuffer::Kind::kArgument, "x", 4},
                  {core::PlanBuffer::Kind::kWorkspace, "w", 4},
                  {core::PlanBuffer::Kind::kWorkspace, "k", 4, true}};
  plan.ops = {core::CopyOp{{1, 0}, {0, 0}, 4, 0}, core::EventOp{core::EventOp::Kind::kRecord, 3, 0},
              core::CopyOp{{2, 0}, {1, 0}, 4, 1}};
  EXPECT_EQ(core::OverlappingCalls(plan), plan);  // on the default stream, one after the other
  plan.has_callers_stream = true;
  const core::LaunchPlan both = core::OverlappingCalls(plan);
  ASSERT_EQ(both.buffers.size(), 5u);
  EXPECT_EQ(both.buffers[3].kind, core::PlanBuffer::Kind::kArgument);
  EXPECT_EQ(both.buffers[4].name, "w of another call");
  ASSERT_EQ(both.ops.size(), 6u);
  for (size_t i = 0; i < plan.ops.size(); ++i) EXPECT_EQ(both.ops[2 * i], plan.ops[i]);
  const auto &first = std::get<core::CopyOp>(both.ops[1]), &last = std::get<core::CopyOp>(both.ops[5]);
  EXPECT_EQ(first.destination.buffer, 4u);
  EXPECT_EQ(first.source.buffer, 3u);
  EXPECT_NE(first.stream, 0u);
  EXPECT_NE(std::get<core::EventOp>(both.ops[3]).event, 3u);
  EXPECT_EQ(last.destination.buffer, 2u);
  EXPECT_EQ(last.source.buffer, 4u);
  EXPECT_NE(last.stream, first.stream);
}

}  // namespace
}  // namespace warpwright
