#include "call_order.h"

namespace ww {

void CallOrder::Clock::Merge(const Clock& other) {
  begun = begun || other.begun;
  for (const auto& [stream, number] : other.seen) {
    long long& mine = seen[stream];
    if (number > mine) mine = number;
  }
}

void CallOrder::BeginCall(bool has_own_stream) {
  has_own_stream_ = has_own_stream;
  streams_.clear();
  events_.clear();
  last_.clear();
  uses_.clear();
  host_ = Clock();
  streams_[0].begun = true;
}

bool CallOrder::WaitsForDefault(int stream) const {
  const auto found = blocking_.find(stream);
  return !has_own_stream_ && stream != 0 && (found == blocking_.end() || found->second);
}

// With what the host knows: it enqueues an operation after it has waited.
CallOrder::Clock& CallOrder::Of(int stream) {
  Clock& clock = streams_[stream];
  clock.Merge(host_);
  if (WaitsForDefault(stream)) clock.Merge(streams_[0]);
  if (stream == 0 && !has_own_stream_)
    for (const auto& [other, theirs] : streams_)
      if (WaitsForDefault(other)) clock.Merge(theirs);
  return clock;
}

void CallOrder::Report(const std::string& file, int line) {
  if (line_ >= 0) return;
  file_ = file;
  line_ = line;
}

void CallOrder::Work(int stream, const char* file, int line) {
  Clock& clock = Of(stream);
  if (!clock.begun) Report(file, line);
  Last& last = last_[stream];
  last = {last.number + 1, file, line};
  clock.seen[stream] = last.number;
}

bool CallOrder::MayBeInUse(int buffer, int stream) {
  const Clock& clock = Of(stream);
  for (const auto& [user, number] : uses_[buffer])
    if (const auto seen = clock.seen.find(user); seen == clock.seen.end() || seen->second < number) return true;
  return false;
}

void CallOrder::Record(long long event, int stream) { events_[event] = Of(stream); }
void CallOrder::Wait(long long event, int stream) {
  Clock& clock = Of(stream);
  if (const auto found = events_.find(event); found != events_.end()) clock.Merge(found->second);
}
void CallOrder::HostWaitsFor(int stream) { host_.Merge(Of(stream)); }
void CallOrder::HostWaitsForEvent(long long event) {
  if (const auto found = events_.find(event); found != events_.end()) host_.Merge(found->second);
}
void CallOrder::HostWaitsForAll() {
  for (auto& [stream, clock] : streams_) host_.Merge(clock);
}

// What the caller enqueues next on its stream, or after the call returns, follows this.
void CallOrder::EndCall() {
  const Clock end = Of(0);
  for (const auto& [stream, last] : last_) {
    const auto seen = end.seen.find(stream);
    if (stream != 0 && (seen == end.seen.end() || seen->second < last.number)) Report(last.file, last.line);
  }
}

}  // namespace ww
