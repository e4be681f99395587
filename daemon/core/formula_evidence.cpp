// How the formula of an entry becomes evidence and a roofline.
#include <algorithm>

#include "core/computation_facts.h"
#include "core/evidence.h"

namespace warpwright::core {

Roofline FormulaRoofline(const Chip& chip, const ComputationFacts& facts, const Roofline& counted) {
  Roofline roofline = counted;
  roofline.of_formula = true;
  roofline.min_bytes = std::min(counted.min_bytes, facts.bytes());
  roofline.memory_us = roofline.min_bytes / chip.dram_bytes_per_second * 1e6;
  // A formula repeats what an implementation can share: sums of prefixes, of equal keys, of overlapping windows.
  roofline.flops = std::min(counted.flops, facts.flops());
  roofline.compute_us = counted.flops > 0 ? counted.compute_us * roofline.flops / counted.flops : 0;
  roofline.floor_us = std::max(roofline.memory_us, roofline.compute_us) + chip.launch_overhead_us;
  return roofline;
}

void AddFormula(const ComputationFacts& facts, OperationClass operation, Evidence& e) {
  const auto set = [&](std::string_view name, double value) {
    const EvidenceField& field = *FindEvidenceField(name);
    e.Set(name, std::clamp(value, field.low, field.high));
  };
  e.SetOperation(operation);
  e.shape = ShapeClassOf(facts);
  set("formula_known", 1);
  set("formula_flops", facts.flops());
  set("formula_bytes", facts.bytes());
  set("formula_intensity", facts.intensity());
  set("entry_attention", facts.operation == OperationClass::kAttention ? 1 : 0);
  if (facts.contraction) {
    const ContractionSizes& c = *facts.contraction;
    set("contraction_batch", c.batch);
    set("contraction_m", c.m);
    set("contraction_n", c.n);
    set("contraction_k", c.k);
    set("contraction_results", c.batch * c.m * c.n);
  }
  if (facts.convolution) {
    set("convolution_dimensions", facts.convolution->dimensions);
    set("convolution_depthwise", facts.convolution->depthwise);
    set("convolution_grouped", facts.convolution->grouped);
    set("convolution_transposed", facts.convolution->transposed);
  }
  if (facts.reduction) {
    set("reduction_terms", facts.reduction->terms);
    set("reduction_results", facts.reduction->results);
    set("reduction_contiguous", facts.reduction->contiguous);
  }
  if (facts.window) {
    set("window_taps", facts.window->taps);
    set("window_stride", facts.window->stride);
  }
  if (!facts.operands.empty()) {
    const auto [low, high] = std::minmax_element(facts.operands.begin(), facts.operands.end(),
                                                 [](const auto& a, const auto& b) { return a.reuse() < b.reuse(); });
    set("operand_reuse_high", high->reuse());
    set("operand_reuse_low", low->reuse());
  }
  set("data_gathers", static_cast<double>(facts.gathers));
  set("data_branches", static_cast<double>(facts.data_branches));
  set("stages", static_cast<double>(facts.stages));
  set("fusable_stages", static_cast<double>(facts.fusable));
}

}  // namespace warpwright::core
