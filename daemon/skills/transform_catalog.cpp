#include "skills/transform_catalog.h"

namespace warpwright {

const std::vector<TransformSignature>& TransformCatalog() {
  static const std::vector<TransformSignature> catalog = {
      {"launch_retune", {{"block_size", {"128", "64", "256", "512", "1024"}}, {"launch_bounds", {"off", "on"}}}},
      {"restrict_readonly", {}},
      {"vectorize_elementwise", {{"width", {"4", "2", "8"}}}},
      {"unroll_accumulators", {{"factor", {"4", "2", "8"}}}},
      {"transpose_tile", {{"tile", {"32"}}, {"rows", {"8"}}}},
      {"histogram_privatize", {}},
      {"row_parallel",
       {{"mode", {"block", "warp"}}, {"threads", {"256", "128", "512", "1024"}}, {"rows_per_block", {"4", "8"}}}},
      {"tile_matmul", {{"tile", {"64x64x16", "128x128x8", "64x64x8", "128x64x16", "32x32x32"}}}},
  };
  return catalog;
}

const TransformSignature* FindTransformSignature(std::string_view id) {
  for (const TransformSignature& signature : TransformCatalog())
    if (signature.id == id) return &signature;
  return nullptr;
}

}  // namespace warpwright
