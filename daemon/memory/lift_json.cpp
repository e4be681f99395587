#include "memory/lift_json.h"

#include "base/json_codec.h"
#include "core/lifting_fields.h"
#include "core/scheduling_fields.h"

namespace warpwright::memory {

std::string EncodeLift(const core::LiftOutcome& outcome) { return base::EncodeJson(outcome); }

Result<core::LiftOutcome> DecodeLift(std::string_view json) {
  WW_ASSIGN(core::LiftOutcome outcome, base::DecodeJson<core::LiftOutcome>(json));
  if (const auto* lifted = std::get_if<core::Lifted>(&outcome)) WW_TRY(core::Validate(lifted->computation));
  return outcome;
}

std::string EncodeSegments(const std::vector<core::SegmentForm>& segments) { return base::EncodeJson(segments); }

Result<std::vector<core::SegmentForm>> DecodeSegments(std::string_view json) {
  WW_ASSIGN(auto segments, base::DecodeJson<std::vector<core::SegmentForm>>(json));
  for (const core::SegmentForm& segment : segments) WW_TRY(core::Validate(segment.computation));
  return segments;
}

}  // namespace warpwright::memory
