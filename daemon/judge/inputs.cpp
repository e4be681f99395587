#include "judge/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file_below.h"
#include "base/parallel.h"
#include "base/random.h"
#include "judge/safetensors.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kPoisonStream = 0x706f69736f6eULL;
constexpr uint64_t kSecondStream = 0x7365636f6e64ULL;  // independent bits for the same element
constexpr uint64_t kMaxInitFileBytes = 1ull << 30;

// ln x of a positive normal number: x = m 2^e with m near 1, ln m = 2 artanh((m-1)/(m+1)) by its series. Error below
// 1e-14.
double Log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 1.0 / 19;
  for (int k = 17; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  return 2 * s * series + exponent * 0.6931471805599453;
}

// e^x for |x| < 700.
double Exp(double x) {
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = x - k * 0.6931471805599453;
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + sum * r / i;
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + static_cast<int>(k)) << 52) * sum;
}

// Inverse of the normal distribution function, P. J. Acklam's rational approximation (relative error 1.2e-9). Not that
// of Boost.Math: recorded references depend on every bit of it, and must not change with a library version.
double InverseNormal(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  if (p >= kTail && p <= 1 - kTail) {
    const double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double q = std::sqrt(-2 * Log(p < 0.5 ? p : 1 - p));
  const double tail = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                      ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  return p < 0.5 ? tail : -tail;
}

double NormalAt(const base::CounterRandom& random, uint64_t i) { return InverseNormal(random.Uniform(i) + 0x1.0p-54); }
double SignAt(const base::CounterRandom& random, uint64_t i) { return (random.Bits(i) & 1) != 0 ? -1.0 : 1.0; }
double ParetoAt(const base::CounterRandom& random, uint64_t i, double alpha) {
  return Exp(-Log(1 - random.Uniform(i)) / alpha);
}

// The values of a buffer: `at(i)` for each element, with the dispatch on the dtype outside the loop.
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

void FillIntegers(core::DType dtype, std::span<std::byte> bytes, const base::CounterRandom& random, int64_t low,
                  int64_t high) {
  const size_t count = bytes.size() / core::SizeOf(dtype);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0: all 64 bits
  base::ParallelFor(count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto value =
          static_cast<int64_t>(static_cast<uint64_t>(low) + (range == 0 ? random.Bits(i) : random.Below(i, range)));
      if (core::IsFloat(dtype)) {
        core::StoreFromDouble(dtype, bytes.data(), i, static_cast<double>(value));
      } else {  // little endian: the low bytes of the two's complement
        std::memcpy(bytes.data() + i * core::SizeOf(dtype), &value, core::SizeOf(dtype));
      }
    }
  });
}

struct Target {  // one buffer to fill
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

tl::unexpected<Error> BadInit(const Target& target, const std::string& what) {
  return Fail(Error{.code = ErrorCode::kConfig,
                    .message = "argument " + target.argument.name + ": " + what,
                    .line = target.argument.line});
}

Status FillFromFile(const Target& target, const std::filesystem::path& repository) {
  const core::Init& init = target.buffer.init;
  const std::filesystem::path path(init.path);
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    return BadInit(target, "the init file " + init.path + " is not inside the repository");
  WW_ASSIGN(const std::string content, base::ReadFileBelow(repository, path, kMaxInitFileBytes));
  WW_ASSIGN(const TensorFile file, DecodeSafetensors(content, init.path));
  const auto found = file.tensors.find(init.tensor.empty() ? target.argument.name : init.tensor);
  if (found == file.tensors.end()) return BadInit(target, "no tensor of this name in " + init.path);
  if (found->second.dtype != target.buffer.dtype || found->second.shape != target.shape)
    return BadInit(target,
                   fmt::format("the tensor in {} has dtype {} and shape [{}], which is not the argument's", init.path,
                               core::Name(found->second.dtype), fmt::join(found->second.shape, ", ")));
  std::copy(found->second.data.begin(), found->second.data.end(), target.bytes.begin());
  return {};
}

struct IntegerRange {
  int64_t low = 0, high = 0;
};
Result<IntegerRange> RangeOf(const Target& target) {
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

Status FillIntegerRange(const Target& target, const base::CounterRandom& random) {
  WW_ASSIGN(const IntegerRange range, RangeOf(target));
  if (!target.bytes.empty()) FillIntegers(target.buffer.dtype, target.bytes, random, range.low, range.high);
  return {};
}

// The least and the greatest integer of a type.
IntegerRange ExtremesOf(core::DType dtype) {
  const auto bits = 8 * core::SizeOf(dtype);
  if (dtype == core::DType::kBool) return {0, 1};
  if (dtype == core::DType::kU8 || dtype == core::DType::kU32) return {0, (int64_t{1} << bits) - 1};
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return {-most - 1, most};
}

// A variant of an integer buffer's values.
Status FillIntegerVariant(const Target& target, InputVariant variant, const base::CounterRandom& random) {
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
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(range.low) +
                                            (width == UINT64_MAX ? random.Bits(0) : random.Below(0, width + 1)));
    for (size_t i = 0; i < count; ++i) store(i, value);
  } else if (variant == InputVariant::kIntegerSorted) {
    const bool falls = random.Bits(0) & 1;
    for (size_t i = 0; i < count; ++i) {
      const auto share = static_cast<uint64_t>(static_cast<double>(width) * static_cast<double>(i) /
                                               static_cast<double>(std::max<size_t>(count, 1)));
      store(i, falls ? static_cast<int64_t>(static_cast<uint64_t>(range.high) - share)
                     : static_cast<int64_t>(static_cast<uint64_t>(range.low) + share));
    }
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

Status FillBase(const Target& target, const std::filesystem::path& repository) {
  const core::Init& init = target.buffer.init;
  const core::DType dtype = target.buffer.dtype;
  const base::CounterRandom random(target.seed, target.stream);
  switch (init.kind) {
    case core::Init::Kind::kFile: return FillFromFile(target, repository);
    case core::Init::Kind::kIntegers: return FillIntegerRange(target, random);
    case core::Init::Kind::kDefault:
      if (!core::IsFloat(dtype)) return FillIntegerRange(target, random);
      Fill(dtype, target.bytes, [&](uint64_t i) { return NormalAt(random, i); });
      return {};
    case core::Init::Kind::kNormal:
      Fill(dtype, target.bytes, [&](uint64_t i) { return init.a + init.b * NormalAt(random, i); });
      return {};
    case core::Init::Kind::kUniform:
      Fill(dtype, target.bytes, [&](uint64_t i) { return init.a + (init.b - init.a) * random.Uniform(i); });
      return {};
    case core::Init::Kind::kPareto:
      Fill(dtype, target.bytes, [&](uint64_t i) { return ParetoAt(random, i, init.a > 0 ? init.a : 1.5); });
      return {};
    case core::Init::Kind::kLognormal:
      Fill(dtype, target.bytes,
           [&](uint64_t i) { return Exp(std::clamp(init.a + init.b * NormalAt(random, i), -600.0, 600.0)); });
      return {};
    case core::Init::Kind::kConstant: Fill(dtype, target.bytes, [&](uint64_t) { return init.a; }); return {};
  }
  return {};
}

// +-0, subnormals, +-infinity, and NaN if requested. `longest` is the largest extent of the buffer.
void FillSpecial(const Target& target, const base::CounterRandom& random, bool with_nan) {
  const core::DType dtype = target.buffer.dtype;
  const size_t count = target.bytes.size() / core::SizeOf(dtype);
  int64_t longest = 1;
  for (const int64_t extent : target.shape) longest = std::max(longest, extent);
  const double density = std::max(std::min(1e-3, 0.5 / static_cast<double>(longest)),
                                  3.0 / static_cast<double>(std::max<size_t>(count, 8)));
  const double tiny = core::SmallestNormal(dtype) * 0.25, infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {0.0, -0.0, tiny, -tiny, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  const base::CounterRandom second(target.seed ^ kSecondStream, target.stream);
  Fill(dtype, target.bytes, [&](uint64_t i) {
    if (second.Uniform(i) >= density) return NormalAt(random, i);
    return specials[random.Below(i, with_nan ? 7 : 6)];
  });
  // So few positions may miss some of them. If they do not spoil the whole output, each occurs at least once.
  if (!target.elementwise && count / static_cast<size_t>(longest) < 16) return;
  for (uint64_t kind = 0; count >= 64 && kind < (with_nan ? 7u : 6u); ++kind)
    core::StoreFromDouble(dtype, target.bytes.data(), second.Below(count + kind, count), specials[kind]);
}

// How far below its usual magnitude a format still has normal numbers of which squares do not vanish at once.
int TinyExponent(core::DType dtype) { return dtype == core::DType::kF16 ? -12 : -60; }

void FillZeroRuns(const Target& target, const base::CounterRandom& random, const base::CounterRandom& second) {
  const uint64_t count = target.bytes.size() / core::SizeOf(target.buffer.dtype);
  std::vector<bool> zero(count);
  uint64_t drawn = 0;
  for (uint64_t begin = 0; begin < count;) {  // lengths of all magnitudes
    const uint64_t most = uint64_t{2} << second.Below(drawn, 9);
    const uint64_t length = 1 + second.Below(drawn + 1, most);
    const bool is_zero = (second.Bits(drawn + 2) & 1) != 0;
    for (uint64_t i = begin; i < std::min(count, begin + length); ++i) zero[i] = is_zero;
    begin += length;
    drawn += 3;
  }
  // And every other row is zero but for a few values: neither its ends nor a sample tell that.
  const uint64_t width = target.shape.empty() || target.shape.size() == 1
                             ? std::min<uint64_t>(count, 64)
                             : static_cast<uint64_t>(std::max<int64_t>(target.shape.back(), 1));
  for (uint64_t row = 0; width >= 8 && row * width < count; row += 2) {
    const uint64_t begin = row * width + second.Below(drawn++, width), length = std::max<uint64_t>(1, width / 8);
    for (uint64_t i = row * width; i < std::min(count, (row + 1) * width); ++i)
      zero[i] = i < begin || i >= begin + length;
  }
  Fill(target.buffer.dtype, target.bytes, [&](uint64_t i) { return zero[i] ? 0.0 : NormalAt(random, i); });
}

void FillEqualRows(const Target& target, const base::CounterRandom& random) {
  const core::DType dtype = target.buffer.dtype;
  const uint64_t width = target.shape.empty() ? 1 : static_cast<uint64_t>(std::max<int64_t>(target.shape.back(), 1));
  const double tiny = core::SmallestNormal(dtype) * 0.25;
  Fill(dtype, target.bytes, [&](uint64_t i) {
    const uint64_t row = i / width;
    // Few bits: sums of equal values are exact, or a normalized row is nothing but their rounding.
    const double value = std::floor(8 * NormalAt(random, row)) / 8;
    const double values[] = {value, 0.0, -0.0, tiny, 3 + value, -tiny};
    return values[random.Below(row + 1'000'000, std::size(values))];
  });
}

// The numbers themselves, with either sign, and their neighbours.
void FillNamed(const Target& target, const base::CounterRandom& random, const base::CounterRandom& second) {
  const core::DType dtype = target.buffer.dtype;
  const size_t size = core::SizeOf(dtype), count = target.bytes.size() / size;
  const double step = core::MachineEpsilon(dtype);
  for (uint64_t i = 0; i < count && !target.named.empty(); ++i) {
    if (second.Below(i, 8) != 0) continue;
    const double value = target.named[random.Below(i, target.named.size())];
    const double factors[] = {1, 1, -1, 1 + step, 1 - step};
    core::StoreFromDouble(dtype, target.bytes.data(), i, value * factors[second.Below(i + count, std::size(factors))]);
  }
}

// A variant other than the base, for a floating-point buffer.
Status FillVariant(const Target& target, InputVariant variant, const std::filesystem::path& repository) {
  const core::DType dtype = target.buffer.dtype;
  const std::span<std::byte> bytes = target.bytes;
  const uint64_t count = bytes.size() / core::SizeOf(dtype);
  const base::CounterRandom random(target.seed, target.stream), second(target.seed ^ kSecondStream, target.stream);
  const bool narrow = dtype == core::DType::kF16;  // overflows at 65504: keep products of a few hundred terms finite
  switch (variant) {
    case InputVariant::kBase: return FillBase(target, repository);
    case InputVariant::kNormal: Fill(dtype, bytes, [&](uint64_t i) { return NormalAt(random, i); }); break;
    case InputVariant::kUniform: Fill(dtype, bytes, [&](uint64_t i) { return 2 * random.Uniform(i) - 1; }); break;
    case InputVariant::kPareto:
      Fill(dtype, bytes,
           [&](uint64_t i) { return SignAt(second, i) * std::min(ParetoAt(random, i, 1.5), narrow ? 60.0 : 1e4); });
      break;
    case InputVariant::kLognormal: Fill(dtype, bytes, [&](uint64_t i) { return Exp(NormalAt(random, i)); }); break;
    case InputVariant::kConstant: {
      constexpr double kValues[] = {1.0, 0.5, -2.0, 0.75};
      Fill(dtype, bytes, [&](uint64_t) { return kValues[target.seed % 4]; });
      break;
    }
    case InputVariant::kTies:
      Fill(dtype, bytes, [&](uint64_t i) { return (static_cast<double>(random.Below(i, 5)) - 2) * 0.5; });
      break;
    case InputVariant::kSorted: {
      const double step = (target.seed % 2 == 0 ? 2.0 : -2.0) / static_cast<double>(std::max<uint64_t>(count, 1));
      Fill(dtype, bytes, [&](uint64_t i) { return (static_cast<double>(i) - static_cast<double>(count) / 2) * step; });
      break;
    }
    case InputVariant::kSignMix: {
      WW_TRY(FillBase(target, repository));
      for (uint64_t i = 0; i < count; ++i)
        if (SignAt(second, i) < 0)
          bytes[(i + 1) * core::SizeOf(dtype) - 1] ^= std::byte{0x80};  // the sign bit of any of the formats
      break;
    }
    case InputVariant::kNeedle:
    case InputVariant::kLowNeedle: {
      // Of exponentials, those below a high one vanish at once; below a low one they add up in long rows.
      const double height = variant == InputVariant::kLowNeedle ? 8.0 : narrow ? 30.0 : 1000.0;
      Fill(dtype, bytes, [&](uint64_t i) {
        const uint64_t tile = i / 1024, width = std::min<uint64_t>(1024, count - tile * 1024);
        if (tile * 1024 + second.Below(tile, width) != i) return 0.1 * NormalAt(random, i);
        return SignAt(random, i) * height * (1 + random.Uniform(i));
      });
      break;
    }
    case InputVariant::kExactIntegers:
      Fill(dtype, bytes, [&](uint64_t i) { return static_cast<double>(random.Bits(i) & 1); });
      break;
    case InputVariant::kScaleDown: Fill(dtype, bytes, [&](uint64_t i) { return 1e-3 * NormalAt(random, i); }); break;
    case InputVariant::kScaleUp:
      Fill(dtype, bytes, [&](uint64_t i) { return (narrow ? 10.0 : 1e3) * NormalAt(random, i); });
      break;
    case InputVariant::kWide: {
      const int least = narrow ? -10 : -30, span = narrow ? 16 : 60;
      Fill(dtype, bytes, [&](uint64_t i) {
        const auto exponent = static_cast<int>(second.Below(i, static_cast<uint64_t>(span)));
        return SignAt(random, i) * std::ldexp(1 + random.Uniform(i + count), least + exponent);
      });
      break;
    }
    case InputVariant::kTiny:
      Fill(dtype, bytes, [&](uint64_t i) { return std::ldexp(NormalAt(random, i), TinyExponent(dtype)); });
      break;
    case InputVariant::kSubnormal:
      Fill(dtype, bytes, [&](uint64_t i) {
        return SignAt(second, i) * core::SmallestNormal(dtype) * (0.125 + 0.75 * random.Uniform(i));
      });
      break;
    case InputVariant::kBufferScales: {
      const int most = narrow ? 6 : 30;
      const int exponent = static_cast<int>(second.Below(0, static_cast<uint64_t>(2 * most + 1))) - most;
      Fill(dtype, bytes, [&](uint64_t i) { return std::ldexp(NormalAt(random, i), exponent); });
      break;
    }
    case InputVariant::kZeroRuns: FillZeroRuns(target, random, second); break;
    case InputVariant::kEqualRows: FillEqualRows(target, random); break;
    case InputVariant::kNamed:
      WW_TRY(FillBase(target, repository));
      FillNamed(target, random, second);
      break;
    case InputVariant::kIntegerEqual:
    case InputVariant::kIntegerSorted:
    case InputVariant::kIntegerBeyond: return FillBase(target, repository);
    case InputVariant::kSpecialValues: FillSpecial(target, random, true); break;
    case InputVariant::kSpecialNumbers: FillSpecial(target, random, false); break;
    case InputVariant::kMaxFinite: {
      const uint64_t where = second.Below(0, std::max<uint64_t>(count, 1));
      // A product with it must not overflow: whether a sum of such products does depends on their order.
      const double largest = core::LargestFinite(dtype) * (target.alone ? 1 : 0x1.0p-7);
      Fill(dtype, bytes, [&](uint64_t i) { return i == where ? SignAt(second, 1) * largest : NormalAt(random, i); });
      break;
    }
  }
  return {};
}

bool IsFilled(const core::BufferArgument& buffer) {
  return buffer.role == core::Role::kIn || buffer.role == core::Role::kInOut;
}

bool IsReplaceable(const core::BufferArgument& buffer) {
  return IsFilled(buffer) && core::IsFloat(buffer.dtype) &&
         (buffer.init.kind == core::Init::Kind::kDefault || buffer.init.kind == core::Init::Kind::kNormal ||
          buffer.init.kind == core::Init::Kind::kUniform);
}

bool IsInteger(const core::BufferArgument& buffer) {
  return IsFilled(buffer) && !core::IsFloat(buffer.dtype) &&
         (buffer.init.kind == core::Init::Kind::kDefault || buffer.init.kind == core::Init::Kind::kIntegers);
}
bool IsIntegerVariant(InputVariant variant) {
  return variant == InputVariant::kIntegerEqual || variant == InputVariant::kIntegerSorted ||
         variant == InputVariant::kIntegerBeyond;
}

template <typename Predicate>
bool AnyBuffer(const core::KernelSpec& spec, Predicate predicate) {
  return std::any_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && predicate(*buffer);
  });
}

Result<bool> IsElementwise(const core::KernelSpec& spec, const core::Case& c, const std::vector<int64_t>& shape) {
  if (shape.size() != 1) return false;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn || buffer->role == core::Role::kScratch) continue;
    WW_ASSIGN(const std::vector<int64_t> output, core::ShapeOf(argument, c));
    if (output == shape) return true;
  }
  return false;
}

}  // namespace

std::string_view Name(InputVariant variant) {
  constexpr std::string_view kNames[] = {"base",
                                         "normal",
                                         "uniform",
                                         "pareto",
                                         "lognormal",
                                         "constant",
                                         "ties",
                                         "sorted",
                                         "sign-mix",
                                         "needle",
                                         "exact-integers",
                                         "scale-down",
                                         "scale-up",
                                         "wide",
                                         "special-values",
                                         "special-numbers",
                                         "tiny",
                                         "subnormal",
                                         "low-needle",
                                         "buffer-scales",
                                         "zero-runs",
                                         "equal-rows",
                                         "named-numbers",
                                         "integers-equal",
                                         "integers-sorted",
                                         "integers-beyond",
                                         "max-finite"};
  return kNames[static_cast<size_t>(variant)];
}

bool VariantApplies(const core::KernelSpec& spec) { return AnyBuffer(spec, IsReplaceable); }

bool IntegerVariantApplies(const core::KernelSpec& spec) { return AnyBuffer(spec, IsInteger); }

bool SeedMatters(const core::KernelSpec& spec) {
  return AnyBuffer(spec, [](const core::BufferArgument& buffer) {
    return IsFilled(buffer) && buffer.init.kind != core::Init::Kind::kConstant &&
           buffer.init.kind != core::Init::Kind::kFile;
  });
}

Result<std::vector<core::BufferContent>> MakeInputs(const core::KernelSpec& spec, const core::Case& c,
                                                    InputVariant variant, uint64_t seed,
                                                    const std::filesystem::path& repository,
                                                    std::span<const double> named) {
  std::vector<core::BufferContent> buffers;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    WW_ASSIGN(const std::vector<int64_t> shape, core::ShapeOf(argument, c));
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > (1ull << 40))
        return Fail(Error{.code = ErrorCode::kConfig,
                          .message = "argument " + argument.name + " is too large in case " + c.name,
                          .line = argument.line});
    core::BufferContent content;
    content.name = argument.name;
    std::vector<std::byte> values(bytes);
    const uint64_t stream = buffers.size() + 1;
    if (IsFilled(*buffer)) {
      Target target{.argument = argument,
                    .buffer = *buffer,
                    .c = c,
                    .shape = shape,
                    .bytes = values,
                    .seed = seed,
                    .stream = stream,
                    .named = named};
      WW_ASSIGN(target.elementwise, IsElementwise(spec, c, shape));
      target.alone = std::count_if(spec.args.begin(), spec.args.end(), [](const core::Argument& other) {
                       const auto* filled = std::get_if<core::BufferArgument>(&other.kind);
                       return filled != nullptr && IsReplaceable(*filled);
                     }) <= 1;
      if (IsIntegerVariant(variant) && IsInteger(*buffer)) {
        WW_TRY(FillIntegerVariant(target, variant, base::CounterRandom(seed, stream)));
      } else {
        WW_TRY(IsReplaceable(*buffer) ? FillVariant(target, variant, repository) : FillBase(target, repository));
      }
    } else {
      FillPoison(values, seed, stream, false);
      content.uninitialized = true;
    }
    content.bytes = std::move(values);
    buffers.push_back(std::move(content));
  }
  return buffers;
}

void FillPoison(std::span<std::byte> bytes, uint64_t seed, uint64_t stream, bool complement) {
  const base::CounterRandom random(seed ^ kPoisonStream, stream);
  const uint64_t flip = complement ? ~uint64_t{0} : 0;
  base::ParallelFor((bytes.size() + 7) / 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const uint64_t word = random.Bits(i) ^ flip;
      std::memcpy(bytes.data() + 8 * i, &word, std::min<size_t>(8, bytes.size() - 8 * i));
    }
  });
}

void ComplementPoison(const core::KernelSpec& spec, uint64_t seed, std::vector<core::BufferContent>& buffers) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    core::BufferContent& content = buffers[index++];
    if (IsFilled(*buffer)) continue;
    std::vector<std::byte> poison(content.bytes.size());
    FillPoison(poison, seed, index, true);
    content.bytes = std::move(poison);
  }
}

void PerturbInputs(const core::KernelSpec& spec, double epsilon, uint64_t seed,
                   std::vector<core::BufferContent>& buffers) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    core::BufferContent& content = buffers[index++];
    if (!IsFilled(*buffer) || (buffer->dtype != core::DType::kF32 && buffer->dtype != core::DType::kF64)) continue;
    const base::CounterRandom random(seed ^ kSecondStream, 1000 + index);
    std::vector<std::byte> moved = content.bytes.Copy();
    base::ParallelFor(moved.size() / core::SizeOf(buffer->dtype), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const double x = core::LoadAsDouble(buffer->dtype, moved.data(), i);
        if (std::isfinite(x))
          core::StoreFromDouble(buffer->dtype, moved.data(), i, x * (1 + SignAt(random, i) * epsilon));
      }
    });
    content.bytes = std::move(moved);
  }
}

}  // namespace warpwright::judge
