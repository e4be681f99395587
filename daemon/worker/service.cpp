#include "worker/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "compile/ptx_rules.h"
#include "rewrite/derived_text.h"
#include "rewrite/transform.h"
#include "source/includes.h"
#include "source/inspect.h"
#include "source/record.h"
#include "source/splice.h"
#include "worker/codec.h"

namespace warpwright {
namespace {

constexpr size_t kMaxRemembered = 512;
constexpr size_t kHostReadableBytes = 4096;  // inputs up to this size may be read by the launcher on the host

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

// Forgetting everything is simple, rare and costs some repeated work only.
template <typename Map>
void Bound(Map& map) {
  if (map.size() > kMaxRemembered) map.clear();
}

std::vector<RecordBuffer> RecordBuffers(const std::vector<BufferContent>& contents) {
  std::vector<RecordBuffer> buffers;
  for (const auto& content : contents) {
    RecordBuffer buffer{content.name, content.bytes.size(), content.pointer_offset, {}};
    if (content.read_only && content.bytes.size() <= kHostReadableBytes) buffer.content = content.bytes.Copy();
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

void AddExpressions(Hasher& hasher, const std::vector<Expression>& expressions) {
  hasher.Add(std::to_string(expressions.size()));
  for (const auto& expression : expressions) hasher.Add(expression.text());
}

// Everything that RecordPlan depends on.
std::string PlanKey(const Slices& slices, const KernelSpec& spec, const std::map<std::string, ScalarValue>& scalars,
                    const std::vector<RecordBuffer>& buffers, const Chip& chip) {
  Hasher hasher;
  hasher.Add(slices.Digest()).Add(slices.entry).Add(chip.id);
  for (const auto& argument : spec.args) {
    const auto* scalar = std::get_if<ScalarArgument>(&argument.kind);
    hasher.Add(argument.name).Add(scalar != nullptr ? Name(scalar->dtype) : "buffer");
  }
  if (const auto& launch = spec.launch) {
    AddExpressions(hasher, launch->grid);
    AddExpressions(hasher, launch->block);
    hasher.Add(launch->shared_bytes ? launch->shared_bytes->text() : "");
  }
  for (const auto& [name, value] : scalars)
    hasher.Add(name).Add(std::visit([](auto v) { return fmt::format("{}", v); }, value)).Add(std::to_string(value.index()));
  for (const auto& buffer : buffers)
    hasher.Add(buffer.name).Add(std::to_string(buffer.bytes)).Add(std::to_string(buffer.pointer_offset)).Add(std::span<const std::byte>(buffer.content));
  return hasher.Finish();
}

// The kernels that the plan launches, each once, and the symbols that it writes.
std::vector<std::string> LaunchedKernels(const LaunchPlan& plan) {
  std::vector<std::string> kernels;
  for (const auto* ops : {&plan.setup, &plan.ops})
    for (const auto& op : *ops)
      if (const auto* launch = std::get_if<KernelLaunch>(&op);
          launch != nullptr && std::find(kernels.begin(), kernels.end(), launch->kernel) == kernels.end())
        kernels.push_back(launch->kernel);
  return kernels;
}

std::optional<Refused> CheckPtx(const CompiledModule& module, const KernelSpec& spec, const std::string& file) {
  const auto violations = FindPtxViolations(module.ptx, spec.allow);
  if (violations.empty()) return std::nullopt;
  const auto& first = violations.front();
  return Refused{"ptx-rules", fmt::format("it uses '{}', which needs `allow: [{}]` in the manifest", first.instruction, Name(first.needs)),
                 first.file.empty() ? file : first.file, first.line};
}

// Random contents stay what they are when they are moved round; those from a file may be sorted, or offsets.
std::vector<TimedBuffer> RolesOf(const KernelSpec& spec) {
  std::vector<TimedBuffer> roles;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const bool input = buffer->role == Role::kIn || buffer->role == Role::kInOut;
    const bool output = buffer->role == Role::kOut || buffer->role == Role::kInOut;
    roles.push_back({buffer->dtype, output, input && buffer->init.kind != Init::Kind::kFile});
  }
  return roles;
}

std::vector<Bytes> Shared(std::vector<std::vector<std::byte>>&& buffers) {
  return {std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end())};
}

// Most buffers are inputs, and come back as they went.
void LeaveWhatWasSent(const std::vector<BufferContent>& sent, Executed& executed) {
  executed.as_sent.resize(executed.buffers.size());
  for (size_t i = 0; i < executed.buffers.size() && i < sent.size(); ++i) {
    executed.as_sent[i] = executed.as_sent[i] || executed.buffers[i] == sent[i].bytes;
    if (executed.as_sent[i]) executed.buffers[i] = {};
  }
}

}  // namespace

Result<Inspection> Service::Inspect(const SourceRef& source) { return InspectSource(source); }
Result<RewriteOutcome> Service::Rewrite(const RewriteRequest& request) {
  return IsDerivedText(request.transform) ? DeriveText(request) : ApplyTransform(request);
}
Result<SpliceOutcome> Service::Splice(const SpliceRequest& request) { return ::warpwright::Splice(request); }

Result<const SliceOutcome*> Service::SliceOnce(const SourceRef& source, const std::string& entry) {
  // By the content of everything that is included, since a root may be a folder that someone edits.
  WW_ASSIGN(const SourceTree tree, ReadSourceTree(source));
  Hasher hasher;
  hasher.Add(tree.main).Add(entry);
  for (const auto& [path, file] : tree.files) hasher.Add(path).Add(file.text);
  const std::string key = hasher.Finish();
  auto found = slices_.find(key);
  if (found == slices_.end()) {
    Bound(slices_);
    announce_(kParseStage);
    WW_ASSIGN(SliceOutcome outcome, Slice(source, entry));
    found = slices_.emplace(key, std::move(outcome)).first;
  }
  return &found->second;
}

Result<std::variant<LaunchPlan, Refused>> Service::RecordOnce(const Slices& slices, const Work& work, const Chip& chip) {
  std::vector<RecordBuffer> buffers = RecordBuffers(work.buffers);
  const std::string key = PlanKey(slices, work.spec, work.scalars, buffers, chip);
  if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  RecordRequest record;
  record.spec = &work.spec;
  record.scalars = work.scalars;
  record.buffers = std::move(buffers);
  record.chip = chip;
  record.cache = cache_;
  announce_(kRecordStage);
  WW_ASSIGN(RecordOutcome outcome, RecordPlan(slices, record));
  Bound(plans_);
  return plans_.emplace(key, std::move(outcome)).first->second;
}

Result<Service::ModuleOutcome> Service::CompileOnce(const Slices& slices, const LaunchPlan& plan, const std::string& arch) {
  WW_ASSIGN(const Compiler* compiler, TheCompiler());
  const CompileRequest compile{.file = slices.file,
                               .text = slices.device,
                               .headers = slices.device_headers,
                               .kernels = LaunchedKernels(plan),
                               .arch = arch};
  Hasher hasher;
  hasher.Add(slices.Digest()).Add(compile.arch);
  for (const auto& kernel : compile.kernels) hasher.Add(kernel);
  const std::string key = hasher.Finish();
  if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
  announce_(kCompileStage);
  WW_ASSIGN(CompileOutcome outcome, compiler->Compile(compile));
  Bound(modules_);
  ModuleOutcome kept = std::visit(
      Overload{[](CompileFailed& failed) -> ModuleOutcome { return std::move(failed); },
               [](CompiledModule& module) -> ModuleOutcome { return std::make_shared<const CompiledModule>(std::move(module)); }},
      outcome);
  return modules_.emplace(key, std::move(kept)).first->second;
}

Result<const Compiler*> Service::TheCompiler() {
  if (!compiler_) {
    WW_ASSIGN(Compiler compiler, Compiler::Create(cache_));
    compiler_ = std::make_unique<Compiler>(std::move(compiler));
  }
  return compiler_.get();
}

Result<Device*> Service::DeviceFor(const std::string& name) {
  auto found = devices_.find(name);
  if (found == devices_.end()) {
    WW_ASSIGN(auto device, open_device_(name, {[this] { return TheCompiler(); }, [this] { announce_(kLeaseStage); }}));
    found = devices_.emplace(name, std::move(device)).first;
  }
  return found->second.get();
}

bool Service::usable() const {
  return std::all_of(devices_.begin(), devices_.end(), [](const auto& item) { return item.second->usable(); });
}

Result<Service::PrepareOutcome> Service::Prepare(const Work& work, const Chip& chip, std::map<std::string, double>& seconds) {
  Stopwatch watch;
  WW_ASSIGN(const SliceOutcome* sliced, SliceOnce(work.source, work.spec.entry));
  if (const auto* refused = std::get_if<Refused>(sliced)) return PrepareOutcome(*refused);
  const auto& slices = std::get<Slices>(*sliced);
  seconds["slice"] += watch.Lap();

  WW_ASSIGN(auto recorded, RecordOnce(slices, work, chip));
  if (const auto* refused = std::get_if<Refused>(&recorded)) {
    // What the host compiler rejects is a compile error like any other: the Diagnoser reads its log.
    if (refused->check == "host-compile") return PrepareOutcome(CompileFailed{refused->reason});
    return PrepareOutcome(*refused);
  }
  auto& plan = std::get<LaunchPlan>(recorded);
  WW_TRY(ValidatePlan(plan));
  seconds["record"] += watch.Lap();

  WW_ASSIGN(const ModuleOutcome compiled, CompileOnce(slices, plan, chip.arch));
  if (const auto* failed = std::get_if<CompileFailed>(&compiled)) return PrepareOutcome(*failed);
  const auto& module = std::get<std::shared_ptr<const CompiledModule>>(compiled);
  if (auto refused = CheckPtx(*module, work.spec, work.source.file)) return PrepareOutcome(std::move(*refused));
  seconds["compile"] += watch.Lap();
  return PrepareOutcome(Prepared{module, std::move(plan), slices.build_dependence});
}

Result<ExecuteOutcome> Service::Execute(const ExecuteRequest& request) {
  WW_ASSIGN(Device * device, DeviceFor(request.device));
  Executed executed;
  WW_ASSIGN(const PrepareOutcome outcome,
            Prepare({request.source, request.spec, request.scalars, request.buffers}, device->chip(), executed.seconds));
  if (const auto* failed = std::get_if<CompileFailed>(&outcome)) return ExecuteOutcome(*failed);
  if (const auto* refused = std::get_if<Refused>(&outcome)) return ExecuteOutcome(*refused);
  const auto& prepared = std::get<Prepared>(outcome);

  announce_(kRunStage);
  Stopwatch watch;
  WW_ASSIGN(DeviceOutcome ran, device->Run({prepared.module.get(), &prepared.plan, &request.buffers, request.options}));
  executed.seconds["run"] = watch.Lap();
  if (auto* fault = std::get_if<Fault>(&ran)) return ExecuteOutcome(Faulted{std::move(*fault), request.case_name});
  auto& run = std::get<DeviceRun>(ran);
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
  executed.changed_globals = std::move(run.changed_globals);
  executed.notes = std::move(run.notes);
  for (const auto& [part, spent] : run.seconds) executed.seconds["run: " + part] += spent;
  executed.precision = FindPrecision(prepared.module->ptx);
  executed.precision.insert(prepared.build_dependence.begin(), prepared.build_dependence.end());
  executed.plan_digest = PlanDigest(prepared.plan);
  executed.module_key = prepared.module->key;
  return ExecuteOutcome(std::move(executed));
}

Result<TimeOutcome> Service::Time(const TimeRequest& request) {
  WW_ASSIGN(Device * device, DeviceFor(request.device));
  std::map<std::string, double> seconds;
  Prepared sides[2];
  const SourceRef* sources[2] = {&request.original, &request.candidate};
  for (int i = 0; i < 2; ++i) {
    WW_ASSIGN(PrepareOutcome outcome, Prepare({*sources[i], request.spec, request.scalars, request.buffers}, device->chip(), seconds));
    if (auto* failed = std::get_if<CompileFailed>(&outcome)) return TimeOutcome(std::move(*failed));
    if (auto* refused = std::get_if<Refused>(&outcome)) return TimeOutcome(std::move(*refused));
    sides[i] = std::move(std::get<Prepared>(outcome));
  }
  const std::vector<TimedBuffer> roles = RolesOf(request.spec);

  announce_(kRunStage);
  Stopwatch watch;
  DeviceTimingRequest timing;
  timing.original = {sides[0].module.get(), &sides[0].plan};
  timing.candidate = {sides[1].module.get(), &sides[1].plan};
  timing.buffers = &request.buffers;
  timing.roles = &roles;
  timing.options = request.options;
  WW_ASSIGN(DeviceTimingOutcome outcome, device->Time(timing));
  seconds["run"] = watch.Lap();
  if (auto* fault = std::get_if<Fault>(&outcome)) return TimeOutcome(Faulted{std::move(*fault), request.case_name});
  Timed& timed = std::get<Timed>(outcome);
  for (const auto& [part, spent] : timed.seconds) seconds["run: " + part] += spent;
  timed.seconds = std::move(seconds);
  return TimeOutcome(std::move(timed));
}

}  // namespace warpwright
