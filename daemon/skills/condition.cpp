#include "skills/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace warpwright::skills {
namespace {

constexpr core::Allow kAllowances[] = {core::Allow::kTf32,   core::Allow::kNondeterministic,
                                       core::Allow::kClock,  core::Allow::kCachePolicy,
                                       core::Allow::kPrintf, core::Allow::kReducedPrecision};
constexpr std::string_view kComparisons[] = {"is", "below", "at_most", "above", "at_least", "equals", "between"};

const std::map<std::string_view, size_t>& FieldPositions() {
  static const auto positions = [] {
    std::map<std::string_view, size_t> map;
    for (size_t i = 0; i < core::EvidenceFields().size(); ++i) map[core::EvidenceFields()[i].name] = i;
    return map;
  }();
  return positions;
}

bool IsBoolean(size_t field) { return core::EvidenceFields()[field].unit == "bool"; }
TriState FromBool(bool value) { return value ? TriState::kTrue : TriState::kFalse; }
TriState Negate(TriState truth) {
  return truth == TriState::kUnknown ? truth : truth == TriState::kTrue ? TriState::kFalse : TriState::kTrue;
}

std::string DescribeInterval(const Condition& c) {
  const Interval& i = c.interval;
  if (IsBoolean(c.field)) return i.low == 1 ? "is true" : "is false";
  if (i.low == i.high) return fmt::format("equals {:g}", i.low);
  if (!std::isfinite(i.low)) return fmt::format("{} {:g}", i.high_open ? "below" : "at most", i.high);
  if (!std::isfinite(i.high)) return fmt::format("{} {:g}", i.low_open ? "above" : "at least", i.low);
  return fmt::format("between {:g} and {:g}", i.low, i.high);
}

std::string Join(const std::vector<std::string>& parts, std::string_view word) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += word;
    text += part;
  }
  return text;
}

class Reader {
 public:
  explicit Reader(config::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Condition Read(const config::YamlNode& node) {
    const config::YamlObject map(node, "a condition",
                                 {"field", "is", "below", "at_most", "above", "at_least", "equals", "between",
                                  "operation", "allow", "all", "any", "not", "reason"},
                                 diagnostics_);
    Condition condition;
    if (!node.IsMap()) return condition;
    std::string kind;
    for (const std::string_view key : {"field", "operation", "allow", "all", "any", "not"}) {
      if (node.Find(key) == nullptr) continue;
      if (!kind.empty()) diagnostics_.Add(node, fmt::format("a condition is either '{}' or '{}', not both", kind, key));
      kind = key;
    }
    if (kind.empty()) {
      diagnostics_.Add(node, "a condition needs one of: field, operation, allow, all, any, not");
    } else if (kind == "field") {
      condition = ReadComparison(node);
    } else if (kind == "operation") {
      condition = ReadOperation(*node.Find(kind));
    } else if (kind == "allow") {
      condition = ReadAllow(*node.Find(kind));
    } else {
      condition = ReadParts(kind, *node.Find(kind));
    }
    if (kind != "field")
      for (const std::string_view key : kComparisons)
        if (const config::YamlNode* stray = node.Find(key))
          diagnostics_.Add(*stray, fmt::format("'{}' belongs to 'field'", key));
    condition.reason = map.StringOr("reason", "");
    return condition;
  }

 private:
  Condition ReadParts(const std::string& kind, const config::YamlNode& node) {
    Condition condition;
    condition.kind = kind == "all"   ? Condition::Kind::kAll
                     : kind == "any" ? Condition::Kind::kAny
                                     : Condition::Kind::kNot;
    if (condition.kind == Condition::Kind::kNot) {
      condition.parts.push_back(Read(node));
      return condition;
    }
    if (!node.IsList() || node.items().empty())
      diagnostics_.Add(node, fmt::format("'{}' needs a list of at least one condition", kind));
    for (const config::YamlNode& item : node.items()) condition.parts.push_back(Read(item));
    return condition;
  }

  Condition ReadAllow(const config::YamlNode& node) {
    Condition condition;
    condition.kind = Condition::Kind::kAllow;
    const auto text = diagnostics_.Take(node.AsString());
    if (!text) return condition;
    if (const auto allow = core::ParseAllow(*text)) {
      condition.allow = *allow;
    } else {
      std::vector<std::string_view> names;
      for (const core::Allow a : kAllowances) names.push_back(core::Name(a));
      diagnostics_.Add(config::UnknownName(node, "relaxation", *text, names));
    }
    return condition;
  }

  Condition ReadOperation(const config::YamlNode& node) {
    Condition any;
    any.kind = Condition::Kind::kAny;
    std::vector<std::string_view> names;
    for (const core::OperationClass operation : core::kAllOperationClasses) names.push_back(core::Name(operation));
    if (!node.IsList() || node.items().empty()) diagnostics_.Add(node, "'operation' needs a list of operation classes");
    for (const config::YamlNode& item : node.items()) {
      const auto text = diagnostics_.Take(item.AsString());
      if (!text) continue;
      const auto found = FieldPositions().find("op_" + *text);
      if (found == FieldPositions().end()) {
        diagnostics_.Add(config::UnknownName(item, "operation class", *text, names));
        continue;
      }
      Condition part;
      part.kind = Condition::Kind::kCompare;
      part.field = found->second;
      part.interval = {1, 1};
      any.parts.push_back(std::move(part));
    }
    return any;
  }

  Condition ReadComparison(const config::YamlNode& node) {
    Condition condition;
    condition.field = ReadField(*node.Find("field"), diagnostics_);
    std::string_view operation;
    for (const std::string_view key : kComparisons) {
      if (node.Find(key) == nullptr) continue;
      if (!operation.empty())
        diagnostics_.Add(node, fmt::format("one comparison at a time: '{}' or '{}'", operation, key),
                         "write between: [a, b], or two conditions in all: [...]");
      operation = key;
    }
    if (operation.empty()) {
      diagnostics_.Add(node, "a comparison is missing", fmt::format("add one of: {}", fmt::join(kComparisons, ", ")));
      return condition;
    }
    const config::YamlNode& value = *node.Find(operation);
    if (IsBoolean(condition.field) != (operation == "is")) {
      diagnostics_.Add(
          value, fmt::format("'{}' is {}: compare it with {}", core::EvidenceFields()[condition.field].name,
                             IsBoolean(condition.field) ? "a boolean" : "a number",
                             IsBoolean(condition.field) ? "'is: true' or 'is: false'" : "below, above, between, ..."));
      return condition;
    }
    condition.kind = Condition::Kind::kCompare;
    condition.interval = ReadInterval(operation, value, condition.field);
    return condition;
  }

  Interval ReadInterval(std::string_view operation, const config::YamlNode& value, size_t field) {
    Interval interval;
    if (operation == "is") {
      interval.low = interval.high = diagnostics_.Take(value.AsBool()).value_or(true) ? 1 : 0;
      return interval;
    }
    if (operation == "between") {
      if (!value.IsList() || value.items().size() != 2) {
        diagnostics_.Add(value, "'between' needs two numbers", "write between: [10, 20]");
        return interval;
      }
      interval.low = ReadThreshold(value.items()[0], field);
      interval.high = ReadThreshold(value.items()[1], field);
      if (interval.low > interval.high) diagnostics_.Add(value, "the first number of 'between' is the smaller one");
      return interval;
    }
    const double threshold = ReadThreshold(value, field);
    if (operation == "below" || operation == "at_most" || operation == "equals") interval.high = threshold;
    if (operation == "above" || operation == "at_least" || operation == "equals") interval.low = threshold;
    interval.high_open = operation == "below";
    interval.low_open = operation == "above";
    const core::EvidenceField& f = core::EvidenceFields()[field];
    if (!Reaches(interval, f))
      diagnostics_.Add(value, fmt::format("this can never hold: '{}' lies from {:g} to {:g}", f.name, f.low, f.high));
    return interval;
  }
  static bool Reaches(const Interval& i, const core::EvidenceField& f) {
    return (i.low_open ? i.low < f.high : i.low <= f.high) && (i.high_open ? i.high > f.low : i.high >= f.low);
  }

  double ReadThreshold(const config::YamlNode& node, size_t field) {
    const core::EvidenceField& f = core::EvidenceFields()[field];
    const auto value = diagnostics_.Take(node.AsDouble());
    if (value && (*value < f.low || *value > f.high))
      diagnostics_.Add(
          node, fmt::format("{:g} is outside of '{}', which lies from {:g} to {:g}", *value, f.name, f.low, f.high));
    return value.value_or(f.low);
  }

  config::Diagnostics& diagnostics_;
};

}  // namespace

Facts::Facts(const core::Evidence& evidence, const std::set<core::Allow>& allow)
    : values_(core::EvidenceFields().size(), std::numeric_limits<double>::quiet_NaN()), allow_(allow) {
  for (const auto& [name, value] : evidence.values()) values_[FieldPositions().at(name)] = value;
}

TriState Evaluate(const Condition& condition, const Facts& facts) {
  switch (condition.kind) {
    case Condition::Kind::kCompare:
      if (!facts.known(condition.field)) return TriState::kUnknown;
      return FromBool(condition.interval.Contains(facts.value(condition.field)));
    case Condition::Kind::kAllow: return FromBool(facts.allows(condition.allow));
    case Condition::Kind::kNot: return Negate(Evaluate(condition.parts[0], facts));
    case Condition::Kind::kAll: {
      TriState truth = TriState::kTrue;
      for (const Condition& part : condition.parts) truth = std::min(truth, Evaluate(part, facts));
      return truth;
    }
    case Condition::Kind::kAny: {
      TriState truth = TriState::kFalse;
      for (const Condition& part : condition.parts) truth = std::max(truth, Evaluate(part, facts));
      return truth;
    }
  }
  return TriState::kUnknown;
}

std::string ShowValue(size_t field, double value) {
  const core::EvidenceField& f = core::EvidenceFields()[field];
  if (value != value) return "unknown";
  if (f.unit == "bool") return value != 0 ? "yes" : "no";
  if (f.unit == "count" || f.unit == "ratio" || f.unit == "number") return fmt::format("{:.4g}", value);
  return fmt::format("{:.4g} {}", value, f.unit);
}

std::string Cite(const Condition& condition, const Facts& facts) {
  switch (condition.kind) {
    case Condition::Kind::kCompare: {
      const std::string value = ShowValue(condition.field, facts.value(condition.field));
      if (IsBoolean(condition.field) && facts.known(condition.field))
        return fmt::format("{} = {}", core::EvidenceFields()[condition.field].name, value);
      return fmt::format("{} = {} ({})", core::EvidenceFields()[condition.field].name, value,
                         DescribeInterval(condition));
    }
    case Condition::Kind::kAllow:
      return fmt::format("allow {}: {}", core::Name(condition.allow), facts.allows(condition.allow) ? "yes" : "no");
    case Condition::Kind::kNot: return Cite(condition.parts[0], facts);
    case Condition::Kind::kAll:
    case Condition::Kind::kAny: {
      // Only the parts that decide it: the false ones of a false "all", the true ones of a true "any".
      const TriState truth = Evaluate(condition, facts);
      std::vector<std::string> texts;
      for (const Condition& part : condition.parts)
        if (Evaluate(part, facts) == truth) texts.push_back(Cite(part, facts));
      return Join(texts, ", ");
    }
  }
  return {};
}

std::string Describe(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kCompare:
      return fmt::format("{} {}", core::EvidenceFields()[condition.field].name, DescribeInterval(condition));
    case Condition::Kind::kAllow: return fmt::format("the manifest allows {}", core::Name(condition.allow));
    case Condition::Kind::kNot: return fmt::format("not ({})", Describe(condition.parts[0]));
    case Condition::Kind::kAll:
    case Condition::Kind::kAny: {
      std::vector<std::string> texts;
      for (const Condition& part : condition.parts) {
        const bool nested = part.parts.size() > 1;
        texts.push_back(nested ? "(" + Describe(part) + ")" : Describe(part));
      }
      return texts.empty() ? "always" : Join(texts, condition.kind == Condition::Kind::kAll ? " and " : " or ");
    }
  }
  return {};
}

size_t ReadField(const config::YamlNode& node, config::Diagnostics& diagnostics) {
  const auto name = diagnostics.Take(node.AsString());
  if (!name) return 0;
  const auto found = FieldPositions().find(*name);
  if (found != FieldPositions().end()) return found->second;
  std::vector<std::string_view> names;
  for (const core::EvidenceField& field : core::EvidenceFields()) names.push_back(field.name);
  diagnostics.Add(config::UnknownName(node, "evidence field", *name, names));
  return 0;
}

Condition ReadCondition(const config::YamlNode& node, config::Diagnostics& diagnostics) {
  return Reader(diagnostics).Read(node);
}

}  // namespace warpwright::skills
