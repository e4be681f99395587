#include "agents/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/statistics.h"

namespace warpwright::agents {
namespace {

constexpr size_t kMaxVariants = 10;

const skills::RankedMethod* FindMethod(const skills::MatchResult& match, const std::string& id) {
  for (const auto& method : match.methods)
    if (method.card->id == id) return &method;
  return nullptr;
}

std::string ExplainNoMethods(const skills::MatchResult& match) {
  std::string tried;
  for (const auto& veto : match.vetoed)
    if (veto.kind == skills::VetoedMethod::Kind::kExcluded || veto.kind == skills::VetoedMethod::Kind::kAlreadyApplied)
      tried += (tried.empty() ? "" : "; ") + veto.method + ": " + veto.reason;
  return tried.empty() ? "no method applies to this evidence" : "no method is left (" + tried + ")";
}

// The evidence, as lines that the reason cites by number.
std::vector<std::string> EvidenceLines(const ExtractedFeatures& features, const skills::MatchResult& match,
                                       const skills::RankedMethod& method) {
  std::vector<std::string> lines;
  if (!match.position.empty()) lines.push_back(match.position);
  if (const skills::Bottleneck* primary = match.primary()) lines.push_back(primary->evidence);
  for (const auto& reason : method.reasons) lines.push_back(reason);
  for (const auto& line : features.hot_lines) lines.push_back("hot line " + line);
  if (features.formula)
    for (const auto& line : core::InWords(*features.formula)) lines.push_back("computes " + line);
  return lines;
}

}  // namespace

std::vector<core::Parameters> ParameterSets(const skills::MethodCard& card,
                                            const std::vector<core::Parameters>& best_known, size_t limit) {
  std::vector<core::Parameters> sets;
  const auto add = [&](const core::Parameters& set) {
    if (sets.size() < limit && std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  const auto allowed = [&](const core::Parameters& set) {
    return std::all_of(card.parameters.begin(), card.parameters.end(), [&](const skills::MethodParameter& p) {
      const auto found = set.find(p.name);
      return found != set.end() && std::find(p.values.begin(), p.values.end(), found->second) != p.values.end();
    });
  };
  for (const auto& known : best_known)
    if (allowed(known)) {
      add(known);
      break;
    }
  core::Parameters standard;
  for (const auto& parameter : card.parameters) standard[parameter.name] = parameter.values.front();
  const auto sweep = [&](const core::Parameters& around, size_t first) {
    for (size_t i = first; i < card.parameters.size(); ++i)
      for (const auto& value : card.parameters[i].values) {
        core::Parameters set = around;
        set[card.parameters[i].name] = value;
        add(set);
      }
  };
  add(standard);
  if (card.parameters.empty()) return sets;
  sweep(standard, 0);
  for (const auto& value : card.parameters.front().values) {
    core::Parameters around = standard;
    around[card.parameters.front().name] = value;
    sweep(around, 1);
  }
  return sets;
}

memory::ExperienceKey KeyOf(const core::Evidence& evidence, const skills::MatchResult& match) {
  return {.chip = evidence.chip,
          .dtype = evidence.dtype,
          .operation = std::string(core::Name(evidence.operation)),
          .state = match.state,
          .form = evidence.form,
          .shape = evidence.shape};
}

PlanOutcome MakePlan(const ExtractedFeatures& features, const skills::MatchResult& match,
                     const memory::ExperienceMatches& experience, bool modelled) {
  if (match.at_roofline) return NoPlan{match.at_roofline->message};
  if (match.methods.empty()) return NoPlan{ExplainNoMethods(match)};

  std::vector<memory::PriorRank> order;
  for (const auto& method : match.methods) order.push_back({method.card->id, method.expected_log_gain});
  memory::StatisticsOptions options;
  options.modelled = modelled;
  const auto ranked = memory::RankByExperience(order, experience.samples, options);
  const skills::RankedMethod& method = *FindMethod(match, ranked.front().method);

  core::Plan plan;
  plan.method = method.card->id;
  plan.transform = method.card->transform;
  plan.kernel = features.kernel;
  plan.score = ranked.front().rank_value();
  plan.bottleneck = match.primary() != nullptr ? match.primary()->id : "";
  plan.evidence = EvidenceLines(features, match, method);
  std::vector<core::Parameters> best_known;
  for (const auto& known : memory::RankParameters(method.card->id, experience.samples, options))
    if (known.posterior > 0) best_known.push_back(known.parameters);
  plan.variants = ParameterSets(*method.card, best_known, kMaxVariants);
  for (const auto& change : method.card->expected)
    plan.expected.push_back({change.name, change.up ? 1 : -1, change.factor});

  const size_t position_lines = match.position.empty() ? 0 : 1;
  std::string cited;
  for (size_t i = position_lines; i < std::min(plan.evidence.size(), position_lines + 3); ++i)
    cited += fmt::format("[{}]", i + 1);
  plan.why = fmt::format("{}: {} {}", match.primary() != nullptr ? match.primary()->title : "no single bottleneck",
                         method.card->intent, cited);
  if (ranked.front().samples > 0) plan.why += " Experience: " + ranked.front().Summary() + ".";
  return plan;
}

}  // namespace warpwright::agents
