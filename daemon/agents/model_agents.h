// The agents that ask a language model: what they tell it (config/prompts), and what they take from its answer.
#pragma once

#include "agents/team.h"

namespace warpwright::agents {

std::unique_ptr<FeatureExtractor> MakeModelExtractor(Engine engine);
std::unique_ptr<Generator> MakeModelGenerator(Engine engine);
std::unique_ptr<Planner> MakeModelPlanner(Engine engine);
std::unique_ptr<Optimizer> MakeModelOptimizer(Engine engine);
std::unique_ptr<Diagnoser> MakeModelDiagnoser(Engine engine);
std::unique_ptr<Repairer> MakeModelRepairer(Engine engine);
std::unique_ptr<Critic> MakeModelCritic(Engine engine);

}  // namespace warpwright::agents
