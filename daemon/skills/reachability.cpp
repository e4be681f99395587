#include "skills/reachability.h"

#include <algorithm>
#include <cmath>

namespace warpwright::skills {
namespace {

struct Goal {
  const Condition* condition;
  bool wanted;
};

// The requirements on the evidence so far.
struct Assignment {
  std::map<size_t, Interval> fields;
  std::set<core::Allow> allow, denied;
};

bool IsOperation(size_t field) { return core::EvidenceFields()[field].name.starts_with("op_"); }
bool IsWhole(size_t field) {
  const std::string_view unit = core::EvidenceFields()[field].unit;
  return unit == "bool" || unit == "count";
}

Interval Intersect(const Interval& a, const Interval& b) {
  Interval i = a;
  if (b.low > i.low || (b.low == i.low && b.low_open)) i.low = b.low, i.low_open = b.low_open;
  if (b.high < i.high || (b.high == i.high && b.high_open)) i.high = b.high, i.high_open = b.high_open;
  return i;
}

// A value of the field inside the interval, if there is one.
std::optional<double> Pick(size_t field, const Interval& interval) {
  const core::EvidenceField& f = core::EvidenceFields()[field];
  const Interval i = Intersect(interval, {f.low, f.high});
  if (!(i.low <= i.high)) return std::nullopt;
  for (const double value : {i.low == i.high ? i.low : (i.low + i.high) / 2, i.low, i.high}) {
    const double candidates[] = {IsWhole(field) ? std::round(value) : value,
                                 IsWhole(field) ? std::floor(value) + 1 : value};
    for (const double candidate : candidates)
      if (i.Contains(candidate)) return candidate;
  }
  return std::nullopt;
}

class Solver {
 public:
  std::optional<Assignment> Solve(std::vector<Goal> goals, Assignment assignment) {
    if (++steps_ > kMaxSteps) return std::nullopt;
    if (goals.empty()) return assignment;
    const Goal goal = goals.back();
    goals.pop_back();
    const Condition& c = *goal.condition;
    switch (c.kind) {
      case Condition::Kind::kCompare: return SolveComparison(c, goal.wanted, goals, assignment);
      case Condition::Kind::kAllow:
        if ((goal.wanted ? assignment.denied : assignment.allow).count(c.allow) != 0) return std::nullopt;
        (goal.wanted ? assignment.allow : assignment.denied).insert(c.allow);
        return Solve(std::move(goals), std::move(assignment));
      case Condition::Kind::kNot:
        goals.push_back({&c.parts[0], !goal.wanted});
        return Solve(std::move(goals), std::move(assignment));
      case Condition::Kind::kAll:
      case Condition::Kind::kAny: break;
    }
    const bool every_part = (c.kind == Condition::Kind::kAll) == goal.wanted;
    if (every_part) {
      for (const Condition& part : c.parts) goals.push_back({&part, goal.wanted});
      return Solve(std::move(goals), std::move(assignment));
    }
    for (const Condition& part : c.parts) {
      std::vector<Goal> branch = goals;
      branch.push_back({&part, goal.wanted});
      if (auto found = Solve(std::move(branch), assignment)) return found;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kMaxSteps = 20'000;

  std::optional<Assignment> SolveComparison(const Condition& c, bool wanted, const std::vector<Goal>& goals,
                                            const Assignment& assignment) {
    std::vector<Interval> choices;
    if (wanted) {
      choices.push_back(c.interval);
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      if (std::isfinite(c.interval.low)) choices.push_back({-infinity, c.interval.low, false, !c.interval.low_open});
      if (std::isfinite(c.interval.high)) choices.push_back({c.interval.high, infinity, !c.interval.high_open, false});
    }
    for (const Interval& choice : choices) {
      Assignment next = assignment;
      if (!Require(c.field, choice, next)) continue;
      if (auto found = Solve(goals, std::move(next))) return found;
    }
    return std::nullopt;
  }

  // A kernel belongs to one operation class: requiring one excludes the others.
  static bool Require(size_t field, const Interval& interval, Assignment& assignment) {
    Interval& slot = assignment.fields[field];
    slot = Intersect(slot, interval);
    if (!Pick(field, slot)) return false;
    if (!IsOperation(field) || !slot.Contains(1) || slot.Contains(0)) return true;
    for (size_t other = 0; other < core::EvidenceFields().size(); ++other) {
      if (other == field || !IsOperation(other)) continue;
      Interval& zero = assignment.fields[other];
      zero = Intersect(zero, {0, 0});
      if (!Pick(other, zero)) return false;
    }
    return true;
  }

  int steps_ = 0;
};

std::optional<Witness> Try(const SkillLibrary& library, const MethodCard& card, const BottleneckRule* rule) {
  std::vector<Goal> goals;
  if (card.already_applied) goals.push_back({&*card.already_applied, false});
  for (const Veto& veto : library.policy.vetoes)
    if (std::find(veto.methods.begin(), veto.methods.end(), card.id) != veto.methods.end())
      goals.push_back({&veto.when, false});
  for (const Condition& condition : card.preconditions) goals.push_back({&condition, true});
  if (rule != nullptr) goals.push_back({&rule->when, true});

  Assignment start;
  start.allow = card.needs;
  for (size_t i = 0; i < core::EvidenceFields().size(); ++i)
    if (core::EvidenceFields()[i].name == "compute_capability")
      start.fields[i] = {static_cast<double>(card.min_capability),
                         card.max_capability == 0 ? 200.0 : static_cast<double>(card.max_capability)};
  if (!card.raises_roof) start.fields[library.policy.roofline_field] = {0, library.policy.roofline_at_least / 2};

  const auto solved = Solver().Solve(std::move(goals), std::move(start));
  if (!solved) return std::nullopt;
  Witness witness;
  witness.context.allow = solved->allow;
  for (const auto& [field, interval] : solved->fields) {
    const auto value = Pick(field, interval);
    if (!value) return std::nullopt;
    witness.evidence.Set(core::EvidenceFields()[field].name, *value);
  }
  const MatchResult result = Match(library, witness.evidence, witness.context);
  const bool proposed = std::any_of(result.methods.begin(), result.methods.end(),
                                    [&](const RankedMethod& m) { return m.card->id == card.id; });
  return proposed ? std::optional(std::move(witness)) : std::nullopt;
}

}  // namespace

std::optional<Witness> FindWitness(const SkillLibrary& library, const MethodCard& card) {
  for (const BottleneckRule& rule : library.policy.bottlenecks) {
    const bool calls = std::any_of(rule.methods.begin(), rule.methods.end(),
                                   [&](const MethodProposal& call) { return call.method == card.id; });
    if (!calls) continue;
    if (auto witness = Try(library, card, &rule)) return witness;
  }
  const auto& fallback = library.policy.fallback;
  if (std::any_of(fallback.begin(), fallback.end(), [&](const MethodProposal& call) { return call.method == card.id; }))
    return Try(library, card, nullptr);
  return std::nullopt;
}

}  // namespace warpwright::skills
