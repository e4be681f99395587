// What a provider, or anything in its place, streams: no crash in any of the three protocols; what was read is UTF-8
// and bounded, numbers of tokens are not negative, and every error has a kind.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "llm/wire_protocol.h"

namespace {

using namespace warpwright;

void Check(const std::optional<int64_t>& count) {
  if (count && *count < 0) std::abort();
}

void Read(const llm::WireProtocol& protocol, std::string_view bytes) {
  const auto stream = protocol.ReadAnswer();
  http::EventStream events({}, [&](const http::ServerEvent& event) { return stream->Take(event); });
  const Status status = events.Feed(bytes);
  if (!status && ((status.error().code != ErrorCode::kCorrupt && status.error().code != ErrorCode::kLimit) ||
                  status.error().message.empty()))
    std::abort();
  const llm::StreamedAnswer& answer = stream->answer();
  for (const std::string* text : {&answer.text, &answer.refusal, &answer.model, &answer.stop_name})
    if (text->size() > bytes.size() * 3 || base::ValidUtf8(*text) != *text) std::abort();
  Check(answer.usage.input), Check(answer.usage.output), Check(answer.usage.cache_read),
      Check(answer.usage.cache_write);
  if (answer.error && Name(llm::KindOf(0, *answer.error)).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(llm::AnthropicMessages(), bytes);
  Read(llm::OpenAiChat(), bytes);
  Read(llm::OpenAiResponses(), bytes);
  for (const int status : {0, 400, 429, 500}) (void)llm::KindOf(status, llm::DecodeProviderError(bytes));
  return 0;
}
