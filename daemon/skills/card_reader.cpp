#include <fmt/format.h>

#include <algorithm>

#include "core/counters.h"
#include "skills/cause.h"
#include "skills/library_reader.h"
#include "skills/transform_catalog.h"

namespace warpwright::skills {
namespace {

std::vector<std::string_view> ChangeNames() {
  std::vector<std::string_view> names;
  for (const core::EvidenceField& field : core::EvidenceFields()) names.push_back(field.name);
  for (const core::NamedCounter& counter : core::Fields(core::Counters{})) names.push_back(counter.name);
  return names;
}

class CardReader {
 public:
  CardReader(MethodReferences& references, config::Diagnostics& diagnostics)
      : references_(references), diagnostics_(diagnostics) {}

  MethodCard Read(const config::YamlNode& root, const std::string& stem, std::vector<std::string>& before) {
    const config::YamlObject map(
        root, "a method card",
        {"id",        "title",         "intent",          "transform", "expected_gain", "architectures", "raises_roof",
         "needs",     "preconditions", "already_applied", "mechanism", "sketch",        "parameters",    "expected",
         "forbidden", "failures",      "conflicts",       "after",     "before",        "sources",       "cause",
         "uses"},
        diagnostics_);
    MethodCard card;
    card.file = root.path();
    card.id = map.String("id");
    if (!card.id.empty() && card.id != stem)
      diagnostics_.Add(*map.Find("id"), fmt::format("the id '{}' differs from the file's name '{}'", card.id, stem),
                       "rename one of them");
    card.title = map.String("title");
    card.intent = map.String("intent");
    card.mechanism = map.String("mechanism");
    card.sketch = map.String("sketch");
    card.raises_roof = map.BoolOr("raises_roof", false);
    if (const config::YamlNode* node = map.Require("expected_gain")) ReadGain(*node, card);
    if (const config::YamlNode* node = map.Require("architectures")) ReadArchitectures(*node, card);
    ReadNeeds(map, card);
    ReadUses(map, card);
    for (const config::YamlNode& node : List(map, "preconditions", false)) {
      card.preconditions.push_back(ReadCondition(node, diagnostics_));
      if (card.preconditions.back().reason.empty()) diagnostics_.Add(node, "a precondition needs a 'reason'");
    }
    if (const config::YamlNode* node = map.Find("already_applied"))
      card.already_applied = ReadCondition(*node, diagnostics_);
    for (const config::YamlNode& node : List(map, "parameters", false)) card.parameters.push_back(ReadParameter(node));
    for (const config::YamlNode& node : List(map, "expected", true)) card.expected.push_back(ReadExpected(node));
    ReadCause(map, card);
    for (const config::YamlNode& node : List(map, "failures", true)) card.failures.push_back(ReadFailure(node));
    for (const config::YamlNode& node : List(map, "sources", true)) card.sources.push_back(ReadSource(node));
    card.forbidden = map.StringsOr("forbidden", {});
    if (card.forbidden.empty()) diagnostics_.Add(root, "a method card needs 'forbidden' patterns");
    card.conflicts = Methods(map, "conflicts", card.id);
    card.after = Methods(map, "after", card.id);
    before = Methods(map, "before", card.id);
    ReadTransform(map, card);
    return card;
  }

 private:
  std::vector<config::YamlNode> List(const config::YamlObject& map, std::string_view key, bool required) {
    const config::YamlNode* node = required ? map.Require(key) : map.Find(key);
    if (node == nullptr) return {};
    if (!node->IsList() || node->items().empty())
      diagnostics_.Add(*node, fmt::format("'{}' needs a list of at least one entry", key));
    return node->items();
  }

  std::vector<std::string> Methods(const config::YamlObject& map, std::string_view key, const std::string& self) {
    const config::YamlNode* node = map.Find(key);
    if (node == nullptr) return {};
    for (const config::YamlNode& item : node->items()) {
      references_.emplace_back(item, item.text());
      if (item.text() == self) diagnostics_.Add(item, fmt::format("'{}' refers to itself", self));
    }
    return map.StringsOr(key, {});
  }

  void ReadGain(const config::YamlNode& node, MethodCard& card) {
    const config::YamlObject map(node, "an expected gain", {"low", "typical", "high"}, diagnostics_);
    card.gain_low = map.Double("low", 0.1, 1000);
    card.gain_typical = map.Double("typical", 1.0, 1000);
    card.gain_high = map.Double("high", 1.0, 1000);
    if (!(card.gain_low <= card.gain_typical && card.gain_typical <= card.gain_high))
      diagnostics_.Add(node, "low, typical and high must be in rising order");
    if (!(card.gain_typical > 1))
      diagnostics_.Add(node, "a typical gain is above 1, else the method is never worth trying");
  }

  void ReadArchitectures(const config::YamlNode& node, MethodCard& card) {
    const config::YamlObject map(node, "an architecture range", {"min", "max"}, diagnostics_);
    card.min_capability = static_cast<int>(map.Integer("min", 50, 200));
    card.max_capability = static_cast<int>(map.IntegerOr("max", 0, 50, 200));
    if (card.max_capability != 0 && card.max_capability < card.min_capability)
      diagnostics_.Add(node, "'max' is below 'min'");
  }

  void ReadNeeds(const config::YamlObject& map, MethodCard& card) {
    const config::YamlNode* node = map.Find("needs");
    if (node == nullptr) return;
    for (const config::YamlNode& item : node->items()) {
      if (const auto allow = core::ParseAllow(item.text())) {
        card.needs.insert(*allow);
      } else {
        diagnostics_.Add(item, fmt::format("unknown relaxation '{}'", item.text()),
                         "tf32, nondeterministic, cache_policy, reduced_precision, ...");
      }
    }
  }

  void ReadUses(const config::YamlObject& map, MethodCard& card) {
    const config::YamlNode* node = map.Find("uses");
    if (node == nullptr) return;
    for (const config::YamlNode& item : node->items()) {
      if (std::find(std::begin(kCapabilities), std::end(kCapabilities), item.text()) != std::end(kCapabilities))
        card.uses.insert(item.text());
      else diagnostics_.Add(config::UnknownName(item, "capability", item.text(), kCapabilities));
    }
  }

  MethodParameter ReadParameter(const config::YamlNode& node) {
    const config::YamlObject map(node, "a parameter", {"name", "values", "meaning"}, diagnostics_);
    MethodParameter parameter{map.String("name"), map.StringsOr("values", {}), map.String("meaning")};
    if (parameter.values.empty()) diagnostics_.Add(node, "a parameter needs 'values', the default first");
    return parameter;
  }

  ExpectedChange ReadExpected(const config::YamlNode& node) {
    const config::YamlObject map(node, "an expected change", {"name", "direction", "factor"}, diagnostics_);
    ExpectedChange change;
    change.name = map.String("name");
    static const std::vector<std::string_view> names = ChangeNames();
    if (map.Find("name") != nullptr && std::find(names.begin(), names.end(), change.name) == names.end())
      diagnostics_.Add(config::UnknownName(*map.Find("name"), "evidence field or counter", change.name, names));
    const std::string direction = map.String("direction");
    if (direction != "up" && direction != "down") diagnostics_.Add(node, "'direction' is up or down");
    change.up = direction == "up";
    change.factor = map.Double("factor", 0.001, 1000);
    if (change.up != (change.factor > 1))
      diagnostics_.Add(node, "'factor' is after over before: above 1 for up, below 1 for down");
    return change;
  }

  void ReadCause(const config::YamlObject& map, MethodCard& card) {
    constexpr size_t kMaxSentences = 3;
    card.cause = map.StringsOr("cause", {});
    const config::YamlNode* node = map.Find("cause");
    if (node == nullptr || !node->IsList()) return;
    if (card.cause.size() > kMaxSentences)
      diagnostics_.Add(*node, fmt::format("'cause' has more than {} sentences", kMaxSentences));
    for (size_t i = 0; i < card.cause.size() && i < node->items().size(); ++i)
      if (const std::string wrong = CheckCause(card.cause[i], card.expected); !wrong.empty())
        diagnostics_.Add(node->items()[i], "a sentence of 'cause': " + wrong,
                         "every number is {name.before} or {name.after} of an expected change");
  }

  KnownFailure ReadFailure(const config::YamlNode& node) {
    const config::YamlObject map(node, "a known failure", {"symptom", "cause", "remedy"}, diagnostics_);
    return {map.String("symptom"), map.String("cause"), map.String("remedy")};
  }

  Source ReadSource(const config::YamlNode& node) {
    const config::YamlObject map(node, "a source", {"title", "url"}, diagnostics_);
    Source source{map.String("title"), map.String("url")};
    if (!source.url.starts_with("https://") && !source.url.starts_with("http://"))
      diagnostics_.Add(node, "the url of a source starts with https://");
    return source;
  }

  void ReadTransform(const config::YamlObject& map, MethodCard& card) {
    const config::YamlNode* node = map.Find("transform");
    if (node == nullptr) return;
    card.transform = map.String("transform");
    if (map.Find("cause") == nullptr)
      diagnostics_.Add(*node, "a card with a 'transform' needs a 'cause'",
                       "say in up to three sentences why it helps, with {name.before} and {name.after}");
    const TransformSignature* signature = FindTransformSignature(card.transform);
    if (signature == nullptr) {
      std::vector<std::string_view> ids;
      for (const TransformSignature& known : TransformCatalog()) ids.push_back(known.id);
      diagnostics_.Add(config::UnknownName(*node, "transformation", card.transform, ids));
      return;
    }
    for (const MethodParameter& parameter : card.parameters) {
      const auto known = std::find_if(signature->parameters.begin(), signature->parameters.end(),
                                      [&](const auto& p) { return p.name == parameter.name; });
      if (known == signature->parameters.end()) {
        diagnostics_.Add(*node,
                         fmt::format("the transformation '{}' has no parameter '{}'", card.transform, parameter.name));
        continue;
      }
      for (const std::string& value : parameter.values)
        if (std::find(known->values.begin(), known->values.end(), value) == known->values.end())
          diagnostics_.Add(
              *node, fmt::format("the transformation '{}' takes no {} = '{}'", card.transform, parameter.name, value),
              fmt::format("one of {}", fmt::join(known->values, ", ")));
    }
  }

  MethodReferences& references_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

MethodCard ReadCard(const config::YamlNode& root, const std::string& stem, MethodReferences& references,
                    std::vector<std::string>& before, config::Diagnostics& diagnostics) {
  return CardReader(references, diagnostics).Read(root, stem, before);
}

}  // namespace warpwright::skills
