#include "memory/step_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json_codec.h"
#include "memory/trajectory_fields.h"
#include "memory/verdict_json.h"

namespace warpwright::memory {
namespace {

using nlohmann::json;

template <typename T>
Result<T> Of(const char* what, Result<T> value) {
  if (!value) return Fail(value.error().code, fmt::format("{} of the trajectory: {}", what, value.error().message));
  return value;
}

struct ParametersColumn {
  std::map<std::string, std::string> p;
};
template <typename V>
void Describe(V& field, const ParametersColumn*) {
  field("p", &ParametersColumn::p);
}

}  // namespace

std::string EncodeStep(const StepRecord& record) { return base::EncodeJson(record); }
Result<StepRecord> DecodeStep(std::string_view text) { return Of("a step", base::DecodeJson<StepRecord>(text)); }

std::string EncodeOutcome(const StepOutcome& outcome) {
  if (!outcome.verdict) return base::EncodeJson(outcome);
  StepOutcome stored = outcome;
  stored.verdict = Stored(std::move(*stored.verdict));
  return base::EncodeJson(stored);
}
Result<StepOutcome> DecodeOutcome(std::string_view text) {
  WW_ASSIGN(json document, Of("an outcome", base::ParseJson(text)));
  // Earlier versions stored the verdict as JSON in a string.
  if (const auto verdict = document.is_object() ? document.find("verdict") : document.end();
      document.is_object() && verdict != document.end()) {
    if (verdict->is_string()) {
      WW_ASSIGN(*verdict, Of("an outcome", base::ParseJson(verdict->get_ref<const std::string&>())));
    }
    UpgradeVerdict(*verdict);
  }
  return Of("an outcome", base::FromJson<StepOutcome>(document));
}

std::string EncodeResult(const TaskResult& result) { return base::EncodeJson(result); }
Result<TaskResult> DecodeResult(std::string_view text) { return Of("a result", base::DecodeJson<TaskResult>(text)); }

std::string EncodeParameters(const std::map<std::string, std::string>& parameters) {
  return base::EncodeJson(ParametersColumn{parameters});
}
Result<std::map<std::string, std::string>> DecodeParameters(std::string_view text) {
  WW_ASSIGN(ParametersColumn column, Of("parameters", base::DecodeJson<ParametersColumn>(text)));
  return std::move(column.p);
}

std::string StepIdentity(const StepRecord& r) {
  base::Hasher hasher;
  hasher.Add(Name(r.kind)).Add(std::to_string(r.round)).Add(std::to_string(r.attempt));
  hasher.Add(r.base).Add(r.candidate).Add(r.method).Add(EncodeParameters(r.parameters)).Add(r.evidence_digest);
  return hasher.Finish();
}

}  // namespace warpwright::memory
