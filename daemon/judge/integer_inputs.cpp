#include "judge/integer_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace warpwright::judge {
namespace {

void FillIntegers(core::DType dtype, std::span<std::byte> bytes, const base::CounterRandom& random, int64_t low,
                  int64_t high) {
  const size_t count = bytes.size() / core::SizeOf(dtype);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0: all 64 bits
  const auto at = [&](size_t i) {
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (range == 0 ? random.Bits(i) : random.Below(i, range)));
  };
  const auto fill = [&](const auto& store) {
    base::ParallelFor(count, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) store(i, at(i));
    });
  };
  if (core::IsFloat(dtype))
    return fill(
        [&](size_t i, int64_t value) { core::StoreFromDouble(dtype, bytes.data(), i, static_cast<double>(value)); });
  // Little endian: the low bytes of the two's complement. A size that the compiler knows is one instruction.
  const auto low_bytes = [&](auto size) {
    fill([&, size](size_t i, int64_t value) { std::memcpy(bytes.data() + i * size(), &value, size()); });
  };
  switch (core::SizeOf(dtype)) {
    case 1: return low_bytes(std::integral_constant<size_t, 1>());
    case 4: return low_bytes(std::integral_constant<size_t, 4>());
    default: return low_bytes(std::integral_constant<size_t, 8>());
  }
}

struct IntegerRange {
  int64_t low = 0, high = 0;
};
Result<IntegerRange> RangeOf(const InputTarget& target) {
  const core::Init& init = target.buffer.init;
  int64_t low = 0, high = target.buffer.dtype == core::DType::kBool ? 1 : 127;
  const auto variables = core::IntegerScalars(target.c);
  if (init.low) {
    WW_ASSIGN(low, init.low->Evaluate(variables));
  }
  if (init.high) {
    WW_ASSIGN(high, init.high->Evaluate(variables));
  }
  if (high < low && !target.bytes.empty())
    return BadInit(target,
                   fmt::format("the range [{}, {}] of its integers is empty in case {}", low, high, target.c.name));
  return IntegerRange{low, high};
}

// The least and the greatest integer of a type.
IntegerRange ExtremesOf(core::DType dtype) {
  const auto bits = 8 * core::SizeOf(dtype);
  if (dtype == core::DType::kBool) return {0, 1};
  if (dtype == core::DType::kU8 || dtype == core::DType::kU32) return {0, (int64_t{1} << bits) - 1};
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return {-most - 1, most};
}

}  // namespace

Status FillIntegerRange(const InputTarget& target, const base::CounterRandom& random) {
  WW_ASSIGN(const IntegerRange range, RangeOf(target));
  if (!target.bytes.empty()) FillIntegers(target.buffer.dtype, target.bytes, random, range.low, range.high);
  return {};
}

Status FillIntegerVariant(const InputTarget& target, InputVariant variant, const base::CounterRandom& random) {
  WW_ASSIGN(const IntegerRange range, RangeOf(target));
  const core::DType dtype = target.buffer.dtype;
  const size_t size = core::SizeOf(dtype), count = target.bytes.size() / size;
  const IntegerRange type = ExtremesOf(dtype);
  const auto store = [&](size_t i, int64_t value) {
    value = std::clamp(value, type.low, type.high);
    std::memcpy(target.bytes.data() + i * size, &value, size);
  };
  const auto width = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);
  if (variant == InputVariant::kIntegerEqual) {
    auto value = static_cast<int64_t>(static_cast<uint64_t>(range.low) +
                                      (width == UINT64_MAX ? random.Bits(0) : random.Below(0, width + 1)));
    if (!target.named.empty()) value = range.high;
    for (size_t i = 0; i < count; ++i) store(i, value);
  } else if (variant == InputVariant::kIntegerSorted) {
    const bool falls = random.Bits(0) & 1;
    for (size_t i = 0; i < count; ++i) {
      const auto share = static_cast<uint64_t>(static_cast<double>(width) * static_cast<double>(i) /
                                               static_cast<double>(std::max<size_t>(count, 1)));
      store(i, falls ? static_cast<int64_t>(static_cast<uint64_t>(range.high) - share)
                     : static_cast<int64_t>(static_cast<uint64_t>(range.low) + share));
    }
  } else if (variant == InputVariant::kIntegerNamed) {
    WW_TRY(FillIntegerRange(target, random));
    const base::CounterRandom places(target.seed, ~target.stream);
    for (size_t i = 0; i < count && !target.named.empty(); ++i)
      if (places.Below(i, 8) == 0) store(i, static_cast<int64_t>(target.named.front()));
  } else {
    for (size_t i = 0; i < count; ++i) {
      const int64_t power = int64_t{1} << random.Below(4 * i, 8 * size - 1), sign = random.Bits(4 * i + 1) & 1 ? 1 : -1;
      const int64_t values[] = {range.low,
                                range.high,
                                range.low - 1,
                                range.high + 1,
                                sign * power,
                                sign * power + 1,
                                type.low,
                                type.high,
                                -1,
                                0,
                                range.low + static_cast<int64_t>(width / 2),
                                sign * static_cast<int64_t>(random.Below(4 * i + 2, 8 * (width % INT32_MAX) + 8))};
      store(i, values[random.Below(4 * i + 3, std::size(values))]);
    }
  }
  return {};
}

}  // namespace warpwright::judge
