#include "http/event_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace warpwright::http {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Status EventStream::Feed(std::string_view piece) {
  while (!piece.empty() && status_) {
    const size_t end = std::min(piece.find_first_of("\r\n"), piece.size());
    if (end > 0) {
      status_ = Count(end);
      line_ += piece.substr(0, status_ ? end : 0);
      after_return_ = false;
      piece.remove_prefix(end);
    } else {
      status_ = Count(1);
      if (status_) status_ = EndLine(piece.front());
      piece.remove_prefix(1);
    }
  }
  return status_;
}

Status EventStream::Count(size_t bytes) {
  total_bytes_ += bytes;
  event_bytes_ += bytes;
  if (total_bytes_ > limits_.total_bytes)
    return Fail(ErrorCode::kLimit, fmt::format("an event stream of more than {} bytes", limits_.total_bytes));
  if (event_bytes_ > limits_.event_bytes)
    return Fail(ErrorCode::kLimit, fmt::format("an event of more than {} bytes", limits_.event_bytes));
  return {};
}

// A line ends with CR, LF or CR LF.
Status EventStream::EndLine(char byte) {
  const bool second_half = after_return_ && byte == '\n';
  after_return_ = byte == '\r';
  if (second_half) return {};
  if (first_line_ && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
  first_line_ = false;
  if (line_.empty()) return TakeEvent();
  TakeLine();
  line_.clear();
  return {};
}

void EventStream::TakeLine() {
  const std::string_view line = line_;
  const size_t colon = line.find(':');
  if (colon == 0) return;  // a comment, as servers send to keep a connection open
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    type_ = value;
  } else if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }  // "id" and "retry" are for reconnecting, which nobody does with a request that costs money
}

Status EventStream::TakeEvent() {
  event_bytes_ = 0;
  ServerEvent event{type_.empty() ? "message" : base::ValidUtf8(type_), base::ValidUtf8(data_)};
  const bool complete = has_data_;
  type_.clear();
  data_.clear();
  has_data_ = false;
  return complete ? take_(event) : Status();
}

}  // namespace warpwright::http
