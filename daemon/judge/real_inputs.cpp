#include "judge/real_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file_below.h"
#include "judge/drawn_numbers.h"
#include "judge/integer_inputs.h"
#include "judge/safetensors.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kSecondStream = 0x7365636f6e64ULL;  // independent bits for the same element
constexpr uint64_t kMaxInitFileBytes = 1ull << 30;

Status FillFromFile(const InputTarget& target, const std::filesystem::path& repository) {
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

// The first `kinds` of +-0, subnormals, +-infinity and +-NaN. `longest` is the largest extent of the buffer.
constexpr uint64_t kFiniteKinds = 4, kKindsOfNumbers = 6, kAllKinds = 8;
void FillSpecial(const InputTarget& target, const base::CounterRandom& random, uint64_t kinds) {
  const core::DType dtype = target.buffer.dtype;
  const size_t count = target.bytes.size() / core::SizeOf(dtype);
  int64_t longest = 1;
  for (const int64_t extent : target.shape) longest = std::max(longest, extent);
  const double density = std::max(std::min(1e-3, 0.5 / static_cast<double>(longest)),
                                  3.0 / static_cast<double>(std::max<size_t>(count, 8)));
  const double tiny = core::SmallestNormal(dtype) * 0.25, infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double specials[] = {0.0, -0.0, tiny, -tiny, infinity, -infinity, nan, -nan};
  const base::CounterRandom second(target.seed ^ kSecondStream, target.stream);
  Fill(dtype, target.bytes, [&](uint64_t i) {
    if (second.Uniform(i) >= density) return NormalAt(random, i);
    return specials[random.Below(i, kinds)];
  });
  // So few positions may miss some of them. If they do not spoil the whole output, each occurs at least once.
  if (!target.elementwise && count / static_cast<size_t>(longest) < 16) return;
  for (uint64_t kind = 0; count >= 64 && kind < kinds; ++kind)
    core::StoreFromDouble(dtype, target.bytes.data(), second.Below(count + kind, count), specials[kind]);
}

bool MayHaveNaN(InputVariant variant) {
  return variant == InputVariant::kSpecialValues || variant == InputVariant::kLoneNan ||
         variant == InputVariant::kOldValues || variant == InputVariant::kZerosFacing;
}
// Arithmetic of the device makes another NaN than that of hosts, with all bits set but the sign: integers that round it
// carry into the sign. Every other one is it, with its own sign.
void GivePayloads(core::DType dtype, std::span<std::byte> bytes, const base::CounterRandom& random) {
  const size_t size = core::SizeOf(dtype);
  for (size_t i = 0; i < bytes.size() / size; ++i) {
    if (!std::isnan(core::LoadAsDouble(dtype, bytes.data(), i)) || (random.Bits(i) & 1) == 0) continue;
    std::memset(bytes.data() + i * size, 0xff, size - 1);
    bytes[(i + 1) * size - 1] |= std::byte{0x7f};
  }
}

// Every other element, as likely NaN as infinite.
void FillOldValues(const InputTarget& target, const base::CounterRandom& random) {
  const core::DType dtype = target.buffer.dtype;
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity};
  for (size_t i = 0; i < target.bytes.size() / core::SizeOf(dtype); ++i)
    if (random.Below(i, 2) == 0)
      core::StoreFromDouble(dtype, target.bytes.data(), i, values[random.Below(i + target.bytes.size(), 3)]);
}

// How far below its usual magnitude a format still has normal numbers of which squares do not vanish at once.
int TinyExponent(core::DType dtype) { return dtype == core::DType::kF16 ? -12 : -60; }

void FillZeroRuns(const InputTarget& target, const base::CounterRandom& random, const base::CounterRandom& second) {
  const uint64_t count = target.bytes.size() / core::SizeOf(target.buffer.dtype);
  std::vector<uint8_t> zero(count);
  uint64_t drawn = 0;
  for (uint64_t begin = 0; begin < count;) {  // lengths of all magnitudes
    const uint64_t most = uint64_t{2} << second.Below(drawn, 9);
    const uint64_t length = 1 + second.Below(drawn + 1, most);
    const bool is_zero = (second.Bits(drawn + 2) & 1) != 0;
    if (is_zero) std::fill_n(zero.begin() + static_cast<std::ptrdiff_t>(begin), std::min(count - begin, length), 1);
    begin += length;
    drawn += 3;
  }
  // And every other row is zero but for a few values: neither its ends nor a sample tell that.
  const uint64_t width = target.shape.empty() || target.shape.size() == 1
                             ? std::min<uint64_t>(count, 64)
                             : static_cast<uint64_t>(std::max<int64_t>(target.shape.back(), 1));
  const uint64_t length = std::max<uint64_t>(1, width / 8);
  for (uint64_t row = 0; width >= 8 && row * width < count; row += 2) {
    const uint64_t first = row * width, end = std::min(count, first + width);
    const uint64_t begin = std::min(end, first + second.Below(drawn++, width));
    std::fill(zero.data() + first, zero.data() + end, 1);
    std::fill(zero.data() + begin, zero.data() + std::min(end, begin + length), 0);
  }
  Fill(target.buffer.dtype, target.bytes, [&](uint64_t i) { return zero[i] != 0 ? 0.0 : NormalAt(random, i); });
}

// Of lines along any axis some have nothing above zero, or nothing below: there zeros of both signs are the extreme.
void FillTies(const InputTarget& target, const base::CounterRandom& random) {
  constexpr uint64_t kLines = 4;
  constexpr double kAround[] = {-1, -0.5, 0, 0.5, 1}, kUpTo[] = {-1, -0.5, -0.0, 0, -0.5},
                   kFrom[] = {1, 0.5, -0.0, 0, 0.5};
  const auto& shape = target.shape;
  Fill(target.buffer.dtype, target.bytes, [&](uint64_t i) {
    bool up_to = shape.size() < 2 && target.seed % 3 == 1, from = shape.size() < 2 && target.seed % 3 == 2;
    uint64_t rest = i;
    for (size_t d = shape.size(); shape.size() > 1 && d-- > 0;) {
      const uint64_t extent = static_cast<uint64_t>(std::max<int64_t>(shape[d], 1)), at = rest % extent;
      rest /= extent;
      up_to |= at % kLines == 1;
      from |= at % kLines == 2;
    }
    const uint64_t drawn = random.Below(i, std::size(kAround));
    if (up_to && from) return drawn % 2 == 0 ? 0.0 : -0.0;  // where such lines cross
    return (up_to ? kUpTo : from ? kFrom : kAround)[drawn];
  });
}

void FillEqualRows(const InputTarget& target, const base::CounterRandom& random) {
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

// Of each shared extent the same index in all buffers. Lines of zeros of both signs; in what faces them, some elements,
// so that rows and columns without any remain.
void FillZerosFacing(const InputTarget& target, const base::CounterRandom& random, const base::CounterRandom& second) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr uint64_t kOneOf = 8;
  const double facing[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  const core::DType dtype = target.buffer.dtype;
  const uint64_t count = target.bytes.size() / core::SizeOf(dtype);
  FillOfNormals(dtype, target.bytes, random, [](double normal) { return normal; });
  uint64_t inner = 1;  // elements of the dimensions behind
  for (size_t d = target.shape.size(); d-- > 0;) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(target.shape[d], 1));
    // Drawn by the extent, which the other buffer has as well.
    const uint64_t chosen = base::CounterRandom(target.seed ^ kSecondStream, extent).Below(0, extent);
    const bool zeros = target.shared_with_later[d] && !target.shared_with_earlier[d];
    const bool faces = target.shared_with_earlier[d];
    for (uint64_t line = chosen * inner; (zeros || faces) && line < count; line += extent * inner)
      for (uint64_t i = line; i < line + inner; ++i) {
        if (zeros) core::StoreFromDouble(dtype, target.bytes.data(), i, SignAt(second, i) * 0.0);
        else if (count == extent || second.Below(i, kOneOf) == 0)
          core::StoreFromDouble(dtype, target.bytes.data(), i, facing[random.Below(i, std::size(facing))]);
      }
    inner *= extent;
  }
}

// Lines of six kinds, told by the index in dimension `d`: two of them stay as they are.
void FillInfinite(const InputTarget& target, size_t d, const base::CounterRandom& random,
                  const base::CounterRandom& second) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const core::DType dtype = target.buffer.dtype;
  FillOfNormals(dtype, target.bytes, random, [](double normal) { return normal; });
  const std::vector<int64_t>& shape = target.shape;
  const uint64_t count = target.bytes.size() / core::SizeOf(dtype);
  const bool first = std::find(target.shared_with_earlier.begin(), target.shared_with_earlier.end(), true) ==
                     target.shared_with_earlier.end();
  if (!first || count == 0) return;
  if (shape.size() < 2)
    return core::StoreFromDouble(dtype, target.bytes.data(), second.Below(0, count), SignAt(second, 1) * kInfinity);
  uint64_t inner = 1;
  for (size_t k = d + 1; k < shape.size(); ++k) inner *= static_cast<uint64_t>(shape[k]);
  const auto extent = static_cast<uint64_t>(shape[d]);
  // A row of the last dimension, or, if that tells the lines, a column of all others.
  const uint64_t length = d + 1 < shape.size() ? static_cast<uint64_t>(shape.back()) : count / extent;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t line = inner == 1 ? i % extent : i / length, at = inner == 1 ? i / extent : i % length;
    const bool chosen = second.Below(line, length) == at;
    double value = -kInfinity;
    switch (i / inner % extent % 6) {
      case 0:
        if (second.Below(i, 2) == 0) continue;
        break;
      case 1:
        if (!chosen) continue;
        break;
      case 2:
        if (!chosen) continue;
        value = kInfinity;
        break;
      case 3: break;
      default: continue;
    }
    core::StoreFromDouble(dtype, target.bytes.data(), i, value);
  }
}

constexpr double kAround = 1.0 / 32;  // of a named number

// The numbers themselves, with either sign, and their neighbours.
void FillNamed(const InputTarget& target, const base::CounterRandom& random, const base::CounterRandom& second) {
  const core::DType dtype = target.buffer.dtype;
  const size_t size = core::SizeOf(dtype), count = target.bytes.size() / size;
  const double step = core::MachineEpsilon(dtype);
  const double factors[] = {1, 1, -1, 1 + step, 1 - step};
  base::ParallelFor(target.named.empty() ? 0 : count, [&](size_t begin, size_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      if (second.Below(i, 8) != 0) continue;
      const double value = target.named[random.Below(i, target.named.size())];
      core::StoreFromDouble(dtype, target.bytes.data(), i,
                            value * factors[second.Below(i + count, std::size(factors))]);
    }
  });
}

constexpr uint64_t kNeedleTile = 1024;
// Of a buffer of one dimension, tiles.
uint64_t RowWidth(const InputTarget& target) {
  return target.shape.size() < 2 ? kNeedleTile : static_cast<uint64_t>(std::max<int64_t>(target.shape.back(), 1));
}

// How far a value stands above a row of so many others, so that the sum of their exponentials is between a millionth of
// its own and all: what leaves terms out that seem small loses that sum. Rows divide the range evenly.
double DominanceOf(const base::CounterRandom& random, uint64_t row, uint64_t length) {
  constexpr double kGoldenRatio = 0.6180339887498949, kVisible = 12;
  const double place = random.Uniform(length) + kGoldenRatio * static_cast<double>(row);
  const int exponent = std::ilogb(static_cast<double>(length));
  return M_LN2 * exponent + kVisible * (place - std::floor(place));
}

// What ends at a power of two, or keeps places in narrow integers, does not see them. Where there are several rows,
// that of the next is large, and that of the third dominates its row as in kDominant.
void FillFarNeedles(const InputTarget& target, const base::CounterRandom& random, double height) {
  constexpr double kVisibleInLongRows = 5.5;  // of which sums are less exact
  const core::DType dtype = target.buffer.dtype;
  const uint64_t count = target.bytes.size() / core::SizeOf(dtype);
  const uint64_t width = target.shape.size() < 2 ? count : RowWidth(target);
  for (uint64_t row = 0; width > 1 && row * width < count; ++row) {
    double largest = 0, exponentials = 0;
    const auto each = [&](auto look) {
      for (uint64_t i = row * width; i < (row + 1) * width; ++i)
        if (const double value = core::LoadAsDouble(dtype, target.bytes.data(), i); std::isfinite(value)) look(value);
    };
    each([&](double value) { largest = std::max(largest, value); });
    if (row % 3 == 2) each([&](double value) { exponentials += Exp(std::max(value - largest, -600.0)); });
    const double dominant =
        row % 3 == 2 ? kVisibleInLongRows + M_LN2 * std::ilogb(std::max(exponentials, 1.0)) + random.Uniform(row) : 0;
    const double above = row % 3 == 0 ? 1 : row % 3 == 1 ? height : dominant;
    const uint64_t power = std::bit_floor(width - 1);
    core::StoreFromDouble(dtype, target.bytes.data(), row * width + power + random.Below(row, width - power),
                          largest + above);
  }
}

}  // namespace

Status FillBase(const InputTarget& target, const std::filesystem::path& repository) {
  const core::Init& init = target.buffer.init;
  const core::DType dtype = target.buffer.dtype;
  const base::CounterRandom random(target.seed, target.stream);
  switch (init.kind) {
    case core::Init::Kind::kFile: return FillFromFile(target, repository);
    case core::Init::Kind::kIntegers: return FillIntegerRange(target, random);
    case core::Init::Kind::kDefault:
      if (!core::IsFloat(dtype)) return FillIntegerRange(target, random);
      FillOfNormals(dtype, target.bytes, random, [](double normal) { return normal; });
      return {};
    case core::Init::Kind::kNormal:
      FillOfNormals(dtype, target.bytes, random, [&](double normal) { return init.a + init.b * normal; });
      return {};
    case core::Init::Kind::kUniform:
      Fill(dtype, target.bytes, [&](uint64_t i) { return init.a + (init.b - init.a) * random.Uniform(i); });
      return {};
    case core::Init::Kind::kPareto:
      Fill(dtype, target.bytes, [&](uint64_t i) { return ParetoAt(random, i, init.a > 0 ? init.a : 1.5); });
      return {};
    case core::Init::Kind::kLognormal:
      FillOfNormals(dtype, target.bytes, random,
                    [&](double normal) { return Exp(std::clamp(init.a + init.b * normal, -600.0, 600.0)); });
      return {};
    case core::Init::Kind::kConstant: Fill(dtype, target.bytes, [&](uint64_t) { return init.a; }); return {};
  }
  return {};
}

Status FillVariant(const InputTarget& target, InputVariant variant, const std::filesystem::path& repository) {
  const core::DType dtype = target.buffer.dtype;
  const std::span<std::byte> bytes = target.bytes;
  const uint64_t count = bytes.size() / core::SizeOf(dtype);
  const base::CounterRandom random(target.seed, target.stream), second(target.seed ^ kSecondStream, target.stream);
  const bool narrow = dtype == core::DType::kF16;  // overflows at 65504: keep products of a few hundred terms finite
  switch (variant) {
    case InputVariant::kBase: return FillBase(target, repository);
    case InputVariant::kNormal: FillOfNormals(dtype, bytes, random, [](double normal) { return normal; }); break;
    case InputVariant::kUniform: Fill(dtype, bytes, [&](uint64_t i) { return 2 * random.Uniform(i) - 1; }); break;
    case InputVariant::kPareto:
      Fill(dtype, bytes,
           [&](uint64_t i) { return SignAt(second, i) * std::min(ParetoAt(random, i, 1.5), narrow ? 60.0 : 1e4); });
      break;
    case InputVariant::kLognormal:
      FillOfNormals(dtype, bytes, random, [](double normal) { return Exp(normal); });
      break;
    case InputVariant::kConstant: {
      constexpr double kValues[] = {1.0, 0.5, -2.0, 0.75};
      Fill(dtype, bytes, [&](uint64_t) { return kValues[target.seed % 4]; });
      break;
    }
    case InputVariant::kTies: FillTies(target, random); break;
    case InputVariant::kSorted: {
      const double step = (target.seed % 2 == 0 ? 2.0 : -2.0) / static_cast<double>(std::max<uint64_t>(count, 1));
      Fill(dtype, bytes, [&](uint64_t i) { return (static_cast<double>(i) - static_cast<double>(count) / 2) * step; });
      break;
    }
    case InputVariant::kSignMix: {
      WW_TRY(FillBase(target, repository));
      const size_t size = core::SizeOf(dtype);
      base::ParallelFor(count, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          if (SignAt(second, i) < 0) bytes[(i + 1) * size - 1] ^= std::byte{0x80};  // the sign bit of any format
      });
      break;
    }
    case InputVariant::kNeedle: {
      const double height = narrow ? 30.0 : 1000.0;
      Fill(dtype, bytes, [&](uint64_t i) {
        const uint64_t tile = i / kNeedleTile, width = std::min(kNeedleTile, count - tile * kNeedleTile);
        if (tile * kNeedleTile + second.Below(tile, width) != i) return 0.1 * NormalAt(random, i);
        return SignAt(random, i) * height * (1 + random.Uniform(i));
      });
      break;
    }
    case InputVariant::kDominant:
      Fill(dtype, bytes, [&](uint64_t i) { return 0.1 * NormalAt(random, i); });
      for (uint64_t row = 0, width = RowWidth(target); row * width < count; ++row) {
        const uint64_t length = std::min(width, count - row * width);
        core::StoreFromDouble(dtype, bytes.data(), row * width + second.Below(row, length),
                              DominanceOf(second, row, length));
      }
      break;
    case InputVariant::kFarNeedle:
      WW_TRY(FillBase(target, repository));
      // An exponential of it is infinite; a product of two of them in an exponent still has digits that are sure.
      FillFarNeedles(target, second, narrow ? 30.0 : 100.0);
      break;
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
      FillOfNormals(dtype, bytes, random, [&](double normal) { return normal * std::ldexp(1.0, TinyExponent(dtype)); });
      break;
    case InputVariant::kSubnormal:
      Fill(dtype, bytes, [&](uint64_t i) {
        return SignAt(second, i) * core::SmallestNormal(dtype) * (0.125 + 0.75 * random.Uniform(i));
      });
      break;
    case InputVariant::kBufferScales: {
      const int most = narrow ? 6 : 30;
      const int exponent = static_cast<int>(second.Below(0, 2 * static_cast<uint64_t>(most) + 1)) - most;
      FillOfNormals(dtype, bytes, random, [&](double normal) { return normal * std::ldexp(1.0, exponent); });
      break;
    }
    case InputVariant::kZeroRuns: FillZeroRuns(target, random, second); break;
    case InputVariant::kEqualRows: FillEqualRows(target, random); break;
    case InputVariant::kNamed:
      WW_TRY(FillBase(target, repository));
      FillNamed(target, random, second);
      break;
    case InputVariant::kAroundNamed:
      Fill(dtype, bytes, [&](uint64_t i) {
        const double value = target.named.empty() ? 1 : target.named.front();
        return SignAt(second, i) * value * (1 + kAround * (2 * random.Uniform(i) - 1));
      });
      break;
    case InputVariant::kOffset: {
      // As far as the format still tells neighbours by a quarter of their spread.
      const double most = dtype == core::DType::kBF16 ? 32 : 512;
      const double offset = SignAt(second, count) * most * (0.5 + 0.5 * random.Uniform(count));
      FillOfNormals(dtype, bytes, random, [&](double normal) { return offset + normal; });
      break;
    }
    case InputVariant::kZerosFacing: FillZerosFacing(target, random, second); break;
    case InputVariant::kInfiniteRows: FillInfinite(target, 0, random, second); break;
    case InputVariant::kInfiniteColumns:
      FillInfinite(target, std::max<size_t>(target.shape.size(), 1) - 1, random, second);
      break;
    case InputVariant::kOldValues:
      WW_TRY(FillBase(target, repository));
      if (target.buffer.role == core::Role::kInOut) FillOldValues(target, second);
      break;
    case InputVariant::kIntegerEqual:
    case InputVariant::kIntegerSorted:
    case InputVariant::kIntegerBeyond:
    case InputVariant::kIntegerNamed: return FillBase(target, repository);
    case InputVariant::kSpecialValues: FillSpecial(target, random, kAllKinds); break;
    case InputVariant::kSpecialNumbers: FillSpecial(target, random, kKindsOfNumbers); break;
    case InputVariant::kSpecialFinite: FillSpecial(target, random, kFiniteKinds); break;
    case InputVariant::kLoneNan: {
      WW_TRY(FillBase(target, repository));
      if (count > 0)
        core::StoreFromDouble(dtype, bytes.data(), second.Below(0, count),
                              SignAt(second, 1) * std::numeric_limits<double>::quiet_NaN());
      break;
    }
    case InputVariant::kMaxFinite: {
      const uint64_t where = second.Below(0, std::max<uint64_t>(count, 1));
      // A product with it must not overflow: whether a sum of such products does depends on their order.
      const double largest = core::LargestFinite(dtype) * (target.alone ? 1 : 0x1.0p-7);
      Fill(dtype, bytes, [&](uint64_t i) { return i == where ? SignAt(second, 1) * largest : NormalAt(random, i); });
      break;
    }
  }
  if (MayHaveNaN(variant)) GivePayloads(dtype, bytes, second);
  return {};
}

}  // namespace warpwright::judge
