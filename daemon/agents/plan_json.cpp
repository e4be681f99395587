#include "agents/plan_json.h"

#include "base/json_codec.h"
#include "core/plan_fields.h"

namespace warpwright {

std::string EncodePlan(const Plan& plan) { return EncodeJson(plan); }

Result<Plan> DecodePlan(const std::string& text) {
  auto plan = DecodeJson<Plan>(text);
  if (!plan) return Fail(ErrorCode::kCorrupt, "a plan that does not decode: " + plan.error().message);
  return plan;
}

}  // namespace warpwright
