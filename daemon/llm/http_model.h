// A model behind an HTTP API: one request for each question, without retries.
#pragma once

#include <memory>

#include "base/clock.h"
#include "config/model_settings.h"
#include "http/client.h"
#include "llm/language_model.h"
#include "llm/wire_protocol.h"

namespace warpwright::llm {

// The key is registered with the redactor when it is read (ReadModelKey), and leaves this process only in its header.
struct HttpModelParts {
  config::ModelSettings settings;
  std::string key;                       // empty: none is sent
  std::shared_ptr<http::Client> client;  // its size limit must not be below kMaxStreamBytes
  std::shared_ptr<const base::Clock> clock;
  std::function<bool()> stopping;  // tells a broken exchange from one that was broken off; may be empty
};

inline constexpr size_t kMaxStreamBytes = 2 * kMaxAnswerBytes;  // an answer with what is around its pieces

class HttpModel final : public LanguageModel {
 public:
  explicit HttpModel(HttpModelParts parts) : parts_(std::move(parts)) {}
  Result<Answer> Ask(const Question& question) override;

 private:
  http::ClientRequest MakeRequest(const WireProtocol& protocol, const Question& question) const;
  Answer Conclude(const Result<http::ClientResponse>& response, const StreamedAnswer& streamed, const Status& read,
                  Receipt receipt) const;

  HttpModelParts parts_;
};

// The key of a model, registered with the redactor; empty if none is configured. kEnvironment if it cannot be read, or
// others than its owner may read its file.
Result<std::string> ReadModelKey(const config::ModelSettings& settings);

}  // namespace warpwright::llm
