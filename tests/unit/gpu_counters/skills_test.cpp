// Every value that skills/ uses for decisions must be available on a GPU, or be on the list of what only the simulator
// provides.
#include <set>

#include "core/computation_facts.h"
#include "core/evidence.h"
#include "skills/library.h"
#include "tests/unit/gpu_counters/support.h"

namespace warpwright::gpu {
namespace {

// Only names that occur in skills/; NotOnHardware() has the reasons for counters.
const std::map<std::string, std::string> kSimulatorOnly = {
    {"barriers_per_warp", "no counter of barrier instructions; the source's barriers and stall_barrier_pct stand in"},
    {"tensor_pct", "counted with the speed of light, of accepted versions alone; tensor_cores of the source stands in"},
};

void CollectFields(const skills::Condition& condition, std::set<std::string>& names) {
  if (condition.kind == skills::Condition::Kind::kCompare) names.emplace(core::EvidenceFields()[condition.field].name);
  for (const auto& part : condition.parts) CollectFields(part, names);
}

// Evidence fields and counters that the policy and the cards use for decisions, and that they predict.
std::set<std::string> NamesInSkills(const skills::SkillLibrary& library) {
  std::set<std::string> names;
  const auto add = [&](size_t field) { names.emplace(core::EvidenceFields()[field].name); };
  add(library.policy.roofline_field);
  for (const auto& rule : library.policy.bottlenecks) {
    CollectFields(rule.when, names);
    for (const size_t field : rule.severity.fields) add(field);
  }
  for (const auto& veto : library.policy.vetoes) CollectFields(veto.when, names);
  for (const auto& bucket : library.policy.state) add(bucket.field);
  for (const auto& [id, card] : library.methods) {
    for (const auto& condition : card.preconditions) CollectFields(condition, names);
    if (card.already_applied) CollectFields(*card.already_applied, names);
    for (const auto& change : card.expected) names.insert(change.name);
  }
  return names;
}

// What is available after the chip counted a tier: evidence by name, counters by name.
std::set<std::string> Known(const std::vector<std::string>& metrics) {
  core::Chip chip;
  chip.arch = "sm_90";
  chip.multiprocessors = 100;
  chip.clock_ghz = 1;
  core::LaunchReport report;
  report.threads_per_block = 256;
  report.blocks_total = 10;
  Fill(report, Uniform(metrics, 10), chip);
  core::CaseMeasurement measurement;
  measurement.launches = {report};
  std::set<std::string> known;
  const core::Evidence evidence = core::MakeEvidence(chip, core::KernelInfo{}, measurement, core::Roofline{});
  for (const auto& [name, value] : evidence.values()) known.insert(name);
  // What an entry's formula says needs no counters.
  core::ComputationFacts facts;
  facts.contraction.emplace();
  facts.convolution.emplace();
  facts.reduction.emplace();
  facts.window.emplace();
  facts.operands.emplace_back();
  core::Evidence of_formula;
  core::AddFormula(facts, core::OperationClass::kMatmul, of_formula);
  for (const auto& [name, value] : of_formula.values()) known.insert(name);
  for (const auto& field : core::Fields(report.counters))
    if (const std::string name(field.name); report.unmeasured.count(name) == 0) known.insert(name);
  return known;
}

class SkillsOn : public testing::TestWithParam<const char*> {};

TEST_P(SkillsOn, EveryNameIsMeasuredOrListed) {
  WW_NEED_CUPTI(cupti);
  const auto library = skills::LoadBuiltInSkills();
  ASSERT_TRUE(library) << library.error().Format();
  const std::set<std::string> names = NamesInSkills(*library);
  ASSERT_GT(names.size(), 60u) << "the walk over the library no longer finds names";
  const auto candidate = CuptiHost::Create(cupti, GetParam(), {}, MetricsOf(CounterTier::kCandidate));
  ASSERT_TRUE(candidate) << candidate.error().Format();
  const auto known = Known(candidate->metrics());
  for (const auto& name : names) EXPECT_NE(known.count(name), kSimulatorOnly.count(name)) << name;
  for (const auto& [name, reason] : kSimulatorOnly)
    EXPECT_TRUE(names.count(name)) << name << " is listed but not named in skills/";
}

INSTANTIATE_TEST_SUITE_P(Chips, SkillsOn,
                         testing::Values("GA100", "GA102", "AD102", "AD104", "GH100", "GB100", "GB202"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace warpwright::gpu
