#include "judge/segment_forms.h"

#include <optional>

#include "judge/lift_shapes.h"

namespace warpwright::judge {

Status LiftSegments(const core::SourceRef& source, const core::KernelSpec& spec, const std::string& device,
                    double seconds, core::Evaluator& worker,
                    const std::function<bool(uint64_t number, core::LiftOutcome outcome)>& tell) {
  std::optional<core::LiftRequest> request;
  for (uint64_t number = 0; number < kMostSegments; ++number) {
    WW_ASSIGN(core::RewriteOutcome text, worker.Rewrite({.source = source,
                                                         .entry = spec.entry,
                                                         .kernel = {},
                                                         .transform = std::string(core::kSegmentText),
                                                         .parameters = {{core::kSegmentNumber, std::to_string(number)}},
                                                         .scheduling = {}}));
    auto* rewritten = std::get_if<core::Rewritten>(&text);
    if (rewritten == nullptr) break;
    if (!request) {
      request = MakeLiftRequest(source, core::SegmentSpec(spec), device);
      request->seconds_limit = seconds;
    }
    if (request->shapes.empty()) break;
    request->source = source.With(std::move(rewritten->text));
    WW_ASSIGN(core::LiftOutcome outcome, worker.Lift(*request));
    if (!tell(number, std::move(outcome))) break;
  }
  return {};
}

}  // namespace warpwright::judge
