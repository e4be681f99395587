// How counters and static features become evidence. The roofline floor follows Williams, Waterman and Patterson
// ("Roofline", CACM 2009): the larger of compulsory traffic over bandwidth and counted arithmetic over peak.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/evidence.h"
#include "core/tensor_rates.h"

namespace warpwright::core {
namespace {

double Percent(double part, double whole) { return whole > 0 ? std::clamp(100.0 * part / whole, 0.0, 100.0) : 0.0; }
double Ratio(double a, double b) { return b > 0 ? a / b : 0.0; }

uint64_t ClassCount(const Counters& c, std::initializer_list<InstructionClass> classes) {
  uint64_t sum = 0;
  for (const auto k : classes) sum += c.warp_instructions_by_class[static_cast<int>(k)];
  return sum;
}

bool UsesPreciseMath(const std::set<std::string>& math) {
  for (const char* name :
       {"expf", "logf", "log2f", "log10f", "sinf", "cosf", "tanf", "powf", "exp", "log", "sin", "cos", "pow"})
    if (math.count(name) != 0) return true;
  return false;
}
bool UsesTranscendentals(const std::set<std::string>& math) {
  for (const auto& name : math)
    for (const char* stem : {"exp", "log", "tanh", "erf", "sin", "cos", "tan", "pow", "hexp", "h2exp", "normcdf"})
      if (name.find(stem) != std::string::npos) return true;
  return false;
}

void SetStatic(Evidence& e, const StaticFeatures& f) {
  e.SetOperation(f.operation);
  int depth = 0;
  bool accumulates = false, unrolled = false, strided = false, indirect = false;
  for (const auto& loop : f.loops) {
    depth = std::max(depth, loop.depth + 1);
    accumulates |= loop.accumulates;
    unrolled |= loop.unrolled;
  }
  for (const auto& access : f.accesses) {
    strided |= access.pattern == AccessPattern::kStrided;
    indirect |= access.pattern == AccessPattern::kIndirect;
  }
  e.Set("loops", std::min<double>(100, static_cast<double>(f.loops.size())));
  e.Set("loop_depth", std::min(10, depth));
  e.Set("accumulating_loop", accumulates);
  e.Set("accumulators", std::min(64, f.independent_accumulators));
  e.Set("loop_unrolled", unrolled);
  e.Set("one_thread_per_row", f.one_thread_per_row);
  e.Set("strided_access", strided);
  e.Set("indirect_access", indirect);
  e.Set("vector_width", std::clamp(f.max_vector_width, 1, 16));
  e.Set("uses_shared", f.shared_bytes > 0 || f.dynamic_shared);
  e.Set("barriers", std::min(1000, f.barriers));
  e.Set("atomics", std::min(1000, f.atomics));
  e.Set("shuffles", std::min(1000, f.shuffles));
  e.Set("divergent_branches", std::min(1000, f.divergent_branches));
  e.Set("const_restrict", f.const_restrict);
  e.Set("launch_bounds", f.launch_bounds);
  e.Set("bounds_guard", f.bounds_guard);
  e.Set("tensor_cores", f.tensor_cores);
  e.Set("async_copy", f.async_copy);
  e.Set("transcendentals", UsesTranscendentals(f.math));
  e.Set("precise_math_calls", UsesPreciseMath(f.math));
  e.Set("dtype_f64", f.dtypes.count(DType::kF64) != 0);
  e.Set("dtype_f32", f.dtypes.count(DType::kF32) != 0);
  e.Set("dtype_half", f.dtypes.count(DType::kF16) != 0 || f.dtypes.count(DType::kBF16) != 0);
}

// Sets evidence of one launch, but omits what depends on a number that the device could not count.
class MeasuredEvidence {
 public:
  MeasuredEvidence(Evidence& evidence, const LaunchReport& launch) : evidence_(evidence), launch_(launch) {}
  void Set(std::string_view field, double value, std::initializer_list<std::string_view> from) {
    for (const auto input : from)
      if (launch_.unmeasured.count(std::string(input)) != 0) return;
    evidence_.Set(field, value);
  }

 private:
  Evidence& evidence_;
  const LaunchReport& launch_;
};

void SetUtilization(Evidence& evidence, const LaunchReport& launch) {
  MeasuredEvidence e(evidence, launch);
  const TimeBreakdown& t = launch.time;
  const struct {
    const char *field, *name;
    double part;
  } parts[] = {{"dram_throughput_pct", "dram_us", t.dram_us},
               {"l2_throughput_pct", "l2_us", t.l2_us},
               {"l1_throughput_pct", "l1_us", t.l1_us},
               {"shared_throughput_pct", "shared_us", t.shared_us},
               {"issue_utilization_pct", "issue_us", t.issue_us},
               {"fp32_pct", "fp32_us", t.fp32_us},
               {"fp64_pct", "fp64_us", t.fp64_us},
               {"fp16_pct", "fp16_us", t.fp16_us},
               {"tensor_pct", "tensor_us", t.tensor_us},
               {"integer_pct", "integer_us", t.integer_us},
               {"sfu_pct", "sfu_us", t.sfu_us},
               {"atomic_pct", "atomic_us", t.atomic_us},
               {"latency_pct", "latency_us", t.latency_us},
               {"overhead_pct", "overhead_us", t.overhead_us}};
  for (const auto& [field, name, part] : parts) e.Set(field, Percent(part, t.total_us), {name});
  for (const auto& [name, value] : launch.metrics)
    if (const EvidenceField* field = FindEvidenceField(name))
      evidence.Set(name, std::clamp(value, field->low, field->high));
}

void SetMemory(Evidence& evidence, const LaunchReport& launch, double min_bytes) {
  MeasuredEvidence e(evidence, launch);
  const Counters& c = launch.counters;
  const auto d = [](uint64_t v) { return static_cast<double>(v); };
  e.Set("memory_excess", std::min(1e4, Ratio(d(c.dram_read_bytes + c.dram_write_bytes), min_bytes)),
        {"dram_read_bytes", "dram_write_bytes"});
  e.Set("load_reuse", std::min(1e5, Ratio(d(c.global_load_bytes), min_bytes)), {"global_load_bytes"});
  e.Set("arithmetic_intensity",
        std::min(1e4, Ratio(d(c.flops_fp16 + c.flops_fp32 + c.flops_fp64 + c.flops_tensor), min_bytes)),
        {"flops_fp16", "flops_fp32", "flops_fp64"});
  e.Set("load_sectors_per_request", std::min(32.0, Ratio(d(c.global_load_sectors), d(c.global_load_requests))),
        {"global_load_sectors", "global_load_requests"});
  e.Set("store_sectors_per_request", std::min(32.0, Ratio(d(c.global_store_sectors), d(c.global_store_requests))),
        {"global_store_sectors", "global_store_requests"});
  e.Set("load_efficiency_pct", Percent(d(c.global_load_bytes), 32.0 * d(c.global_load_sectors)),
        {"global_load_bytes", "global_load_sectors"});
  e.Set("store_efficiency_pct", Percent(d(c.global_store_bytes), 32.0 * d(c.global_store_sectors)),
        {"global_store_bytes", "global_store_sectors"});
  e.Set("store_sector_pct", Percent(d(c.global_store_sectors), d(c.global_store_sectors + c.global_load_sectors)),
        {"global_store_sectors", "global_load_sectors"});
  e.Set("access_bytes", std::min(16.0, Ratio(d(c.global_load_bytes), 32.0 * d(c.global_load_requests))),
        {"global_load_bytes", "global_load_requests"});
  e.Set("l1_hit_pct", Percent(d(c.l1_hit_sectors), d(c.l1_hit_sectors + c.l1_miss_sectors)),
        {"l1_hit_sectors", "l1_miss_sectors"});
  e.Set("l2_hit_pct", Percent(d(c.l2_hit_sectors), d(c.l2_hit_sectors + c.l2_miss_sectors)),
        {"l2_hit_sectors", "l2_miss_sectors"});
  e.Set("bank_conflict_pct", Percent(d(c.shared_bank_conflicts), d(c.shared_wavefronts)),
        {"shared_bank_conflicts", "shared_wavefronts"});
  const double local = d(c.local_load_bytes + c.local_store_bytes);
  e.Set("local_bytes_pct", Percent(local, local + d(c.global_load_bytes + c.global_store_bytes)),
        {"local_load_bytes", "local_store_bytes", "global_load_bytes", "global_store_bytes"});
}

void SetInstructions(Evidence& evidence, const LaunchReport& launch) {
  using enum InstructionClass;
  MeasuredEvidence e(evidence, launch);
  const Counters& c = launch.counters;
  const auto total = static_cast<double>(c.warp_instructions);
  const auto share = [&](std::initializer_list<InstructionClass> classes) {
    return Percent(static_cast<double>(ClassCount(c, classes)), total);
  };
  e.Set("fp_instruction_pct", share({kFp32, kFp64, kFp16, kSfu}), {"warp_instructions_fp32", "warp_instructions_sfu"});
  e.Set("integer_instruction_pct", share({kInteger, kMove}), {"warp_instructions_integer", "warp_instructions_move"});
  e.Set("memory_instruction_pct",
        share({kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore, kLocalLoad, kLocalStore, kConstantLoad, kAtomic}),
        {"warp_instructions_global_load", "warp_instructions_shared_load", "warp_instructions_constant_load"});
  e.Set("control_instruction_pct", share({kControl}), {"warp_instructions_control"});
  e.Set("conversion_instruction_pct", share({kConversion}), {"warp_instructions_conversion"});
  e.Set("divergent_branch_pct", Percent(static_cast<double>(c.divergent_branches), static_cast<double>(c.branches)),
        {"divergent_branches", "branches"});
  e.Set("warp_efficiency_pct", Percent(static_cast<double>(c.thread_instructions), 32.0 * total),
        {"thread_instructions", "warp_instructions"});
  e.Set("barriers_per_warp", std::min(1e6, Ratio(static_cast<double>(c.barriers), static_cast<double>(c.warps))),
        {"barriers"});
}

void SetParallelism(Evidence& e, const LaunchReport& launch) {
  const Occupancy& o = launch.occupancy;
  if (launch.unmeasured.count("achieved_occupancy") == 0)
    e.Set("achieved_occupancy_pct", std::clamp(100 * o.achieved, 0.0, 100.0));
  e.Set("theoretical_occupancy_pct", std::clamp(100 * o.theoretical, 0.0, 100.0));
  e.Set("limited_by_registers", o.limiter == OccupancyLimiter::kRegisters);
  e.Set("limited_by_shared", o.limiter == OccupancyLimiter::kSharedMemory);
  e.Set("limited_by_blocks", o.limiter == OccupancyLimiter::kBlocks || o.limiter == OccupancyLimiter::kWarps);
  e.Set("limited_by_grid", o.limiter == OccupancyLimiter::kGrid || o.waves < 1);
  e.Set("waves", std::min(1e6, o.waves));
  e.Set("registers_per_thread", std::clamp(launch.registers, 0, 255));
  e.Set("threads_per_block", std::clamp(launch.threads_per_block, 1, 1024));
  e.Set("shared_bytes_per_block", std::min<double>(233472, launch.shared_bytes_per_block));
}

}  // namespace

Roofline ComputeRoofline(const Chip& chip, double min_bytes, const Counters& counters) {
  Roofline roofline;
  roofline.min_bytes = min_bytes;
  const double cycles_per_us = chip.clock_ghz * 1e3 * chip.multiprocessors;
  const auto d = [](uint64_t v) { return static_cast<double>(v); };
  const double tensor = std::max(chip.tensor_fma_per_cycle, WarpgroupFmaPerCycle(chip));
  roofline.flops = d(counters.flops_fp64 + counters.flops_fp32 + counters.flops_fp16 + counters.flops_tensor);
  roofline.memory_us = min_bytes / chip.dram_bytes_per_second * 1e6;
  roofline.compute_us = std::max({d(counters.flops_fp32) / (2 * chip.fp32_lanes * cycles_per_us),
                                  d(counters.flops_fp64) / (2 * chip.fp64_lanes * cycles_per_us),
                                  d(counters.flops_fp16) / (2 * chip.fp16_lanes * cycles_per_us),
                                  tensor > 0 ? d(counters.flops_tensor) / (2 * tensor * cycles_per_us) : 0});
  roofline.floor_us = std::max(roofline.memory_us, roofline.compute_us) + chip.launch_overhead_us;
  roofline.counted_floor_us = roofline.floor_us;
  return roofline;
}

double MinimumBytes(const KernelSpec& spec, const Case& c) {
  double bytes = 0;
  for (const auto& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == Role::kScratch) continue;
    const auto shape = ShapeOf(argument, c);
    if (!shape) continue;
    double elements = 1;
    for (const int64_t extent : *shape) elements *= static_cast<double>(extent);
    bytes += elements * static_cast<double>(SizeOf(buffer->dtype)) * (buffer->role == Role::kInOut ? 2 : 1);
  }
  return bytes;
}

Evidence MakeEvidence(const Chip& chip, const KernelInfo& kernel, const CaseMeasurement& measurement,
                      const Roofline& roofline) {
  Evidence e;
  e.chip = chip.id;
  e.kernel = kernel.name;
  SetStatic(e, kernel.features);
  e.Set("compute_capability", std::atof(chip.arch.c_str() + (chip.arch.rfind("sm_", 0) == 0 ? 3 : 0)));
  double plan_us = 0;
  const LaunchReport* hottest = nullptr;
  for (const auto& launch : measurement.launches) {
    plan_us += launch.time.total_us;
    if (hottest == nullptr || launch.time.total_us > hottest->time.total_us) hottest = &launch;
  }
  if (hottest == nullptr) return e;
  e.Set("launches", std::clamp<double>(static_cast<double>(measurement.launches.size()), 1, 4096));
  e.Set("kernel_time_us", std::clamp(hottest->time.total_us, 0.5, 1e7));
  e.Set("time_share_pct", Percent(hottest->time.total_us, plan_us));
  e.Set("roofline_pct", Percent(roofline.floor_us, plan_us));
  e.Set("counted_roofline_pct", Percent(roofline.counted_floor_us, plan_us));
  e.Set("headroom", std::clamp(Ratio(plan_us, roofline.floor_us), 1.0, 1e5));
  e.Set("compute_floor", roofline.compute_us > roofline.memory_us);
  SetUtilization(e, *hottest);
  SetMemory(e, *hottest, roofline.min_bytes);
  SetInstructions(e, *hottest);
  SetParallelism(e, *hottest);
  return e;
}

}  // namespace warpwright::core
