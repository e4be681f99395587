#include "agents/team.h"

#include <algorithm>

#include "agents/model_agents.h"
#include "core/device_name.h"

namespace warpwright::agents {
namespace {

constexpr size_t kMaxSeeds = 2;

// For the transformations that need to know what the entry computes, or its launches by themselves.
Result<std::optional<core::Scheduling>> SchedulingAt(const Situation& at, const core::Plan& plan) {
  const bool each_launch = plan.transform == core::kEachLaunch;
  if (each_launch ? !at.segments : at.form == nullptr) return std::optional<core::Scheduling>();
  const auto device = core::IsSimulated(at.measured.device) ? core::DeviceKind::kSim : core::DeviceKind::kCuda;
  core::Scheduling scheduling{{}, at.spec, core::ScheduledCases(at.spec, device), at.chip};
  if (each_launch) {
    WW_ASSIGN(scheduling.segments, at.segments());
  } else {
    scheduling.computation = at.form->computation;
  }
  return std::optional(std::move(scheduling));
}

class BuiltInExtractor final : public FeatureExtractor {
 public:
  Result<Proposal<ExtractedFeatures>> Propose(const ExtractRequest& request) override {
    return Proposal<ExtractedFeatures>(std::vector<ExtractedFeatures>{request.at.features});
  }
};

class BuiltInGenerator final : public Generator {
 public:
  Result<Proposal<Draft>> Propose(const GenerateRequest& request) override {
    std::vector<Draft> drafts;
    for (core::Plan& plan : Generate(request.at.features.kernel, request.match, request.experience, kMaxSeeds))
      drafts.push_back({std::move(plan), {}});
    if (drafts.empty()) return Proposal<Draft>(NoProposal{"no method worked on kernels of this kind"});
    return Proposal<Draft>(std::move(drafts));
  }
};

class BuiltInPlanner final : public Planner {
 public:
  Result<Proposal<core::Plan>> Propose(const PlanRequest& request) override {
    PlanOutcome planned =
        MakePlan(request.at.features, request.match, request.experience, request.at.measured.modelled);
    if (auto* none = std::get_if<NoPlan>(&planned)) return Proposal<core::Plan>(NoProposal{std::move(none->reason)});
    return Proposal<core::Plan>(std::vector<core::Plan>{std::get<core::Plan>(std::move(planned))});
  }
};

class BuiltInOptimizer final : public Optimizer {
 public:
  // What a transformation refuses is a proposal too: another implementer is not asked for the same plan.
  Result<Proposal<Attempt>> Propose(const OptimizeRequest& request) override {
    const Situation& at = request.at;
    if (request.plan.transform.empty())
      return Proposal<Attempt>(NoProposal{"no transformation carries out " + request.plan.method});
    WW_ASSIGN(const auto scheduling, SchedulingAt(at, request.plan));
    WW_ASSIGN(auto attempts, Optimize(at.original, at.spec.entry, at.base, request.plan, at.evaluator, scheduling));
    return Proposal<Attempt>(std::move(attempts));
  }
};

class BuiltInDiagnoser final : public Diagnoser {
 public:
  Result<Proposal<core::Diagnosis>> Propose(const DiagnoseRequest& request) override {
    return Proposal<core::Diagnosis>(
        std::vector<core::Diagnosis>{Diagnose(request.failed, request.verdict, request.at.original.file)});
  }
};

class BuiltInRepairer final : public Repairer {
 public:
  Result<Proposal<core::Candidate>> Propose(const RepairRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const auto scheduling, SchedulingAt(at, request.plan));
    WW_ASSIGN(Repair repair, RepairCandidate(at.original, at.spec.entry, at.base, request.failed, request.plan,
                                             request.diagnosis, at.evaluator, scheduling));
    if (auto* abandon = std::get_if<Abandon>(&repair))
      return Proposal<core::Candidate>(NoProposal{std::move(abandon->reason)});
    return Proposal<core::Candidate>(std::vector<core::Candidate>{std::get<core::Candidate>(std::move(repair))});
  }
};

template <typename Port>
std::unique_ptr<Port> Several(AskOrder order, std::vector<std::unique_ptr<Port>> agents) {
  if (agents.size() == 1) return std::move(agents.front());
  return std::make_unique<InOrder<typename Port::Asked, typename Port::Proposed>>(order, std::move(agents));
}

// A model, once for each answer that is wanted of it.
template <typename Port>
std::unique_ptr<Port> Sampled(Engine engine, int samples, std::unique_ptr<Port> (*make)(Engine)) {
  std::vector<std::unique_ptr<Port>> agents;
  for (engine.sample = 0; engine.sample < std::max(1, samples); ++engine.sample) agents.push_back(make(engine));
  return Several<Port>(AskOrder::kAll, std::move(agents));
}

template <typename Port, typename BuiltIn>
std::unique_ptr<Port> Compose(const Engines& engines, std::unique_ptr<Port> (*make)(Engine)) {
  std::vector<std::unique_ptr<Port>> agents;
  for (const Engine& engine : engines.engines) {
    if (engine.model == nullptr) agents.push_back(std::make_unique<BuiltIn>());
    else agents.push_back(Sampled<Port>(engine, engines.samples, make));
  }
  if (agents.empty()) agents.push_back(std::make_unique<BuiltIn>());
  return Several<Port>(engines.order, std::move(agents));
}

std::unique_ptr<Critic> ComposeCritics(const Engines& engines) {
  std::vector<std::unique_ptr<Critic>> critics;
  for (const Engine& engine : engines.engines)
    if (engine.model != nullptr) critics.push_back(Sampled<Critic>(engine, engines.samples, &MakeModelCritic));
  if (critics.empty()) return nullptr;
  return Several<Critic>(engines.order, std::move(critics));
}

}  // namespace

Team MakeTeam(const std::map<core::AgentRole, Engines>& engines) {
  const auto of = [&](core::AgentRole role) {
    const auto found = engines.find(role);
    return found == engines.end() ? Engines{} : found->second;
  };
  const auto is_model = [](const Engine& engine) { return engine.model != nullptr; };
  const auto any_model = [&](const Engines& of_role) {
    return std::any_of(of_role.engines.begin(), of_role.engines.end(), is_model);
  };
  const Engines planners = of(core::AgentRole::kPlanner), generators = of(core::AgentRole::kGenerator);
  return {.extractor =
              Compose<FeatureExtractor, BuiltInExtractor>(of(core::AgentRole::kFeatureExtractor), &MakeModelExtractor),
          .generator = Compose<Generator, BuiltInGenerator>(generators, &MakeModelGenerator),
          .planner = Compose<Planner, BuiltInPlanner>(planners, &MakeModelPlanner),
          .optimizer = Compose<Optimizer, BuiltInOptimizer>(of(core::AgentRole::kOptimizer), &MakeModelOptimizer),
          .diagnoser = Compose<Diagnoser, BuiltInDiagnoser>(of(core::AgentRole::kDiagnoser), &MakeModelDiagnoser),
          .repairer = Compose<Repairer, BuiltInRepairer>(of(core::AgentRole::kRepairer), &MakeModelRepairer),
          .critic = ComposeCritics(of(core::AgentRole::kCritic)),
          .plans_by_model = any_model(planners),
          .learns_by_text = any_model(planners) || any_model(generators)};
}

}  // namespace warpwright::agents
