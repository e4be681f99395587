#include "llm/model_stack.h"

#include "base/redaction.h"
#include "llm/budgeted_model.h"
#include "llm/command_model.h"
#include "llm/exchange.h"
#include "llm/http_model.h"
#include "llm/structured_model.h"
#include "llm/transcript.h"

namespace warpwright::llm {
namespace {

using ModelPointer = std::unique_ptr<LanguageModel>;

Result<ModelPointer> MakeHttp(const ModelStackParts& parts) {
  if (parts.key) base::RegisterSecret(*parts.key);
  WW_ASSIGN(std::string key, parts.key ? Result<std::string>(*parts.key) : ReadModelKey(parts.settings));
  http::ClientOptions options;
  options.user_agent = parts.user_agent;
  options.max_answer_bytes = kMaxStreamBytes;
  options.stopping = parts.stopping;
  WW_ASSIGN(std::shared_ptr<http::Client> client, http::CurlClient::Create(std::move(options)));
  return ModelPointer(new HttpModel({.settings = parts.settings,
                                     .key = std::move(key),
                                     .client = std::move(client),
                                     .clock = parts.clock,
                                     .stopping = parts.stopping}));
}

Result<ModelPointer> MakeTransport(const ModelStackParts& parts) {
  switch (parts.settings.transport) {
    case config::ModelTransport::kAnthropic:
    case config::ModelTransport::kOpenAiChat:
    case config::ModelTransport::kOpenAiResponses: return MakeHttp(parts);
    case config::ModelTransport::kCommand: return ModelPointer(new CommandModel(parts.settings, parts.clock));
    case config::ModelTransport::kOffline:
      return ModelPointer(new OfflineModel(parts.settings.folder, parts.settings.price));
    case config::ModelTransport::kReplay: return ModelPointer(new ReplayModel(parts.settings.folder));
  }
  return Fail(ErrorCode::kUnsupported, "an unknown transport");
}

bool SendsRequests(config::ModelTransport transport) {
  return ProtocolOf(transport) != nullptr || transport == config::ModelTransport::kCommand;
}

}  // namespace

Limits LimitsOf(const config::ModelSettings& settings) {
  return {.max_output_tokens = settings.max_output_tokens, .deadline = settings.deadline, .stall = settings.stall};
}

Result<ModelPointer> MakeModel(ModelStackParts parts) {
  if (!parts.clock) parts.clock = std::make_shared<base::SystemClock>();
  WW_ASSIGN(ModelPointer model, MakeTransport(parts));
  if (SendsRequests(parts.settings.transport)) {
    model = std::make_unique<BudgetedModel>(std::move(model), parts.ledger, parts.account, parts.caps, parts.settings);
    model = std::make_unique<RetryingModel>(std::move(model), parts.retry, parts.clock, SleepUnless(parts.stopping),
                                            base::SecretSeed());
    model = std::make_unique<StructuredModel>(std::move(model), parts.clock);
  }
  if (!parts.record.empty()) model = std::make_unique<RecordingModel>(std::move(model), parts.record);
  return model;
}

}  // namespace warpwright::llm
