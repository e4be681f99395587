// Any line of the nightly history: parsed or refused, and what is parsed is written back unchanged. Merging a whole
// file with itself changes nothing.
#include <cstdlib>

#include "nights/history.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpwright;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = nights::ParseHistoryLine(text)) {
    const auto written = nights::FormatHistoryLine(*line);
    if (!written) std::abort();
    const auto again = nights::ParseHistoryLine(*written);
    if (!again || !(*again == *line)) std::abort();
  }
  const std::string compact = nights::CompactHistory(text);
  if (nights::CompactHistory(compact) != compact) std::abort();
  const nights::History history = nights::ParseHistory(text, "fuzz");
  if (history.Open().size() > history.findings.size()) std::abort();
  return 0;
}
