#include "gpu/context.h"

#include <fmt/format.h>

#include <thread>

#include "config/gpu_chip.h"
#include "core/device_name.h"

namespace warpwright::gpu {
namespace {

struct FaultRow {
  CUresult result;
  core::Fault::Kind kind;
  const char* what;
  bool sticky;
};
// Faults that a kernel can cause. The driver reports neither address nor line: the exact run (MappedBuffer) and the
// simulator do.
constexpr FaultRow kFaults[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, core::Fault::Kind::kOutOfBounds, "an access to memory that is not its own", true},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, core::Fault::Kind::kOutOfBounds, "an access to the wrong address space", true},
    {CUDA_ERROR_MISALIGNED_ADDRESS, core::Fault::Kind::kMisaligned, "a misaligned access", true},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, core::Fault::Kind::kIllegalInstruction, "an illegal instruction", true},
    {CUDA_ERROR_INVALID_PC, core::Fault::Kind::kIllegalInstruction, "a jump to nowhere", true},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, core::Fault::Kind::kResourceLimit, "a stack that overflowed or was overwritten",
     true},
    {CUDA_ERROR_LAUNCH_FAILED, core::Fault::Kind::kTrap,
     "it was aborted (trap, or a fault that the driver does not name)", true},
    {CUDA_ERROR_ASSERT, core::Fault::Kind::kTrap, "an assertion failed", true},
    {CUDA_ERROR_LAUNCH_TIMEOUT, core::Fault::Kind::kInstructionLimit, "it ran longer than the driver allows", true},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, core::Fault::Kind::kResourceLimit,
     "it needs more registers or shared memory than there are", false},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, core::Fault::Kind::kResourceLimit,
     "a cooperative grid that does not fit the GPU at once", false},
    {CUDA_ERROR_INVALID_VALUE, core::Fault::Kind::kResourceLimit,
     "a launch with a grid, block or shared memory that the GPU does not have", false},
};

}  // namespace

Result<int> GpuIndex(const std::string& device_name) {
  const auto name = core::DeviceName::Parse(device_name);
  if (!name || name->kind != core::DeviceKind::kCuda)
    return Fail(ErrorCode::kUsage, "unknown device '" + device_name + "'", "a GPU is cuda, or cuda: and its number");
  return name->index;
}

Result<core::GpuFacts> ReadGpuFacts(const CudaDriver& driver, CUdevice device) {
  core::GpuFacts facts;
  char name[256] = {};
  WW_TRY(driver.Check(driver.DeviceGetName(name, sizeof name, device), "cuDeviceGetName"));
  facts.name = name;
  CUuuid uuid;
  WW_TRY(driver.Check(driver.DeviceGetUuid(&uuid, device), "cuDeviceGetUuid"));
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    facts.uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                              static_cast<unsigned char>(uuid.bytes[i]));
  for (const auto& [attribute, member] :
       {std::pair{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &core::GpuFacts::compute_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &core::GpuFacts::compute_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &core::GpuFacts::multiprocessors},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &core::GpuFacts::clock_khz},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &core::GpuFacts::l2_bytes},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &core::GpuFacts::memory_clock_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &core::GpuFacts::bus_width_bits}})
    WW_TRY(driver.Check(driver.DeviceGetAttribute(&(facts.*member), attribute, device), "cuDeviceGetAttribute"));
  size_t total = 0;
  WW_TRY(driver.Check(driver.DeviceTotalMem(&total, device), "cuDeviceTotalMem"));
  facts.memory_bytes = static_cast<int64_t>(total);
  facts.driver_version = driver.version;
  return facts;
}

Result<Context> Context::Create(int index) {
  WW_ASSIGN(const CudaDriver* driver, LoadCudaDriver());
  Context context;
  context.driver_ = driver;
  int count = 0;
  WW_TRY(driver->Check(driver->DeviceGetCount(&count), "cuDeviceGetCount"));
  if (index >= count)
    return Fail(ErrorCode::kEnvironment, fmt::format("GPU {} does not exist: the driver reports {}", index, count),
                "look at nvidia-smi -L");
  WW_TRY(driver->Check(driver->DeviceGet(&context.device_, index), "cuDeviceGet"));
  WW_ASSIGN(context.facts_, ReadGpuFacts(*driver, context.device_));
  WW_ASSIGN(context.chip_, config::ChipOf(context.facts_));
  WW_TRY(driver->Check(driver->DevicePrimaryCtxRetain(&context.context_, context.device_), "cuDevicePrimaryCtxRetain"));
  WW_TRY(driver->Check(driver->CtxSetCurrent(context.context_), "cuCtxSetCurrent"));
  // Kernels must not use them: as small as the driver permits.
  (void)driver->CtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 0);
  (void)driver->CtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0);
  (void)driver->CtxSetLimit(CU_LIMIT_STACK_SIZE, 1024);
  // No persisting lines in L2: the default is not zero, and lets one launch keep data for the next.
  (void)driver->CtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  return context;
}

Context::Context(Context&& other) noexcept
    : driver_(other.driver_),
      device_(other.device_),
      context_(std::exchange(other.context_, nullptr)),
      chip_(std::move(other.chip_)),
      facts_(std::move(other.facts_)),
      lost_(other.lost_) {}

Context::~Context() {
  if (context_ != nullptr && !lost()) driver_->DevicePrimaryCtxRelease(device_);
}

int Context::Attribute(CUdevice_attribute attribute) const {
  int value = 0;
  return driver_->DeviceGetAttribute(&value, attribute, device_) == CUDA_SUCCESS ? value : 0;
}

Step Context::Judge(CUresult result, const char* call, const std::string& kernel) {
  if (result == CUDA_SUCCESS) return std::nullopt;
  for (const FaultRow& row : kFaults) {
    if (row.result != result) continue;
    lost_ = lost_ || row.sticky;
    core::Fault fault;
    fault.kind = row.kind;
    fault.message = fmt::format("{} ({})", row.what, driver_->Describe(result));
    fault.kernel = kernel;
    return fault;
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: the GPU's memory is full", call),
                "end other programs on the GPU, or give smaller cases");
  lost_ = true;  // all other driver errors are caused neither by the kernel nor by warpwright
  return Fail(ErrorCode::kEnvironment, fmt::format("{}: {}", call, driver_->Describe(result)));
}

Error Context::Explain(Error error) const {
  if (!lost() || error.code != ErrorCode::kEnvironment) return error;
  error.message = fmt::format("the {} (GPU-{}) was lost: {}", facts_.name, facts_.uuid, error.message);
  error.remedy =
      "look at nvidia-smi and at the kernel log for Xid lines, and reset the GPU or the machine; run again, the "
      "command goes on where it was";
  return error;
}

Step Context::Wait(CUstream stream, std::chrono::steady_clock::duration deadline, const std::string& kernel) {
  const auto begin = std::chrono::steady_clock::now();
  for (int polls = 0;; ++polls) {
    const CUresult result = driver_->StreamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY) return Judge(result, "cuStreamQuery", kernel);
    const auto passed = std::chrono::steady_clock::now() - begin;
    if (passed > deadline) {
      lost_ = true;
      core::Fault fault;
      fault.kind = core::Fault::Kind::kInstructionLimit;
      fault.message = fmt::format("it did not end within {:.0f} s", std::chrono::duration<double>(deadline).count());
      fault.kernel = kernel;
      return fault;
    }
    // Most waits are short; a hung kernel must not occupy a core as well.
    if (passed > std::chrono::milliseconds(2)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Result<Stream> Stream::Create(Context& context) {
  CUstream handle = nullptr;
  WW_TRY(context.driver().Check(context.driver().StreamCreate(&handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  return Stream(context, handle);
}
Stream::~Stream() {
  if (handle_ != nullptr && !context_->lost()) context_->driver().StreamDestroy(handle_);
}

Result<Event> Event::Create(Context& context, bool timing) {
  CUevent handle = nullptr;
  WW_TRY(context.driver().Check(
      context.driver().EventCreate(&handle, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
  return Event(context, handle);
}
Event::~Event() {
  if (handle_ != nullptr && !context_->lost()) context_->driver().EventDestroy(handle_);
}

}  // namespace warpwright::gpu
