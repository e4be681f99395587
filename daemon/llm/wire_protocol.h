// The protocols of providers: a question as the body of a request, and the events of a streamed answer put together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/model_settings.h"
#include "http/event_stream.h"
#include "llm/answer.h"
#include "llm/question.h"

namespace warpwright::llm {

// How a provider says that something is wrong: names are its own, the message is for people.
struct ProviderError {
  std::string type, code, message;
};
// Of the body of an answer that is no success; empty where it is not the usual JSON.
ProviderError DecodeProviderError(std::string_view body);
// `status` 0: within a stream that had begun.
FailureKind KindOf(int status, const ProviderError& error);

enum class StopReason { kNone, kEnd, kMaxTokens, kRefusal, kUnknown };

// A streamed answer, as far as it came.
struct StreamedAnswer {
  std::string text, refusal;
  std::string model, stop_name;
  StopReason stop = StopReason::kNone;
  bool complete = false;  // the provider said that this is the end
  Usage usage;
  std::optional<ProviderError> error;
};

// Puts the events of one stream together.
class AnswerStream {
 public:
  virtual ~AnswerStream() = default;
  // kCorrupt: not this protocol. Unknown types of events are skipped, as all three vendors ask of clients.
  virtual Status Take(const http::ServerEvent& event) = 0;
  const StreamedAnswer& answer() const { return answer_; }

 protected:
  // Appends; kLimit beyond the size of an answer.
  Status AddText(std::string_view piece);

  StreamedAnswer answer_;
};

// One implementation for each of the transports that speak HTTP.
class WireProtocol {
 public:
  virtual ~WireProtocol() = default;
  virtual std::string DefaultAddress() const = 0;  // "https://api.example.com/v1"
  virtual std::string Path() const = 0;            // "/messages"
  virtual std::string EncodeBody(const config::ModelSettings& model, const Question& question) const = 0;
  virtual std::unique_ptr<AnswerStream> ReadAnswer() const = 0;
};
// Static objects; nullptr for a transport that does not speak HTTP.
const WireProtocol* ProtocolOf(config::ModelTransport transport);

const WireProtocol& AnthropicMessages();
const WireProtocol& OpenAiChat();
const WireProtocol& OpenAiResponses();

inline constexpr size_t kMaxAnswerBytes = 20u << 20;

}  // namespace warpwright::llm
