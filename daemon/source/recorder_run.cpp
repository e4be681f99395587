#include "source/recorder_run.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "base/subprocess.h"
#include "source/harness.h"

namespace warpwright::source {
namespace {

constexpr size_t kOutputLimitBytes = 512u << 20;
constexpr uint64_t kMemoryBytes = 4ull << 30;
constexpr size_t kServedLimitBytes = 1u << 20;
// Where device memory appears to be (shim/host/recorder.h): far from where the system places programs, libraries and
// heaps; in the second run it is where drivers place it, and only symbols are there. A launcher must not be able to
// detect that it is being recorded: the offset that is added to each base is random, and the two runs, which must
// agree, have different environments.
constexpr uint64_t kBases[kRuns] = {0x1000'0000'0000, 0x3000'0000'0000, 0x2000'0000'0000};
// The objects behind handles lie on the heap of a program, or among its mappings.
constexpr uint64_t kHandles[kRuns] = {0x5500'0000'0000, 0x7fe0'0000'0000, 0x5600'0000'0000};
constexpr uint64_t kHandleUnits = 1ull << 32, kHandleUnit = 16;
constexpr uint64_t kBaseUnits = 1ull << 30, kBaseUnit = 512;  // cudaMalloc's alignment
const std::map<std::string, std::string> kEnvironments[kRuns] = {{{"LANG", "C"}},
                                                                 {{"LANG", "en_US.UTF-8"},
                                                                  {"HOME", "/root"},
                                                                  {"USER", "root"},
                                                                  {"SHELL", "/bin/bash"},
                                                                  {"TERM", "xterm"},
                                                                  {"PATH", "/usr/local/cuda/bin:/usr/bin:/bin"},
                                                                  {"CUDA_VISIBLE_DEVICES", "0"}},
                                                                 {{"LANG", "C"}}};
// What device-to-host copies return: zeros, and what is a little more than one as a float or as two of 16 bits, and
// also a large integer. They differ in every byte, or a launcher could decide by a narrower value unnoticed.
// In the third they are large and negative, and drawn.
constexpr uint32_t kGarbage[kRuns] = {0, 0x3f803f80, 0xc8a0c8a0}, kDrawnGarbage = 0x0f1f0f1f;
constexpr uint64_t kBesideBuffer = 8u << 20;  // that an allocator may leave
constexpr uint64_t kMove = 3ull << 30;        // of the arguments, between calls of the third run
std::string Hex(std::span<const std::byte> bytes) {
  std::string hex;
  for (const std::byte byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return hex;
}

Result<std::string> ScalarHex(const core::KernelSpec& spec, const std::map<std::string, core::ScalarValue>& scalars,
                              const char* word) {
  std::string text;
  for (const core::Argument& argument : spec.args) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    if (scalar == nullptr) continue;
    const auto value = scalars.find(argument.name);
    if (value == scalars.end())
      return Fail(ErrorCode::kUsage, fmt::format("no value for the scalar argument '{}'", argument.name));
    text += fmt::format("{} {}\n", word, Hex(core::ScalarBytes(*scalar, value->second)));
  }
  return text;
}

// What a device says of itself and of this moment: one of two very different truths.
std::string AnswersOf(const core::Chip& chip, bool second) {
  constexpr uint64_t kTotal = 84ull << 30;
  const uint64_t drawn = base::SecretSeed();
  const uint64_t free = kTotal / 100 * ((second ? 70 : 20) + drawn % 25);
  return fmt::format("answers {} {} {} {} {} {} {} {} NVIDIA {}\n", second ? 1 : 0, free, kTotal,
                     (second ? 128 : 32) + 8 * (drawn >> 8) % 64, second ? 352 : 0, second ? 16 : 0, second ? 1 : 0,
                     second ? 2 : 1, chip.name);
}

struct OtherArguments {
  std::map<std::string, core::ScalarValue> scalars;
  std::vector<uint64_t> bytes;  // of the buffers
};
// Sizes times `factor`, and other scalars a little changed: a value that is kept until it changes much goes stale.
// Nothing where the manifest has no such sizes.
std::optional<OtherArguments> MakeOther(const core::KernelSpec& spec,
                                        const std::map<std::string, core::ScalarValue>& scalars, double factor) {
  constexpr double kChange = 1.0001;
  constexpr uint64_t kMostBytes = 16ull << 30;
  std::set<std::string> sizes;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (const core::Expression& extent : buffer->shape)
        for (const std::string& name : extent.Variables()) sizes.insert(name);
  core::Case other{.name = {}, .scalars = scalars};
  for (auto& [name, value] : other.scalars) {
    if (auto* number = std::get_if<double>(&value)) *number *= kChange;
    auto* size = std::get_if<int64_t>(&value);
    if (size != nullptr && *size > 1 && sizes.contains(name))
      *size = static_cast<int64_t>(static_cast<double>(*size) * factor);
  }
  OtherArguments made{other.scalars, {}};
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, other);
    if (!shape) return std::nullopt;
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : *shape)
      if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > kMostBytes)
        return std::nullopt;
    made.bytes.push_back(bytes);
  }
  return made;
}

Result<std::string> Input(const RecordRequest& request, const HostProgram& host, Run run) {
  const core::Chip& chip = request.chip;
  const auto index = static_cast<size_t>(run);
  const std::string digits = chip.arch.size() > 3 ? chip.arch.substr(3) : "90";
  const int arch = std::atoi(digits.c_str());
  const bool later = run == Run::kLater;
  uint64_t total = 0;
  for (const RecordBuffer& buffer : request.buffers) total += buffer.bytes + kBesideBuffer;
  const uint32_t garbage = kGarbage[index] ^ (later ? static_cast<uint32_t>(base::SecretSeed()) & kDrawnGarbage : 0);
  std::string text =
      fmt::format("base {} {} {}\ngarbage {}\nchip {} {} {} {} {} {} {} {} {} {} {}\n",
                  kBases[index] + base::SecretSeed() % kBaseUnits * kBaseUnit,
                  kHandles[index] + base::SecretSeed() % kHandleUnits * kHandleUnit, total, garbage,
                  chip.multiprocessors, chip.max_warps, chip.max_blocks, arch / 10, arch % 10, chip.registers,
                  chip.shared_bytes, chip.shared_bytes_per_block_optin, chip.shared_bytes_reserved_per_block,
                  static_cast<int64_t>(chip.l2_bytes), std::lround(chip.clock_ghz * 1e6));
  text += AnswersOf(chip, run == Run::kOtherWorld);
  // The build of that run is the optimized one, whose time counts.
  const bool optimized = run == Run::kOtherWorld;
  text += fmt::format("recording {} {} {} {} {}\n", optimized ? 1 : 0, later ? 1 : 0, later ? kMove : 0, later ? 1 : 0,
                      optimized ? 1 : 0);
  for (const auto& [file, lines] : host.lines)
    text += fmt::format("lines {} {} {}\n", lines.size(), fmt::join(lines, " "), file);
  std::vector<OtherArguments> earlier;
  for (const double factor : {0.5, 2.0})
    if (auto other = later ? MakeOther(*request.spec, request.scalars, factor) : std::nullopt)
      earlier.push_back(std::move(*other));
  for (size_t i = 0; i < request.buffers.size(); ++i) {
    const RecordBuffer& buffer = request.buffers[i];
    const int64_t place = buffer.absent ? -2 : buffer.same_as ? static_cast<int64_t>(*buffer.same_as) : -1;
    const bool served = !buffer.content.empty() && buffer.content.size() <= kServedLimitBytes;
    uint64_t room = buffer.bytes;
    for (const OtherArguments& other : earlier) room = std::max(room, other.bytes[i]);
    text += fmt::format("buffer {} {} {} {} {}\n", buffer.bytes, room, buffer.pointer_offset, place,
                        served ? Hex(buffer.content) : "-");
  }
  WW_ASSIGN(const std::string scalars, ScalarHex(*request.spec, request.scalars, "scalar"));
  text += scalars;
  for (const OtherArguments& other : earlier) {
    text += "earlier\n";
    for (const uint64_t bytes : other.bytes) text += fmt::format("earlier_bytes {}\n", bytes);
    WW_ASSIGN(const std::string values, ScalarHex(*request.spec, other.scalars, "earlier_scalar"));
    text += values;
  }
  return text;
}

// The line in the user's file of one of the addresses. Needs addr2line, which comes with the compiler; without it the
// line is 0.
int LineOf(const std::filesystem::path& program, const HostProgram& host, const std::vector<uint64_t>& stack,
           const std::string& file) {
  base::Command command;
  command.argv = {"addr2line", "-e", program.string()};
  // The return address is after the call: one less is inside the call.
  for (size_t i = 0; i < stack.size(); ++i)
    command.argv.push_back(fmt::format("{:x}", i == 0 ? stack[i] : stack[i] - 1));
  command.env = base::MinimalEnvironment();
  command.deadline = std::chrono::milliseconds(5000);
  const auto done = base::Run(command);
  if (!done) return 0;
  std::string_view rest = done->out;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t colon = line.rfind(':');
    if (colon != std::string_view::npos && line.substr(0, colon).ends_with(file))
      return host.UserLine(file, std::atoi(std::string(line.substr(colon + 1)).c_str()));
  }
  return 0;
}

core::Refused DescribeFault(const Slices& slices, const RecordRequest& request, const RecordedFault& fault,
                            const std::filesystem::path& program, const HostProgram& host) {
  const int line = LineOf(program, host, fault.stack, slices.file);
  if (fault.buffer >= 0) {
    const bool argument = static_cast<size_t>(fault.buffer) < request.buffers.size();
    const std::string name =
        argument ? "'" + request.buffers[static_cast<size_t>(fault.buffer)].name + "'" : "a device allocation";
    const char* why = !fault.write && argument && fault.dirty ? ", which a kernel may have written before"
                      : fault.managed                         ? " of managed memory, which only kernels may touch here"
                                                              : "";
    return RefuseToRecord(
        slices, fmt::format("host code {} device memory ({}{})", fault.write ? "writes" : "reads", name, why), line);
  }
  if (fault.signal == 6) return RefuseToRecord(slices, "the launcher aborts", line);
  return RefuseToRecord(slices, fmt::format("the launcher crashes (signal {})", fault.signal), line);
}

}  // namespace

core::Refused RefuseToRecord(const Slices& slices, std::string reason, int line) {
  return {core::Check::kRecord, std::move(reason), slices.file, line == 0 ? slices.entry_line : line};
}

Result<std::variant<Recording, core::Refused>> RunOnce(const Slices& slices, const RecordRequest& request,
                                                       const std::filesystem::path& program, const HostProgram& host,
                                                       Run run) {
  using Outcome = std::variant<Recording, core::Refused>;
  base::Command command;
  command.argv = {program.string()};
  command.env = kEnvironments[static_cast<size_t>(run)];
  command.directory = program.parent_path();
  WW_ASSIGN(command.input, Input(request, host, run));
  command.deadline = request.run_deadline;
  command.output_limit_bytes = kOutputLimitBytes;
  command.sandbox.enabled = true;
  command.sandbox.readable = {program.parent_path()};
  command.sandbox.memory_bytes = kMemoryBytes;
  command.sandbox.file_bytes = 1;
  command.sandbox.allow_children = false;
  command.sandbox.cpu = std::chrono::ceil<std::chrono::seconds>(request.run_deadline) + std::chrono::seconds(1);
  WW_ASSIGN(const base::Completed done, base::Run(command));
  if (done.truncated) return Outcome(RefuseToRecord(slices, "the recording is larger than 512 MiB"));
  auto decoded = DecodeRecording(done.out, request.buffers.size(), slices.file);
  if (!decoded) return Outcome(RefuseToRecord(slices, decoded.error().message));
  Recording& recording = *decoded;
  if (recording.fault) return Outcome(DescribeFault(slices, request, *recording.fault, program, host));
  if (recording.refused) {
    core::Refused refused = *recording.refused;
    const bool endless = recording.calls.empty() || recording.calls.back().size() >= 4096;
    if (!recording.readbacks.empty() && endless) {
      const Readback& readback = recording.readbacks.front();
      refused = {core::Check::kRecord, "the launcher decides by a value that it copies back from the device",
                 readback.file, readback.line};
    }
    if (refused.line == 0) refused.line = slices.entry_line;
    const std::string said = done.err.substr(0, done.err.find('\n'));
    if (!said.empty()) refused.reason += " (it says: " + said.substr(0, 300) + ")";
    return Outcome(std::move(refused));
  }
  if (!recording.ended) {
    if (!recording.readbacks.empty() && done.timed_out) {
      const Readback& readback = recording.readbacks.front();
      return Outcome(core::Refused{core::Check::kRecord,
                                   "the launcher decides by a value that it copies back from the device", readback.file,
                                   readback.line});
    }
    return Outcome(RefuseToRecord(
        slices, done.timed_out ? fmt::format("the launcher did not end within {} ms", request.run_deadline.count())
                               : fmt::format("the launcher ended the recorder (exit code {})", done.exit_code)));
  }
  return Outcome(std::move(recording));
}

}  // namespace warpwright::source
