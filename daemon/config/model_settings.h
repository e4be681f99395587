// Which language models there are, who asks them, and what that may cost: `models`, `agents` and `limits.models` of the
// operator's file.
//
//   models:
//     writer: {transport: anthropic, model: claude-opus-4-8, key: {file: anthropic-key}}
//     local: {transport: openai_chat, base_url: "http://127.0.0.1:8000/v1", model: qwen3-coder, price: unmetered}
//     desk: {transport: offline, folder: /var/lib/warpwright/exchange}
//     program: {transport: command, command: [claude, -p], price: unmetered}
//   agents:
//     planner: {first: [built_in, local]}    # the next one where one has no proposal
//     optimizer: {all: [built_in, writer], samples: 3}   # every one is asked, a model for three answers
//     diagnoser: {first: [cheapest]}         # of the models whose price is known; or dearest
//   limits:
//     model_dollars_per_day: 5
//     models: {call: {dollars: 1}, task: {dollars: 2, calls: 60}, repository_day: {dollars: 3}, day: {calls: 1000}}
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/price_list.h"
#include "config/secret_source.h"
#include "config/yaml_reader.h"
#include "core/agent_role.h"

namespace warpwright::config {

enum class ModelTransport { kAnthropic, kOpenAiChat, kOpenAiResponses, kCommand, kOffline, kReplay };
std::string_view Name(ModelTransport transport);  // "openai_chat"
constexpr ModelTransport Last(ModelTransport) { return ModelTransport::kReplay; }

// How a structured answer is asked for: by the provider's means, or in words, as a fenced block.
enum class StructuredOutput { kSchema, kFenced };
std::string_view Name(StructuredOutput structured);
constexpr StructuredOutput Last(StructuredOutput) { return StructuredOutput::kFenced; }

// What the limit on an answer's tokens is called in openai_chat: the vendor refuses the second, others know no first.
enum class TokenLimitName { kMaxCompletionTokens, kMaxTokens };
std::string_view Name(TokenLimitName name);  // "max_completion_tokens"
constexpr TokenLimitName Last(TokenLimitName) { return TokenLimitName::kMaxTokens; }

struct ModelSettings {
  std::string name;  // in this file
  ModelTransport transport = ModelTransport::kAnthropic;
  std::string model;     // as its provider names it
  std::string base_url;  // empty: the vendor's; the protocol's path goes before its query
  SecretSource key;
  std::string key_header;  // that the key is sent in, alone; empty: as the protocol has it
  std::vector<std::string> command;
  std::filesystem::path folder;  // of an exchange, or of transcripts
  StructuredOutput structured = StructuredOutput::kSchema;
  TokenLimitName token_limit = TokenLimitName::kMaxCompletionTokens;
  int64_t max_output_tokens = 16'000;
  std::chrono::seconds deadline{600}, stall{90};
  std::optional<TokenPrice> price;  // none: unknown; all zero: unmetered
};
// Its answers come from a folder: nothing is sent, so that no limit holds a question back.
bool AsksNobody(ModelTransport transport);
// A question to it may cost money.
bool IsPaid(const ModelSettings& model);

inline constexpr std::string_view kBuiltIn = "built_in";
// In the place of a model's name, by what it takes for its output, among those that answer by themselves and whose
// price is known; of equal ones the first in the file.
inline constexpr std::string_view kCheapest = "cheapest", kDearest = "dearest";
enum class AskOrder { kFirst, kAll };  // the first that has a proposal, or every one
std::string_view Name(AskOrder order);
constexpr AskOrder Last(AskOrder) { return AskOrder::kAll; }
struct AgentSettings {
  AskOrder order = AskOrder::kFirst;
  std::vector<std::string> engines{std::string(kBuiltIn)};  // kBuiltIn, or names of models
  int samples = 1;                                          // answers that each model is asked for
};

struct SpendCap {  // none: no cap
  std::optional<double> dollars, minutes;
  std::optional<int64_t> tokens, calls;
};
struct ModelCaps {
  SpendCap call, task, repository_day, day;  // days are those of UTC
};

std::vector<ModelSettings> ReadModels(const YamlNode& node, Diagnostics& diagnostics);
std::map<core::AgentRole, AgentSettings> ReadAgents(const YamlNode& node, const std::vector<ModelSettings>& models,
                                                    Diagnostics& diagnostics);
ModelCaps ReadModelCaps(const YamlNode& node, Diagnostics& diagnostics);

}  // namespace warpwright::config
