// An event stream is read the same in one piece and byte by byte, within its limits, and what comes out is UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "http/event_stream.h"

namespace {

using namespace warpwright;

struct Read {
  std::vector<std::string> texts;
  bool good = true;
  bool operator==(const Read&) const = default;
};

Read ReadBy(std::string_view bytes, size_t piece) {
  Read read;
  http::EventStream stream({.event_bytes = 256, .total_bytes = 2048}, [&](const http::ServerEvent& event) -> Status {
    if (event.data.size() > 3 * 256 || base::ValidUtf8(event.data) != event.data) std::abort();
    read.texts.push_back(event.type);
    read.texts.push_back(event.data);
    return {};
  });
  for (size_t at = 0; at < bytes.size(); at += piece)
    read.good = static_cast<bool>(stream.Feed(bytes.substr(at, piece)));
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = ReadBy(bytes, size + 1);
  if (ReadBy(bytes, 1) != whole || ReadBy(bytes, 3) != whole) std::abort();
  return 0;
}
