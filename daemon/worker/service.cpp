#include "worker/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "compile/ptx_rules.h"
#include "config/chip_file.h"
#include "rewrite/transform.h"
#include "sim/sim_device.h"
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

std::vector<RecordBuffer> RecordBuffers(const ExecuteRequest& request) {
  std::vector<RecordBuffer> buffers;
  for (const auto& content : request.buffers) {
    RecordBuffer buffer{content.name, content.bytes.size(), content.pointer_offset, {}};
    if (content.read_only && content.bytes.size() <= kHostReadableBytes) buffer.content = content.bytes;
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

void AddExpressions(Hasher& hasher, const std::vector<Expression>& expressions) {
  hasher.Add(std::to_string(expressions.size()));
  for (const auto& expression : expressions) hasher.Add(expression.text());
}

// Everything that RecordPlan depends on.
std::string PlanKey(const Slices& slices, const ExecuteRequest& request, const std::vector<RecordBuffer>& buffers, const Chip& chip) {
  Hasher hasher;
  hasher.Add(slices.Digest()).Add(slices.entry).Add(chip.id);
  for (const auto& argument : request.spec.args) {
    const auto* scalar = std::get_if<ScalarArgument>(&argument.kind);
    hasher.Add(argument.name).Add(scalar != nullptr ? Name(scalar->dtype) : "buffer");
  }
  if (const auto& launch = request.spec.launch) {
    AddExpressions(hasher, launch->grid);
    AddExpressions(hasher, launch->block);
    hasher.Add(launch->shared_bytes ? launch->shared_bytes->text() : "");
  }
  for (const auto& [name, value] : request.scalars)
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

}  // namespace

Result<Inspection> Service::Inspect(const SourceRef& source) { return InspectSource(source); }
Result<RewriteOutcome> Service::Rewrite(const RewriteRequest& request) { return ApplyTransform(request); }
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

Result<std::variant<LaunchPlan, Refused>> Service::RecordOnce(const Slices& slices, const ExecuteRequest& request, const Chip& chip) {
  std::vector<RecordBuffer> buffers = RecordBuffers(request);
  const std::string key = PlanKey(slices, request, buffers, chip);
  if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  RecordRequest record;
  record.spec = &request.spec;
  record.scalars = request.scalars;
  record.buffers = std::move(buffers);
  record.chip = chip;
  record.cache = cache_;
  announce_(kRecordStage);
  WW_ASSIGN(RecordOutcome outcome, RecordPlan(slices, record));
  Bound(plans_);
  return plans_.emplace(key, std::move(outcome)).first->second;
}

Result<Device*> Service::DeviceFor(const std::string& name) {
  auto found = devices_.find(name);
  if (found == devices_.end()) {
    if (name.rfind("sim:", 0) != 0)
      return Fail(ErrorCode::kUsage, "unknown device '" + name + "'", "use sim:h200, sim:a100, sim:l4 or sim:rtx4090");
    WW_ASSIGN(const Chip chip, LoadChip(name.substr(4)));
    found = devices_.emplace(name, MakeSimDevice(chip)).first;
  }
  return found->second.get();
}

Result<ExecuteOutcome> Service::Execute(const ExecuteRequest& request) {
  std::map<std::string, double> seconds;
  Stopwatch watch;
  WW_ASSIGN(Device * device, DeviceFor(request.device));
  WW_ASSIGN(const SliceOutcome* sliced, SliceOnce(request.source, request.spec.entry));
  if (const auto* refused = std::get_if<Refused>(sliced)) return ExecuteOutcome(*refused);
  const auto& slices = std::get<Slices>(*sliced);
  seconds["slice"] = watch.Lap();

  WW_ASSIGN(auto recorded, RecordOnce(slices, request, device->chip()));
  if (const auto* refused = std::get_if<Refused>(&recorded)) {
    // What the host compiler rejects is a compile error like any other: the Diagnoser reads its log.
    if (refused->check == "host-compile") return ExecuteOutcome(CompileFailed{refused->reason});
    return ExecuteOutcome(*refused);
  }
  const auto& plan = std::get<LaunchPlan>(recorded);
  WW_TRY(ValidatePlan(plan));
  seconds["record"] = watch.Lap();

  if (!compiler_) {
    WW_ASSIGN(Compiler compiler, Compiler::Create(cache_));
    compiler_ = std::make_unique<Compiler>(std::move(compiler));
  }
  const CompileRequest compile{slices.file, slices.device, slices.device_headers, LaunchedKernels(plan), device->chip().arch};
  Hasher compile_key;
  compile_key.Add(slices.Digest()).Add(compile.arch);
  for (const auto& kernel : compile.kernels) compile_key.Add(kernel);
  const std::string key = compile_key.Finish();
  auto compiled = modules_.find(key);
  if (compiled == modules_.end()) {
    announce_(kCompileStage);
    WW_ASSIGN(CompileOutcome outcome, compiler_->Compile(compile));
    Bound(modules_);
    compiled = modules_.emplace(key, std::move(outcome)).first;
  }
  if (const auto* failed = std::get_if<CompileFailed>(&compiled->second)) return ExecuteOutcome(*failed);
  const auto& module = std::get<CompiledModule>(compiled->second);
  if (auto refused = CheckPtx(module, request.spec, request.source.file)) return ExecuteOutcome(std::move(*refused));
  seconds["compile"] = watch.Lap();

  announce_(kRunStage);
  WW_ASSIGN(DeviceOutcome outcome, device->Run({&module, &plan, &request.buffers, request.options}));
  seconds["run"] = watch.Lap();
  if (auto* fault = std::get_if<Fault>(&outcome)) return ExecuteOutcome(Faulted{std::move(*fault), request.case_name});
  auto& run = std::get<DeviceRun>(outcome);
  Executed executed;
  if (request.options.keep_outputs) executed.buffers = std::move(run.buffers);
  executed.launches = std::move(run.launches);
  executed.time_us = run.time_us;
  executed.sampled = run.sampled;
  executed.guards = std::move(run.guards);
  executed.plan_digest = PlanDigest(plan);
  executed.module_key = module.key;
  executed.seconds = std::move(seconds);
  return ExecuteOutcome(std::move(executed));
}

}  // namespace warpwright
