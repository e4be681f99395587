// The names. Chosen so that on GH100 the core tier takes one pass and the candidate tier six: a pass holds about three
// warp-stall counters, or two or three pipes of a multiprocessor; units of L1, L2 and DRAM fit into the same passes;
// all instrumented ("sass") counters share one separate pass. Before a change, check the pass counts in
// tests/unit/gpu_counters.
#include "gpu/metrics.h"

namespace warpwright::gpu {
namespace {

using Term = Formula::Term;

// In percent of the peak, over the whole kernel. `scope`: the average over the unit's instances, or the busiest one.
std::string Share(std::string_view unit, std::string_view scope = "avg") {
  return std::string(unit) + "." + std::string(scope) + ".pct_of_peak_sustained_elapsed";
}
std::string Sum(std::string_view counter) { return std::string(counter) + ".sum"; }
std::string Threads(std::string_view operation) {
  return Sum("smsp__sass_thread_inst_executed_op_" + std::string(operation) + "_pred_on");
}
std::string Warps(std::string_view operation) { return Sum("smsp__sass_inst_executed_op_" + std::string(operation)); }
std::string Bytes(std::string_view access) { return Sum("smsp__sass_data_bytes_mem_" + std::string(access)); }
std::string Sectors(std::string_view access) {
  return Sum("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_" + std::string(access));
}
std::string Stall(std::string_view reason) { return Sum("smsp__warps_issue_stalled_" + std::string(reason)); }
std::string L1Lookup(std::string_view result) {
  return Sum("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_" + std::string(result));
}
std::string L2FromL1(std::string_view what) { return Sum("lts__t_sectors_srcunit_tex_" + std::string(what)); }

constexpr std::string_view kStallReasons[] = {
    "long_scoreboard", "short_scoreboard", "barrier", "mio_throttle",     "lg_throttle",   "math_pipe_throttle", "wait",
    "not_selected",    "no_instruction",   "membar",  "branch_resolving", "dispatch_stall"};
constexpr std::string_view kRareStallReasons[] = {"drain", "imc_miss", "misc", "sleeping", "tex_throttle", "gmma"};

void AddCore(std::vector<std::string>& list) {
  list.insert(list.end(),
              {kDurationMetric, Share("dram__throughput"), Sum("dram__bytes_read"), Sum("dram__bytes_write"),
               Sum("dram__bytes_op_read"), Sum("dram__bytes_op_write"), kWarpsActiveMetric, Share("smsp__issue_active"),
               Sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared"), Share("lts__t_sectors")});
}

void AddCandidate(std::vector<std::string>& list) {
  for (const char* pipe : {"fma", "alu", "xu"}) list.push_back(Share("sm__inst_executed_pipe_" + std::string(pipe)));
  list.insert(list.end(),
              {Sum("sm__inst_executed_pipe_xu"), Share("l1tex__data_pipe_lsu_wavefronts"),
               Share("l1tex__data_pipe_lsu_wavefronts_mem_shared"), Sum("l1tex__data_pipe_lsu_wavefronts_mem_shared"),
               Share("l1tex__t_output_wavefronts"), L1Lookup("hit"), L1Lookup("miss"), L2FromL1("op_read"),
               L2FromL1("op_write"), L2FromL1("lookup_hit"), L2FromL1("lookup_miss"),
               Share("lts__d_atomic_input_cycles_active", "max")});
  for (const auto reason : kStallReasons) list.push_back(Stall(reason));
  list.insert(list.end(),
              {Sum("smsp__sass_inst_executed"), Sum("smsp__sass_thread_inst_executed_pred_on"),
               Sum("smsp__sass_branch_targets_threads_divergent"), Sum("smsp__sass_branch_targets_threads_uniform")});
  for (const char* operation : {"global_ld", "global_st", "global_atom", "global_red", "ldgsts", "shared", "shared_ld",
                                "shared_st", "shared_atom", "local_ld", "local_st"})
    list.push_back(Warps(operation));
  for (const char* access : {"ld", "st", "atom", "red", "ldgsts"}) list.push_back(Sectors(access));
  for (const char* access : {"global_op_ld", "global_op_st", "global_op_ldgsts", "local_op_ld", "local_op_st"})
    list.push_back(Bytes(access));
  for (const char* operation :
       {"fp16", "fp32", "fp64", "integer", "bit", "conversion", "control", "inter_thread_communication", "misc", "dadd",
        "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma"})
    list.push_back(Threads(operation));
}

void AddSpeedOfLight(std::vector<std::string>& list) {
  for (const char* unit : {"sm__throughput", "gpu__compute_memory_throughput", "l1tex__throughput", "lts__throughput",
                           "sm__inst_executed_pipe_fp64", "sm__inst_executed_pipe_fp16",
                           "sm__inst_executed_pipe_fma_type_fp16", "sm__pipe_tensor_cycles_active"})
    list.push_back(Share(unit));
  list.push_back(Sum("smsp__inst_executed_op_ldc"));
  for (const auto reason : kRareStallReasons) list.push_back(Stall(reason));
}

std::vector<Term> Flops(const char* add, const char* multiply, const char* fused) {
  return {{Threads(add)}, {Threads(multiply)}, {Threads(fused), 2}};
}

}  // namespace

std::vector<std::string> MetricsOf(CounterTier tier) {
  std::vector<std::string> list;
  AddCore(list);
  if (tier == CounterTier::kCore) list.push_back(kThreadInstructionsMetric);
  else AddCandidate(list);
  if (tier == CounterTier::kSpeedOfLight) AddSpeedOfLight(list);
  return list;
}

const std::vector<Formula>& CounterFormulas() {
  // cp.async is LDGSTS, which CUPTI counts separately from loads. L2 counts L1's requests: the traffic between its two
  // halves is excluded. Packed half arithmetic counts once per lane.
  static const std::vector<Formula> formulas = {
      {"warp_instructions", {{Sum("smsp__sass_inst_executed")}}},
      {"thread_instructions", {{kThreadInstructionsMetric}}},
      {"thread_instructions", {{Sum("smsp__sass_thread_inst_executed_pred_on")}}},
      {"flops_fp64", Flops("dadd", "dmul", "dfma")},
      {"flops_fp32", Flops("fadd", "fmul", "ffma")},
      {"flops_fp16", Flops("hadd", "hmul", "hfma")},
      {"global_load_requests", {{Warps("global_ld")}, {Warps("ldgsts")}}},
      {"global_load_sectors", {{Sectors("ld")}, {Sectors("ldgsts")}}},
      {"global_load_bytes", {{Bytes("global_op_ld")}, {Bytes("global_op_ldgsts")}}},
      {"global_store_requests", {{Warps("global_st")}}},
      {"global_store_sectors", {{Sectors("st")}}},
      {"global_store_bytes", {{Bytes("global_op_st")}}},
      {"atomic_requests", {{Warps("global_atom")}, {Warps("global_red")}}},
      {"atomic_sectors", {{Sectors("atom")}, {Sectors("red")}}},
      {"l1_hit_sectors", {{L1Lookup("hit")}}},
      {"l1_miss_sectors", {{L1Lookup("miss")}}},
      {"l2_read_bytes", {{L2FromL1("op_read"), 32}}},
      {"l2_write_bytes", {{L2FromL1("op_write"), 32}}},
      {"l2_hit_sectors", {{L2FromL1("lookup_hit")}}},
      {"l2_miss_sectors", {{L2FromL1("lookup_miss")}}},
      {"dram_read_bytes", {{Sum("dram__bytes_read")}}},
      {"dram_read_bytes", {{Sum("dram__bytes_op_read")}}},  // consumer Blackwell
      {"dram_write_bytes", {{Sum("dram__bytes_write")}}},
      {"dram_write_bytes", {{Sum("dram__bytes_op_write")}}},
      {"shared_requests", {{Warps("shared")}}},
      {"shared_wavefronts", {{Sum("l1tex__data_pipe_lsu_wavefronts_mem_shared")}}},
      {"shared_bank_conflicts", {{Sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared")}}},
      {"local_load_bytes", {{Bytes("local_op_ld")}}},
      {"local_store_bytes", {{Bytes("local_op_st")}}},
      {"branches",
       {{Sum("smsp__sass_branch_targets_threads_uniform")}, {Sum("smsp__sass_branch_targets_threads_divergent")}}},
      {"divergent_branches", {{Sum("smsp__sass_branch_targets_threads_divergent")}}},
      // The XU runs special functions and some conversions, which are also in "conversion".
      {"warp_instructions_sfu", {{Sum("sm__inst_executed_pipe_xu")}}},
      {"warp_instructions_global_load", {{Warps("global_ld")}, {Warps("ldgsts")}}},
      {"warp_instructions_global_store", {{Warps("global_st")}}},
      {"warp_instructions_shared_load", {{Warps("shared_ld")}}},
      {"warp_instructions_shared_store", {{Warps("shared_st")}}},
      {"warp_instructions_local_load", {{Warps("local_ld")}}},
      {"warp_instructions_local_store", {{Warps("local_st")}}},
      {"warp_instructions_constant_load", {{Sum("smsp__inst_executed_op_ldc")}}},
      {"warp_instructions_atomic", {{Warps("global_atom")}, {Warps("global_red")}, {Warps("shared_atom")}}},
  };
  return formulas;
}

const std::vector<Formula>& ThreadClassFormulas() {
  static const std::vector<Formula> formulas = {
      {"warp_instructions_fp32", {{Threads("fp32")}}},
      {"warp_instructions_fp64", {{Threads("fp64")}}},
      {"warp_instructions_fp16", {{Threads("fp16")}}},
      {"warp_instructions_integer", {{Threads("integer")}, {Threads("bit")}}},
      {"warp_instructions_conversion", {{Threads("conversion")}}},
      {"warp_instructions_move", {{Threads("misc")}}},
      {"warp_instructions_control", {{Threads("control")}}},
      {"warp_instructions_warp", {{Threads("inter_thread_communication")}}},
  };
  return formulas;
}

const std::vector<Formula>& ThroughputFormulas() {
  // L1's data stage also serves shared memory: that part is counted separately. Atomics at one address keep one slice
  // of L2 busy, so the busiest slice is the limit.
  static const std::vector<Formula> formulas = {
      {"dram_us", {{Share("dram__throughput")}}},
      {"l2_us", {{Share("lts__t_sectors")}}},
      {"l1_us",
       {{Share("l1tex__data_pipe_lsu_wavefronts")}, {Share("l1tex__data_pipe_lsu_wavefronts_mem_shared"), -1}}},
      {"l1_us", {{Share("l1tex__t_output_wavefronts")}}},
      {"shared_us", {{Share("l1tex__data_pipe_lsu_wavefronts_mem_shared")}}},
      {"issue_us", {{Share("smsp__issue_active")}}},
      {"fp32_us", {{Share("sm__inst_executed_pipe_fma")}}},
      {"fp64_us", {{Share("sm__inst_executed_pipe_fp64")}}},
      {"fp16_us", {{Share("sm__inst_executed_pipe_fp16")}}},
      {"fp16_us", {{Share("sm__inst_executed_pipe_fma_type_fp16")}}},
      {"tensor_us", {{Share("sm__pipe_tensor_cycles_active")}}},
      {"integer_us", {{Share("sm__inst_executed_pipe_alu")}}},
      {"sfu_us", {{Share("sm__inst_executed_pipe_xu")}}},
      {"atomic_us", {{Share("lts__d_atomic_input_cycles_active", "max")}}},
  };
  return formulas;
}

const std::vector<Formula>& LaneFormulas() {
  // chip.fp16_lanes counts packed pairs: a thread's instruction is two results.
  static const std::vector<Formula> formulas = {{"fp64_us", {{Threads("fp64")}}}, {"fp16_us", {{Threads("fp16"), 2}}}};
  return formulas;
}

const std::vector<Formula>& StallFormulas() {
  static const std::vector<Formula> formulas = {
      {"stall_memory_pct", {{Stall("long_scoreboard")}}},
      {"stall_memory_queue_pct", {{Stall("lg_throttle")}}},
      {"stall_shared_pct", {{Stall("short_scoreboard")}, {Stall("mio_throttle")}}},
      {"stall_barrier_pct", {{Stall("barrier")}}},
      {"stall_fence_pct", {{Stall("membar")}}},
      {"stall_math_pct", {{Stall("math_pipe_throttle")}}},
      {"stall_dependency_pct", {{Stall("wait")}}},
      {"stall_fetch_pct", {{Stall("no_instruction")}, {Stall("branch_resolving")}}},
      {"stall_dispatch_pct", {{Stall("dispatch_stall")}}},
  };
  return formulas;
}

const Formula& LatencyStalls() {
  static const Formula formula = {"latency",
                                  {{Stall("long_scoreboard")},
                                   {Stall("short_scoreboard")},
                                   {Stall("barrier")},
                                   {Stall("wait")},
                                   {Stall("no_instruction")},
                                   {Stall("membar")},
                                   {Stall("branch_resolving")},
                                   {Stall("dispatch_stall")}}};
  return formula;
}
const Formula& AllStalls() {
  static const Formula formula = [] {
    Formula all = LatencyStalls();
    for (const char* reason : {"mio_throttle", "lg_throttle", "math_pipe_throttle"})
      all.terms.push_back({Stall(reason)});
    return all;
  }();
  return formula;
}

const std::map<std::string_view, std::string_view>& NotOnHardware() {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"barriers", "no counter of barrier instructions; stall_barrier_pct says what waiting at them costs"},
      {"flops_tensor", "CUPTI counts how long the tensor pipe is busy (tensor_pct), not what it computes"},
      {"warp_instructions_barrier", "CUPTI has no class for barriers"},
      {"warp_instructions_tensor", "CUPTI has no class for products on tensor cores"},
      {"warp_instructions_other", "what CUPTI's classes leave: instructions of the uniform datapath"},
  };
  return reasons;
}

}  // namespace warpwright::gpu
