#include "agents/plan_json.h"

#include "base/json_codec.h"
#include "core/plan_fields.h"

namespace warpwright::agents {

std::string EncodePlan(const core::Plan& plan) { return base::EncodeJson(plan); }

Result<core::Plan> DecodePlan(const std::string& text) {
  auto plan = base::DecodeJson<core::Plan>(text);
  if (!plan) return Fail(ErrorCode::kCorrupt, "a plan that does not decode: " + plan.error().message);
  return plan;
}

}  // namespace warpwright::agents
