// One buffer to be filled with inputs. Private to judge/.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "core/dtype.h"
#include "core/kernel_spec.h"

namespace warpwright::judge {

struct InputTarget {
  const core::Argument& argument;
  const core::BufferArgument& buffer;
  const core::Case& c;
  std::vector<int64_t> shape;
  std::span<std::byte> bytes;
  uint64_t seed, stream;
  bool elementwise = false;  // one-dimensional, with the shape of an output: a bad value affects only its own element
  bool alone = true;         // these values are not multiplied by other buffers' values
  std::span<const double> named;  // numbers of kNamed
};

inline tl::unexpected<Error> BadInit(const InputTarget& target, const std::string& what) {
  return Fail(Error{.code = ErrorCode::kConfig,
                    .message = "argument " + target.argument.name + ": " + what,
                    .line = target.argument.line});
}

// `at(i)` for each element, with the dispatch on the dtype outside the loop.
template <typename At>
void Fill(core::DType dtype, std::span<std::byte> bytes, At at) {
  const size_t count = bytes.size() / core::SizeOf(dtype);
  const auto store = [&](auto convert) {
    using T = decltype(convert(0.0));
    base::ParallelFor(count, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const T value = convert(at(i));
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
      }
    });
  };
  if (dtype == core::DType::kF32) return store([](double v) { return static_cast<float>(v); });
  if (dtype == core::DType::kF64) return store([](double v) { return v; });
  if (dtype == core::DType::kF16) return store([](double v) { return core::DoubleToHalf(v); });
  if (dtype == core::DType::kBF16) return store([](double v) { return core::DoubleToBFloat16(v); });
  for (size_t i = 0; i < count; ++i) core::StoreFromDouble(dtype, bytes.data(), i, static_cast<double>(at(i)));
}

}  // namespace warpwright::judge
