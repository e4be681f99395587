#include "core/stream_order.h"

#include <map>
#include <queue>

namespace warpwright::core {
namespace {

struct Dependencies {
  std::vector<std::vector<size_t>> successors;
  std::vector<int> waits_for;

  explicit Dependencies(const LaunchPlan& plan) : successors(plan.ops.size()), waits_for(plan.ops.size()) {
    const std::vector<PlanOp>& ops = plan.ops;
    std::map<uint32_t, size_t> last;      // by stream, since the default stream's latest operation
    std::map<uint32_t, size_t> recorded;  // by event
    for (size_t i = 0; i < ops.size(); ++i) {
      const uint32_t stream = std::visit([](const auto& op) { return op.stream; }, ops[i]);
      const auto* event = std::get_if<EventOp>(&ops[i]);
      if (event != nullptr && event->kind == EventOp::Kind::kWait)
        if (const auto record = recorded.find(event->event); record != recorded.end()) Add(record->second, i);
      if (stream == 0 && !plan.has_callers_stream) {
        for (const auto& [other, newest] : last) Add(newest, i);
        last.clear();
        last[0] = i;
      } else {
        const auto before = last.contains(stream) || plan.has_callers_stream ? last.find(stream) : last.find(0);
        if (before != last.end()) Add(before->second, i);
        last[stream] = i;
      }
      if (event != nullptr && event->kind == EventOp::Kind::kRecord) recorded[event->event] = i;
    }
  }
  void Add(size_t before, size_t after) {
    successors[before].push_back(after);
    ++waits_for[after];
  }
};

}  // namespace

std::vector<PlanOp> LatestFirst(const LaunchPlan& plan) {
  const std::vector<PlanOp>& ops = plan.ops;
  Dependencies graph(plan);
  std::priority_queue<size_t> ready;
  for (size_t i = 0; i < ops.size(); ++i)
    if (graph.waits_for[i] == 0) ready.push(i);
  std::vector<PlanOp> order;
  order.reserve(ops.size());
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(ops[next]);
    for (const size_t after : graph.successors[next])
      if (--graph.waits_for[after] == 0) ready.push(after);
  }
  return order;
}

std::vector<std::vector<bool>> AlwaysBefore(const LaunchPlan& plan) {
  const Dependencies graph(plan);
  const size_t count = plan.ops.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (size_t i = 0; i < count; ++i)
    for (const size_t after : graph.successors[i]) {  // all of them later in the plan
      before[after][i] = true;
      for (size_t j = 0; j < i; ++j)
        if (before[i][j]) before[after][j] = true;
    }
  return before;
}

}  // namespace warpwright::core
