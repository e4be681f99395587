#include "core/agent_role.h"

namespace warpwright::core {

std::string_view Name(AgentRole role) {
  switch (role) {
    case AgentRole::kGenerator: return "generator";
    case AgentRole::kFeatureExtractor: return "feature_extractor";
    case AgentRole::kPlanner: return "planner";
    case AgentRole::kOptimizer: return "optimizer";
    case AgentRole::kDiagnoser: return "diagnoser";
    case AgentRole::kRepairer: return "repairer";
    case AgentRole::kCritic: return "critic";
  }
  return "?";
}

}  // namespace warpwright::core
