// https://platform.openai.com/docs/api-reference/responses. Nothing is stored at the provider ("store": false).
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "llm/json_schema.h"
#include "llm/provider_json.h"
#include "llm/wire_protocol.h"

namespace warpwright::llm {
namespace {

using nlohmann::json;
using Ordered = nlohmann::ordered_json;

Ordered Message(const char* role, const char* type, const std::vector<std::string>& texts) {
  Ordered content = Ordered::array();
  for (const std::string& text : texts)
    if (!text.empty()) content.push_back({{"type", type}, {"text", text}});
  return {{"role", role}, {"content", std::move(content)}};
}

class ResponsesStream final : public AnswerStream {
 public:
  Status Take(const http::ServerEvent& event) override {
    WW_ASSIGN(const json data, base::ParseJson(event.data, kEventLimits));
    const std::string type = FindText(data, "type");
    if (type == "response.output_text.delta") return AddText(FindText(data, "delta"));
    if (type == "response.refusal.delta") {
      answer_.refusal += FindText(data, "delta");
      if (answer_.refusal.size() > kMaxAnswerBytes) return Fail(ErrorCode::kLimit, "a refusal that never ends");
    } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
      if (const json* response = Find(data, "response")) TakeResponse(type, *response);
    } else if (type == "response.created") {
      if (const json* response = Find(data, "response")) answer_.model = FindText(*response, "model");
    } else if (type == "error") {
      answer_.error = DecodeProviderError(event.data);
      if (answer_.error->type == "error") answer_.error->type.clear();  // the event's, not the error's
    }
    return {};
  }

 private:
  void TakeResponse(const std::string& type, const json& response) {
    if (const std::string model = FindText(response, "model"); !model.empty()) answer_.model = model;
    if (const json* usage = Find(response, "usage")) TakeUsage(*usage);
    answer_.complete = true;
    answer_.stop = answer_.refusal.empty() ? StopReason::kEnd : StopReason::kRefusal;
    if (type == "response.incomplete") {
      const json* details = Find(response, "incomplete_details");
      answer_.stop_name = details == nullptr ? "" : FindText(*details, "reason");
      answer_.stop = answer_.stop_name == "max_output_tokens" ? StopReason::kMaxTokens
                     : answer_.stop_name == "content_filter"  ? StopReason::kRefusal
                                                              : StopReason::kUnknown;
    } else if (type == "response.failed") {
      const json* error = Find(response, "error");
      answer_.error = error == nullptr ? ProviderError{} : DecodeProviderError(base::DumpJson(*error));
    }
  }
  void TakeUsage(const json& usage) {
    const auto input = FindCount(usage, "input_tokens"), output = FindCount(usage, "output_tokens");
    const json* details = Find(usage, "input_tokens_details");
    const int64_t cached = details == nullptr ? 0 : FindCount(*details, "cached_tokens").value_or(0);
    if (output) answer_.usage.output = output;
    if (!input || cached > *input) return;
    answer_.usage.input = *input - cached;
    answer_.usage.cache_read = cached;
    answer_.usage.cache_write = 0;
  }
};

class ResponsesProtocol final : public WireProtocol {
 public:
  std::string DefaultAddress() const override { return "https://api.openai.com/v1"; }
  std::string Path() const override { return "/responses"; }

  std::string EncodeBody(const config::ModelSettings& model, const Question& question) const override {
    Ordered body{{"model", model.model},
                 {"stream", true},
                 {"store", false},
                 {"max_output_tokens", question.limits.max_output_tokens}};
    const bool by_schema = !question.schema.empty() && model.structured == config::StructuredOutput::kSchema;
    if (by_schema)
      if (const auto schema = JsonSchema::Parse(question.schema))
        body["text"] = {
            {"format",
             {{"type", "json_schema"}, {"name", question.schema_name}, {"strict", true}, {"schema", schema->Shape()}}}};
    std::string instructions;
    for (const Part& part : question.system) instructions += (instructions.empty() ? "" : "\n\n") + part.text;
    if (!instructions.empty()) body["instructions"] = std::move(instructions);
    std::vector<std::string> user;
    for (const Part& part : question.user) user.push_back(part.text);
    if (!question.schema.empty() && !by_schema) user.push_back(AnswerInstruction(question));
    Ordered input = Ordered::array({Message("user", "input_text", user)});
    for (const Correction& correction : question.corrections) {
      input.push_back(Message("assistant", "output_text", {correction.answer}));
      input.push_back(Message("user", "input_text", {correction.fault}));
    }
    body["input"] = std::move(input);
    return body.dump();
  }

  std::unique_ptr<AnswerStream> ReadAnswer() const override { return std::make_unique<ResponsesStream>(); }
};

}  // namespace

const WireProtocol& OpenAiResponses() {
  static const ResponsesProtocol protocol;
  return protocol;
}

}  // namespace warpwright::llm
