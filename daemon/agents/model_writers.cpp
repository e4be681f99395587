// The Generator, the Optimizer and the Repairer by a language model: they answer with changes to the entry.
#include <fmt/format.h>

#include "agents/briefing.h"
#include "agents/consult.h"
#include "agents/data_block.h"
#include "agents/formula_text.h"
#include "agents/model_agents.h"
#include "agents/model_plan.h"
#include "agents/spliced_attempts.h"

namespace warpwright::agents {

struct WrittenVersion {
  WrittenPlan plan;
  std::string summary;
  Edits edits;
};
struct WrittenChange {
  std::string summary;
  Edits edits;
};
struct WrittenRepair {
  std::string quote, cause, abandon, summary;
  Edits edits;
};

template <typename V>
void Describe(V& field, const WrittenVersion*) {
  using T = WrittenVersion;
  field.Inline(&T::plan);
  field("summary", &T::summary);
  field.Inline(&T::edits);
}
template <typename V>
void Describe(V& field, const WrittenChange*) {
  using T = WrittenChange;
  field("summary", &T::summary);
  field.Inline(&T::edits);
}
template <typename V>
void Describe(V& field, const WrittenRepair*) {
  using T = WrittenRepair;
  field("quote", &T::quote);
  field("cause", &T::cause);
  field("abandon", &T::abandon);
  field("summary", &T::summary);
  field.Inline(&T::edits);
}

namespace {

constexpr const char* kSummaryProperty =
    R"("summary": {"type": "string", "minLength": 1, "maxLength": 500, "description": "what was done, for the commit"})";

std::string ObjectSchema(const std::string& properties, const std::string& required) {
  return "{\"type\": \"object\", \"properties\": {\n  " + properties + "},\n\"required\": [" + required +
         "], \"additionalProperties\": false}";
}

class ModelGenerator final : public Generator {
 public:
  explicit ModelGenerator(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<Draft>> Propose(const GenerateRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, at.base));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("generator", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                      {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                      {"formula", formula},
                                                      {"listing", listing.text},
                                                      {"measured", MeasuredFacts(at)},
                                                      {"history", HistoryTable(at)},
                                                      {"experience", request.learned},
                                                      {"methods", MethodCards(request.by_hand, 4, 2)}}));
    static const std::string schema = ObjectSchema(
        fmt::format("{},\n  {},\n  {},\n  {}", kPlanProperties, kSummaryProperty, kEditProperties, kParameterProperty),
        R"("method", "why", "kernels", "evidence", "expected", "summary", "functions", "lines", "parameters")");
    return ConsultFor<WrittenVersion, Draft>(
        engine_, MakeQuestion(engine_, core::AgentRole::kGenerator, std::move(prompt), "version", schema),
        [&](WrittenVersion version, const core::Origin& origin) -> Result<Taken<Draft>> {
          auto plan = TakePlan(at, std::move(version.plan), engine_.name);
          if (auto* fault = std::get_if<Fault>(&plan)) return Taken<Draft>(std::move(*fault));
          Draft draft{std::get<core::Plan>(std::move(plan)), {}};
          WW_ASSIGN(auto attempts, SplicedAttempts(at, at.base, listing.entry, version.edits, draft.plan.method,
                                                   version.summary, origin));
          if (auto* fault = std::get_if<Fault>(&attempts)) return Taken<Draft>(std::move(*fault));
          draft.written = std::get<std::vector<Attempt>>(std::move(attempts));
          return Taken<Draft>(Proposal<Draft>(std::vector<Draft>{std::move(draft)}));
        });
  }

 private:
  const Engine engine_;
};

class ModelOptimizer final : public Optimizer {
 public:
  explicit ModelOptimizer(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<Attempt>> Propose(const OptimizeRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, at.base));
    WW_ASSIGN(const std::string original, OriginalText(at, at.base));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("optimizer", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                      {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                      {"formula", formula},
                                                      {"listing", listing.text},
                                                      {"original", original},
                                                      {"measured", MeasuredFacts(at)},
                                                      {"history", HistoryTable(at)},
                                                      {"plan", PlanText(request.plan, request.card)}}));
    static const std::string schema =
        ObjectSchema(fmt::format("{},\n  {},\n  {}", kSummaryProperty, kEditProperties, kParameterProperty),
                     R"("summary", "functions", "lines", "parameters")");
    return ConsultFor<WrittenChange, Attempt>(
        engine_, MakeQuestion(engine_, core::AgentRole::kOptimizer, std::move(prompt), "change", schema),
        [&](const WrittenChange& change, const core::Origin& origin) -> Result<Taken<Attempt>> {
          WW_ASSIGN(auto attempts, SplicedAttempts(at, at.base, listing.entry, change.edits, request.plan.method,
                                                   change.summary, origin));
          if (auto* fault = std::get_if<Fault>(&attempts)) return Taken<Attempt>(std::move(*fault));
          return Taken<Attempt>(Proposal<Attempt>(std::get<std::vector<Attempt>>(std::move(attempts))));
        });
  }

 private:
  const Engine engine_;
};

class ModelRepairer final : public Repairer {
 public:
  explicit ModelRepairer(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<core::Candidate>> Propose(const RepairRequest& request) override {
    const Situation& at = request.at;
    if (!request.plan.transform.empty())
      return Proposal<core::Candidate>(NoProposal{"what a transformation wrote is not mended by hand"});
    WW_ASSIGN(const Listing listing, ListEntry(at, request.failed));
    WW_ASSIGN(const std::string original, OriginalText(at, request.failed));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt, MakePrompt("repairer", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                                     {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                                     {"formula", formula},
                                                     {"original", original},
                                                     {"listing", listing.text},
                                                     {"history", HistoryTable(at)},
                                                     {"plan", PlanText(request.plan)},
                                                     {"verdict", VerdictText(request.verdict)},
                                                     {"diagnosis", DiagnosisText(request.diagnosis)}}));
    static const std::string schema = ObjectSchema(
        fmt::format(
            R"("quote": {{"type": "string", "maxLength": 1000, "description": "the words of the verdict that tell the cause, as they stand there"}},
  "cause": {{"type": "string", "minLength": 1, "maxLength": 1000}},
  "abandon": {{"type": "string", "maxLength": 500, "description": "empty; or why it is not worth another try, with no changes"}},
  {},
  {})",
            kSummaryProperty, kEditProperties),
        R"("quote", "cause", "abandon", "summary", "functions", "lines")");
    return ConsultFor<WrittenRepair, core::Candidate>(
        engine_, MakeQuestion(engine_, core::AgentRole::kRepairer, std::move(prompt), "repair", schema),
        [&](const WrittenRepair& repair, const core::Origin& origin) -> Result<Taken<core::Candidate>> {
          using P = Proposal<core::Candidate>;
          if (!repair.abandon.empty()) return Taken<core::Candidate>(P(NoProposal{"the model: " + repair.abandon}));
          if (!QuotesVerdict(repair.quote, request.verdict))
            return Taken<core::Candidate>(Fault{"quote: these words do not stand in the verdict"});
          WW_ASSIGN(auto attempts, SplicedAttempts(at, request.failed, listing.entry, repair.edits,
                                                   request.failed.method, repair.summary, origin));
          if (auto* fault = std::get_if<Fault>(&attempts)) return Taken<core::Candidate>(std::move(*fault));
          std::vector<core::Candidate> repaired;
          for (Attempt& attempt : std::get<std::vector<Attempt>>(attempts))
            if (auto* candidate = std::get_if<core::Candidate>(&attempt.outcome))
              repaired.push_back(std::move(*candidate));
          if (repaired.empty())
            return Taken<core::Candidate>(Fault{"the changes lead to a text that is known already"});
          return Taken<core::Candidate>(P(std::move(repaired)));
        });
  }

 private:
  const Engine engine_;
};

}  // namespace

std::unique_ptr<Generator> MakeModelGenerator(Engine engine) {
  return std::make_unique<ModelGenerator>(std::move(engine));
}
std::unique_ptr<Optimizer> MakeModelOptimizer(Engine engine) {
  return std::make_unique<ModelOptimizer>(std::move(engine));
}
std::unique_ptr<Repairer> MakeModelRepairer(Engine engine) {
  return std::make_unique<ModelRepairer>(std::move(engine));
}

}  // namespace warpwright::agents
