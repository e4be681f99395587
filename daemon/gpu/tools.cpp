#include "gpu/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "core/median.h"

namespace warpwright::gpu::embedded {
const std::map<std::string_view, std::string_view>& DeviceTools();
}

namespace warpwright::gpu {
namespace {

constexpr uint64_t kLimitNs = 2'000'000'000;  // time limit of a hold or co-runner whose release is lost
constexpr uint32_t kThreads = 256;
constexpr uint32_t kSlots = 512;  // for stamps; more than any chip has multiprocessors
constexpr uint64_t kNoiseBytes = 64u << 20;
// The layout of results_: found[2], words for `late`, `arrived` and sinks, then drift slots of four 8-byte numbers.
constexpr uint64_t kFound = 0, kLate = 16, kArrived = 20, kSink = 24, kDrift = 64, kDriftBytes = 32,
                   kMostDriftSlots = 4096;

constexpr const char* kKernels[] = {
    "fill_pattern", "check_pattern", "copy_masked", "count_different", "flush_write", "flush_read", "scrub",
    "stamp",        "hold",          "occupy",      "make_noise",      "magnitude",   "drift"};

}  // namespace

Tools::Tools(Context& context, std::unique_ptr<core::CompiledModule> compiled, LoadedModule module, Stream main,
             Stream side, HostFlag flag)
    : context_(context),
      compiled_(std::move(compiled)),
      module_(std::move(module)),
      main_(std::move(main)),
      side_(std::move(side)),
      flag_(std::move(flag)) {}

Result<std::unique_ptr<Tools>> Tools::Create(Context& context, const compile::Compiler& compiler) {
  compile::CompileRequest request;
  request.file = "device_tools.cu";
  request.text = embedded::DeviceTools().at("device_tools.cu");
  request.kernels.assign(std::begin(kKernels), std::end(kKernels));
  request.arch = context.chip().arch;
  WW_ASSIGN(compile::CompileOutcome outcome, compiler.Compile(request));
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome))
    return Fail(ErrorCode::kEnvironment, "the device's own kernels do not compile: " + failed->log);
  auto compiled = std::make_unique<core::CompiledModule>(std::move(std::get<core::CompiledModule>(outcome)));
  WW_ASSIGN(auto loaded, LoadedModule::Load(context, *compiled));
  if (const auto* fault = std::get_if<core::Fault>(&loaded)) return Fail(ErrorCode::kEnvironment, fault->message);
  WW_ASSIGN(Stream main, Stream::Create(context));
  WW_ASSIGN(Stream side, Stream::Create(context));
  WW_ASSIGN(HostFlag flag, HostFlag::Create(context));
  std::unique_ptr<Tools> tools(new Tools(context, std::move(compiled), std::move(std::get<LoadedModule>(loaded)),
                                         std::move(main), std::move(side), std::move(flag)));
  tools->multiprocessors_ = static_cast<uint32_t>(context.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  tools->shared_bytes_ =
      static_cast<uint32_t>(context.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  tools->flush_bytes_ =
      std::max<uint64_t>(2 * static_cast<uint64_t>(context.Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)), kNoiseBytes);
  WW_ASSIGN(tools->flush_, DeviceMemory::Allocate(context, 2 * tools->flush_bytes_));
  WW_ASSIGN(tools->results_, DeviceMemory::Allocate(context, kDrift + kDriftBytes * kMostDriftSlots));
  WW_ASSIGN(tools->stamps_, DeviceMemory::Allocate(context, 4 * sizeof(uint64_t) * kSlots));
  const CudaDriver& driver = context.driver();
  for (const char* kernel : {"scrub", "occupy"}) {
    WW_ASSIGN(const CUfunction function, tools->module_.Function(kernel));
    WW_TRY(driver.Check(driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                static_cast<int>(tools->shared_bytes_)),
                        "cuFuncSetAttribute"));
  }
  // The first sweep would otherwise read uninitialised memory.
  WW_TRY(driver.Check(driver.MemsetD8Async(tools->flush_.address(), 0, tools->flush_.bytes(), tools->stream()),
                      "cuMemsetD8Async"));
  WW_TRY(driver.Check(driver.MemsetD8Async(tools->results_.address(), 0, tools->results_.bytes(), tools->stream()),
                      "cuMemsetD8Async"));
  WW_TRY(driver.Check(driver.StreamSynchronize(tools->stream()), "cuStreamSynchronize"));
  return tools;
}

template <typename... Args>
Status Tools::Launch(const char* kernel, uint32_t grid, uint32_t block, uint32_t shared, CUstream stream,
                     Args... args) {
  WW_ASSIGN(const CUfunction function, module_.Function(kernel));
  void* parameters[] = {static_cast<void*>(&args)...};
  return context_.driver().Check(
      context_.driver().LaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, parameters, nullptr), kernel);
}

template <typename... Args>
Status Tools::LaunchWide(const char* kernel, uint64_t items, Args... args) {
  const uint64_t blocks = std::clamp<uint64_t>((items + kThreads - 1) / kThreads, 1, 8ull * multiprocessors_);
  return Launch(kernel, static_cast<uint32_t>(blocks), kThreads, 0, stream(), args...);
}

Status Tools::FillPattern(CUdeviceptr to, uint64_t bytes, uint32_t seed) {
  return LaunchWide("fill_pattern", bytes, to, bytes, seed);
}

Result<PatternMismatch> Tools::CheckPattern(CUdeviceptr at, uint64_t bytes, uint32_t seed) {
  uint64_t found[2] = {0, UINT64_MAX};
  WW_TRY(Upload(results_.address() + kFound, found, sizeof found));
  WW_TRY(LaunchWide("check_pattern", bytes, at, bytes, seed, results_.address() + kFound));
  WW_TRY(Download(found, results_.address() + kFound, sizeof found));
  return PatternMismatch{found[0], found[1]};
}

Status Tools::CopyMasked(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, uint32_t mask) {
  return LaunchWide("copy_masked", bytes / 4 + 1, to, from, bytes, mask);
}

Result<uint64_t> Tools::CountDifferent(CUdeviceptr a, CUdeviceptr b, uint64_t bytes) {
  uint64_t found = 0;
  WW_TRY(Upload(results_.address() + kFound, &found, sizeof found));
  WW_TRY(LaunchWide("count_different", bytes, a, b, bytes, results_.address() + kFound));
  WW_TRY(Download(&found, results_.address() + kFound, sizeof found));
  return found;
}

Status Tools::Scrub(uint32_t seed) {
  return Launch("scrub", multiprocessors_, 1024, shared_bytes_, stream(), seed, shared_bytes_ / 4,
                results_.address() + kSink);
}

Status Tools::Flush(uint32_t seed) {
  WW_TRY(context_.driver().Check(context_.driver().CtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache"));
  const uint64_t count = flush_bytes_ / 16;
  WW_TRY(LaunchWide("flush_write", count, flush_.address(), count, seed));
  WW_TRY(LaunchWide("flush_read", count, flush_.address() + flush_bytes_, count, results_.address() + kSink));
  return Scrub(seed);
}

Status Tools::Upload(CUdeviceptr to, const void* from, uint64_t bytes) {
  if (bytes == 0) return {};
  return context_.driver().Check(context_.driver().MemcpyHtoDAsync(to, from, bytes, stream()), "cuMemcpyHtoDAsync");
}
Status Tools::Download(void* to, CUdeviceptr from, uint64_t bytes) {
  if (bytes == 0) return {};
  WW_TRY(context_.driver().Check(context_.driver().MemcpyDtoHAsync(to, from, bytes, stream()), "cuMemcpyDtoHAsync"));
  return context_.driver().Check(context_.driver().StreamSynchronize(stream()), "cuStreamSynchronize");
}

Status Tools::ResetDeviation(size_t slots) {
  if (slots > kMostDriftSlots) return Fail(ErrorCode::kUnsupported, "too many outputs to compare");
  return context_.driver().Check(
      context_.driver().MemsetD8Async(results_.address() + kDrift, 0, kDriftBytes * slots, stream()),
      "cuMemsetD8Async");
}
Status Tools::AddDeviation(size_t slot, CUdeviceptr original, CUdeviceptr candidate, CUdeviceptr poison, uint32_t mask,
                           uint64_t count, core::DType dtype) {
  const CUdeviceptr sums = results_.address() + kDrift + kDriftBytes * slot, counts = sums + 16;
  WW_TRY(LaunchWide("magnitude", count, original, count, static_cast<int>(dtype), sums));
  return LaunchWide("drift", count, original, candidate, poison, mask, count, static_cast<int>(dtype),
                    static_cast<int>(core::SizeOf(dtype)), sums, counts);
}
Result<std::vector<Tools::DeviationSums>> Tools::ReadDeviation(size_t slots) {
  static_assert(sizeof(DeviationSums) == kDriftBytes);
  std::vector<DeviationSums> sums(slots);
  WW_TRY(Download(sums.data(), results_.address() + kDrift, kDriftBytes * slots));
  return sums;
}

Status Tools::Stamp(int which) {
  const CUdeviceptr clocks = stamps_.address() + 2ull * static_cast<uint64_t>(which) * sizeof(uint64_t) * kSlots;
  const CUdeviceptr times = clocks + sizeof(uint64_t) * kSlots;
  return Launch("stamp", multiprocessors_, 32, 0, stream(), clocks, times, kSlots);
}

Result<double> Tools::MegahertzBetweenStamps() {
  std::vector<uint64_t> stamps(4ull * kSlots);
  WW_TRY(Download(stamps.data(), stamps_.address(), stamps.size() * sizeof(uint64_t)));
  std::vector<double> rates;
  for (uint32_t sm = 0; sm < kSlots; ++sm) {
    const uint64_t *clock = stamps.data(), *time = clock + kSlots, *later_clock = time + kSlots,
                   *later_time = later_clock + kSlots;
    if (clock[sm] == 0 || later_clock[sm] <= clock[sm] || later_time[sm] <= time[sm]) continue;
    rates.push_back(1e3 * static_cast<double>(later_clock[sm] - clock[sm]) /
                    static_cast<double>(later_time[sm] - time[sm]));
  }
  return rates.empty() ? 0.0 : core::Median(std::move(rates));
}

Status Tools::Hold() {
  ++flag_value_;
  return Launch("hold", 1, 1, 0, stream(), flag_.address(), flag_value_, kLimitNs, results_.address() + kLate);
}
void Tools::Release() { flag_.Set(flag_value_); }

Result<bool> Tools::NoHoldTimedOut() {
  uint32_t late = 0;
  WW_TRY(Download(&late, results_.address() + kLate, sizeof late));
  constexpr uint32_t kNone = 0;  // the next query covers only its own holds
  if (late != 0) WW_TRY(Upload(results_.address() + kLate, &kNone, sizeof kNone));
  return late == 0;
}

Status Tools::OccupyHalf() {
  ++flag_value_;
  const uint32_t blocks = std::max(1u, multiprocessors_ / 2);
  uint32_t arrived = 0;
  WW_TRY(Upload(results_.address() + kArrived, &arrived, sizeof arrived));
  WW_TRY(context_.driver().Check(context_.driver().StreamSynchronize(stream()), "cuStreamSynchronize"));
  WW_TRY(Launch("occupy", blocks, 32, shared_bytes_, side_.get(), flag_.address(), flag_value_, kLimitNs,
                results_.address() + kArrived));
  while (arrived < blocks) WW_TRY(Download(&arrived, results_.address() + kArrived, sizeof arrived));
  return {};
}
Status Tools::StartMemoryTraffic() {
  ++flag_value_;
  return Launch("make_noise", std::max(1u, multiprocessors_ / 4), kThreads, 0, side_.get(), flag_.address(),
                flag_value_, kLimitNs, flush_.address(), kNoiseBytes / 16);
}

}  // namespace warpwright::gpu
