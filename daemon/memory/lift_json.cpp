#include "memory/lift_json.h"

#include "base/json_codec.h"
#include "core/lifting_fields.h"

namespace warpwright::memory {

std::string EncodeLift(const core::LiftOutcome& outcome) { return base::EncodeJson(outcome); }

Result<core::LiftOutcome> DecodeLift(std::string_view json) {
  WW_ASSIGN(core::LiftOutcome outcome, base::DecodeJson<core::LiftOutcome>(json));
  if (const auto* lifted = std::get_if<core::Lifted>(&outcome)) WW_TRY(core::Validate(lifted->computation));
  return outcome;
}

}  // namespace warpwright::memory
