// What a launcher does beside launching, and what its calls leave behind.
#include "recorder.h"

namespace ww {
namespace {

long long LiveIn(const std::vector<bool>& live) { return std::count(live.begin(), live.end(), true); }

const char* const kWaits = "a wait for the device in every call";
const char* const kChangesDevice = "a change of the device for the whole process";
const char* const kAllocates = "an allocation in every call that waits for the device";
const char* const kFreesInUse = "memory freed on a stream that does not wait for what uses it";
const char* const kLeaks = "memory, streams or events that no call releases";
const char* const kLeavesError = "the error of a launch that it returns and leaves for the next to ask as well";
const char* const kTakesError = "the error of a launch, which it takes without returning it";
const char* const kOverwrites =
    "pinned memory that it overwrites before an earlier copy from it is known to have ended";

}  // namespace

void NoteEffect(const char* what, const std::string& function) {
  static std::set<std::string> noted;
  if (noted.insert(what).second) Note(Line("effect").Text("what", what).Text("function", function));
}
void ChangesDevice(const char* function) { NoteEffect(kChangesDevice, function); }
void Waits(const char* function) {
  for (auto& [from, upload] : state.pinned_uploads) upload.pending = false;
  if (state.repeats) NoteEffect(kWaits, function);
}
void AllocatesInEveryCall(const char* function) {
  if (state.repeats) NoteEffect(kAllocates, function);
}

void FreesWhatIsInUse(const char* function) { NoteEffect(kFreesInUse, function); }

void UploadsFrom(const void* from, size_t bytes) {
  const auto* address = static_cast<const char*>(from);
  const auto after = state.pinned.upper_bound(address);
  if (after == state.pinned.begin()) return;
  const auto& [begin, size] = *std::prev(after);
  if (address >= begin + size) return;
  std::string now(address, bytes);
  State::PinnedUpload& upload = state.pinned_uploads[from];
  if (upload.pending && upload.bytes != now) NoteEffect(kOverwrites, "cudaMemcpyAsync");
  upload = {std::move(now), true};
}

// After a call in which every launch failed: who asks for the last error later?
void NoteLaunchError() {
  if (state.last_failure.empty()) return;  // it launches nothing
  const bool left = state.last_error != cudaSuccess;
  if (state.returns == left) NoteEffect(left ? kLeavesError : kTakesError, left ? "" : "cudaGetLastError");
}

Held HeldNow() {
  Held held;
  for (const Buffer& buffer : state.buffers) held.allocations += !buffer.argument && buffer.live;
  held.pinned = static_cast<long long>(state.pinned.size());
  held.streams = LiveIn(state.streams);
  held.events = LiveIn(state.events);
  return held;
}

void CompareHeld(const Held& before, const Held& after) {
  if (after.allocations > before.allocations) NoteEffect(kLeaks, "cudaMalloc");
  if (after.pinned > before.pinned) NoteEffect(kLeaks, "cudaMallocHost");
  if (after.streams > before.streams) NoteEffect(kLeaks, "cudaStreamCreate");
  if (after.events > before.events) NoteEffect(kLeaks, "cudaEventCreate");
}

}  // namespace ww
