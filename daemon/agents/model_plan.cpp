#include "agents/model_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace warpwright::agents {

const char* const kPlanProperties =
    R"("method": {"type": "string", "minLength": 3, "maxLength": 48, "description": "the id of a card, or a new name in snake_case"},
  "why": {"type": "string", "minLength": 1, "maxLength": 1500, "description": "the bottleneck, and why this method lifts it"},
  "kernels": {"type": "array", "maxItems": 8, "items": {"type": "string", "description": "a launch's name"}, "description": "those that the change touches; empty: the hottest alone"},
  "evidence": {"type": "array", "minItems": 1, "maxItems": 6, "items": {
    "type": "object", "properties": {
      "field": {"type": "string", "description": "a name from the list of evidence"},
      "value": {"type": "number", "description": "as it stands there"}},
    "required": ["field", "value"], "additionalProperties": false}},
  "expected": {"type": "array", "maxItems": 6, "items": {
    "type": "object", "properties": {
      "field": {"type": "string", "description": "a name from the list of evidence"},
      "direction": {"type": "string", "enum": ["up", "down"]}},
    "required": ["field", "direction"], "additionalProperties": false}})";

namespace {

// As the prompt rounds it.
constexpr double kRounding = 0.002;

std::string Snake(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z', word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word) out += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

// As a launch is called, with its template's arguments or without.
bool IsLaunched(const core::Measured& measured, const std::string& kernel) {
  for (const core::CaseMeasurement& c : measured.cases)
    for (const core::LaunchReport& launch : c.launches)
      if (launch.kernel == kernel || launch.kernel.starts_with(kernel + "<")) return true;
  return false;
}

}  // namespace

std::variant<core::Plan, Fault> TakePlan(const Situation& at, WrittenPlan written, const std::string& author) {
  core::Plan plan;
  plan.method = Snake(written.method);
  if (plan.method.size() < 3) return Fault{fmt::format("method: '{}' is no name", written.method)};
  plan.kernel = at.features.kernel;
  plan.why = base::CleanText(written.why, 2'000);
  plan.instructions = base::CleanText(written.instructions, 16'000, true);
  plan.author = author;
  for (std::string& kernel : written.kernels) {
    if (kernel.empty() || !IsLaunched(at.measured, kernel))
      return Fault{fmt::format("kernels: '{}' is not among the launches", base::CleanText(kernel, 200))};
    kernel = base::CleanText(kernel, 200);
    if (std::find(plan.kernels.begin(), plan.kernels.end(), kernel) == plan.kernels.end())
      plan.kernels.push_back(std::move(kernel));
  }
  for (const CitedEvidence& cited : written.evidence) {
    const core::EvidenceField* field = core::FindEvidenceField(cited.field);
    const auto value = field != nullptr ? at.features.evidence.Get(cited.field) : std::nullopt;
    if (!value) return Fault{fmt::format("evidence: '{}' is not in the list of evidence", cited.field)};
    if (std::abs(cited.value - *value) > kRounding * std::max(std::abs(*value), 1e-6))
      return Fault{fmt::format("evidence: {} is {:.4g}, not {:.4g}", cited.field, *value, cited.value)};
    plan.evidence.push_back(
        fmt::format("{} = {:.4g}{}{}", cited.field, *value, field->unit.empty() ? "" : " ", field->unit));
  }
  for (const ExpectedField& expected : written.expected) {
    if (core::FindEvidenceField(expected.field) == nullptr)
      return Fault{fmt::format("expected: '{}' is not in the list of evidence", expected.field)};
    plan.expected.push_back({expected.field, expected.direction == "up" ? 1 : -1, 0});
  }
  return plan;
}

}  // namespace warpwright::agents
