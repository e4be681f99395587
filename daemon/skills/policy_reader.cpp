#include <fmt/format.h>

#include <algorithm>

#include "skills/library_reader.h"

namespace warpwright::skills {
namespace {

class PolicyReader {
 public:
  PolicyReader(MethodReferences& references, config::Diagnostics& diagnostics)
      : references_(references), diagnostics_(diagnostics) {}

  SkillPolicy Read(const config::YamlNode& root) {
    const config::YamlObject map(root, "the policy",
                                 {"version", "roofline", "unknown_factor", "unknown_bottleneck", "order_binds_at",
                                  "stages", "state", "bottlenecks", "fallback", "vetoes"},
                                 diagnostics_);
    map.Integer("version", 1, 1);
    SkillPolicy policy;
    policy.unknown_factor = map.Double("unknown_factor", 0.01, 1);
    policy.unknown_bottleneck = map.Double("unknown_bottleneck", 0, 1);
    policy.order_binds_at = map.Double("order_binds_at", 0, 1);
    if (const config::YamlNode* node = map.Require("roofline")) ReadRoofline(*node, policy);
    if (const config::YamlNode* node = map.Require("stages")) ReadStages(*node);
    for (const config::YamlNode& node : Items(map, "state")) policy.state.push_back(ReadBucket(node));
    for (const config::YamlNode& node : Items(map, "bottlenecks")) policy.bottlenecks.push_back(ReadBottleneck(node));
    for (const config::YamlNode& node : Items(map, "fallback")) policy.fallback.push_back(ReadCall(node));
    for (const config::YamlNode& node : Items(map, "vetoes")) policy.vetoes.push_back(ReadVeto(node));
    return policy;
  }

 private:
  // The items of a required list, which must not be empty.
  std::vector<config::YamlNode> Items(const config::YamlObject& map, std::string_view key) {
    const config::YamlNode* node = map.Require(key);
    if (node == nullptr) return {};
    if (!node->IsList() || node->items().empty())
      diagnostics_.Add(*node, fmt::format("'{}' needs a list of at least one entry", key));
    return node->items();
  }

  void ReadRoofline(const config::YamlNode& node, SkillPolicy& policy) {
    const config::YamlObject map(node, "the roofline rule", {"field", "at_least"}, diagnostics_);
    if (const config::YamlNode* field = map.Require("field")) policy.roofline_field = ReadField(*field, diagnostics_);
    policy.roofline_at_least = map.Double("at_least", 1, 100);
  }

  void ReadStages(const config::YamlNode& node) {
    if (!node.IsMap())
      diagnostics_.Add(node, "'stages' needs a map of stage to weight", "write stages: {gap: 1.0, unit: 0.6}");
    for (const auto& [key, value] : node.entries()) {
      const auto weight = diagnostics_.Take(value.AsDouble());
      if (weight && !(*weight > 0 && *weight <= 1))
        diagnostics_.Add(value, "the weight of a stage lies above 0 and is at most 1");
      stages_[key.text()] = weight.value_or(1);
    }
  }

  StateBucket ReadBucket(const config::YamlNode& node) {
    const config::YamlObject map(node, "a state bucket", {"field", "edges"}, diagnostics_);
    StateBucket bucket;
    const config::YamlNode* field = map.Require("field");
    if (field == nullptr) return bucket;
    bucket.field = ReadField(*field, diagnostics_);
    const bool boolean = core::EvidenceFields()[bucket.field].unit == "bool";
    const config::YamlNode* edges = map.Find("edges");
    if (boolean != (edges == nullptr))
      diagnostics_.Add(node, boolean ? "a boolean needs no edges" : "a number needs 'edges', in rising order");
    if (edges == nullptr) return bucket;
    for (const config::YamlNode& item : edges->items())
      if (const auto edge = diagnostics_.Take(item.AsDouble())) bucket.edges.push_back(*edge);
    if (bucket.edges.empty() || !std::is_sorted(bucket.edges.begin(), bucket.edges.end()))
      diagnostics_.Add(*edges, "'edges' needs numbers in rising order");
    return bucket;
  }

  BottleneckRule ReadBottleneck(const config::YamlNode& node) {
    const config::YamlObject map(node, "a bottleneck", {"id", "title", "stage", "when", "severity", "methods"},
                                 diagnostics_);
    BottleneckRule rule;
    rule.id = map.String("id");
    rule.title = map.String("title");
    rule.stage = map.String("stage");
    if (!rule.id.empty() && !seen_.insert(rule.id).second)
      diagnostics_.Add(node, fmt::format("the bottleneck '{}' is there twice", rule.id));
    const auto stage = stages_.find(rule.stage);
    if (stage != stages_.end()) {
      rule.stage_weight = stage->second;
    } else if (const config::YamlNode* place = map.Find("stage")) {
      std::vector<std::string_view> names;
      for (const auto& [name, weight] : stages_) names.push_back(name);
      diagnostics_.Add(config::UnknownName(*place, "stage", rule.stage, names));
    }
    if (const config::YamlNode* when = map.Require("when")) rule.when = ReadCondition(*when, diagnostics_);
    if (const config::YamlNode* severity = map.Require("severity")) rule.severity = ReadSeverity(*severity);
    std::set<std::string> called;
    for (const config::YamlNode& item : Items(map, "methods")) {
      rule.methods.push_back(ReadCall(item));
      if (!called.insert(rule.methods.back().method).second)
        diagnostics_.Add(item, fmt::format("'{}' calls for '{}' twice", rule.id, rule.methods.back().method));
    }
    return rule;
  }

  Severity ReadSeverity(const config::YamlNode& node) {
    Severity severity;
    if (node.IsScalar()) {
      severity.constant = diagnostics_.Take(node.AsDouble()).value_or(1);
      if (!(severity.constant > 0 && severity.constant <= 1))
        diagnostics_.Add(node, "a constant severity lies above 0 and is at most 1");
      return severity;
    }
    const config::YamlObject map(node, "a severity", {"field", "lowest_of", "highest_of", "from", "to"}, diagnostics_);
    if (const config::YamlNode* field = map.Find("field")) severity.fields.push_back(ReadField(*field, diagnostics_));
    for (const std::string_view key : {"lowest_of", "highest_of"}) {
      const config::YamlNode* list = map.Find(key);
      if (list == nullptr) continue;
      severity.lowest = key == "lowest_of";
      for (const config::YamlNode& item : list->items()) severity.fields.push_back(ReadField(item, diagnostics_));
    }
    if (severity.fields.empty())
      diagnostics_.Add(node, "a severity is a number, or has a field",
                       "write severity: {field: latency_pct, from: 15, to: 90}");
    severity.from = map.Double("from", -1e9, 1e9);
    severity.to = map.Double("to", -1e9, 1e9);
    if (severity.from == severity.to) diagnostics_.Add(node, "'from' and 'to' must differ");
    return severity;
  }

  MethodProposal ReadCall(const config::YamlNode& node) {
    const config::YamlObject map(node, "a call for a method", {"method", "weight", "reason"}, diagnostics_);
    MethodProposal call;
    call.method = map.String("method");
    call.weight = map.Double("weight", 0.01, 1);
    call.reason = map.String("reason");
    if (const config::YamlNode* method = map.Find("method")) references_.emplace_back(*method, call.method);
    return call;
  }

  Veto ReadVeto(const config::YamlNode& node) {
    const config::YamlObject map(node, "a veto", {"methods", "when", "reason"}, diagnostics_);
    Veto veto;
    for (const config::YamlNode& item : Items(map, "methods")) {
      veto.methods.push_back(item.text());
      references_.emplace_back(item, item.text());
    }
    if (const config::YamlNode* when = map.Require("when")) veto.when = ReadCondition(*when, diagnostics_);
    veto.reason = map.String("reason");
    return veto;
  }

  MethodReferences& references_;
  config::Diagnostics& diagnostics_;
  std::map<std::string, double> stages_;
  std::set<std::string> seen_;
};

}  // namespace

SkillPolicy ReadPolicy(const config::YamlNode& root, MethodReferences& references, config::Diagnostics& diagnostics) {
  return PolicyReader(references, diagnostics).Read(root);
}

}  // namespace warpwright::skills
