// The recorder program: reads its input, calls the entry three times, and says what happened.
#include "recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <iostream>

namespace ww {

State state;

namespace {
int out_fd = -1;
size_t operations = 0;
}  // namespace

// ---- output

void Flush() {
  size_t at = 0;
  while (at < state.out.size()) {
    const ssize_t n = write(out_fd, state.out.data() + at, state.out.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  state.out.clear();
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += ' ';
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Hex(const unsigned char* bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    hex += digits[bytes[i] >> 4];
    hex += digits[bytes[i] & 15];
  }
  return hex;
}

Line::Line(const char* kind) : members_("\"kind\":" + Quote(kind)) {}
Line& Line::Json(const char* key, const std::string& json) {
  members_ += "," + Quote(key) + ":" + json;
  return *this;
}
Line& Line::Integer(const char* key, long long value) { return Json(key, Number(value)); }
Line& Line::Text(const char* key, const std::string& value) { return Json(key, Quote(value)); }
Line& Line::Flag(const char* key, bool value) { return Json(key, value ? "true" : "false"); }
Line& Line::Pointer(const char* key, int buffer, const void* value) {
  return Json(key, "{" + PointerMembers(buffer, value) + "}");
}

void Note(const Line& line) {
  if (!state.muted) state.out += line.json() + "\n";
}

Line EventLine(bool waits, long long event, int stream) {
  return Line("event").Flag("waits", waits).Integer("event", event).Integer("stream", stream);
}

void Emit(const Line& line) {
  if (state.failing || state.muted) return;
  if (++operations > 3 * kMaxOperations) Refuse("the launcher makes more than 4,096 device operations", "", 0);
  // What follows a host that waited, on whichever stream, follows all that was before: as it does an operation of the
  // default stream.
  if (state.host_waited) Note(EventLine(false, static_cast<long long>(state.events.size()), 0));
  state.host_waited = false;
  Note(line);
}

void End() {
  state.muted = false;
  Note(Line("end"));
  Flush();
  state.finished = true;
  // Destructors of the file's static objects may free what they allocated; that is no part of the plan.
  _exit(0);
}

void Refuse(const std::string& reason, const char* file, int line) {
  if (state.failing || state.muted) End();
  Note(Line("refuse").Text("reason", reason).Text("file", file).Integer("line", line));
  Flush();
  state.finished = true;
  _exit(0);
}

void OnExit() {
  if (state.finished) return;
  if (state.failing || state.muted) End();
  std::string reason = "the launcher ended the process";
  if (!state.last_failure.empty()) reason += " after " + state.last_failure;
  Refuse(reason, state.failure_file, state.failure_line);
}

cudaError_t Error(cudaError_t error, const std::string& place) {
  state.last_error = error;
  state.last_failure = std::string(cudaGetErrorName(error)) + ", " + place;
  return error;
}

// ---- input

namespace {

std::vector<unsigned char> FromHex(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

void ReadInput() {
  std::string word;
  while (std::cin >> word) {
    if (word == "base") {
      std::cin >> state.base >> state.handles >> state.total;
      state.symbols = state.base + kMaxBuffers * kSpacing;
    } else if (word == "garbage") {
      std::cin >> state.garbage;
    } else if (word == "chip") {
      Chip& chip = state.chip;
      std::cin >> chip.multiprocessors >> chip.max_warps >> chip.max_blocks >> chip.major >> chip.minor >>
          chip.registers >> chip.shared_bytes >> chip.shared_optin >> chip.shared_reserved >> chip.l2_bytes >>
          chip.clock_khz;
    } else if (word == "lines") {
      size_t count = 0;
      std::cin >> count;
      std::vector<int> lines(count);
      for (int& line : lines) std::cin >> line;
      std::string file;
      std::getline(std::cin >> std::ws, file);
      state.lines[file] = std::move(lines);
    } else if (word == "buffer") {
      Buffer buffer;
      uint64_t offset = 0;
      long long same_as = -1;
      std::string content;
      std::cin >> buffer.bytes >> buffer.room >> offset >> same_as >> content;
      buffer.start = NextPlace(buffer.room) + offset;
      buffer.same_as = same_as;
      buffer.argument = true;
      if (content != "-") buffer.content = FromHex(content);
      state.buffers.push_back(buffer);
    } else if (word == "scalar") {
      std::string content;
      std::cin >> content;
      state.scalars.push_back(FromHex(content));
    } else if (word == "answers") {
      Answers& a = state.answers;
      std::cin >> a.second >> a.free_bytes >> a.total_bytes >> a.registers >> a.constant_bytes >> a.local_bytes >>
          a.device >> a.devices;
      std::getline(std::cin >> std::ws, a.name);
      state.device = a.device;
    } else if (word == "recording") {
      std::cin >> state.close >> state.default_stream >> state.moves >> state.fails >> state.measures;
      if (state.close) PlaceLikeDriver();
    } else if (word == "earlier") {
      state.earlier.emplace_back();
    } else if (word == "earlier_bytes") {
      uint64_t bytes = 0;
      std::cin >> bytes;
      state.earlier.back().bytes.push_back(bytes);
    } else if (word == "earlier_scalar") {
      std::string content;
      std::cin >> content;
      state.earlier.back().scalars.push_back(FromHex(content));
    }
  }
}

}  // namespace

int UserLine(const char* file, int line) {
  const auto known = state.lines.find(file);
  const bool inside = known != state.lines.end() && line >= 1 && static_cast<size_t>(line) <= known->second.size();
  return inside ? known->second[static_cast<size_t>(line) - 1] : line;
}

// What the launcher's file remembers from call to call, on the heap too. The first call may set up; behind the second
// nothing may change, or a later call, which nobody records, could do something else.
std::string RememberedState() {
  const auto between = [](const char* begin, const char* end) {
    return begin < end ? std::string(begin, end) : std::string();  // another linker may order otherwise
  };
  std::string variables = between(data_begin, data_end);
  variables.resize((variables.size() + 7) / 8 * 8);
  return WithHeap(variables + between(bss_begin, bss_end)) + LibraryState();
}

void RecordReturned(const unsigned char* bytes, size_t size) {
  constexpr size_t kLargest = 64;
  state.returns = true;
  if (size <= kLargest && !state.quiet)
    Note(Line("returned").Text("value", Hex(bytes, size)).Flag("failing", state.failing));
}

void AssertFailed(const char* condition, const char* file, int line) {
  Refuse(std::string("an assertion of the launcher fails: ") + condition, file, line);
}

void* BufferAddress(size_t index) {
  const Buffer& buffer = state.buffers[index];
  if (buffer.same_as == -2) return nullptr;
  return reinterpret_cast<void*>(buffer.same_as < 0 ? buffer.start
                                                    : state.buffers[static_cast<size_t>(buffer.same_as)].start);
}
const unsigned char* ScalarBytes(size_t index, size_t bytes) {
  if (index >= state.scalars.size() || state.scalars[index].size() != bytes)
    Refuse("the recorder was given a scalar of another size", "", 0);
  return state.scalars[index].data();
}

namespace {

void RunCall(const Line& begin) {
  Note(begin);
  const int device = state.device;
  state.host_waited = false;
  state.order.BeginCall(state.callers_stream);
  for (Buffer& buffer : state.buffers) buffer.dirty = false;
  BeginBare();
  FollowComparisons(!state.quiet);
  try {
    Call();
  } catch (const std::exception& error) {
    const std::string after = state.last_failure.empty() ? "" : " (after " + state.last_failure + ")";
    Refuse("the launcher threw: " + std::string(error.what()) + after, state.failure_file, state.failure_line);
  } catch (...) {
    Refuse("the launcher threw an exception", "", 0);
  }
  FollowComparisons(false);
  if (!state.unseen_launch_error.empty()) Refuse(state.unseen_launch_error, state.unseen_file, state.unseen_line);
  if (!state.pending.empty())
    Refuse("a launch configuration has no launch", state.pending.back().file, state.pending.back().line);
  state.order.EndCall();
  if (state.device != device) NoteEffect("another current device than its caller's", "cudaSetDevice");
}

void RunEarlier(const EarlierCall& earlier) {
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < earlier.bytes.size() && i < state.buffers.size(); ++i) {
    bytes.push_back(state.buffers[i].bytes);
    state.buffers[i].bytes = earlier.bytes[i];
  }
  const auto scalars = state.scalars;
  state.scalars = earlier.scalars;
  state.quiet = true;
  RunCall(Line("call").Integer("number", 0).Flag("earlier", true));
  state.quiet = false;
  state.scalars = scalars;
  for (size_t i = 0; i < bytes.size(); ++i) state.buffers[i].bytes = bytes[i];
}

}  // namespace
}  // namespace ww

int main() {
  using ww::state;
  ww::stack_end = static_cast<const char*>(__builtin_frame_address(0));
  ww::out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (ww::out_fd < 0) return 71;
  if (null >= 0) dup2(null, STDOUT_FILENO);
  ww::ReadInput();
  ww::InstallFaultHandlers();
  ww::PrintAtOnce();
  atexit(ww::OnExit);
  if (ww::has_callers_stream) ww::MakeCallersStream();

  for (const ww::EarlierCall& earlier : state.earlier) ww::RunEarlier(earlier);
  std::string remembered;
  std::map<size_t, std::string> hidden;
  ww::Held held;
  for (int call = 0; call < 3; ++call) {
    if (call == 2)
      for (size_t i = 0; state.moves > 0 && i < state.buffers.size(); ++i) {
        if (!state.buffers[i].argument) continue;
        ww::MarkDirty(static_cast<int>(i));  // what was served is served again
        state.buffers[i].start += state.moves;
      }
    state.repeats = call > 0;
    ww::RunCall(ww::Line("call").Integer("number", call).Flag("earlier", false));
    const ww::Held holds = ww::HeldNow();
    if (call == 2) ww::CompareHeld(held, holds);
    held = holds;
    std::string remembers = ww::RememberedState();
    std::map<size_t, std::string> hides = ww::HiddenBlocks();
    bool changes = remembers != remembered;
    for (const auto& [at, content] : hides) {
      const auto before = hidden.find(at);
      changes = changes || (before != hidden.end() && before->second != content);
    }
    if (call == 2 && changes)
      ww::Refuse(
          "the launcher changes variables of its file in every call, or what they point to, so later calls may differ",
          "", 0);
    remembered = std::move(remembers);
    hidden = std::move(hides);
  }
  for (size_t i = 0; i < state.buffers.size(); ++i)
    if (!state.buffers[i].argument && state.buffers[i].live)
      ww::Note(ww::Line("kept").Integer("buffer", static_cast<long long>(i)));
  if (state.order.line() >= 0)
    ww::Note(ww::Line("unordered").Text("file", state.order.file()).Integer("line", state.order.line()));
  ww::NoteComparisons();
  if (state.measures) {
    ww::Flush();
    try {
      ww::MeasureHostTime();
    } catch (...) {
      state.muted = false;
    }
  }
  if (state.fails) {
    ww::Flush();
    state.failing = true;
    state.last_error = cudaSuccess;
    state.last_failure.clear();
    try {
      ww::Call();
      ww::NoteLaunchError();
    } catch (...) {
    }
  }
  ww::End();
}
