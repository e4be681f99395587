#include "gpu/describe.h"

#include <nlohmann/json.hpp>

#include "gpu/context.h"

namespace warpwright::gpu {

Result<std::string> DescribeGpu(const std::string& name) {
  WW_ASSIGN(const int index, GpuIndex(name));
  WW_ASSIGN(const Context context, Context::Create(index));  // not only its facts: a GPU on which no context can be made is none
  GpuFacts facts = context.facts();
  size_t free = 0, total = 0;
  WW_TRY(context.driver().Check(context.driver().MemGetInfo(&free, &total), "cuMemGetInfo"));
  facts.free_bytes = static_cast<int64_t>(free);
  return nlohmann::json({{"name", facts.name}, {"uuid", facts.uuid}, {"compute_major", facts.compute_major}, {"compute_minor", facts.compute_minor},
                         {"multiprocessors", facts.multiprocessors}, {"clock_khz", facts.clock_khz}, {"l2_bytes", facts.l2_bytes},
                         {"memory_clock_khz", facts.memory_clock_khz}, {"bus_width_bits", facts.bus_width_bits},
                         {"memory_bytes", facts.memory_bytes}, {"free_bytes", facts.free_bytes}, {"driver_version", facts.driver_version}})
      .dump();
}

}  // namespace warpwright::gpu
