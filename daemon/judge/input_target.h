// One buffer to be filled with inputs. Private to judge/.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "core/dtype.h"
#include "core/kernel_spec.h"
#include "judge/drawn_numbers.h"

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
  // By dimension, whether an earlier buffer with values of its own has the same extent, or a later one.
  std::vector<bool> shared_with_earlier = {}, shared_with_later = {};
};

inline tl::unexpected<Error> BadInit(const InputTarget& target, const std::string& what) {
  return Fail(Error{.code = ErrorCode::kConfig,
                    .message = "argument " + target.argument.name + ": " + what,
                    .line = target.argument.line});
}

// `make(first, values)` gives the elements from `first` on, some hundred at a time, with the dispatch on the dtype
// outside the loop.
template <typename Make>
void FillBlocks(core::DType dtype, std::span<std::byte> bytes, Make make) {
  constexpr size_t kBlock = 256;
  const auto store = [&](auto convert) {
    using T = decltype(convert(0.0));
    base::ParallelFor(bytes.size() / sizeof(T), [&](size_t begin, size_t end) {
      std::array<double, kBlock> block;
      std::array<T, kBlock> converted;
      for (size_t first = begin; first < end; first += kBlock) {
        const size_t count = std::min(kBlock, end - first);
        make(first, std::span(block).first(count));
        for (size_t k = 0; k < count; ++k) converted[k] = convert(block[k]);
        std::memcpy(bytes.data() + first * sizeof(T), converted.data(), count * sizeof(T));
      }
    });
  };
  if (dtype == core::DType::kF32) return store([](double v) { return static_cast<float>(v); });
  if (dtype == core::DType::kF64) return store([](double v) { return v; });
  if (dtype == core::DType::kF16) return store([](double v) { return core::DoubleToHalf(v); });
  if (dtype == core::DType::kBF16) return store([](double v) { return core::DoubleToBFloat16(v); });
  double value = 0;
  for (size_t i = 0; i < bytes.size() / core::SizeOf(dtype); ++i) {
    make(i, std::span(&value, 1));
    core::StoreFromDouble(dtype, bytes.data(), i, value);
  }
}

// `at(i)` for each element.
template <typename At>
void Fill(core::DType dtype, std::span<std::byte> bytes, At at) {
  FillBlocks(dtype, bytes, [&](uint64_t first, std::span<double> values) {
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(at(first + k));
  });
}

// `of(normal)` for each element, of numbers of the normal distribution.
template <typename Of>
void FillOfNormals(core::DType dtype, std::span<std::byte> bytes, const base::CounterRandom& random, Of of) {
  FillBlocks(dtype, bytes, [&](uint64_t first, std::span<double> values) {
    NormalsAt(random, first, values);
    for (double& value : values) value = of(value);
  });
}

}  // namespace warpwright::judge
