// How manifest entries are encoded for a worker (base/fields.h): only what running needs. The judge alone knows how
// inputs are generated and which cases exist.
#pragma once

#include "base/fields.h"
#include "core/kernel_spec.h"

namespace warpwright::core {

constexpr Allow Last(Allow) { return kLastAllow; }

template <typename V>
void Describe(V& field, const BufferArgument*) {
  using T = BufferArgument;
  field("dtype", &T::dtype);
  field("shape", &T::shape);
  field("role", &T::role);
  field.Untold(&T::init);
  field("alignment", &T::alignment);
}
template <typename V>
void Describe(V& field, const ScalarArgument*) {
  using T = ScalarArgument;
  field("dtype", &T::dtype);
  field.Sparse("value", &T::value);
}
template <typename V>
void Describe(V& field, const Argument*) {
  using T = Argument;
  field("name", &T::name);
  field("kind", &T::kind);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const LaunchSpec*) {
  using T = LaunchSpec;
  field("grid", &T::grid);
  field("block", &T::block);
  field.Sparse("shared_bytes", &T::shared_bytes);
}
template <typename V>
void Describe(V& field, const KernelSpec*) {
  using T = KernelSpec;
  field("name", &T::name);
  field("file", &T::file);
  field("entry", &T::entry);
  field.Untold(&T::build);  // goes with the source
  field("args", &T::args);
  field.Untold(&T::cases);
  field.Sparse("launch", &T::launch);
  field.Untold(&T::tolerance);
  field("allow", &T::allow);
  field.Untold(&T::special);
  field.Untold(&T::alias);
  field.Untold(&T::accumulation);
  field("line", &T::line);
}

constexpr std::string_view Tag(const BufferArgument*) { return "buffer"; }
constexpr std::string_view Tag(const ScalarArgument*) { return "scalar"; }
constexpr const char* TagKey(const decltype(Argument::kind)*) { return "argument"; }

}  // namespace warpwright::core
