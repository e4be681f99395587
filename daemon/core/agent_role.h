// The agents by name, where one is chosen for or spoken about.
#pragma once

#include <string_view>

namespace warpwright::core {

enum class AgentRole { kGenerator, kFeatureExtractor, kPlanner, kOptimizer, kDiagnoser, kRepairer, kCritic };
std::string_view Name(AgentRole role);  // "feature_extractor"
constexpr AgentRole Last(AgentRole) { return AgentRole::kCritic; }

}  // namespace warpwright::core
