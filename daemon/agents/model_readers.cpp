// The Planner and the Diagnoser by a language model: they answer with what to do, and change nothing.
#include <fmt/format.h>

#include "agents/briefing.h"
#include "agents/consult.h"
#include "agents/formula_text.h"
#include "agents/model_agents.h"
#include "agents/model_plan.h"

namespace warpwright::agents {

struct WrittenPlans {
  std::string none;
  std::vector<WrittenPlan> plans;
};
template <typename V>
void Describe(V& field, const WrittenPlans*) {
  using T = WrittenPlans;
  field("none", &T::none);
  field("plans", &T::plans);
}
struct WrittenDiagnosis {
  std::string quote, cause, root_cause, fix;
  double confidence = 0;
};
template <typename V>
void Describe(V& field, const WrittenDiagnosis*) {
  using T = WrittenDiagnosis;
  field("quote", &T::quote);
  field("cause", &T::cause);
  field("root_cause", &T::root_cause);
  field("fix", &T::fix);
  field("confidence", &T::confidence);
}

struct WrittenCritique {
  bool refuse = false;
  std::string reason;
};
template <typename V>
void Describe(V& field, const WrittenCritique*) {
  using T = WrittenCritique;
  field("refuse", &T::refuse);
  field("reason", &T::reason);
}

namespace {

class ModelPlanner final : public Planner {
 public:
  explicit ModelPlanner(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<core::Plan>> Propose(const PlanRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, at.base));
    WW_ASSIGN(const std::string original, OriginalText(at, at.base));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("planner", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                    {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                    {"formula", formula},
                                                    {"listing", listing.text},
                                                    {"original", original},
                                                    {"measured", MeasuredFacts(at)},
                                                    {"history", HistoryTable(at)},
                                                    {"experience", request.learned},
                                                    {"methods", MethodCards(request.by_hand, 6)}}));
    static const std::string schema = fmt::format(
        R"({{"type": "object", "properties": {{
  "none": {{"type": "string", "maxLength": 500, "description": "empty; or why nothing is worth trying, with no plans"}},
  "plans": {{"type": "array", "maxItems": 2, "items": {{"type": "object", "properties": {{
  {},
  "instructions": {{"type": "string", "minLength": 1, "maxLength": 12000}}}},
  "required": ["method", "why", "kernels", "evidence", "expected", "instructions"], "additionalProperties": false}}}}}},
"required": ["none", "plans"], "additionalProperties": false}})",
        kPlanProperties);
    return ConsultFor<WrittenPlans, core::Plan>(
        engine_, MakeQuestion(engine_, core::AgentRole::kPlanner, std::move(prompt), "plans", schema),
        [&](WrittenPlans written, const core::Origin&) -> Result<Taken<core::Plan>> {
          if (written.plans.empty())
            return Taken<core::Plan>(Proposal<core::Plan>(NoProposal{"the model: " + written.none}));
          std::vector<core::Plan> plans;
          for (WrittenPlan& one : written.plans) {
            auto plan = TakePlan(at, std::move(one), engine_.name);
            if (auto* fault = std::get_if<Fault>(&plan)) return Taken<core::Plan>(std::move(*fault));
            plans.push_back(std::get<core::Plan>(std::move(plan)));
            const skills::Bottleneck* primary = request.by_hand.primary();
            plans.back().bottleneck = primary != nullptr ? primary->id : "";
          }
          return Taken<core::Plan>(Proposal<core::Plan>(std::move(plans)));
        });
  }

 private:
  const Engine engine_;
};

std::string CauseNames() {
  std::string names;
  for (int cause = 0; cause <= static_cast<int>(core::Diagnosis::Cause::kUnknown); ++cause)
    names += fmt::format("{}\"{}\"", cause > 0 ? ", " : "", Name(static_cast<core::Diagnosis::Cause>(cause)));
  return names;
}

class ModelDiagnoser final : public Diagnoser {
 public:
  explicit ModelDiagnoser(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<core::Diagnosis>> Propose(const DiagnoseRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, request.failed));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("diagnoser", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                      {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                      {"formula", formula},
                                                      {"listing", listing.text},
                                                      {"verdict", VerdictText(request.verdict)}}));
    static const std::string schema = fmt::format(
        R"({{"type": "object", "properties": {{
  "quote": {{"type": "string", "minLength": 1, "maxLength": 1000, "description": "from the verdict, as it stands there"}},
  "cause": {{"type": "string", "enum": [{}]}},
  "root_cause": {{"type": "string", "minLength": 1, "maxLength": 800}},
  "fix": {{"type": "string", "minLength": 1, "maxLength": 800, "description": "the smallest one"}},
  "confidence": {{"type": "number", "minimum": 0, "maximum": 1}}}},
"required": ["quote", "cause", "root_cause", "fix", "confidence"], "additionalProperties": false}})",
        CauseNames());
    return ConsultFor<WrittenDiagnosis, core::Diagnosis>(
        engine_, MakeQuestion(engine_, core::AgentRole::kDiagnoser, std::move(prompt), "diagnosis", schema),
        [&](WrittenDiagnosis written, const core::Origin&) -> Result<Taken<core::Diagnosis>> {
          if (!QuotesVerdict(written.quote, request.verdict))
            return Taken<core::Diagnosis>(Fault{"quote: these words do not stand in the verdict"});
          core::Diagnosis diagnosis{.quote = std::move(written.quote),
                                    .root_cause = std::move(written.root_cause),
                                    .fix = std::move(written.fix),
                                    .confidence = written.confidence,
                                    .lines = LinesOf(request.failed, request.verdict, at.original.file)};
          if (const auto* wrong = std::get_if<core::WrongResult>(&request.verdict)) diagnosis.sample = wrong->sample;
          for (int cause = 0; cause <= static_cast<int>(core::Diagnosis::Cause::kUnknown); ++cause)
            if (Name(static_cast<core::Diagnosis::Cause>(cause)) == written.cause)
              diagnosis.cause = static_cast<core::Diagnosis::Cause>(cause);
          return Taken<core::Diagnosis>(Proposal<core::Diagnosis>(std::vector{std::move(diagnosis)}));
        });
  }

 private:
  const Engine engine_;
};

class ModelCritic final : public Critic {
 public:
  explicit ModelCritic(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<Critique>> Propose(const CritiqueRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, request.candidate));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("critic", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                   {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                   {"formula", formula},
                                                   {"plan", PlanText(request.plan)},
                                                   {"listing", listing.text}}));
    static const std::string schema = R"({"type": "object", "properties": {
  "refuse": {"type": "boolean"},
  "reason": {"type": "string", "maxLength": 800}},
"required": ["refuse", "reason"], "additionalProperties": false})";
    return ConsultFor<WrittenCritique, Critique>(
        engine_, MakeQuestion(engine_, core::AgentRole::kCritic, std::move(prompt), "critique", schema),
        [&](WrittenCritique written, const core::Origin&) -> Result<Taken<Critique>> {
          if (written.refuse && written.reason.empty()) return Taken<Critique>(Fault{"reason: a refusal needs one"});
          return Taken<Critique>(Proposal<Critique>(std::vector{Critique{written.refuse, std::move(written.reason)}}));
        });
  }

 private:
  const Engine engine_;
};

}  // namespace

std::unique_ptr<Critic> MakeModelCritic(Engine engine) { return std::make_unique<ModelCritic>(std::move(engine)); }
std::unique_ptr<Planner> MakeModelPlanner(Engine engine) { return std::make_unique<ModelPlanner>(std::move(engine)); }
std::unique_ptr<Diagnoser> MakeModelDiagnoser(Engine engine) {
  return std::make_unique<ModelDiagnoser>(std::move(engine));
}

}  // namespace warpwright::agents
