#include "schedule/emission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "schedule/added_sums.h"
#include "schedule/centred_squares.h"
#include "schedule/contraction_group.h"
#include "schedule/expression_code.h"
#include "schedule/factors_apart.h"
#include "schedule/flat_sums.h"
#include "schedule/joined_sums.h"
#include "schedule/memory_order.h"
#include "schedule/nested_sums.h"
#include "schedule/phases.h"
#include "schedule/row_blocks.h"
#include "schedule/short_terms.h"
#include "schedule/squared_means.h"
#include "schedule/written_terms.h"

namespace warpwright::schedule {

bool HasTiles(const Schedule& schedule) {
  return schedule.id == "schedule_tiles" || schedule.id == "schedule_tensor_tiles" ||
         schedule.id == "schedule_attention";
}

namespace {

constexpr int kMostCuts = 16;           // of an entry into phases
constexpr int kMostCutsOfSegments = 4;  // which are launches already

ParameterValues Completed(const Schedule& schedule, const ParameterValues& given) {
  ParameterValues complete = given;
  for (const ScheduleParameter& parameter : schedule.parameters)
    complete.try_emplace(std::string(parameter.name), parameter.values.front());
  return complete;
}

// Code of some groups, whether the schedule that was asked for made any of it, and whether some product of matrices is
// computed without tiles.
struct Emission {
  Code code;
  bool used = false, without_tiles = false;
};
using EmissionOutcome = std::variant<core::RewriteRefusal, Emission>;

// What was asked for, and what came of it.
struct Choice {
  const Schedule& asked;
  const ParameterValues& parameters;
  TakenNames& names;
  bool others_count = false;
  std::optional<core::RewriteRefusal> refused = {};  // why not for the first group
  int cuts = 0;                                      // that were tried
  bool in_phases = false;
};
CodeOutcome EmitBy(const Schedule& schedule, const Problem& problem, const Group& group, const Choice& choice) {
  const bool asked = schedule.id == choice.asked.id;
  CodeOutcome outcome =
      schedule.emit(problem, group, Completed(schedule, asked ? choice.parameters : ParameterValues{}));
  auto* code = std::get_if<Code>(&outcome);
  if (code == nullptr || (!problem.entry.unordered.taken && !problem.entry.unordered.passed)) return outcome;
  const auto calls = [&](const std::string& name) {
    return HasWord(code->kernels, name) || std::any_of(code->helpers.begin(), code->helpers.end(),
                                                       [&](const std::string& h) { return HasWord(h, name); });
  };
  for (const core::ReduceOp op : {core::ReduceOp::kMax, core::ReduceOp::kMin})
    if (calls(ChoiceName(problem, op))) code->helpers.insert(code->helpers.begin(), ChoiceFunction(problem, op));
  return outcome;
}

bool HasLongProduct(const Problem& problem, const Group& group) {
  return std::any_of(group.stages.begin(), group.stages.end(), [&](size_t i) {
    const core::Stage& stage = problem.stage(i);
    return std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
      const auto* sum = std::get_if<core::Reduce>(&node);
      return sum != nullptr && IsLongProduct(problem, stage, *sum);
    });
  });
}
EmissionOutcome EmitFor(const Problem& problem, const Group& group, Choice& choice) {
  std::vector<const Schedule*> order;
  for (const Schedule& schedule : Schedules()) order.push_back(&schedule);
  // Of several phases each is for the most special one, with its parameters for the one that was asked for. A window is
  // a row as well, of few terms, whose neighbours share them.
  if (choice.in_phases)
    std::stable_partition(order.begin(), order.end(),
                          [](const Schedule* s) { return HasTiles(*s) || s->id == "schedule_window"; });
  else std::stable_partition(order.begin(), order.end(), [&](const Schedule* s) { return s->id == choice.asked.id; });
  std::optional<core::RewriteRefusal> refused;
  for (const Schedule* schedule : order) {
    CodeOutcome outcome = EmitBy(*schedule, problem, group, choice);
    const bool asked = schedule->id == choice.asked.id;
    auto* code = std::get_if<Code>(&outcome);
    // Whoever asks for another schedule wants it in a phase behind the product: this kernel is the asked one's to make.
    if (code != nullptr && code->reduces_products && !asked && !choice.in_phases) continue;
    if (code != nullptr)
      return Emission{std::move(*code), asked || choice.others_count,
                      !HasTiles(*schedule) && HasLongProduct(problem, group)};
    if (asked) refused = std::get<core::RewriteRefusal>(outcome);
    if (asked) choice.refused = refused;
  }
  return refused.value_or(Refuse("no schedule applies"));
}

void Append(Emission& all, Emission next) {
  for (std::string& helper : next.code.helpers)
    if (std::find(all.code.helpers.begin(), all.code.helpers.end(), helper) == all.code.helpers.end())
      all.code.helpers.push_back(std::move(helper));
  all.code.kernels += (all.code.kernels.empty() ? "" : "\n") + next.code.kernels;
  all.code.launch += next.code.launch;
  all.code.notes.insert(all.code.notes.end(), next.code.notes.begin(), next.code.notes.end());
  for (std::string& condition : next.code.conditions)
    if (std::find(all.code.conditions.begin(), all.code.conditions.end(), condition) == all.code.conditions.end())
      all.code.conditions.push_back(std::move(condition));
  all.used |= next.used;
  all.without_tiles |= next.without_tiles;
}

std::string Unless(const std::set<std::string>& counts, std::string launch) {
  if (counts.empty()) return launch;
  Lines lines;
  lines.Open(fmt::format("if ({})", fmt::join(counts, " && ")));
  lines.AddAll(launch);
  lines.Close();
  return lines.text();
}

// Whether some output of the group has this extent.
bool HasExtent(const Problem& problem, const Group& group, const core::Size& extent) {
  return std::any_of(group.stages.begin(), group.stages.end(), [&](size_t i) {
    const core::Stage& stage = problem.stage(i);
    return stage.output && std::any_of(stage.extents.begin(), stage.extents.end(),
                                       [&](const core::Size& other) { return Equal(other, extent); });
  });
}

// Whether the whole is only for sizes of which this one is a divisor: the launcher asks for one above 0 there.
bool IsDivisor(const core::Computation& form, const core::Size& extent) {
  const std::string divides = " % " + extent.text() + " = 0";
  return std::any_of(form.assumptions.begin(), form.assumptions.end(),
                     [&](const std::string& assumption) { return assumption.ends_with(divides); });
}

// A group's launch, where it may have no results although another group has some: a grid cannot be empty. And where the
// original returned before it launched anything for no results.
std::string UnlessEmpty(const Problem& problem, const std::vector<Group>& groups, const Group& group,
                        std::string launch) {
  const auto may_be_zero = [&](const core::Size& extent) {
    if (problem.entry.loses_checks && extent.text().find_first_of("-/") != std::string::npos) return true;
    return !extent.Variables().empty() && !IsDivisor(problem.form, extent) &&
           std::any_of(groups.begin(), groups.end(),
                       [&](const Group& other) { return !HasExtent(problem, other, extent); });
  };
  std::optional<std::set<std::string>> counts;  // of every output
  for (const size_t i : group.stages) {
    if (!problem.stage(i).output) continue;
    std::set<std::string> own;
    for (const core::Size& extent : problem.stage(i).extents)
      if (may_be_zero(extent)) own.insert(fmt::format("{} > 0", Parenthesized(SizeText(extent))));
    if (counts && *counts != own) return launch;
    counts = std::move(own);
  }
  return Unless(counts.value_or(std::set<std::string>()), std::move(launch));
}

EmissionOutcome EmitGroups(const Problem& problem, const std::vector<Group>& groups, Choice& choice) {
  if (const auto hazard = FindHazard(problem.form, groups)) return *hazard;
  Emission all;
  for (const Group& group : groups) {
    EmissionOutcome outcome = EmitFor(problem, group, choice);
    if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
    auto& emission = std::get<Emission>(outcome);
    emission.code.launch = UnlessEmpty(problem, groups, group, std::move(emission.code.launch));
    Append(all, std::move(emission));
  }
  return all;
}

// Of the two the one that the schedule that was asked for had a part in, or that is code at all.
void TakeBetter(EmissionOutcome& best, EmissionOutcome next) {
  const auto *old = std::get_if<Emission>(&best), *other = std::get_if<Emission>(&next);
  if (other != nullptr && (old == nullptr || (other->used && !old->used))) best = std::move(next);
}
bool IsWithoutTiles(const EmissionOutcome& outcome) {
  const auto* emission = std::get_if<Emission>(&outcome);
  return emission != nullptr && emission->without_tiles;
}
bool IsUsed(const EmissionOutcome& outcome) {
  const auto* emission = std::get_if<Emission>(&outcome);
  return emission != nullptr && emission->used;
}

// As few kernels as schedules can make of it without memory between them.
EmissionOutcome EmitJoined(const Problem& problem, Choice& choice) {
  std::optional<EmissionOutcome> best;
  size_t before = 0;
  for (const Joining joining : {Joining::kShapes, Joining::kParts, Joining::kNeeded}) {
    const std::vector<Group> groups = GroupsOf(problem.form, joining);
    if (groups.size() == before) continue;
    before = groups.size();
    EmissionOutcome outcome = EmitGroups(problem, groups, choice);
    if (best) TakeBetter(*best, std::move(outcome));
    else best = std::move(outcome);
    if (IsUsed(*best)) return *best;
  }
  return best.value_or(Refuse("nothing is computed"));
}

Problem WithForm(const Problem& problem, const core::Computation& computation) {
  Problem other = problem;
  other.form = Fused(computation);
  other.structure = core::StructureOf(other.form);
  return other;
}

EmissionOutcome EmitAll(const Problem& problem, const core::Computation& computation, Choice& choice);

std::set<std::string> NamesInExtents(const core::Computation& computation) {
  std::set<std::string> names;
  for (const core::Stage& stage : computation.stages)
    for (const core::Size& extent : stage.extents)
      if (stage.output)
        for (const std::string& name : extent.Variables()) names.insert(name);
  return names;
}

// The first phase's launch, where its results may be none while there are some of the second: a grid cannot be empty.
std::string UnlessOfNothing(const Phases& phases, std::string launch) {
  const std::set<std::string> later = NamesInExtents(phases.second);
  std::set<std::string> counts;
  for (const core::Stage& stage : phases.first.stages)
    for (const core::Size& extent : stage.extents)
      for (const std::string& name : extent.Variables())
        if (stage.output && !later.contains(name) && !IsDivisor(phases.first, extent))
          counts.insert(fmt::format("{} > 0", Parenthesized(SizeText(extent))));
  return Unless(counts, std::move(launch));
}

EmissionOutcome EmitPhases(const Problem& problem, const Phases& phases, Choice& choice) {
  Emission all;
  if (!phases.definition.empty()) all.code.helpers.push_back(phases.definition);
  all.code.conditions = phases.conditions;
  for (const core::Computation* phase : {&phases.first, &phases.second}) {
    EmissionOutcome outcome = EmitAll(problem, *phase, choice);
    if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
    auto& emission = std::get<Emission>(outcome);
    if (phase == &phases.first) emission.code.launch = UnlessOfNothing(phases, std::move(emission.code.launch));
    Append(all, std::move(emission));
  }
  return all;
}

// What cannot be written as it is, in two parts with an intermediate in memory.
EmissionOutcome EmitAll(const Problem& problem, const core::Computation& computation, Choice& choice) {
  TakenNames names = choice.names;
  EmissionOutcome best = EmitJoined(WithForm(problem, computation), choice);
  if (IsUsed(best) || (std::holds_alternative<Emission>(best) && !IsWithoutTiles(best))) return best;
  TakenNames of_best = std::exchange(choice.names, names);
  for (const PlaceToCut& place : PlacesToCut(computation)) {
    const auto phases = CutAt(problem, place);
    if (!phases) continue;
    if (++choice.cuts > (problem.entry.is_segment() ? kMostCutsOfSegments : kMostCuts)) break;
    const bool outer = std::exchange(choice.in_phases, true);
    EmissionOutcome outcome = EmitPhases(problem, *phases, choice);
    choice.in_phases = outer;
    if (IsUsed(outcome)) return outcome;
    if (std::holds_alternative<Emission>(outcome) &&
        (!std::holds_alternative<Emission>(best) || IsWithoutTiles(best))) {
      best = std::move(outcome);
      of_best = choice.names;
    }
    choice.names = names;
  }
  choice.names = of_best;
  return best;
}

// Whether a factor that can stand apart is made of several stages.
bool HasFactorOfSums(const core::Computation& computation) {
  const std::vector<FactorApart> factors = FactorsApart(computation);
  return std::any_of(factors.begin(), factors.end(), [](const FactorApart& factor) {
    std::set<std::string> stages;
    for (const core::Node& node : factor.computation.stages[factor.stage].nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && read->stage)
        stages.insert(read->tensor);
    return stages.size() > 1;
  });
}

}  // namespace

CodeOutcome Emit(const Problem& problem, const Schedule& asked, bool others_count, const ParameterValues& parameters,
                 TakenNames& names) {
  const core::Computation pairs = WithWrittenPairs(problem.input.computation);
  const core::Computation nested = WithCentredSquares(WithMemoryOrder(problem, WithNestedSums(WithShortTerms(pairs))));
  const core::Computation apart = WithSquaredMeans(nested), joined = WithSquaredMeans(WithJoinedSums(nested));
  // What can only be written with its sums apart is written so.
  const core::Computation blocks = WithRowBlocks(joined);
  const core::Computation added = WithAddedSums(blocks);
  std::vector<core::Computation> forms;
  // What several sums come to is stored finished, where a product is made of it: a hidden state, not its sums.
  if (HasFactorOfSums(blocks)) forms.push_back(blocks);
  for (const core::Computation* form : {&added, &blocks, &joined, &apart})
    if (forms.empty() || (*form != forms.back() && *form != forms.front())) forms.push_back(*form);
  std::optional<core::RewriteRefusal> refused;
  // Where there is no memory for the results of a product, long rows are reduced tile by tile.
  Problem in_turns = problem;
  in_turns.rows_in_turns = true;
  for (const Problem* of : {&problem, static_cast<const Problem*>(&in_turns)})
    for (const core::Computation& form : forms) {
      names = {};
      Choice choice{.asked = asked, .parameters = parameters, .names = names, .others_count = others_count};
      EmissionOutcome outcome = EmitAll(*of, WithFlatSums(form), choice);
      if (IsUsed(outcome)) {
        auto& emission = std::get<Emission>(outcome);
        emission.code.products_without_tiles = emission.without_tiles;
        return std::move(emission.code);
      }
      const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome);
      if (!refused) refused = choice.refused.value_or(refusal ? *refusal : Refuse("nothing is computed"));
    }
  return *refused;
}

}  // namespace warpwright::schedule
