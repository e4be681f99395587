#include "source/record.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "source/closed_world.h"
#include "source/harness.h"
#include "source/kernel_plan.h"
#include "source/recorder_build.h"
#include "source/recorder_run.h"
#include "source/recording.h"

namespace warpwright::source {
namespace {

constexpr uint64_t kObjectLimitBytes = 256u << 20;
constexpr const char* kDependsOnCalls =
    "other operations after calls with other arguments, on the default stream or with buffers elsewhere";
constexpr const char* kFailsLater =
    "something that fails after calls with other arguments, on the default stream or with buffers elsewhere";
constexpr const char* kOtherBuild =
    "whether it is built as optimized C++20 without assertions, or where plain char has no sign";

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

// ValidatePlan's limits are those of CUDA and of warpwright; exceeding them is the candidate's fault.
Result<RecordOutcome> Validated(const Slices& slices, Result<RecordOutcome> outcome) {
  if (!outcome) return outcome;
  const auto* recorded = std::get_if<Recorded>(&*outcome);
  if (recorded == nullptr) return outcome;
  if (const Status valid = core::ValidatePlan(recorded->plan); !valid)
    return RecordOutcome(RefuseToRecord(slices, valid.error().message));
  return outcome;
}

using Uses = core::CodeUses;

// At the entry, shown as `text`.
void AddUse(Uses& uses, core::CodeUseKind kind, std::string detail, std::string text, const Slices& slices) {
  uses.insert({.use = {.kind = kind, .format = {}, .detail = std::move(detail)},
               .instruction = std::move(text),
               .file = slices.file,
               .line = slices.entry_line});
}

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
    return BuildRecorder(slices.file, host, slices.build, harness, how, request.cache, request.compile_deadline);
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
    uses.insert(PlaceUse({.kind = core::CodeUseKind::kHost, .format = {}, .detail = effect.what},
                         fmt::format("{} ({})", effect.what, effect.function), effect.function, slices));
}

// What the third run shows beside the plan.
void AddLater(const Slices& slices, const core::LaunchPlan& plan, const std::vector<std::string>& returned,
              std::variant<Recording, core::Refused> outcome, Uses& uses) {
  const auto add = [&](const char* what) { AddUse(uses, core::CodeUseKind::kHost, what, what, slices); };
  auto* later = std::get_if<Recording>(&outcome);
  if (later == nullptr) return add(kFailsLater);
  if (later->returned_failing)
    AddUse(uses, core::CodeUseKind::kReturned, "failing " + *later->returned_failing,
           *later->returned_failing + " where launches fail", slices);
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
  if (first.unordered) foreign.insert(*first.unordered);
  if (by_build) AddUse(foreign, core::CodeUseKind::kBuild, kOtherBuild, kOtherBuild, slices);
  // What depends on data is not known here: the two recordings return something else.
  const bool known = first.returned == second.returned;
  if (!known) AddUse(foreign, core::CodeUseKind::kReturned, "varies", "that vary", slices);
  for (const std::string& value : known ? first.returned : std::vector<std::string>())
    AddUse(foreign, core::CodeUseKind::kReturned, value, value, slices);
  AddEffects(slices, first, foreign);
  AddEffects(slices, second, foreign);
  auto& agreed = std::get<core::LaunchPlan>(plan);
  agreed.has_callers_stream = std::any_of(slices.parameters.begin(), slices.parameters.end(), IsStream);
  const auto* third = std::get_if<Recording>(&*later);
  const bool read_inputs = first.served || second.served || (third != nullptr && third->served);
  AddLater(slices, agreed, known ? first.returned : std::vector<std::string>(), std::move(*later), foreign);
  return RecordOutcome(Recorded{.plan = std::move(agreed),
                                .foreign_uses = std::move(foreign),
                                .compared = first.compared,
                                .decisions = first.decisions,
                                .host_us = second.host_us,
                                .read_inputs = read_inputs});
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
                          [&](const core::SymbolCopyOp& x) {
                            hasher.Add(x.symbol), number(x.offset), pointer(x.buffer), number(x.bytes),
                                number(x.stream), number(x.to_symbol);
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
