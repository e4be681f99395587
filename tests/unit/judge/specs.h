// Small kernel specs and values for the judge's tests.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright {

inline core::BufferArgument Buffer(core::DType dtype, const std::vector<std::string>& shape, core::Role role) {
  core::BufferArgument buffer;
  buffer.dtype = dtype;
  buffer.role = role;
  for (const std::string& extent : shape) buffer.shape.push_back(*core::Expression::Parse(extent));
  return buffer;
}
inline core::Argument Arg(const std::string& name, std::variant<core::BufferArgument, core::ScalarArgument> kind) {
  core::Argument argument;
  argument.name = name;
  argument.kind = std::move(kind);
  return argument;
}
inline core::Case MakeCase(const std::string& name, std::map<std::string, core::ScalarValue> scalars) {
  core::Case c;
  c.name = name;
  c.scalars = std::move(scalars);
  return c;
}

inline std::vector<std::byte> Pack(core::DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * core::SizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) core::StoreFromDouble(dtype, bytes.data(), i, values[i]);
  return bytes;
}

// out[n] = f(in[n])
inline core::KernelSpec ElementwiseSpec(core::DType dtype, int64_t n) {
  core::KernelSpec spec;
  spec.name = "elementwise";
  spec.file = "kernels/elementwise.cu";
  spec.entry = "launch";
  spec.args = {Arg("out", Buffer(dtype, {"n"}, core::Role::kOut)), Arg("in", Buffer(dtype, {"n"}, core::Role::kIn)),
               Arg("n", core::ScalarArgument{core::DType::kI32, {}})};
  spec.cases = {MakeCase("n", {{"n", n}})};
  return spec;
}

// out[N, C] from in[N, C]
inline core::KernelSpec SoftmaxSpec(int64_t rows, int64_t columns) {
  core::KernelSpec spec;
  spec.name = "softmax";
  spec.file = "kernels/softmax.cu";
  spec.entry = "softmax_forward";
  spec.args = {Arg("out", Buffer(core::DType::kF32, {"N", "C"}, core::Role::kOut)),
               Arg("in", Buffer(core::DType::kF32, {"N", "C"}, core::Role::kIn)),
               Arg("N", core::ScalarArgument{core::DType::kI32, {}}),
               Arg("C", core::ScalarArgument{core::DType::kI32, {}})};
  spec.cases = {MakeCase("small", {{"N", rows}, {"C", columns}})};
  return spec;
}

// out[N] = sum of in[N, C]
inline core::KernelSpec RowSumSpec(core::DType out, int64_t rows, int64_t columns) {
  core::KernelSpec spec = SoftmaxSpec(rows, columns);
  spec.name = "row_sum";
  spec.args[0].kind = Buffer(out, {"N"}, core::Role::kOut);
  return spec;
}

}  // namespace warpwright
