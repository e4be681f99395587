// The Feature Extractor by a language model: it reads the source, where the rules of the built-in one see patterns
// alone. Numbers are counted and measured, which no model does: it may say what class of operation a kernel is where no
// rule knows, mend what the rules say of the source, each with its line, and note what a planner should know.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agents/briefing.h"
#include "agents/consult.h"
#include "agents/formula_text.h"
#include "agents/model_agents.h"
#include "base/utf8.h"

namespace warpwright::agents {

struct WrittenCorrection {
  std::string field;
  bool holds = false;
  int line = 0;
};
template <typename V>
void Describe(V& field, const WrittenCorrection*) {
  using T = WrittenCorrection;
  field("field", &T::field);
  field("holds", &T::holds);
  field("line", &T::line);
}
struct WrittenReading {
  std::string operation;
  std::vector<WrittenCorrection> corrections;
  std::vector<std::string> notes;
};
template <typename V>
void Describe(V& field, const WrittenReading*) {
  using T = WrittenReading;
  field("operation", &T::operation);
  field("corrections", &T::corrections);
  field("notes", &T::notes);
}

namespace {

// What rules read off the source, and a reader may know better.
constexpr std::string_view kReadable[] = {"accumulating_loop", "one_thread_per_row", "strided_access",
                                          "indirect_access",   "uses_shared",        "bounds_guard",
                                          "tensor_cores",      "async_copy",         "transcendentals"};
constexpr size_t kMaxNoteBytes = 400;

std::string Quotes(std::string_view name) { return fmt::format("\"{}\"", name); }

std::string ReadingSchema() {
  std::vector<std::string> operations, fields;
  for (const core::OperationClass operation : core::kAllOperationClasses)
    operations.push_back(Quotes(core::Name(operation)));
  for (const std::string_view field : kReadable) fields.push_back(Quotes(field));
  return fmt::format(
      R"({{"type": "object", "properties": {{
  "operation": {{"type": "string", "enum": [{}]}},
  "corrections": {{"type": "array", "maxItems": 8, "items": {{"type": "object", "properties": {{
    "field": {{"type": "string", "enum": [{}]}},
    "holds": {{"type": "boolean"}},
    "line": {{"type": "integer", "minimum": 1, "description": "of the listing, where it is seen"}}}},
    "required": ["field", "holds", "line"], "additionalProperties": false}}}},
  "notes": {{"type": "array", "maxItems": 8, "items": {{"type": "string", "minLength": 1, "maxLength": {}}}}}}},
"required": ["operation", "corrections", "notes"], "additionalProperties": false}})",
      fmt::join(operations, ", "), fmt::join(fields, ", "), kMaxNoteBytes);
}

// What is wrong with a reading, or what comes of it.
std::variant<ExtractedFeatures, Fault> TakeReading(const Situation& at, const WrittenReading& written) {
  ExtractedFeatures features = at.features;
  const auto lines = std::count(at.base.text.begin(), at.base.text.end(), '\n') + 1;
  for (const WrittenCorrection& one : written.corrections) {
    if (std::find(std::begin(kReadable), std::end(kReadable), one.field) == std::end(kReadable))
      return Fault{fmt::format("corrections: '{}' is counted, or no field", base::CleanText(one.field, 80))};
    if (one.line < 1 || one.line > lines)
      return Fault{fmt::format("corrections: {}: the file has no line {}", one.field, one.line)};
    features.evidence.Set(one.field, one.holds);
  }
  // A class that the formula gives is known.
  if (features.evidence.operation == core::OperationClass::kUnknown)
    for (const core::OperationClass operation : core::kAllOperationClasses)
      if (core::Name(operation) == written.operation) features.evidence.SetOperation(operation);
  for (const std::string& note : written.notes) features.notes.push_back(base::CleanText(note, kMaxNoteBytes));
  return features;
}

class ModelExtractor final : public FeatureExtractor {
 public:
  explicit ModelExtractor(Engine engine) : engine_(std::move(engine)) {}

  Result<Proposal<ExtractedFeatures>> Propose(const ExtractRequest& request) override {
    const Situation& at = request.at;
    WW_ASSIGN(const Listing listing, ListEntry(at, at.base));
    WW_ASSIGN(const std::string formula, FormulaText(at));
    WW_ASSIGN(Prompt prompt,
              MakePrompt("feature_extractor", {{"chip", ChipFacts(at.chip, at.spec.build, at.measured.modelled)},
                                               {"contract", ContractFacts(at.spec, at.measured.modelled)},
                                               {"formula", formula},
                                               {"listing", listing.text},
                                               {"measured", MeasuredFacts(at)}}));
    static const std::string schema = ReadingSchema();
    return ConsultFor<WrittenReading, ExtractedFeatures>(
        engine_, MakeQuestion(engine_, core::AgentRole::kFeatureExtractor, std::move(prompt), "reading", schema),
        [&](const WrittenReading& written, const core::Origin&) -> Result<Taken<ExtractedFeatures>> {
          auto taken = TakeReading(at, written);
          if (auto* fault = std::get_if<Fault>(&taken)) return Taken<ExtractedFeatures>(std::move(*fault));
          return Taken<ExtractedFeatures>(Proposal<ExtractedFeatures>(
              std::vector<ExtractedFeatures>{std::get<ExtractedFeatures>(std::move(taken))}));
        });
  }

 private:
  const Engine engine_;
};

}  // namespace

std::unique_ptr<FeatureExtractor> MakeModelExtractor(Engine engine) {
  return std::make_unique<ModelExtractor>(std::move(engine));
}

}  // namespace warpwright::agents
