#include "core/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "base/hash.h"

namespace warpwright::core {

const std::vector<EvidenceField>& EvidenceFields() {
  static const std::vector<EvidenceField> fields = {
      // Time and roofline.
      {"kernel_time_us", "us", 0.5, 1e7, "time of the hottest kernel"},
      {"time_share_pct", "%", 0, 100, "its share of the whole plan"},
      {"launches", "count", 1, 4096, "kernel launches in the plan"},
      {"roofline_pct", "%", 0, 100,
       "time that the task needs at the least, over the time it takes: of the formula where it is known"},
      {"counted_roofline_pct", "%", 0, 100, "the same, of the buffers and of what the original was counted to compute"},
      {"headroom", "ratio", 1, 1e5, "time over the roofline floor"},
      {"arithmetic_intensity", "flop/byte", 0, 1e4, "counted FLOPs over the bytes that the task must move"},
      {"compute_floor", "bool", 0, 1, "the floor is set by arithmetic, not by memory"},
      {"memory_excess", "ratio", 0, 1e4, "DRAM bytes moved over the bytes that the task must move"},
      {"load_reuse", "ratio", 0, 1e5, "bytes that lanes load over the bytes that the task must move"},
      // Utilization of each unit, as a share of its peak while the kernel runs.
      {"dram_throughput_pct", "%", 0, 100, "DRAM"},
      {"l2_throughput_pct", "%", 0, 100, "L2"},
      {"l1_throughput_pct", "%", 0, 100, "L1 data"},
      {"shared_throughput_pct", "%", 0, 100, "shared memory wavefronts"},
      {"issue_utilization_pct", "%", 0, 100, "issue slots of the schedulers"},
      {"fp32_pct", "%", 0, 100, "FP32 lanes"},
      {"fp64_pct", "%", 0, 100, "FP64 lanes"},
      {"fp16_pct", "%", 0, 100, "FP16 and BF16 lanes"},
      {"integer_pct", "%", 0, 100, "integer lanes"},
      {"sfu_pct", "%", 0, 100, "special function units"},
      {"atomic_pct", "%", 0, 100, "time that atomics take"},
      {"latency_pct", "%", 0, 100, "share of the time that exposed latency explains"},
      {"overhead_pct", "%", 0, 100, "share of the time that launching explains"},
      // Memory access quality.
      {"load_sectors_per_request", "sectors", 0, 32, "global loads; 4 is ideal for 4-byte, 16 for 16-byte accesses"},
      {"store_sectors_per_request", "sectors", 0, 32, "global stores"},
      {"load_efficiency_pct", "%", 0, 100, "bytes asked for over bytes in the sectors touched, loads"},
      {"store_efficiency_pct", "%", 0, 100, "the same for stores"},
      {"store_sector_pct", "%", 0, 100, "sectors that stores touch over those of all global loads and stores"},
      {"access_bytes", "bytes", 0, 16, "bytes per lane and global load"},
      {"l1_hit_pct", "%", 0, 100, "sectors found in L1"},
      {"l2_hit_pct", "%", 0, 100, "sectors found in L2"},
      {"bank_conflict_pct", "%", 0, 100, "shared wavefronts that are conflicts"},
      {"local_bytes_pct", "%", 0, 100, "local (spill and stack) bytes over all bytes moved by lanes"},
      // Parallelism.
      {"achieved_occupancy_pct", "%", 0, 100, "resident warps, averaged"},
      {"theoretical_occupancy_pct", "%", 0, 100, "resident warps, at the limit"},
      {"limited_by_registers", "bool", 0, 1, "occupancy limiter"},
      {"limited_by_shared", "bool", 0, 1, "occupancy limiter"},
      {"limited_by_blocks", "bool", 0, 1, "occupancy limiter: blocks or warps per multiprocessor"},
      {"limited_by_grid", "bool", 0, 1, "the grid does not fill the chip"},
      {"waves", "ratio", 0, 1e6, "blocks over blocks that are resident at once"},
      {"registers_per_thread", "count", 0, 255, ""},
      {"threads_per_block", "count", 1, 1024, ""},
      {"shared_bytes_per_block", "bytes", 0, 233472, ""},
      {"divergent_branch_pct", "%", 0, 100, "conditional branches on which lanes of a warp part"},
      {"warp_efficiency_pct", "%", 0, 100, "active lanes per warp instruction, of 32"},
      {"barriers_per_warp", "count", 0, 1e6, "barrier arrivals of a warp"},
      // Instruction mix.
      {"fp_instruction_pct", "%", 0, 100, "floating point"},
      {"integer_instruction_pct", "%", 0, 100, "integer and moves: address arithmetic"},
      {"memory_instruction_pct", "%", 0, 100, "loads, stores and atomics of all spaces"},
      {"control_instruction_pct", "%", 0, 100, "branches and predicates"},
      {"conversion_instruction_pct", "%", 0, 100, "conversions between types"},
      // What warps wait for, as shares of the stalled warp cycles. Only real devices count it.
      {"stall_memory_pct", "%", 0, 100, "for data from global, local or texture memory"},
      {"stall_memory_queue_pct", "%", 0, 100, "for a place in the queue of global and local accesses"},
      {"stall_shared_pct", "%", 0, 100, "for shared memory, special functions and their queue"},
      {"stall_barrier_pct", "%", 0, 100, "at a barrier of the block"},
      {"stall_fence_pct", "%", 0, 100, "at a memory fence"},
      {"stall_math_pct", "%", 0, 100, "for a busy arithmetic unit"},
      {"stall_dependency_pct", "%", 0, 100, "for the result of the instruction before"},
      {"stall_fetch_pct", "%", 0, 100, "for instructions, or the target of a branch"},
      {"stall_dispatch_pct", "%", 0, 100, "for the dispatcher"},
      {"tensor_pct", "%", 0, 100, "tensor cores, as a share of their peak"},
      // What the hottest kernel computes: by the formula where it is known, else as the source reads.
      {"op_elementwise", "bool", 0, 1, "operation class: an element-wise map"},
      {"op_row_reduction", "bool", 0, 1, "operation class: reductions of rows, columns or groups"},
      {"op_full_reduction", "bool", 0, 1, "operation class: a reduction to one value"},
      {"op_arg_reduction", "bool", 0, 1, "operation class: the position of an extremum"},
      {"op_row_normalization", "bool", 0, 1, "operation class: a row program, as softmax and norms are"},
      {"op_matmul", "bool", 0, 1, "operation class: a contraction in which both operands are used again"},
      {"op_matvec", "bool", 0, 1, "operation class: a contraction in which the larger operand is used once"},
      {"op_convolution", "bool", 0, 1, "operation class: a convolution"},
      {"op_stencil", "bool", 0, 1, "operation class: a stencil, filter or pool"},
      {"op_transpose", "bool", 0, 1, "operation class: a rearranging copy"},
      {"op_gather", "bool", 0, 1, "operation class: a gather"},
      {"op_scatter", "bool", 0, 1, "operation class: a scatter"},
      {"op_histogram", "bool", 0, 1, "operation class: a histogram"},
      {"op_scan", "bool", 0, 1, "operation class: a scan"},
      {"op_attention", "bool", 0, 1, "operation class: attention"},
      {"op_composition", "bool", 0, 1, "operation class: several of them"},
      {"op_unknown", "bool", 0, 1, "operation class: not known"},
      // What the entry computes, apart from how: of its formula at the case's sizes.
      {"formula_known", "bool", 0, 1, "the entry was lifted: what follows is of its formula"},
      {"formula_flops", "flop", 0, 1e18, "operations of the formula as it is written"},
      {"formula_bytes", "bytes", 0, 1e15, "bytes that must move: inputs that are read and outputs, each once"},
      {"formula_intensity", "flop/byte", 0, 1e6, "the one over the other"},
      {"entry_attention", "bool", 0, 1, "the whole entry is attention, whatever its hottest kernel is"},
      {"contraction_batch", "count", 1, 1e9, "of the largest contraction or convolution: independent products"},
      {"contraction_m", "count", 1, 1e12, "of the same: results along the left operand"},
      {"contraction_n", "count", 1, 1e12, "of the same: results along the right operand"},
      {"contraction_k", "count", 1, 1e12, "of the same: terms of each sum"},
      {"contraction_results", "count", 1, 1e15, "of the same: sums"},
      {"convolution_dimensions", "count", 1, 8, "of the window"},
      {"convolution_depthwise", "bool", 0, 1, "each channel has its own filter"},
      {"convolution_grouped", "bool", 0, 1, "channels in groups"},
      {"convolution_transposed", "bool", 0, 1, "with a stride of the output"},
      {"reduction_terms", "count", 1, 1e12, "of each result of the largest reduction that is no contraction"},
      {"reduction_results", "count", 1, 1e12, "of the same"},
      {"reduction_contiguous", "bool", 0, 1, "the terms of the same are neighbours in memory"},
      {"window_taps", "count", 1, 1e6, "elements that a result is of, in the largest window"},
      {"window_stride", "count", 0, 1e6, "of neighbouring results"},
      {"operand_reuse_high", "ratio", 0, 1e12, "how often an element is used, of the operand where that is most"},
      {"operand_reuse_low", "ratio", 0, 1e12, "how often an element is used, of the operand where that is least"},
      {"data_gathers", "count", 0, 4096, "reads at positions that are data"},
      {"data_branches", "count", 0, 4096, "selections by data"},
      {"stages", "count", 1, 64, "tensors that are computed one after another"},
      {"fusable_stages", "count", 0, 64, "those of them that can be computed where they are read"},
      // Static: what the source shows.
      {"loops", "count", 0, 100, "loops in the kernel"},
      {"loop_depth", "count", 0, 10, "deepest nesting"},
      {"accumulating_loop", "bool", 0, 1, "a loop carries a sum, product, minimum or maximum"},
      {"accumulators", "count", 0, 64, "independent accumulators in one loop"},
      {"loop_unrolled", "bool", 0, 1, "#pragma unroll"},
      {"one_thread_per_row", "bool", 0, 1, "a thread walks a whole row by itself"},
      {"strided_access", "bool", 0, 1, "neighbouring threads access far apart"},
      {"indirect_access", "bool", 0, 1, "an index comes from memory"},
      {"vector_width", "count", 1, 16, "widest access, in elements"},
      {"uses_shared", "bool", 0, 1, "static or dynamic shared memory"},
      {"barriers", "count", 0, 1000, "barriers in the source"},
      {"atomics", "count", 0, 1000, "atomics in the source"},
      {"shuffles", "count", 0, 1000, "warp shuffles in the source"},
      {"divergent_branches", "count", 0, 1000, "conditions on threadIdx beyond bounds guards"},
      {"const_restrict", "bool", 0, 1, "every read-only pointer is const __restrict__"},
      {"launch_bounds", "bool", 0, 1, "__launch_bounds__"},
      {"bounds_guard", "bool", 0, 1, "if (i < n)"},
      {"tensor_cores", "bool", 0, 1, "wmma or mma"},
      {"async_copy", "bool", 0, 1, "cp.async or a bulk copy"},
      {"transcendentals", "bool", 0, 1, "exp, log, tanh, erf, sin, cos or pow"},
      {"precise_math_calls", "bool", 0, 1, "a precise function where an approximate intrinsic exists"},
      {"dtype_f64", "bool", 0, 1, "buffers of f64"},
      {"dtype_f32", "bool", 0, 1, "buffers of f32"},
      {"dtype_half", "bool", 0, 1, "buffers of f16 or bf16"},
      {"compute_capability", "number", 80, 121, "90 for sm_90"},
  };
  return fields;
}

const EvidenceField* FindEvidenceField(std::string_view name) {
  static const auto index = [] {
    std::map<std::string_view, const EvidenceField*> map;
    for (const auto& field : EvidenceFields()) map[field.name] = &field;
    return map;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

void Evidence::Set(std::string_view field, double value) {
  if (FindEvidenceField(field) == nullptr) throw std::logic_error("no evidence field " + std::string(field));
  values_.insert_or_assign(std::string(field), value);
}

void Evidence::SetOperation(OperationClass of_kernel) {
  operation = of_kernel;
  for (const auto any : kAllOperationClasses) Set("op_" + std::string(Name(any)), any == operation ? 1 : 0);
}

std::optional<double> Evidence::Get(std::string_view field) const {
  const auto found = values_.find(field);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string Evidence::Digest() const {
  base::Hasher hasher;
  hasher.Add(Name(operation)).Add(dtype).Add(chip);
  for (const auto& [name, value] : values_) {
    char rounded[32];
    std::snprintf(rounded, sizeof rounded, "%.2g", value);
    hasher.Add(name).Add(std::string_view(rounded));
  }
  return hasher.Finish();
}

}  // namespace warpwright::core
