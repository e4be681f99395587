#include "source/record.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "source/closed_world.h"
#include "source/harness.h"
#include "source/recorder_build.h"
#include "source/recording.h"
#include "source/signature.h"

namespace warpwright::source {
namespace {

constexpr size_t kOutputLimitBytes = 512u << 20;
constexpr uint64_t kMemoryBytes = 4ull << 30;
constexpr size_t kServedLimitBytes = 1u << 20;
constexpr uint64_t kObjectLimitBytes = 256u << 20;
// Where device memory appears to be (shim/host/recorder.h): far from where the system places programs, libraries and
// heaps; the second one is also where drivers place it. A launcher must not be able to detect that it is being
// recorded: the offset that is added to each base is random, and the two runs, which must agree, have different
// environments.
enum class Run : uint8_t { kPlain, kOtherWorld, kLater };
constexpr size_t kRuns = 3;
constexpr uint64_t kBases[kRuns] = {0x1000'0000'0000, 0x5000'0000'0000, 0x2000'0000'0000};
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
constexpr uint32_t kGarbage[kRuns] = {0, 0x3f803f80, 0x3f803f80};
constexpr uint64_t kMove = 3ull << 30;  // of the arguments, between calls of the third run
constexpr const char* kDependsOnCalls =
    "other operations after calls with other arguments, on the default stream or with buffers elsewhere";
constexpr const char* kFailsLater =
    "something that fails after calls with other arguments, on the default stream or with buffers elsewhere";
constexpr const char* kOtherBuild = "whether it is built as optimized C++20 without assertions";

core::Refused Refuse(const Slices& slices, std::string reason, int line = 0) {
  return {core::Check::kRecord, std::move(reason), slices.file, line == 0 ? slices.entry_line : line};
}

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
  std::string text =
      fmt::format("base {}\ngarbage {}\nchip {} {} {} {} {} {} {} {} {} {} {}\n",
                  kBases[index] + base::SecretSeed() % kBaseUnits * kBaseUnit, kGarbage[index], chip.multiprocessors,
                  chip.max_warps, chip.max_blocks, arch / 10, arch % 10, chip.registers, chip.shared_bytes,
                  chip.shared_bytes_per_block_optin, chip.shared_bytes_reserved_per_block,
                  static_cast<int64_t>(chip.l2_bytes), std::lround(chip.clock_ghz * 1e6));
  const bool later = run == Run::kLater;
  text += AnswersOf(chip, run == Run::kOtherWorld);
  text += fmt::format("recording {} {} {} {}\n", run == Run::kOtherWorld ? 1 : 0, later ? 1 : 0, later ? kMove : 0,
                      later ? 1 : 0);
  for (const auto& [file, lines] : host.lines)
    text += fmt::format("lines {} {} {}\n", lines.size(), fmt::join(lines, " "), file);
  std::vector<OtherArguments> earlier;
  for (const double factor : {0.5, 2.0})
    if (auto other = later ? MakeOther(*request.spec, request.scalars, factor) : std::nullopt)
      earlier.push_back(std::move(*other));
  for (size_t i = 0; i < request.buffers.size(); ++i) {
    const RecordBuffer& buffer = request.buffers[i];
    const bool served = !buffer.content.empty() && buffer.content.size() <= kServedLimitBytes;
    uint64_t room = buffer.bytes;
    for (const OtherArguments& other : earlier) room = std::max(room, other.bytes[i]);
    text +=
        fmt::format("buffer {} {} {} {} {}\n", buffer.bytes, room, buffer.pointer_offset,
                    buffer.same_as ? static_cast<int64_t>(*buffer.same_as) : -1, served ? Hex(buffer.content) : "-");
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
    return Refuse(slices, fmt::format("host code {} device memory ({}{})", fault.write ? "writes" : "reads", name, why),
                  line);
  }
  if (fault.signal == 6) return Refuse(slices, "the launcher aborts", line);
  return Refuse(slices, fmt::format("the launcher crashes (signal {})", fault.signal), line);
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
  if (done.truncated) return Outcome(Refuse(slices, "the recording is larger than 512 MiB"));
  auto decoded = DecodeRecording(done.out, request.buffers.size(), slices.file);
  if (!decoded) return Outcome(Refuse(slices, decoded.error().message));
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
    return Outcome(Refuse(
        slices, done.timed_out ? fmt::format("the launcher did not end within {} ms", request.run_deadline.count())
                               : fmt::format("the launcher ended the recorder (exit code {})", done.exit_code)));
  }
  return Outcome(std::move(recording));
}

// The lines of a compiler's log that tell what is wrong, each with the two that show where; all of a log without such a
// line. g++ writes whole paths of includes before them.
std::string TellingLines(const std::string& log, size_t max_bytes) {
  std::string telling;
  size_t shown = 0;
  for (size_t at = 0; at < log.size() && telling.size() < max_bytes;) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string line = log.substr(at, end - at);
    at = end + 1;
    if (line.find("error: ") != std::string::npos) shown = 3;
    if (shown == 0) continue;
    --shown;
    telling += line + "\n";
  }
  return (telling.empty() ? log : telling).substr(0, max_bytes);
}

core::Refused HostFailure(const Slices& slices, const HostCompileFailed& failed) {
  const bool in_harness = failed.file == kHarnessFile;
  std::string reason = in_harness ? slices.entry + " cannot be called with the manifest's arguments: "
                                  : std::string("the host code does not compile: ");
  std::string lines = TellingLines(failed.log, 1500);
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  // Behind the first error, which is all that a table shows: most often it is for want of that header.
  std::string left_out;
  for (const std::string& note : slices.notes)
    if (note.find("host slice") != std::string::npos) left_out += (left_out.empty() ? " (" : "; ") + note;
  if (!left_out.empty()) {
    const size_t error = lines.find("error: ");
    lines.insert(std::min(lines.find('\n', error == std::string::npos ? 0 : error), lines.size()), left_out + ")");
  }
  reason += lines;
  if (failed.line == 0 || in_harness)
    return {core::Check::kHostCompile, std::move(reason), slices.file, slices.entry_line};
  return {core::Check::kHostCompile, std::move(reason), failed.file, failed.line};
}

// A __global__ function as the entry: the manifest gives its launch, and nothing has to run.
Result<RecordOutcome> PlanOfKernel(const Slices& slices, const RecordRequest& request) {
  const core::KernelSpec& spec = *request.spec;
  if (!spec.launch)
    return RecordOutcome(Refuse(slices, fmt::format("{} is a kernel and the manifest gives no launch", slices.entry)));
  if (spec.args.size() != slices.parameters.size()) {
    return RecordOutcome(Refuse(slices, fmt::format("{} takes {} arguments, the manifest gives {}", slices.entry,
                                                    slices.parameters.size(), spec.args.size())));
  }
  std::map<std::string, int64_t> variables;
  for (const auto& [name, value] : request.scalars) {
    if (const auto* integer = std::get_if<int64_t>(&value)) variables[name] = *integer;
  }
  core::KernelLaunch launch;
  launch.kernel = slices.entry_name;
  launch.file = slices.file;
  launch.line = slices.entry_line;
  const auto dimension = [&](const core::Expression& expression) -> Result<uint32_t> {
    WW_ASSIGN(const int64_t value, expression.Evaluate(variables));
    if (value < 0 || value > 0x7fffffff) {
      return Fail(ErrorCode::kConfig,
                  fmt::format("launch: {} is {}, which is not a valid dimension", expression.text(), value));
    }
    return static_cast<uint32_t>(value);
  };
  const auto dimensions = [&](const std::vector<core::Expression>& expressions, core::Dim3& target) -> Status {
    uint32_t* const parts[] = {&target.x, &target.y, &target.z};
    for (size_t i = 0; i < std::min<size_t>(3, expressions.size()); ++i) {
      WW_ASSIGN(*parts[i], dimension(expressions[i]));
    }
    return {};
  };
  WW_TRY(dimensions(spec.launch->grid, launch.grid));
  WW_TRY(dimensions(spec.launch->block, launch.block));
  if (spec.launch->shared_bytes) {
    WW_ASSIGN(launch.dynamic_shared_bytes, dimension(*spec.launch->shared_bytes));
  }
  core::LaunchPlan plan;
  for (size_t i = 0; i < spec.args.size(); ++i) {
    if (const auto found = slices.unsupported.find(i); found != slices.unsupported.end()) {
      return RecordOutcome(Refuse(slices, found->second.reason, found->second.line));
    }
    const core::Argument& argument = spec.args[i];
    const core::ParameterInfo& parameter = slices.parameters[i];
    core::KernelParameter value;
    if (const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind)) {
      if (parameter.is_pointer)
        return RecordOutcome(
            Refuse(slices, fmt::format("parameter '{}' of {} is a pointer", parameter.name, slices.entry)));
      const auto given = request.scalars.find(argument.name);
      if (given == request.scalars.end())
        return Fail(ErrorCode::kUsage, fmt::format("no value for the scalar argument '{}'", argument.name));
      // Converted as in a C++ call: an i32 of the manifest may be passed to a size_t parameter.
      core::ScalarArgument converted = *scalar;
      if (parameter.dtype) converted.dtype = *parameter.dtype;
      core::ScalarValue number = given->second;
      if (core::IsFloat(converted.dtype) && std::holds_alternative<int64_t>(number))
        number = static_cast<double>(std::get<int64_t>(number));
      if (!core::IsFloat(converted.dtype) && std::holds_alternative<double>(number))
        number = static_cast<int64_t>(std::get<double>(number));
      value.bytes = core::ScalarBytes(converted, number);
    } else {
      if (!parameter.is_pointer)
        return RecordOutcome(
            Refuse(slices, fmt::format("parameter '{}' of {} is not a pointer", parameter.name, slices.entry)));
      value.bytes.resize(8);
      const RecordBuffer& buffer = request.buffers[plan.buffers.size()];
      value.pointers[0] = {buffer.same_as.value_or(static_cast<uint32_t>(plan.buffers.size())), 0};
      plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, buffer.name, buffer.bytes});
    }
    launch.parameters.push_back(std::move(value));
  }
  plan.ops.push_back(std::move(launch));
  return RecordOutcome(Recorded{std::move(plan), {}});
}

// ValidatePlan's limits are those of CUDA and of warpwright; exceeding them is the candidate's fault.
Result<RecordOutcome> Validated(const Slices& slices, Result<RecordOutcome> outcome) {
  if (!outcome) return outcome;
  const auto* recorded = std::get_if<Recorded>(&*outcome);
  if (recorded == nullptr) return outcome;
  if (const Status valid = core::ValidatePlan(recorded->plan); !valid)
    return RecordOutcome(Refuse(slices, valid.error().message));
  return outcome;
}

using Uses = std::map<std::string, core::PrecisionUse>;

Result<Uses> ForeignUses(const Recorder& recorder, const Slices& slices) {
  const auto read = [](const std::filesystem::path& path) -> Result<HostObject> {
    WW_ASSIGN(const std::string bytes, base::ReadFile(path, kObjectLimitBytes));
    return ReadHostObject(std::as_bytes(std::span(bytes)));
  };
  std::set<std::string> runtime;
  for (const std::filesystem::path& path : recorder.runtime) {
    WW_ASSIGN(HostObject object, read(path));
    runtime.merge(object.defined);
  }
  WW_ASSIGN(const HostObject object, read(recorder.object));
  Uses uses = FindForeignUses(object, runtime, slices);
  uses.merge(EntrySymbols(object, slices));
  return uses;
}

struct Programs {
  Recorder usual;
  std::optional<Recorder> other;  // of the other build; nothing where that does not compile
};
Result<std::variant<Programs, core::Refused>> BuildBoth(const Slices& slices, const RecordRequest& request,
                                                        const HostProgram& host, const std::string& harness) {
  using Outcome = std::variant<Programs, core::Refused>;
  using Built = Result<std::variant<Recorder, HostCompileFailed>>;
  const auto build = [&](HostBuild how) {
    return BuildRecorder(slices.file, host, harness, how, request.cache, request.compile_deadline);
  };
  Built other = HostCompileFailed{}, usual = HostCompileFailed{};
  {
    const std::jthread beside([&] { other = build(HostBuild::kOther); });
    usual = build(HostBuild::kUsual);
  }
  if (!usual) return Fail(std::move(usual).error());
  if (const auto* failed = std::get_if<HostCompileFailed>(&*usual)) return Outcome(HostFailure(slices, *failed));
  Programs programs{std::get<Recorder>(*usual), std::nullopt};
  if (!other) return Fail(std::move(other).error());
  if (auto* built = std::get_if<Recorder>(&*other)) programs.other = std::move(*built);
  return Outcome(std::move(programs));
}

void AddEffects(const Slices& slices, const Recording& recording, Uses& uses) {
  for (const Recording::Effect& effect : recording.effects)
    uses[std::string(core::kHostPrefix) + effect.what] =
        PlaceUse(fmt::format("{} ({})", effect.what, effect.function), effect.function, slices);
}

// What the third run shows beside the plan.
void AddLater(const Slices& slices, const core::LaunchPlan& plan, const std::vector<std::string>& returned,
              std::variant<Recording, core::Refused> outcome, Uses& uses) {
  const auto add = [&](const char* what) {
    uses[std::string(core::kHostPrefix) + what] = {what, slices.file, slices.entry_line};
  };
  auto* later = std::get_if<Recording>(&outcome);
  if (later == nullptr) return add(kFailsLater);
  if (later->returned_failing)
    uses[std::string(core::kReturnPrefix) + "failing " + *later->returned_failing] = {
        *later->returned_failing + " where launches fail", slices.file, slices.entry_line};
  AddEffects(slices, *later, uses);
  if (!returned.empty() &&
      std::find(later->returned.begin(), later->returned.end(), returned.back()) == later->returned.end())
    return add(kDependsOnCalls);
  if (DependsOnEarlierCalls(plan, std::move(*later))) add(kDependsOnCalls);
}

Result<RecordOutcome> RecordLauncher(const Slices& slices, const RecordRequest& request) {
  const auto harness = MakeHarness(slices, *request.spec);
  if (const auto* refused = std::get_if<core::Refused>(&harness)) return RecordOutcome(*refused);
  const HostProgram host = MakeHostProgram(slices);
  WW_ASSIGN(const auto built, BuildBoth(slices, request, host, std::get<std::string>(harness)));
  if (const auto* refused = std::get_if<core::Refused>(&built)) return RecordOutcome(*refused);
  const auto& [usual, other] = std::get<Programs>(built);
  using Outcome = std::variant<Recording, core::Refused>;
  // Concurrently: the runs are independent.
  Result<Outcome> outcomes[kRuns] = {core::Refused{}, core::Refused{}, core::Refused{}};
  {
    std::vector<std::jthread> threads;
    for (const Run run : {Run::kPlain, Run::kOtherWorld, Run::kLater})
      threads.emplace_back([&, run] {
        const Recorder& recorder = run == Run::kOtherWorld && other ? *other : usual;
        outcomes[static_cast<size_t>(run)] = RunOnce(slices, request, recorder.program, host, run);
      });
  }
  for (const auto& outcome : outcomes)
    if (!outcome) return Fail(outcome.error());
  auto& [plain, world, later] = outcomes;
  if (const auto* refused = std::get_if<core::Refused>(&*plain)) return RecordOutcome(*refused);
  std::vector<core::PlanBuffer> arguments;
  for (const RecordBuffer& buffer : request.buffers)
    arguments.push_back({core::PlanBuffer::Kind::kArgument, buffer.name, buffer.bytes});
  const auto agree = [&](const Outcome& second) -> std::variant<core::LaunchPlan, core::Refused> {
    if (const auto* refused = std::get_if<core::Refused>(&second)) return *refused;
    return MakePlan(std::get<Recording>(*plain), std::get<Recording>(second), arguments, slices.file);
  };
  auto plan = agree(*world);
  bool by_build = !other;
  if (other && std::holds_alternative<core::Refused>(plan)) {  // because of the build, or of the rest?
    WW_ASSIGN(world, RunOnce(slices, request, usual.program, host, Run::kOtherWorld));
    plan = agree(*world);
    by_build = true;
  }
  if (auto* refused = std::get_if<core::Refused>(&plan)) {
    if (refused->line == 0) refused->line = slices.entry_line;
    return RecordOutcome(std::move(*refused));
  }
  const Recording &first = std::get<Recording>(*plain), &second = std::get<Recording>(*world);
  WW_ASSIGN(Uses foreign, ForeignUses(usual, slices));
  if (first.unordered) foreign[std::string(core::kHostPrefix) + first.unordered->instruction] = *first.unordered;
  if (by_build) foreign[std::string(core::kBuildPrefix) + kOtherBuild] = {kOtherBuild, slices.file, slices.entry_line};
  // What depends on data is not known here: the two recordings return something else.
  const bool known = first.returned == second.returned;
  if (!known) foreign[std::string(core::kReturnPrefix) + "varies"] = {"that vary", slices.file, slices.entry_line};
  for (const std::string& value : known ? first.returned : std::vector<std::string>())
    foreign[std::string(core::kReturnPrefix) + value] = {value, slices.file, slices.entry_line};
  AddEffects(slices, first, foreign);
  AddEffects(slices, second, foreign);
  auto& agreed = std::get<core::LaunchPlan>(plan);
  AddLater(slices, agreed, known ? first.returned : std::vector<std::string>(), std::move(*later), foreign);
  return RecordOutcome(Recorded{std::move(agreed), std::move(foreign)});
}

}  // namespace

Result<RecordOutcome> RecordPlan(const Slices& slices, const RecordRequest& request) {
  size_t buffers = 0;
  for (const core::Argument& argument : request.spec->args)
    buffers += std::holds_alternative<core::BufferArgument>(argument.kind);
  if (buffers != request.buffers.size())
    return Fail(ErrorCode::kUsage, "the recorder needs every buffer argument of the manifest");
  return Validated(slices, slices.entry_is_kernel ? PlanOfKernel(slices, request) : RecordLauncher(slices, request));
}

std::string PlanDigest(const core::LaunchPlan& plan) {
  base::Hasher hasher;
  const auto number = [&](auto value) { hasher.Add(std::to_string(value)); };
  const auto pointer = [&](const core::DevicePointer& p) {
    number(p.buffer);
    number(p.offset);
  };
  for (const core::PlanBuffer& buffer : plan.buffers) {
    hasher.Add(buffer.kind == core::PlanBuffer::Kind::kArgument ? buffer.name : "workspace");
    number(buffer.bytes);
  }
  for (const auto* ops : {&plan.setup, &plan.ops}) {
    number(ops->size());
    for (const core::PlanOp& op : *ops) {
      number(op.index());
      std::visit(Overload{[&](const core::KernelLaunch& x) {
                            hasher.Add(x.kernel);
                            for (const core::Dim3& d : {x.grid, x.block}) number(d.x), number(d.y), number(d.z);
                            number(x.dynamic_shared_bytes), number(x.stream), number(x.cooperative),
                                number(x.parameters.size());
                            for (const core::KernelParameter& parameter : x.parameters) {
                              hasher.Add(std::span<const std::byte>(parameter.bytes));
                              number(parameter.pointers.size());
                              for (const auto& [offset, p] : parameter.pointers) number(offset), pointer(p);
                            }
                          },
                          [&](const core::MemsetOp& x) {
                            pointer(x.destination), number(x.value), number(x.unit), number(x.bytes), number(x.stream);
                          },
                          [&](const core::CopyOp& x) {
                            pointer(x.destination), pointer(x.source), number(x.bytes), number(x.stream);
                          },
                          [&](const core::UploadOp& x) {
                            pointer(x.destination), hasher.Add(std::span<const std::byte>(x.bytes)), number(x.stream);
                          },
                          [&](const core::SymbolUploadOp& x) {
                            hasher.Add(x.symbol), number(x.offset), hasher.Add(std::span<const std::byte>(x.bytes)),
                                number(x.stream);
                          },
                          [&](const core::EventOp& x) {
                            number(static_cast<int>(x.kind)), number(x.event), number(x.stream);
                          }},
                 op);
    }
  }
  return hasher.Finish();
}

}  // namespace warpwright::source
