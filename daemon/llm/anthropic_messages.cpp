// https://docs.claude.com/en/api/messages and .../streaming. A structured answer is the input of a tool that the model
// must call: that works with every model, and takes any schema.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/ordered_json.h"
#include "llm/json_schema.h"
#include "llm/provider_json.h"
#include "llm/wire_protocol.h"

namespace warpwright::llm {
namespace {

using nlohmann::json;
using Ordered = nlohmann::ordered_json;

Ordered Block(const std::string& text, bool cache = false) {
  Ordered block{{"type", "text"}, {"text", text}};
  if (cache) block["cache_control"] = {{"type", "ephemeral"}};
  return block;
}

// Empty blocks are refused by the API. A mark on one of them counts for the block before it.
Ordered Blocks(const std::vector<Part>& parts) {
  Ordered blocks = Ordered::array();
  for (const Part& part : parts) {
    if (!part.text.empty()) blocks.push_back(Block(part.text, part.cache));
    else if (part.cache && !blocks.empty()) blocks.back()["cache_control"] = {{"type", "ephemeral"}};
  }
  return blocks;
}

StopReason ReadAnthropicStop(const std::string& name) {
  if (name == "end_turn" || name == "tool_use" || name == "stop_sequence") return StopReason::kEnd;
  if (name == "max_tokens" || name == "model_context_window_exceeded") return StopReason::kMaxTokens;
  return name == "refusal" ? StopReason::kRefusal : StopReason::kUnknown;
}

class AnthropicStream final : public AnswerStream {
 public:
  Status Take(const http::ServerEvent& event) override {
    WW_ASSIGN(const json data, base::ParseJson(event.data, kEventLimits));
    const std::string type = FindText(data, "type");
    if (type == "message_start") TakeMessage(data);
    else if (type == "content_block_start") return TakeBlock(data);
    else if (type == "content_block_delta") return TakeDelta(data);
    else if (type == "message_delta") TakeEnd(data);
    else if (type == "message_stop") answer_.complete = true;
    else if (type == "error") answer_.error = DecodeProviderError(event.data);
    return {};
  }

 private:
  void TakeUsage(const json* usage) {
    if (usage == nullptr) return;
    const auto take = [&](const char* name, std::optional<int64_t>& to) {
      if (const auto count = FindCount(*usage, name)) to = count;
    };
    take("input_tokens", answer_.usage.input);
    take("cache_read_input_tokens", answer_.usage.cache_read);
    take("cache_creation_input_tokens", answer_.usage.cache_write);
    if (answer_.usage.input && !answer_.usage.cache_read) answer_.usage.cache_read = 0;
    if (answer_.usage.input && !answer_.usage.cache_write) answer_.usage.cache_write = 0;
  }
  void TakeMessage(const json& data) {
    const json* message = Find(data, "message");
    if (message == nullptr) return;
    answer_.model = FindText(*message, "model");
    TakeUsage(Find(*message, "usage"));  // its output_tokens are only the first ones
  }
  Status TakeBlock(const json& data) {
    const json* block = Find(data, "content_block");
    const std::string type = block == nullptr ? "" : FindText(*block, "type");
    in_tool_ = type == "tool_use";
    if (in_tool_ && !has_tool_) {  // what was said before the call is not the answer
      has_tool_ = true;
      answer_.text.clear();
    }
    return type == "text" && !has_tool_ ? AddText(FindText(*block, "text")) : Status();
  }
  Status TakeDelta(const json& data) {
    const json* delta = Find(data, "delta");
    if (delta == nullptr) return {};
    const std::string type = FindText(*delta, "type");
    if (type == "text_delta" && !has_tool_) return AddText(FindText(*delta, "text"));
    if (type == "input_json_delta" && in_tool_) return AddText(FindText(*delta, "partial_json"));
    return {};
  }
  void TakeEnd(const json& data) {
    if (const json* delta = Find(data, "delta")) {
      answer_.stop_name = FindText(*delta, "stop_reason");
      if (!answer_.stop_name.empty()) answer_.stop = ReadAnthropicStop(answer_.stop_name);
    }
    const json* usage = Find(data, "usage");
    TakeUsage(usage);
    if (usage != nullptr)
      if (const auto output = FindCount(*usage, "output_tokens")) answer_.usage.output = output;
  }

  bool in_tool_ = false, has_tool_ = false;
};

class AnthropicProtocol final : public WireProtocol {
 public:
  std::string DefaultAddress() const override { return "https://api.anthropic.com"; }
  std::string Path() const override { return "/v1/messages"; }

  std::string EncodeBody(const config::ModelSettings& model, const Question& question) const override {
    Ordered body{{"model", model.model}, {"max_tokens", question.limits.max_output_tokens}, {"stream", true}};
    const bool by_tool = !question.schema.empty() && model.structured == config::StructuredOutput::kSchema;
    if (by_tool) {
      auto schema = base::ParseOrderedJson(question.schema, {});
      body["tools"] = Ordered::array({{{"name", question.schema_name},
                                       {"description", "Takes the answer."},
                                       {"input_schema", schema ? std::move(*schema) : Ordered::object()}}});
      body["tool_choice"] = {{"type", "tool"}, {"name", question.schema_name}};
    }
    if (Ordered system = Blocks(question.system); !system.empty()) body["system"] = std::move(system);
    Ordered content = Blocks(question.user);
    if (!question.schema.empty() && !by_tool) content.push_back(Block(AnswerInstruction(question)));
    Ordered messages = Ordered::array({{{"role", "user"}, {"content", std::move(content)}}});
    for (const Correction& correction : question.corrections) {
      messages.push_back(
          {{"role", "assistant"},
           {"content",
            correction.answer.find_first_not_of(" \t\r\n") == std::string::npos ? "(nothing)" : correction.answer}});
      messages.push_back({{"role", "user"}, {"content", correction.fault}});
    }
    body["messages"] = std::move(messages);
    return body.dump();
  }

  std::unique_ptr<AnswerStream> ReadAnswer() const override { return std::make_unique<AnthropicStream>(); }
};

}  // namespace

const WireProtocol& AnthropicMessages() {
  static const AnthropicProtocol protocol;
  return protocol;
}

}  // namespace warpwright::llm
