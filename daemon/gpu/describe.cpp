#include "gpu/describe.h"

#include <fmt/format.h>

#include "base/json_codec.h"
#include "core/machine_fields.h"
#include "gpu/context.h"
#include "gpu/cupti_library.h"
#include "gpu/cupti_session.h"
#include "gpu/nvml.h"

namespace warpwright::gpu {
namespace {

core::Problem Of(const Error& error) { return {error.message, error.remedy}; }

core::NvmlPart DescribeNvml() {
  const auto nvml = LoadNvml();
  if (nvml) return ReadNvml(*nvml);
  core::NvmlPart part;
  part.problem = Of(nvml.error());
  return part;
}

core::DriverPart DescribeDriver() {
  core::DriverPart part;
  const auto driver = LoadCudaDriver();
  if (!driver) {
    part.problem = Of(driver.error());
    return part;
  }
  part.version = (*driver)->version;
  if (const Status counted = (*driver)->Check((*driver)->DeviceGetCount(&part.gpus), "cuDeviceGetCount"); !counted)
    part.problem = Of(counted.error());
  return part;
}

// In NVML's format. The UUID is unsuitable: CUDA returns that of the MIG instance.
std::string PciId(const Context& context) {
  return fmt::format("{:08x}:{:02x}:{:02x}.0", context.Attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                     context.Attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                     context.Attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

Result<Context> MakeContext(const std::string& name, core::DevicePart& part) {
  WW_ASSIGN(const int index, GpuIndex(name));
  WW_ASSIGN(Context context, Context::Create(index));
  part.facts = context.facts();
  part.pci = PciId(context);
  size_t free = 0, total = 0;
  WW_TRY(context.driver().Check(context.driver().MemGetInfo(&free, &total), "cuMemGetInfo"));
  part.facts.free_bytes = static_cast<int64_t>(free);
  return context;
}

core::CuptiPart DescribeCupti() {
  core::CuptiPart part;
  if (const auto cupti = LoadCupti()) {
    part.path = (*cupti)->path;
    part.version = (*cupti)->version;
  } else {
    part.problem = Of(cupti.error());
  }
  return part;
}

core::CountersPart DescribeCounters(const Context& context) {
  core::CountersPart part;
  const auto session = CounterSession::Create(context.handle(), context.device());
  if (!session) {
    part.problem = Of(session.error());
  } else if (const auto& unavailable = session->unavailable()) {
    part.problem = {unavailable->reason, unavailable->remedy};
  } else {
    part.chip = session->chip();
  }
  return part;
}

}  // namespace

Result<std::string> DescribeGpu(const std::string& name) {
  WW_ASSIGN(const int index, GpuIndex(name));
  WW_ASSIGN(const Context context,
            Context::Create(index));  // not only its facts: a GPU on which no context can be created is unusable
  core::GpuFacts facts = context.facts();
  size_t free = 0, total = 0;
  WW_TRY(context.driver().Check(context.driver().MemGetInfo(&free, &total), "cuMemGetInfo"));
  facts.free_bytes = static_cast<int64_t>(free);
  return base::EncodeJson(facts);
}

void DescribeGpus(const std::string& name, const std::function<void(const core::Machine&)>& tell,
                  const std::function<void(const std::string&)>& before_counters) {
  core::Machine part;
  part.nvml = DescribeNvml();  // before a context exists, which would be listed as one of the processes
  tell(part);
  part = {};
  part.driver = DescribeDriver();
  tell(part);
  const bool has_gpu = part.driver->gpus > 0;

  part = {};
  std::optional<Context> context;
  if (has_gpu) {
    auto made = MakeContext(name, part.device.emplace());
    if (made) context.emplace(std::move(*made));
    else part.device->problem = Of(made.error());
    tell(part);
  }
  before_counters(context ? fmt::format("sm_{}{}", context->facts().compute_major, context->facts().compute_minor)
                          : "");

  part = {};
  part.cupti = DescribeCupti();
  tell(part);
  if (!context || part.cupti->problem) return;
  part = {};
  part.counters = DescribeCounters(*context);
  tell(part);
}

}  // namespace warpwright::gpu
