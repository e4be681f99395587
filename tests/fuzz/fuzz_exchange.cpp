// Files of an exchange and of transcripts: no crash, an error is kCorrupt, and what is read is written back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "llm/exchange.h"
#include "llm/transcript.h"

namespace {

using namespace warpwright;

template <typename T>
bool Good(const Result<T>& result) {
  if (!result && (result.error().code != ErrorCode::kCorrupt || result.error().message.empty())) std::abort();
  return result.has_value();
}

// The id that a file claims, so that reading gets beyond it.
std::string ClaimedId(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == text.npos ? std::string(64, '0') : std::string(text.substr(at + key.size(), 64));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string id = ClaimedId(text, "\"id\": \"");
  if (const auto question = llm::DecodeQuestionFile(text, id); Good(question)) {
    const auto again = llm::DecodeQuestionFile(llm::EncodeQuestionFile(*question), id);
    if (!again || llm::IdOf(*again) != id) std::abort();
    if (const auto answer = llm::DecodeAnswerFile(text, id); Good(answer))
      (void)Good(llm::AcceptAnswer(*question, *answer));
  }
  (void)Good(llm::DecodeAnswerFile(text, ClaimedId(text, "\"question\": \"")));
  if (const auto bundle = llm::DecodeBundle(text); Good(bundle)) {
    const std::string encoded = llm::EncodeBundle(*bundle);
    const auto again = llm::DecodeBundle(encoded);
    if (!again || llm::EncodeBundle(*again) != encoded) std::abort();
    for (const llm::Question& question : bundle->questions)
      for (const llm::GivenAnswer& answer : bundle->answers) (void)Good(llm::AcceptAnswer(question, answer));
  }
  if (const auto transcript = llm::DecodeTranscript(text, ClaimedId(text, "\"name\": \"")); Good(transcript))
    (void)llm::EncodeTranscript(*transcript);
  return 0;
}
