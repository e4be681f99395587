#include "worker/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "base/hash.h"
#include "compile/module_cache.h"
#include "compile/nvcc.h"
#include "core/tool_finding.h"
#include "lift/equivalence.h"
#include "lift/lift.h"
#include "source/includes.h"
#include "source/literals.h"
#include "source/whole_host.h"
#include "worker/codec.h"

namespace warpwright::worker {
namespace {

constexpr size_t kMaxRemembered = 512, kMaxWholes = 16;

class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Clearing everything is simple, rare and costs only some repeated work.
template <typename Map>
void Bound(Map& map) {
  if (map.size() > kMaxRemembered) map.clear();
}

// The kernels that the plan launches, each once, and the symbols that it writes.
std::vector<std::string> LaunchedKernels(const core::LaunchPlan& plan) {
  std::vector<std::string> kernels;
  for (const auto* ops : {&plan.setup, &plan.ops})
    for (const auto& op : *ops)
      if (const auto* launch = std::get_if<core::KernelLaunch>(&op);
          launch != nullptr && std::find(kernels.begin(), kernels.end(), launch->kernel) == kernels.end())
        kernels.push_back(launch->kernel);
  return kernels;
}

constexpr const char* kOtherBuild = "whether its device code is built as C++20 without assertions";
constexpr const char* kUnsignedChar = "whether plain char has a sign, as on x86-64, or none, as on aarch64";

// Beside what is launched, what is compiled with it in any case: all shapes then have one module.
compile::CompileRequest CompileRequestFor(const source::Slices& slices, const std::vector<std::string>& launched,
                                          const std::string& arch, compile::Build build) {
  std::set<std::string> kernels(launched.begin(), launched.end());
  kernels.insert(slices.kernels.begin(), slices.kernels.end());
  return {.file = slices.file,
          .text = slices.device,
          .headers = slices.device_headers,
          .kernels = {kernels.begin(), kernels.end()},
          .arch = arch,
          .build = build,
          .options = slices.build};
}

core::Refused Refusal(const compile::PtxViolation& violation, const std::string& file) {
  return {core::Check::kPtxRules,
          fmt::format("it uses '{}', which needs `allow: [{}]` in the manifest", violation.instruction,
                      core::Name(violation.needs)),
          violation.file.empty() ? file : violation.file, violation.line};
}

// Random contents keep their character when they are moved; those from a file may be sorted, or offsets.
std::vector<core::TimedBuffer> RolesOf(const core::KernelSpec& spec) {
  std::vector<core::TimedBuffer> roles;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const bool input = buffer->role == core::Role::kIn || buffer->role == core::Role::kInOut;
    const bool output = buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut;
    roles.push_back({buffer->dtype, output, input && buffer->init.kind != core::Init::Kind::kFile});
  }
  return roles;
}

std::vector<base::Bytes> Shared(std::vector<std::vector<std::byte>>&& buffers) {
  return {std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end())};
}

// Most buffers are inputs, and are returned as they were sent.
void LeaveWhatWasSent(const std::vector<core::BufferContent>& sent, core::Executed& executed) {
  executed.as_sent.resize(executed.buffers.size());
  for (size_t i = 0; i < executed.buffers.size() && i < sent.size(); ++i) {
    executed.as_sent[i] = executed.as_sent[i] || executed.buffers[i] == sent[i].bytes;
    if (executed.as_sent[i]) executed.buffers[i] = {};
  }
}

// Kernels may compare with a number that the launcher computed. Beyond these the bits are those of a real number.
void AddParameters(const core::LaunchPlan& plan, std::set<double>& numbers) {
  constexpr int64_t kMostNarrow = 1 << 26, kMostWide = int64_t{1} << 42;
  for (const core::PlanOp& op : plan.ops) {
    const auto* launch = std::get_if<core::KernelLaunch>(&op);
    if (launch == nullptr) continue;
    for (const core::KernelParameter& parameter : launch->parameters) {
      if (!parameter.pointers.empty()) continue;
      int64_t value = 0, most = kMostNarrow;
      if (parameter.bytes.size() == sizeof(int32_t)) {
        int32_t narrow = 0;
        std::memcpy(&narrow, parameter.bytes.data(), sizeof narrow);
        value = narrow;
      } else if (parameter.bytes.size() == sizeof value) {
        std::memcpy(&value, parameter.bytes.data(), sizeof value);
        most = kMostWide;
      }
      if (value > 0 && value <= most) numbers.insert(static_cast<double>(value));
    }
  }
}

// Parts of a run by their names; waiting for the device is a stage of its own, and no time of the run.
void AddDeviceTime(const std::map<std::string, double>& parts, std::map<std::string, double>& seconds) {
  for (const auto& [part, spent] : parts) {
    if (part != core::kLeaseSeconds) {
      seconds["run: " + part] += spent;
      continue;
    }
    seconds[std::string(kLeaseStage)] += spent;
    seconds[std::string(kRunStage)] -= spent;
  }
}

}  // namespace

Result<std::shared_ptr<const source::SliceOutcome>> Service::SliceOnce(const core::SourceRef& source,
                                                                       const std::string& entry) {
  // By the content of everything that is included, since a root may be a folder that a user edits.
  WW_ASSIGN(const source::SourceTree tree, source::ReadSourceTree(source));
  base::Hasher hasher;
  hasher.Add(tree.main).Add(entry).Add(source.build.Text());
  for (const auto& [path, file] : tree.files) hasher.Add(path).Add(file.text);
  const std::string key = hasher.Finish();
  auto found = slices_.find(key);
  if (found == slices_.end()) {
    Bound(slices_);
    announce_(kParseStage);
    WW_ASSIGN(source::SliceOutcome outcome, source::Slice(source, entry));
    found = slices_.emplace(key, std::make_shared<const source::SliceOutcome>(std::move(outcome))).first;
  }
  return found->second;
}

RecordedCall Service::CallOf(const std::shared_ptr<const source::SliceOutcome>& sliced, const Work& work,
                             const core::Chip& chip) {
  return {{sliced, &std::get<source::Slices>(*sliced)}, work.spec, work.scalars, work.buffers, chip};
}

Result<Service::ModuleOutcome> Service::CompileNow(const compile::CompileRequest& request) {
  WW_ASSIGN(const compile::Compiler* compiler, TheCompiler());
  announce_(kCompileStage);
  compile::BothBuilds built;
  if (request.build == compile::Build::kUsual) {
    WW_ASSIGN(built, compiler->CompileBoth(request));
  } else {
    WW_ASSIGN(built.usual, compiler->Compile(request));
  }
  return std::visit(Overload{[](core::CompileFailed& failed) -> ModuleOutcome { return std::move(failed); },
                             [&](core::CompiledModule& module) -> ModuleOutcome {
                               return Module{std::make_shared<const core::CompiledModule>(std::move(module)),
                                             built.differs, built.by_char};
                             }},
                    built.usual);
}

Result<Service::ModuleOutcome> Service::CompileOnce(const source::Slices& slices, const core::LaunchPlan& plan,
                                                    const std::string& arch, compile::Build build) {
  const std::vector<std::string> launched = LaunchedKernels(plan);
  compile::CompileRequest compile = CompileRequestFor(slices, launched, arch, build);
  base::Hasher hasher;
  hasher.Add(slices.Digest()).Add(compile.arch).Add(fmt::format("{}", static_cast<int>(build)));
  for (const auto& kernel : compile.kernels) hasher.Add(kernel);
  const std::string key = hasher.Finish();
  if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
  WW_ASSIGN(ModuleOutcome outcome, CompileNow(compile));
  const auto* failed = std::get_if<core::CompileFailed>(&outcome);
  if (failed != nullptr && compile::FailedForName(*failed) && compile.kernels.size() > launched.size()) {
    compile.kernels = launched;
    WW_ASSIGN(outcome, CompileNow(compile));
  }
  Bound(modules_);
  return modules_.emplace(key, std::move(outcome)).first->second;
}

std::shared_ptr<const compile::PtxFacts> Service::FactsOnce(const core::CompiledModule& module,
                                                            const std::set<core::Allow>& allowed) {
  base::Hasher hasher;
  hasher.Add(module.key);
  for (const core::Allow allow : allowed) hasher.Add(core::Name(allow));
  const std::string key = hasher.Finish();
  if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  Bound(facts_);
  return facts_.emplace(key, std::make_shared<const compile::PtxFacts>(compile::FactsOf(module.ptx, allowed)))
      .first->second;
}

Result<Service::WholeOutcome> Service::BuildWhole(const core::SourceRef& source, const core::CompiledModule& module) {
  WW_ASSIGN(const compile::Compiler* compiler, TheCompiler());
  WW_ASSIGN(const source::SourceTree tree, source::ReadSourceTree(source));
  const std::filesystem::path nvcc = compile::FindNvcc(compiler->toolkit());
  std::error_code ignored;  // another nvcc, another build
  const auto installed = std::filesystem::last_write_time(nvcc, ignored).time_since_epoch().count();
  base::Hasher hasher;
  hasher.Add("whole").Add(nvcc.string()).Add(std::to_string(installed));
  hasher.Add(module.key).Add(tree.main).Add(source.build.Text());
  for (const auto& [path, file] : tree.files) hasher.Add(path).Add(file.text);
  const std::string key = hasher.Finish();
  if (const auto found = wholes_.find(key); found != wholes_.end()) return found->second;
  if (wholes_.size() >= kMaxWholes) wholes_.clear();
  const compile::ModuleCache cache(cache_);
  const auto remember = [&](compile::WholeBuild&& whole) -> WholeOutcome {
    return wholes_.emplace(key, std::make_shared<const compile::WholeBuild>(std::move(whole))).first->second;
  };
  if (auto whole = cache.LoadWhole(key)) return remember(std::move(*whole));
  announce_(kCompileStage);
  WW_ASSIGN(compile::WholeOutcome outcome, compile::CompileWithNvcc(compiler->toolkit(), source, module));
  if (auto* failed = std::get_if<core::CompileFailed>(&outcome))
    return wholes_.emplace(key, std::move(*failed)).first->second;
  auto& whole = std::get<compile::WholeBuild>(outcome);
  cache.StoreWhole(key, whole);
  return remember(std::move(whole));
}

Result<std::string> Service::NoteOnLaunches(const Work& work, const compile::WholeBuild& whole,
                                            const core::LaunchPlan& plan, const core::Chip& chip) {
  WW_ASSIGN(const auto sliced, SliceOnce(work.source, work.spec.entry));
  const auto& slices = std::get<source::Slices>(*sliced);
  WW_ASSIGN(const compile::Compiler* compiler, TheCompiler());
  const RecordedCall call = CallOf(sliced, work, chip);
  const std::string key = base::Hasher().Add(RecordingKey(call)).Add(whole.host_files.at(whole.host_main)).Finish();
  if (const auto found = launches_notes_.find(key); found != launches_notes_.end()) return found->second;
  announce_(kRecordStage);
  WW_ASSIGN(const source::LaunchComparison compared,
            source::CompareLaunches(
                slices, recordings_.RequestFor(call),
                {whole.host_files, whole.host_main, compiler->toolkit().include_folders, whole.module}, plan));
  const std::string note = std::visit(
      Overload{[](const source::SameLaunches&) { return std::string(); },
               [](const source::OtherLaunches& other) { return std::string(core::kLaunchesOtherwise) + other.what; },
               [](const source::NotCompared& unknown) { return std::string(core::kLaunchesUnknown) + unknown.why; }},
      compared);
  Bound(launches_notes_);
  return launches_notes_.emplace(key, note).first->second;
}

Result<const compile::Compiler*> Service::TheCompiler() {
  if (!compiler_) {
    WW_ASSIGN(compile::Compiler compiler, compile::Compiler::Create(cache_));
    compiler_ = std::make_unique<compile::Compiler>(std::move(compiler));
  }
  return compiler_.get();
}

Result<core::Device*> Service::DeviceFor(const std::string& name) {
  auto found = devices_.find(name);
  if (found == devices_.end()) {
    WW_ASSIGN(auto device, open_device_(name, {[this] { return TheCompiler(); },
                                               [this](bool waits) { announce_(waits ? kLeaseStage : kRunStage); }}));
    found = devices_.emplace(name, std::move(device)).first;
  }
  return found->second.get();
}

bool Service::usable() const {
  return std::all_of(devices_.begin(), devices_.end(), [](const auto& item) { return item.second->usable(); });
}

Result<Service::PrepareOutcome> Service::Prepare(const Work& work, const core::Chip& chip,
                                                 std::map<std::string, double>& seconds) {
  Stopwatch watch;
  WW_ASSIGN(const auto sliced, SliceOnce(work.source, work.spec.entry));
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return PrepareOutcome(*refused);
  const auto& slices = std::get<source::Slices>(*sliced);
  seconds["slice"] += watch.Lap();

  const auto announce = [&] { announce_(kRecordStage); };
  WW_ASSIGN(auto recorded, recordings_.Of(CallOf(sliced, work, chip), announce));
  if (const auto* refused = std::get_if<core::Refused>(&recorded)) {
    // A rejection by the host compiler is a compile error like any other: the Diagnoser reads its log.
    if (refused->check == core::Check::kHostCompile) return PrepareOutcome(core::CompileFailed{refused->reason});
    return PrepareOutcome(*refused);
  }
  auto& [plan, uses, compared, decisions, host_us, _] = std::get<source::Recorded>(recorded);
  WW_TRY(core::ValidatePlan(plan));
  uses.insert(slices.build_dependence.begin(), slices.build_dependence.end());
  seconds["record"] += watch.Lap();

  WW_ASSIGN(const ModuleOutcome compiled, CompileOnce(slices, plan, chip.arch, work.build));
  if (const auto* failed = std::get_if<core::CompileFailed>(&compiled)) return PrepareOutcome(*failed);
  const auto& [module, depends_on_build, depends_on_char] = std::get<Module>(compiled);
  const auto facts = FactsOnce(*module, work.spec.allow);
  if (facts->violation) return PrepareOutcome(Refusal(*facts->violation, work.source.file));
  for (const auto& [depends, what] : {std::pair(depends_on_build, kOtherBuild), {depends_on_char, kUnsignedChar}})
    if (depends)
      uses.insert({.use = {.kind = core::CodeUseKind::kBuild, .format = {}, .detail = what},
                   .instruction = what,
                   .file = slices.file,
                   .line = slices.entry_line});
  seconds["compile"] += watch.Lap();
  return PrepareOutcome(Prepared{.module = module,
                                 .facts = facts,
                                 .plan = std::move(plan),
                                 .uses = std::move(uses),
                                 .compared = std::move(compared),
                                 .decisions = std::move(decisions),
                                 .host_us = host_us});
}

Status Service::BeginUpcoming(const core::ExecuteRequest& request, const core::Chip& chip) {
  if (request.upcoming.empty()) return {};
  WW_ASSIGN(const auto sliced, SliceOnce(request.source, request.spec.entry));
  if (!std::holds_alternative<source::Slices>(*sliced)) return {};
  for (const core::UpcomingCall& call : request.upcoming)
    recordings_.Begin(CallOf(sliced, {request.source, request.spec, call.scalars, call.buffers}, chip));
  return {};
}

Result<core::ExecuteOutcome> Service::Execute(const core::ExecuteRequest& request) {
  WW_ASSIGN(core::Device * device, DeviceFor(request.device));
  WW_TRY(BeginUpcoming(request, device->chip()));
  core::Executed executed;
  const auto build = request.options.as_written ? compile::Build::kAsWritten : compile::Build::kUsual;
  WW_ASSIGN(const PrepareOutcome outcome, Prepare({.source = request.source,
                                                   .spec = request.spec,
                                                   .scalars = request.scalars,
                                                   .buffers = request.buffers,
                                                   .build = build},
                                                  device->chip(), executed.seconds));
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) return core::ExecuteOutcome(*failed);
  if (const auto* refused = std::get_if<core::Refused>(&outcome)) return core::ExecuteOutcome(*refused);
  const auto& prepared = std::get<Prepared>(outcome);
  // Rules about code stay rules about the slice: a whole file holds other entries' kernels as well.
  std::shared_ptr<const core::CompiledModule> run_module = prepared.module;
  std::string launches_note;
  if (request.options.nvcc) {
    WW_ASSIGN(const WholeOutcome built, BuildWhole(request.source, *prepared.module));
    if (const auto* failed = std::get_if<core::CompileFailed>(&built)) return core::ExecuteOutcome(*failed);
    const auto& whole = std::get<std::shared_ptr<const compile::WholeBuild>>(built);
    WW_ASSIGN(launches_note, NoteOnLaunches({request.source, request.spec, request.scalars, request.buffers}, *whole,
                                            prepared.plan, device->chip()));
    run_module = std::shared_ptr<const core::CompiledModule>(whole, &whole->module);
  }
  if (request.options.build_only) return core::ExecuteOutcome(std::move(executed));

  announce_(kRunStage);
  Stopwatch watch;
  WW_ASSIGN(core::DeviceOutcome ran,
            device->Run({run_module.get(), &prepared.plan, &request.buffers, request.options, &request.beside}));
  executed.seconds["run"] = watch.Lap();
  if (auto* fault = std::get_if<core::Fault>(&ran))
    return core::ExecuteOutcome(core::Faulted{std::move(*fault), request.case_name});
  auto& run = std::get<core::DeviceRun>(ran);
  if (request.options.keep_outputs) {
    executed.buffers = Shared(std::move(run.buffers));
    executed.as_sent = std::move(run.as_sent);
    LeaveWhatWasSent(request.buffers, executed);
  }
  executed.launches = std::move(run.launches);
  executed.time_us = run.time_us;
  executed.modelled = device->modelled();
  executed.sampled = run.sampled;
  executed.guards = std::move(run.guards);
  executed.differing_runs = run.differing_runs;
  executed.other_buffers = Shared(std::move(run.other_buffers));
  executed.parts = std::move(run.parts);
  executed.changed_globals = std::move(run.changed_globals);
  executed.state = std::move(run.state);
  executed.old_read = std::move(run.old_read);
  executed.extents = std::move(run.extents);
  executed.decisions = std::move(run.decisions);
  if (request.options.decisions)
    executed.decisions.insert(executed.decisions.end(), prepared.decisions.begin(), prepared.decisions.end());
  executed.notes = std::move(run.notes);
  if (!launches_note.empty()) executed.notes.push_back(std::move(launches_note));
  executed.lines = std::move(run.lines);
  AddDeviceTime(run.seconds, executed.seconds);
  executed.uses = prepared.facts->uses;
  std::set<double> numbers = prepared.facts->numbers;
  for (const int64_t number : source::IntegerLiterals(request.source.text)) numbers.insert(static_cast<double>(number));
  std::set<double> compared(prepared.compared.begin(), prepared.compared.end());
  AddParameters(prepared.plan, compared);
  executed.compared.assign(compared.begin(), compared.end());
  for (const core::KernelResources& kernel : prepared.module->kernels) executed.kernels.push_back(kernel.kernel);
  executed.host_us = prepared.host_us;
  executed.numbers.assign(numbers.begin(), numbers.end());
  executed.uses.insert(prepared.uses.begin(), prepared.uses.end());
  executed.plan_digest = source::PlanDigest(prepared.plan);
  executed.module_key = prepared.module->key;
  return core::ExecuteOutcome(std::move(executed));
}

Result<core::TimeOutcome> Service::Time(const core::TimeRequest& request) {
  WW_ASSIGN(core::Device * device, DeviceFor(request.device));
  std::map<std::string, double> seconds;
  Prepared sides[2];
  const core::SourceRef* sources[2] = {&request.original, &request.candidate};
  for (int i = 0; i < 2; ++i) {
    WW_ASSIGN(PrepareOutcome outcome,
              Prepare({*sources[i], request.spec, request.scalars, request.buffers}, device->chip(), seconds));
    if (auto* failed = std::get_if<core::CompileFailed>(&outcome)) return core::TimeOutcome(std::move(*failed));
    if (auto* refused = std::get_if<core::Refused>(&outcome)) return core::TimeOutcome(std::move(*refused));
    sides[i] = std::move(std::get<Prepared>(outcome));
  }
  const std::vector<core::TimedBuffer> roles = RolesOf(request.spec);

  announce_(kRunStage);
  Stopwatch watch;
  core::DeviceTimingRequest timing;
  timing.original = {sides[0].module.get(), &sides[0].plan};
  timing.candidate = {sides[1].module.get(), &sides[1].plan};
  timing.buffers = &request.buffers;
  timing.roles = &roles;
  timing.options = request.options;
  WW_ASSIGN(core::DeviceTimingOutcome outcome, device->Time(timing));
  seconds["run"] = watch.Lap();
  if (auto* fault = std::get_if<core::Fault>(&outcome))
    return core::TimeOutcome(core::Faulted{std::move(*fault), request.case_name});
  core::Timed& timed = std::get<core::Timed>(outcome);
  AddDeviceTime(timed.seconds, seconds);
  timed.seconds = std::move(seconds);
  return core::TimeOutcome(std::move(timed));
}

lift::Prepare Service::PrepareToLift(const core::SourceRef& source, const core::KernelSpec& spec,
                                     const core::Chip& chip) {
  return [this, &source, &spec, &chip](const core::LiftShape& shape) -> Result<lift::PrepareOutcome> {
    const Work work{source, spec, shape.scalars, shape.buffers};
    WW_ASSIGN(const auto sliced, SliceOnce(work.source, work.spec.entry));
    if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return lift::NotPrepared{refused->reason};
    const auto& slices = std::get<source::Slices>(*sliced);
    const auto announce = [&] { announce_(kRecordStage); };
    WW_ASSIGN(auto recorded, recordings_.Of(CallOf(sliced, work, chip), announce));
    if (const auto* refused = std::get_if<core::Refused>(&recorded)) return lift::NotPrepared{refused->reason};
    core::LaunchPlan& plan = std::get<source::Recorded>(recorded).plan;
    WW_TRY(core::ValidatePlan(plan));
    // Code whose own names are those of mathematical functions has no lifting build; its functions are followed as the
    // instructions that they are made of.
    WW_ASSIGN(ModuleOutcome compiled, CompileOnce(slices, plan, chip.arch, compile::Build::kMarkers));
    if (std::holds_alternative<core::CompileFailed>(compiled)) {
      WW_ASSIGN(compiled, CompileOnce(slices, plan, chip.arch, compile::Build::kUsual));
    }
    if (const auto* failed = std::get_if<core::CompileFailed>(&compiled)) return lift::NotPrepared{failed->log};
    announce_(kRunStage);
    return lift::PreparedShape{std::get<Module>(compiled).code, std::move(plan)};
  };
}

Result<core::LiftOutcome> Service::Lift(const core::LiftRequest& request) {
  WW_ASSIGN(core::Device * device, DeviceFor(request.device));
  return lift::LiftEntry(request, PrepareToLift(request.source, request.spec, device->chip()));
}

Result<core::Equivalence> Service::Compare(const core::EquivalenceRequest& request) {
  WW_ASSIGN(core::Device * device, DeviceFor(request.device));
  WW_ASSIGN(core::Equivalence answer,
            lift::CompareEntries(request, PrepareToLift(request.original, request.spec, device->chip()),
                                 PrepareToLift(request.candidate, request.spec, device->chip())));
  const std::set<int64_t> known = source::IntegerLiterals(request.original.text);
  for (const int64_t literal : source::IntegerLiterals(request.candidate.text))
    if (!known.contains(literal)) answer.literals.push_back(literal);
  return answer;
}

}  // namespace warpwright::worker
