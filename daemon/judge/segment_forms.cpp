#include "judge/segment_forms.h"

#include "judge/lift_shapes.h"

namespace warpwright::judge {

Result<std::vector<core::LiftOutcome>> LiftSegments(const core::SourceRef& source, const core::KernelSpec& spec,
                                                    const std::string& device, double seconds,
                                                    const std::function<bool()>& more, core::Evaluator& worker) {
  std::vector<core::LiftOutcome> segments;
  core::LiftRequest request = MakeLiftRequest(source, core::SegmentSpec(spec), device);
  request.seconds_limit = seconds;
  if (request.shapes.empty()) return segments;
  for (size_t number = 0; number < kMostSegments && more(); ++number) {
    WW_ASSIGN(core::RewriteOutcome text, worker.Rewrite({source,
                                                         spec.entry,
                                                         "",
                                                         std::string(core::kSegmentText),
                                                         {{core::kSegmentNumber, std::to_string(number)}},
                                                         {}}));
    auto* rewritten = std::get_if<core::Rewritten>(&text);
    if (rewritten == nullptr) break;
    request.source = source.With(std::move(rewritten->text));
    WW_ASSIGN(core::LiftOutcome outcome, worker.Lift(request));
    segments.push_back(std::move(outcome));
  }
  return segments;
}

std::vector<core::SegmentForm> FormsOf(const std::vector<core::LiftOutcome>& segments) {
  std::vector<core::SegmentForm> forms;
  for (size_t i = 0; i < segments.size(); ++i)
    if (const auto* lifted = std::get_if<core::Lifted>(&segments[i])) forms.push_back({i, lifted->computation});
  return forms;
}

}  // namespace warpwright::judge
