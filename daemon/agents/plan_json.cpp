#include "agents/plan_json.h"

#include <nlohmann/json.hpp>

namespace warpwright {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, field, direction, factor)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, method, transform, kernel, variants, bottleneck, why, evidence, expected, score)

std::string EncodePlan(const Plan& plan) {
  return nlohmann::json(plan).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Plan> DecodePlan(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<Plan>();
  } catch (const nlohmann::json::exception& e) {
    return Fail(ErrorCode::kCorrupt, std::string("a plan that does not decode: ") + e.what());
  }
}

}  // namespace warpwright
