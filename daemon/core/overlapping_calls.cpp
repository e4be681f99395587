#include "core/overlapping_calls.h"

#include <map>

namespace warpwright::core {
namespace {

// Beyond those of one call.
constexpr uint32_t kOtherStreams = 1u << 16, kOtherEvents = 1u << 16;

}  // namespace

LaunchPlan OverlappingCalls(const LaunchPlan& plan) {
  LaunchPlan both = plan;
  if (!plan.has_callers_stream) return both;
  std::map<uint32_t, uint32_t> other;  // the second call's buffers
  for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].kept) continue;
    other[b] = static_cast<uint32_t>(both.buffers.size());
    both.buffers.push_back(plan.buffers[b]);
    both.buffers.back().name += " of another call";
  }
  both.ops.clear();
  for (const PlanOp& op : plan.ops) {
    both.ops.push_back(op);
    PlanOp again = op;
    VisitPointers(again, [&](DevicePointer& pointer) {
      if (const auto at = other.find(pointer.buffer); at != other.end()) pointer.buffer = at->second;
    });
    std::visit([](auto& x) { x.stream += kOtherStreams; }, again);
    if (auto* event = std::get_if<EventOp>(&again)) event->event += kOtherEvents;
    both.ops.push_back(std::move(again));
  }
  return both;
}

}  // namespace warpwright::core
