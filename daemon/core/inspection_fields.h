// How the results of an inspection are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/inspection.h"

namespace warpwright::core {

constexpr DType Last(DType) { return DType::kBool; }
constexpr Role Last(Role) { return Role::kScratch; }
constexpr AccessPattern Last(AccessPattern) { return AccessPattern::kUnknown; }
constexpr EntryInfo::Kind Last(EntryInfo::Kind) { return EntryInfo::Kind::kKernel; }

template <typename V>
void Describe(V& field, const ParameterInfo*) {
  using T = ParameterInfo;
  field("name", &T::name);
  field("type", &T::type);
  field("pointer", &T::is_pointer);
  field("const", &T::is_const);
  field("restrict", &T::is_restrict);
  field.Sparse("dtype", &T::dtype);
  field.Sparse("role", &T::likely_role);
}
template <typename V>
void Describe(V& field, const AccessInfo*) {
  using T = AccessInfo;
  field("pointer", &T::pointer);
  field("pattern", &T::pattern);
  field("reads", &T::reads);
  field("writes", &T::writes);
  field("vector_width", &T::vector_width);
  field("stride", &T::stride);
  field("loop_depth", &T::loop_depth);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const LoopInfo*) {
  using T = LoopInfo;
  field("line", &T::line);
  field("depth", &T::depth);
  field("bound", &T::bound);
  field.Sparse("trip_count", &T::trip_count);
  field("thread_strided", &T::thread_strided);
  field("unrolled", &T::unrolled);
  field("accumulates", &T::accumulates);
}
template <typename V>
void Describe(V& field, const StaticFeatures*) {
  using T = StaticFeatures;
  field("operation", &T::operation);
  field("loops", &T::loops);
  field("accesses", &T::accesses);
  field("shared_bytes", &T::shared_bytes);
  field("dynamic_shared", &T::dynamic_shared);
  field("barriers", &T::barriers);
  field("atomics", &T::atomics);
  field("shuffles", &T::shuffles);
  field("votes", &T::votes);
  field("divergent_branches", &T::divergent_branches);
  field("bounds_guard", &T::bounds_guard);
  field("one_thread_per_row", &T::one_thread_per_row);
  field("const_restrict", &T::const_restrict);
  field("launch_bounds", &T::launch_bounds);
  field("vectorized", &T::vectorized);
  field("tensor_cores", &T::tensor_cores);
  field("async_copy", &T::async_copy);
  field("cooperative_groups", &T::cooperative_groups);
  field("max_vector_width", &T::max_vector_width);
  field("independent_accumulators", &T::independent_accumulators);
  field("math", &T::math);
  field("dtypes", &T::dtypes);
}
template <typename V>
void Describe(V& field, const KernelInfo*) {
  using T = KernelInfo;
  field("name", &T::name);
  field("template_parameters", &T::template_parameters);
  field("parameters", &T::parameters);
  field("file", &T::file);
  field("line", &T::line);
  field("end_line", &T::end_line);
  field("features", &T::features);
}
template <typename V>
void Describe(V& field, const EntryInfo*) {
  using T = EntryInfo;
  field("kind", &T::kind);
  field("name", &T::name);
  field("parameters", &T::parameters);
  field("kernels", &T::kernels);
  field("slice_hash", &T::slice_hash);
  field("refusal", &T::refusal);
  field("refusal_line", &T::refusal_line);
  field("line", &T::line);
  field("end_line", &T::end_line);
}
template <typename V>
void Describe(V& field, const Inspection*) {
  using T = Inspection;
  field("entries", &T::entries);
  field("kernels", &T::kernels);
  field("headers", &T::headers);
  field("warnings", &T::warnings);
}

}  // namespace warpwright::core
