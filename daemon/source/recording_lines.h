// The lines of a recorder program, which shim/host writes (recorder.h: Line), one JSON object each. The recorder ran
// untrusted code: every line is decoded strictly, by recording_lines_fields.h.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/launch_plan.h"
#include "source/recording.h"

namespace warpwright::source {

// Bytes as pairs of hexadecimal digits.
class HexBytes {
 public:
  static Result<HexBytes> Parse(std::string_view text);
  std::string text() const;

  std::vector<std::byte> bytes;
};

struct PointerAt {  // byte `at` of a parameter
  uint32_t at = 0;
  core::DevicePointer pointer;
};
struct ParameterRecord {
  HexBytes bytes;
  bool pointer = false;  // declared as one
  std::vector<PointerAt> pointers;
};
struct LaunchLine {
  std::string kernel;
  core::Dim3 grid, block;
  uint32_t shared_bytes = 0;
  uint32_t stream = 0;
  bool cooperative = false;
  std::string file;
  int line = 0;
  std::vector<ParameterRecord> parameters;
};
struct MemsetLine {
  core::DevicePointer to;
  uint32_t value = 0;
  uint64_t bytes = 0;
  uint32_t stream = 0;
};
struct CopyLine {
  core::DevicePointer to, from;
  uint64_t bytes = 0;
  uint32_t stream = 0;
};
struct UploadLine {
  core::DevicePointer to;
  HexBytes data;
  uint32_t stream = 0;
};
struct SymbolLine {
  std::string symbol;
  uint64_t offset = 0;
  HexBytes data;
  uint32_t stream = 0;
};
struct SymbolCopyLine {
  std::string symbol;
  uint64_t offset = 0;
  core::DevicePointer with;  // the buffer's part
  bool to_symbol = false;
  uint64_t bytes = 0;
  uint32_t stream = 0;
};
struct EventLine {
  bool waits = false;
  uint32_t event = 0;
  uint32_t stream = 0;
};
struct CallLine {
  uint32_t number = 0;
  bool earlier = false;  // with other arguments, before those that are numbered
};
struct WorkspaceLine {
  uint64_t buffer = 0;
  uint64_t bytes = 0;
};
struct RefuseLine {
  std::string reason, file;
  int line = 0;
};
struct KeptLine {  // a workspace that outlives the call that made it
  uint64_t buffer = 0;
};
struct ServedLine {  // host code read an argument that no kernel may have written
  int buffer = 0;
};
struct UnorderedLine {  // work that is not ordered with the caller's (shim/host/call_order.h)
  std::string file;
  int line = 0;
};
struct ReturnedLine {
  HexBytes value;
  bool failing = false;  // by the call in which every launch fails
};
struct EffectLine {  // of the host code, beside launching (shim/host/record_effects.cpp)
  std::string what, function;
};
struct DecidedLine {  // two numbers that it compared, the same ones each time it came by
  int64_t left = 0, right = 0;
};
struct ComparedLine {  // a number that the launcher's code compared something with (shim/host/record_compared.cpp)
  uint64_t value = 0;
};
struct HostTimeLine {  // of the launcher's own code, per call (shim/host/record_time.cpp)
  uint64_t ns = 0;
};
struct EndLine {};

using RecordingLine =
    std::variant<LaunchLine, MemsetLine, CopyLine, UploadLine, SymbolLine, SymbolCopyLine, EventLine, CallLine,
                 WorkspaceLine, KeptLine, Readback, RefuseLine, RecordedFault, ServedLine, UnorderedLine, ReturnedLine,
                 EffectLine, ComparedLine, DecidedLine, HostTimeLine, EndLine>;

constexpr const char* TagKey(const RecordingLine*) { return "kind"; }
constexpr std::string_view Tag(const LaunchLine*) { return "launch"; }
constexpr std::string_view Tag(const MemsetLine*) { return "memset"; }
constexpr std::string_view Tag(const CopyLine*) { return "copy"; }
constexpr std::string_view Tag(const UploadLine*) { return "upload"; }
constexpr std::string_view Tag(const SymbolLine*) { return "symbol"; }
constexpr std::string_view Tag(const SymbolCopyLine*) { return "symbol_copy"; }
constexpr std::string_view Tag(const EventLine*) { return "event"; }
constexpr std::string_view Tag(const CallLine*) { return "call"; }
constexpr std::string_view Tag(const WorkspaceLine*) { return "workspace"; }
constexpr std::string_view Tag(const Readback*) { return "readback"; }
constexpr std::string_view Tag(const RefuseLine*) { return "refuse"; }
constexpr std::string_view Tag(const RecordedFault*) { return "fault"; }
constexpr std::string_view Tag(const KeptLine*) { return "kept"; }
constexpr std::string_view Tag(const ServedLine*) { return "served"; }
constexpr std::string_view Tag(const UnorderedLine*) { return "unordered"; }
constexpr std::string_view Tag(const ReturnedLine*) { return "returned"; }
constexpr std::string_view Tag(const EffectLine*) { return "effect"; }
constexpr std::string_view Tag(const ComparedLine*) { return "compared"; }
constexpr std::string_view Tag(const DecidedLine*) { return "decided"; }
constexpr std::string_view Tag(const HostTimeLine*) { return "host_time"; }
constexpr std::string_view Tag(const EndLine*) { return "end"; }

// kCorrupt on failure.
Result<RecordingLine> DecodeRecordingLine(std::string_view line);

}  // namespace warpwright::source
