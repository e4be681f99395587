#include "skills/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/source_requests.h"

namespace warpwright::skills {
namespace {

constexpr double kMinSeverity = 0.1;      // a bottleneck that holds always has some weight
constexpr double kUnknownSeverity = 0.4;  // the fields that determine it are absent
constexpr double kMinChange = 0.02;       // smallest relative change that counts as a test of a prediction

size_t FieldAt(std::string_view name) {
  return static_cast<size_t>(core::FindEvidenceField(name) - core::EvidenceFields().data());
}
size_t HeadroomField() {
  static const size_t field = FieldAt("headroom");
  return field;
}
size_t CapabilityField() {
  static const size_t field = FieldAt("compute_capability");
  return field;
}

double SeverityOf(const Severity& severity, const Facts& facts) {
  if (severity.fields.empty()) return severity.constant;
  std::optional<double> value;
  for (const size_t field : severity.fields) {
    if (!facts.known(field)) continue;
    const double v = facts.value(field);
    value = !value ? v : severity.lowest ? std::min(*value, v) : std::max(*value, v);
  }
  if (!value) return kUnknownSeverity;
  return std::clamp((*value - severity.from) / (severity.to - severity.from), kMinSeverity, 1.0);
}

struct Candidate {
  double miss = 1;  // product of (1 - weight)
  // The callers, as positions in `bottlenecks` (none: the fallback). Texts are made only for methods that are proposed.
  std::vector<std::pair<std::optional<size_t>, const MethodProposal*>> calls;
};

class Matcher {
 public:
  Matcher(const SkillLibrary& library, const core::Evidence& evidence, const MatchContext& context)
      : library_(library), policy_(library.policy), context_(context), facts_(evidence, context.allow) {}

  MatchResult Run() {
    FindBottlenecks();
    CallFor(policy_.fallback, 1, std::nullopt);
    const double share = facts_.value(policy_.roofline_field);
    const bool at_roof = facts_.known(policy_.roofline_field) && share >= policy_.roofline_at_least;
    for (const auto& [id, card] : library_.methods) {
      const auto called = candidates_.find(id);
      if (called != candidates_.end() && !(at_roof && !card.raises_roof)) Consider(card, called->second, at_roof);
    }
    Order();
    Position();
    if (at_roof && result_.methods.empty())
      result_.at_roofline = AtRoofline{
          share, fmt::format("at {:.1f} % of the roofline ({} at least {:g}): nothing left to gain", share,
                             core::EvidenceFields()[policy_.roofline_field].name, policy_.roofline_at_least)};
    return std::move(result_);
  }

 private:
  void FindBottlenecks() {
    std::vector<std::pair<Bottleneck, const BottleneckRule*>> found;
    for (const BottleneckRule& rule : policy_.bottlenecks) {
      const TriState truth = Evaluate(rule.when, facts_);
      if (truth == TriState::kFalse) continue;
      Bottleneck b{.id = rule.id,
                   .title = rule.title,
                   .stage = rule.stage,
                   .weight = rule.stage_weight * SeverityOf(rule.severity, facts_),
                   .certain = truth == TriState::kTrue,
                   .evidence = Cite(rule.when, facts_)};
      if (!b.certain) b.weight *= policy_.unknown_bottleneck;
      found.emplace_back(std::move(b), &rule);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      if (a.first.certain != b.first.certain) return a.first.certain;
      return a.first.weight > b.first.weight;
    });
    for (auto& [bottleneck, rule] : found) {
      CallFor(rule->methods, bottleneck.weight, result_.bottlenecks.size());
      result_.bottlenecks.push_back(std::move(bottleneck));
    }
  }

  void CallFor(const std::vector<MethodProposal>& calls, double weight, std::optional<size_t> bottleneck) {
    for (const MethodProposal& call : calls) {
      Candidate& candidate = candidates_[call.method];
      candidate.miss *= 1 - std::min(0.99, weight * call.weight);
      candidate.calls.emplace_back(bottleneck, &call);
    }
  }

  void Reject(const MethodCard& card, VetoedMethod::Kind kind, std::string reason) {
    result_.vetoed.push_back({card.id, kind, std::move(reason)});
  }

  // What a schedule writes has its block size, access width and accumulators from the same chip and sizes, and its own
  // parameters vary them: an edit would only make the same choice again.
  const std::string* AppliedSchedule() const {
    const auto found = std::find_if(context_.applied.begin(), context_.applied.end(),
                                    [](const std::string& id) { return id.starts_with(core::kSchedulePrefix); });
    return found == context_.applied.end() ? nullptr : &*found;
  }
  static bool IsForWrittenCode(const MethodCard& card) {
    return !card.transform.empty() && !card.transform.starts_with(core::kSchedulePrefix);
  }

  // Reports the first veto; false: the method may be tried.
  bool Vetoed(const MethodCard& card) {
    using Kind = VetoedMethod::Kind;
    if (const auto why = context_.excluded.find(card.id); why != context_.excluded.end())
      return Reject(card, Kind::kExcluded, why->second), true;
    if (context_.built_in_only && card.transform.empty())
      return Reject(card, Kind::kNoTransform, "has no built-in transformation; a language model could try it"), true;
    for (const core::Allow allow : card.needs)
      if (!facts_.allows(allow))
        return Reject(card, Kind::kAllowance, fmt::format("needs `allow: [{}]` in the manifest", core::Name(allow))),
               true;
    for (const std::string& one : card.uses)
      if (context_.lacking.count(one) != 0)
        return Reject(card, Kind::kArchitecture, fmt::format("uses {}, which does not run here", one)), true;
    const size_t capability = CapabilityField();
    if (facts_.known(capability)) {
      const int chip = static_cast<int>(facts_.value(capability));
      if (chip < card.min_capability || (card.max_capability != 0 && chip > card.max_capability))
        return Reject(card, Kind::kArchitecture,
                      fmt::format("needs compute capability {}{}; this device has {}", card.min_capability,
                                  card.max_capability == 0 ? " or more" : fmt::format(" to {}", card.max_capability),
                                  chip)),
               true;
    }
    if (card.already_applied && Evaluate(*card.already_applied, facts_) == TriState::kTrue)
      return Reject(card, Kind::kAlreadyApplied, "already in the source: " + Cite(*card.already_applied, facts_)), true;
    if (const std::string* schedule = AppliedSchedule(); schedule != nullptr && IsForWrittenCode(card))
      return Reject(card, Kind::kConflict, *schedule + ", which wrote this version, chose that already"), true;
    for (const std::string& other : card.conflicts)
      if (context_.applied.count(other) != 0)
        return Reject(card, Kind::kConflict, fmt::format("conflicts with {}, which this version already uses", other)),
               true;
    for (const Condition& condition : card.preconditions)
      if (Evaluate(condition, facts_) == TriState::kFalse)
        return Reject(card, Kind::kPrecondition,
                      fmt::format("a precondition does not hold: {} ({})", condition.reason, Cite(condition, facts_))),
               true;
    for (const Veto& veto : policy_.vetoes)
      if (std::find(veto.methods.begin(), veto.methods.end(), card.id) != veto.methods.end() &&
          Evaluate(veto.when, facts_) == TriState::kTrue)
        return Reject(card, Kind::kPolicy, fmt::format("{} ({})", veto.reason, Cite(veto.when, facts_))), true;
    return false;
  }

  // `certain`: only with every precondition decided, which is required to continue at the roofline.
  void Consider(const MethodCard& card, const Candidate& candidate, bool certain) {
    if (Vetoed(card)) return;
    RankedMethod method;
    method.card = &card;
    method.score = 1 - candidate.miss;
    for (const auto& [bottleneck, call] : candidate.calls) {
      const Bottleneck* b = bottleneck ? &result_.bottlenecks[*bottleneck] : nullptr;
      method.reasons.push_back(b == nullptr ? call->reason
                                            : fmt::format("{} ({}): {}", b->title, b->evidence, call->reason));
    }
    for (const Condition& condition : card.preconditions) {
      if (Evaluate(condition, facts_) == TriState::kUnknown) {
        method.score *= policy_.unknown_factor;
        method.unknown.push_back(fmt::format("{} ({})", condition.reason, Cite(condition, facts_)));
      } else {
        method.reasons.push_back(fmt::format("applies: {} ({})", condition.reason, Cite(condition, facts_)));
      }
    }
    if (certain && !method.unknown.empty()) return;
    const size_t headroom = HeadroomField();
    const double limit = facts_.known(headroom) && !card.raises_roof ? std::max(1.01, facts_.value(headroom)) : 1e9;
    method.expected_log_gain = method.score * std::log(std::min(card.gain_typical, limit));
    result_.methods.push_back(std::move(method));
  }

  // The best of the others that must precede the method; end: nothing holds it back.
  std::vector<RankedMethod>::iterator Predecessor(const RankedMethod& method, std::vector<RankedMethod>& rest) const {
    const auto& after = method.card->after;
    if (after.empty()) return rest.end();
    return std::find_if(rest.begin(), rest.end(), [&](const RankedMethod& other) {
      return other.card != method.card && other.score >= policy_.order_binds_at &&
             std::find(after.begin(), after.end(), other.card->id) != after.end();
    });
  }

  // By expected gain; whatever must precede the best method goes first, so that a small step opens the way for a large
  // one. `after` has no cycles, so the walk from a method to its predecessors ends.
  void Order() {
    std::vector<RankedMethod> rest = std::move(result_.methods);
    std::stable_sort(rest.begin(), rest.end(), [](const RankedMethod& a, const RankedMethod& b) {
      return a.expected_log_gain != b.expected_log_gain ? a.expected_log_gain > b.expected_log_gain : a.score > b.score;
    });
    result_.methods.clear();
    while (!rest.empty()) {
      auto next = rest.begin();
      for (auto before = Predecessor(*next, rest); before != rest.end(); before = Predecessor(*next, rest))
        next = before;
      result_.methods.push_back(std::move(*next));
      rest.erase(next);
    }
  }

  void Position() {
    const size_t roofline = policy_.roofline_field, headroom = HeadroomField();
    if (facts_.known(roofline)) result_.position = fmt::format("{:.1f} % of the roofline", facts_.value(roofline));
    const size_t counted = FieldAt("counted_roofline_pct"), formula = FieldAt("formula_known");
    if (facts_.known(roofline) && facts_.known(formula) && facts_.value(formula) != 0) {
      result_.position += " of its formula";
      if (facts_.known(counted) && std::abs(facts_.value(counted) - facts_.value(roofline)) >= 0.5)
        result_.position += fmt::format(" ({:.1f} % of that by its counters)", facts_.value(counted));
    }
    if (facts_.known(headroom))
      result_.position +=
          fmt::format("{}{:.3g} times the floor", result_.position.empty() ? "" : ", ", facts_.value(headroom));
    if (result_.position.empty()) result_.position = "distance to the roofline unknown";
    result_.state = result_.primary() != nullptr ? result_.primary()->id : "unknown";
    for (const StateBucket& bucket : policy_.state) result_.state += BucketOf(bucket);
  }

  std::string BucketOf(const StateBucket& bucket) const {
    const std::string_view name = core::EvidenceFields()[bucket.field].name;
    if (!facts_.known(bucket.field)) return fmt::format(";{}=?", name);
    const double value = facts_.value(bucket.field);
    if (bucket.edges.empty()) return fmt::format(";{}={}", name, value != 0 ? "yes" : "no");
    const auto edge = std::upper_bound(bucket.edges.begin(), bucket.edges.end(), value);
    if (edge == bucket.edges.begin()) return fmt::format(";{}<{:g}", name, *edge);
    if (edge == bucket.edges.end()) return fmt::format(";{}>={:g}", name, bucket.edges.back());
    return fmt::format(";{}={:g}-{:g}", name, *(edge - 1), *edge);
  }

  const SkillLibrary& library_;
  const SkillPolicy& policy_;
  const MatchContext& context_;
  const Facts facts_;
  std::map<std::string_view, Candidate> candidates_;
  MatchResult result_;
};

}  // namespace

std::string_view Name(VetoedMethod::Kind kind) {
  switch (kind) {
    case VetoedMethod::Kind::kPrecondition: return "precondition";
    case VetoedMethod::Kind::kAlreadyApplied: return "already applied";
    case VetoedMethod::Kind::kPolicy: return "veto";
    case VetoedMethod::Kind::kAllowance: return "not allowed";
    case VetoedMethod::Kind::kArchitecture: return "architecture";
    case VetoedMethod::Kind::kConflict: return "conflict";
    case VetoedMethod::Kind::kExcluded: return "excluded";
    case VetoedMethod::Kind::kNoTransform: return "no transformation";
  }
  return "?";
}

MatchResult Match(const SkillLibrary& library, const core::Evidence& evidence, const MatchContext& context) {
  return Matcher(library, evidence, context).Run();
}

std::vector<PredictionResult> ComparePredictions(const MethodCard& card, const std::map<std::string, double>& before,
                                                 const std::map<std::string, double>& after) {
  std::vector<PredictionResult> results;
  for (const ExpectedChange& change : card.expected) {
    const auto b = before.find(change.name), a = after.find(change.name);
    if (b == before.end() || a == after.end()) continue;
    const double moved = change.up ? a->second - b->second : b->second - a->second;
    const bool held = moved > 0 && moved >= kMinChange * std::abs(b->second);
    results.push_back({.name = change.name,
                       .up = change.up,
                       .factor = change.factor,
                       .before = b->second,
                       .after = a->second,
                       .held = held});
  }
  return results;
}

}  // namespace warpwright::skills
