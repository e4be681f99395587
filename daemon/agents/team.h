// The agents of a task as ports. Each has a built-in implementation, which is rules and transformations, and one that
// asks a language model (model_*.h); `engines` says which are asked, and in which order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/diagnoser.h"
#include "agents/generator.h"
#include "agents/optimizer.h"
#include "agents/planner.h"
#include "agents/repairer.h"
#include "agents/situation.h"
#include "base/deadline.h"
#include "core/agent_role.h"
#include "llm/language_model.h"

namespace warpwright::agents {

// At a version that plans will start from; `at.features` are what rules and counters say.
struct ExtractRequest {
  const Situation& at;
};
struct GenerateRequest {
  const Situation& at;
  const skills::MatchResult& match;  // as below
  const skills::MatchResult& by_hand;
  const memory::ExperienceMatches& experience;
  const std::string& learned;  // as below
};
struct PlanRequest {
  const Situation& at;
  const skills::MatchResult& match;    // methods that a transformation carries out
  const skills::MatchResult& by_hand;  // and those that must be written
  const memory::ExperienceMatches& experience;
  // ExperienceText of it as it was when the question was asked for the first time: it grows while an answer is waited
  // for, and the question must stay the same.
  const std::string& learned;
};
struct OptimizeRequest {
  const Situation& at;
  const core::Plan& plan;
  const skills::MethodCard* card = nullptr;  // of the plan's method, if the library has one
};
struct DiagnoseRequest {
  const Situation& at;
  const core::Candidate& failed;
  const core::Verdict& verdict;
};
struct RepairRequest {
  const Situation& at;
  const core::Plan& plan;
  const core::Candidate& failed;
  const core::Verdict& verdict;
  const core::Diagnosis& diagnosis;
};

struct CritiqueRequest {
  const Situation& at;
  const core::Plan& plan;
  const core::Candidate& candidate;
};

// Advice before a candidate costs time on a device: it may refuse or warn, and nothing else.
struct Critique {
  bool refuse = false;
  std::string reason;
};
// A first candidate: what it is to be, and its text where whoever planned it wrote it too.
struct Draft {
  core::Plan plan;
  std::vector<Attempt> written;  // empty: the Optimizer carries the plan out
};

using FeatureExtractor = Agent<ExtractRequest, ExtractedFeatures>;  // of several the last one knows most
using Generator = Agent<GenerateRequest, Draft>;
using Planner = Agent<PlanRequest, core::Plan>;
using Optimizer = Agent<OptimizeRequest, Attempt>;
using Diagnoser = Agent<DiagnoseRequest, core::Diagnosis>;
using Repairer = Agent<RepairRequest, core::Candidate>;
using Critic = Agent<CritiqueRequest, Critique>;

struct Team {
  std::unique_ptr<FeatureExtractor> extractor;
  std::unique_ptr<Generator> generator;
  std::unique_ptr<Planner> planner;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Diagnoser> diagnoser;
  std::unique_ptr<Repairer> repairer;
  std::unique_ptr<Critic> critic;  // none: nobody is asked; there is no built-in one
  bool plans_by_model = false;
  bool learns_by_text = false;  // a model generates or plans
};

// The built-in agent, or a language model that an agent of this role asks.
struct Engine {
  std::string name;
  std::shared_ptr<llm::LanguageModel> model;  // nullptr: built in
  llm::Limits limits = {};
  const base::Deadline* deadline = nullptr;  // of the task
  int sample = 0;                            // tells the questions of equal engines apart
};
struct Engines {
  AskOrder order = AskOrder::kFirst;
  int samples = 1;  // answers that each model is asked for, all of them
  std::vector<Engine> engines;
};
// A role without an entry, or without engines, is built in.
Team MakeTeam(const std::map<core::AgentRole, Engines>& engines);

}  // namespace warpwright::agents
