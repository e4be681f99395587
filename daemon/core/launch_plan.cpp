#include "core/launch_plan.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxOperations = 4096;
constexpr size_t kMaxBuffers = 1024;
constexpr uint64_t kMaxBufferBytes = 64ull << 30;
constexpr size_t kMaxParameterBytes = 32764;  // CUDA 12.1 and later

tl::unexpected<Error> Bad(const std::string& what) {
  return Fail(ErrorCode::kCorrupt, "the recorded launch plan is not valid: " + what);
}

class Validator {
 public:
  explicit Validator(const LaunchPlan& plan) : plan_(plan) {}

  Status Range(const DevicePointer& pointer, uint64_t bytes, const char* what) const {
    WW_TRY(Pointer(pointer, what));
    const auto& buffer = plan_.buffers[pointer.buffer];
    if (pointer.offset < 0 || bytes > buffer.bytes || static_cast<uint64_t>(pointer.offset) > buffer.bytes - bytes)
      return Bad(std::string(what) + " of " + std::to_string(bytes) + " bytes at " + buffer.name + " + " +
                 std::to_string(pointer.offset) + " leaves the buffer of " + std::to_string(buffer.bytes) + " bytes");
    return {};
  }
  Status Pointer(const DevicePointer& pointer, const char* what) const {
    if (pointer.buffer >= plan_.buffers.size()) return Bad(std::string(what) + " names an unknown buffer");
    return {};
  }

  Status operator()(const KernelLaunch& launch) const {
    if (launch.kernel.empty() || launch.kernel.size() > 4096) return Bad("a kernel name is empty or too long");
    const Dim3 &grid = launch.grid, &block = launch.block;
    const std::string where = launch.kernel + " at " + launch.file + ":" + std::to_string(launch.line);
    if (grid.Count() == 0 || block.Count() == 0) return Bad("an empty grid or block for " + where);
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.Count() > 1024)
      return Bad("more than 1,024 threads in a block for " + where);
    if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) return Bad("a grid beyond the limits for " + where);
    size_t bytes = 0;
    for (const auto& parameter : launch.parameters) {
      bytes += parameter.bytes.size();
      for (const auto& [offset, pointer] : parameter.pointers) {
        if (offset + 8 > parameter.bytes.size()) return Bad("a pointer lies outside its parameter");
        WW_TRY(Pointer(pointer, "a parameter"));
      }
    }
    if (bytes > kMaxParameterBytes) return Bad("more parameter bytes than a kernel can take");
    return {};
  }
  Status operator()(const MemsetOp& op) const {
    if (op.unit != 1 && op.unit != 2 && op.unit != 4) return Bad("a memset of an unknown width");
    if (op.bytes % op.unit != 0) return Bad("a memset of a broken element");
    return Range(op.destination, op.bytes, "a memset");
  }
  Status operator()(const CopyOp& op) const {
    WW_TRY(Range(op.source, op.bytes, "a copy"));
    return Range(op.destination, op.bytes, "a copy");
  }
  Status operator()(const UploadOp& op) const { return Range(op.destination, op.bytes.size(), "an upload"); }
  Status operator()(const SymbolUploadOp& op) const {
    if (op.symbol.empty() || op.bytes.size() > (1u << 20)) return Bad("a symbol upload without a name or over 1 MiB");
    return {};
  }
  Status operator()(const SymbolCopyOp& op) const {
    if (op.symbol.empty()) return Bad("a copy with a symbol without a name");
    return Range(op.buffer, op.bytes, "a copy");
  }
  Status operator()(const EventOp& op) const {
    if (op.event > kMaxOperations || op.stream > kMaxOperations) return Bad("too many events or streams");
    return {};
  }

 private:
  const LaunchPlan& plan_;
};

// Whether the operation reads or writes a buffer argument.
bool TouchesArgument(const LaunchPlan& plan, const PlanOp& op) {
  const auto argument = [&](const DevicePointer& pointer) {
    return plan.buffers[pointer.buffer].kind == PlanBuffer::Kind::kArgument;
  };
  return std::visit(Overload{[&](const KernelLaunch& launch) {
                               for (const auto& parameter : launch.parameters)
                                 for (const auto& [offset, pointer] : parameter.pointers)
                                   if (argument(pointer)) return true;
                               return false;
                             },
                             [&](const CopyOp& copy) { return argument(copy.source) || argument(copy.destination); },
                             [&](const MemsetOp& memset) { return argument(memset.destination); },
                             [&](const UploadOp& upload) { return argument(upload.destination); },
                             [&](const SymbolCopyOp& copy) { return argument(copy.buffer); },
                             [](const SymbolUploadOp&) { return false; }, [](const EventOp&) { return false; }},
                    op);
}

}  // namespace

void VisitPointers(PlanOp& op, const std::function<void(DevicePointer&)>& visit) {
  std::visit(Overload{[&](KernelLaunch& x) {
                        for (KernelParameter& parameter : x.parameters)
                          for (auto& [offset, pointer] : parameter.pointers) visit(pointer);
                      },
                      [&](MemsetOp& x) { visit(x.destination); },
                      [&](CopyOp& x) {
                        visit(x.destination);
                        visit(x.source);
                      },
                      [&](UploadOp& x) { visit(x.destination); }, [&](SymbolCopyOp& x) { visit(x.buffer); },
                      [](SymbolUploadOp&) {}, [](EventOp&) {}},
             op);
}

std::string CopiesFromDropped(const std::string& symbol) {
  return "the launcher copies from the variable '" + symbol + "', which no kernel uses";
}

Status ValidatePlan(const LaunchPlan& plan) {
  if (plan.setup.size() + plan.ops.size() > kMaxOperations) return Bad("more than 4,096 operations");
  if (plan.buffers.size() > kMaxBuffers) return Bad("more than 1,024 buffers");
  for (const auto& buffer : plan.buffers)
    if (buffer.bytes > kMaxBufferBytes) return Bad("a buffer of more than 64 GiB");
  const Validator validator(plan);
  for (const auto* ops : {&plan.setup, &plan.ops})
    for (const auto& op : *ops) WW_TRY(std::visit(validator, op));
  for (const auto& op : plan.setup)
    if (TouchesArgument(plan, op))
      return Bad("the first call works on its arguments to spare later ones the work, whose arguments may be others");
  return {};
}

}  // namespace warpwright::core
