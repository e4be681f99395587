// https://platform.openai.com/docs/api-reference/chat, and the many servers that speak it: vLLM, SGLang, llama.cpp,
// Ollama, OpenRouter. What only some of them take is a setting of the model.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "llm/json_schema.h"
#include "llm/provider_json.h"
#include "llm/wire_protocol.h"

namespace warpwright::llm {
namespace {

using nlohmann::json;
using Ordered = nlohmann::ordered_json;

// As one text: lists of parts are not taken everywhere.
std::string Joined(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    if (part.text.empty()) continue;
    if (!text.empty()) text += text.ends_with('\n') ? "\n" : "\n\n";
    text += part.text;
  }
  return text;
}

StopReason ReadChatStop(const std::string& name) {
  if (name == "stop") return StopReason::kEnd;
  if (name == "length") return StopReason::kMaxTokens;
  return name == "content_filter" ? StopReason::kRefusal : StopReason::kUnknown;
}

class ChatStream final : public AnswerStream {
 public:
  Status Take(const http::ServerEvent& event) override {
    if (event.data == "[DONE]") {
      answer_.complete = true;
      return {};
    }
    WW_ASSIGN(const json data, base::ParseJson(event.data, kEventLimits));
    if (Find(data, "error") != nullptr) {
      answer_.error = DecodeProviderError(event.data);
      return {};
    }
    if (answer_.model.empty()) answer_.model = FindText(data, "model");
    if (const json* usage = Find(data, "usage")) TakeUsage(*usage);
    const json* choices = Find(data, "choices");
    if (choices == nullptr || !choices->is_array() || choices->empty()) return {};
    return TakeChoice((*choices)[0]);
  }

 private:
  Status TakeChoice(const json& choice) {
    if (const std::string stop = FindText(choice, "finish_reason"); !stop.empty()) {
      answer_.stop_name = stop;
      // A refusal in words ends with "stop".
      answer_.stop = answer_.refusal.empty() ? ReadChatStop(stop) : StopReason::kRefusal;
      answer_.complete = true;  // not all servers send [DONE]
    }
    const json* delta = Find(choice, "delta");
    if (delta == nullptr) return {};
    answer_.refusal += FindText(*delta, "refusal");
    if (answer_.refusal.size() > kMaxAnswerBytes) return Fail(ErrorCode::kLimit, "a refusal that never ends");
    return AddText(FindText(*delta, "content"));
  }
  void TakeUsage(const json& usage) {
    const auto prompt = FindCount(usage, "prompt_tokens"), output = FindCount(usage, "completion_tokens");
    const json* details = Find(usage, "prompt_tokens_details");
    const int64_t cached = details == nullptr ? 0 : FindCount(*details, "cached_tokens").value_or(0);
    if (output) answer_.usage.output = output;
    if (!prompt || cached > *prompt) return;
    answer_.usage.input = *prompt - cached;
    answer_.usage.cache_read = cached;
    answer_.usage.cache_write = 0;  // costs nothing here
  }
};

class ChatProtocol final : public WireProtocol {
 public:
  std::string DefaultAddress() const override { return "https://api.openai.com/v1"; }
  std::string Path() const override { return "/chat/completions"; }

  std::string EncodeBody(const config::ModelSettings& model, const Question& question) const override {
    Ordered body{{"model", model.model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
    body[std::string(Name(model.token_limit))] = question.limits.max_output_tokens;
    const bool by_schema = !question.schema.empty() && model.structured == config::StructuredOutput::kSchema;
    if (by_schema)
      if (const auto schema = JsonSchema::Parse(question.schema))
        body["response_format"] = {
            {"type", "json_schema"},
            {"json_schema", {{"name", question.schema_name}, {"strict", true}, {"schema", schema->Shape()}}}};
    Ordered messages = Ordered::array();
    if (std::string system = Joined(question.system); !system.empty())
      messages.push_back({{"role", "system"}, {"content", std::move(system)}});
    std::string user = Joined(question.user);
    if (!question.schema.empty() && !by_schema) user += "\n\n" + AnswerInstruction(question);
    messages.push_back({{"role", "user"}, {"content", std::move(user)}});
    for (const Correction& correction : question.corrections) {
      messages.push_back({{"role", "assistant"}, {"content", correction.answer}});
      messages.push_back({{"role", "user"}, {"content", correction.fault}});
    }
    body["messages"] = std::move(messages);
    return body.dump();
  }

  std::unique_ptr<AnswerStream> ReadAnswer() const override { return std::make_unique<ChatStream>(); }
};

}  // namespace

const WireProtocol& OpenAiChat() {
  static const ChatProtocol protocol;
  return protocol;
}

}  // namespace warpwright::llm
