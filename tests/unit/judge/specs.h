// Small kernel specs and values for the judge's tests.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright {

inline BufferArgument Buffer(DType dtype, const std::vector<std::string>& shape, Role role) {
  BufferArgument buffer;
  buffer.dtype = dtype;
  buffer.role = role;
  for (const std::string& extent : shape) buffer.shape.push_back(*Expression::Parse(extent));
  return buffer;
}
inline Argument Arg(const std::string& name, std::variant<BufferArgument, ScalarArgument> kind) {
  Argument argument;
  argument.name = name;
  argument.kind = std::move(kind);
  return argument;
}
inline Case MakeCase(const std::string& name, std::map<std::string, ScalarValue> scalars) {
  Case c;
  c.name = name;
  c.scalars = std::move(scalars);
  return c;
}

inline std::vector<std::byte> Pack(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * SizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) StoreFromDouble(dtype, bytes.data(), i, values[i]);
  return bytes;
}

// out[n] = f(in[n])
inline KernelSpec ElementwiseSpec(DType dtype, int64_t n) {
  KernelSpec spec;
  spec.name = "elementwise";
  spec.file = "kernels/elementwise.cu";
  spec.entry = "launch";
  spec.args = {Arg("out", Buffer(dtype, {"n"}, Role::kOut)), Arg("in", Buffer(dtype, {"n"}, Role::kIn)),
               Arg("n", ScalarArgument{DType::kI32, {}})};
  spec.cases = {MakeCase("n", {{"n", n}})};
  return spec;
}

// out[N, C] from in[N, C]
inline KernelSpec SoftmaxSpec(int64_t rows, int64_t columns) {
  KernelSpec spec;
  spec.name = "softmax";
  spec.file = "kernels/softmax.cu";
  spec.entry = "softmax_forward";
  spec.args = {Arg("out", Buffer(DType::kF32, {"N", "C"}, Role::kOut)),
               Arg("in", Buffer(DType::kF32, {"N", "C"}, Role::kIn)), Arg("N", ScalarArgument{DType::kI32, {}}),
               Arg("C", ScalarArgument{DType::kI32, {}})};
  spec.cases = {MakeCase("small", {{"N", rows}, {"C", columns}})};
  return spec;
}

// out[N] = sum of in[N, C]
inline KernelSpec RowSumSpec(DType out, int64_t rows, int64_t columns) {
  KernelSpec spec = SoftmaxSpec(rows, columns);
  spec.name = "row_sum";
  spec.args[0].kind = Buffer(out, {"N"}, Role::kOut);
  return spec;
}

}  // namespace warpwright
