#include "lift/point_inputs.h"

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "core/dtype.h"

namespace warpwright::lift {
namespace {

double NormalAt(const base::CounterRandom& random, uint64_t i) {
  const double u = random.Uniform(2 * i), v = random.Uniform(2 * i + 1);
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * M_PI * v);
}

struct Draw {
  core::DType dtype;
  PointRange range;
  base::CounterRandom values, choices;
  std::span<const double> thresholds;

  double At(uint64_t i) const {
    const double normal = NormalAt(values, i);
    const bool narrow = dtype == core::DType::kF16;
    switch (range) {
      case PointRange::kSmall: return 1e-3 * normal;
      case PointRange::kOffset: return normal + (narrow ? 64 : 1e4);
      case PointRange::kLarge: return normal * (narrow ? 10 : 1e3);
      case PointRange::kWide: {
        const int exponent = static_cast<int>(choices.Below(i, narrow ? 10 : 20)) - (narrow ? 5 : 10);
        return std::copysign(std::ldexp(1 + values.Uniform(2 * i), exponent), normal);
      }
      case PointRange::kThresholds: {
        const uint64_t choice = choices.Bits(i);
        if (thresholds.empty() || (choice & 1) == 0) return normal;
        const double threshold = thresholds[(choice >> 8) % thresholds.size()];
        const double step = core::MachineEpsilon(dtype) * std::max(std::fabs(threshold), core::SmallestNormal(dtype));
        return threshold + (static_cast<double>((choice >> 4) % 3) - 1) * step;
      }
      default: return normal;
    }
  }
};

bool IsInput(const core::BufferArgument& buffer) {
  return buffer.role == core::Role::kIn || buffer.role == core::Role::kInOut;
}

// As the judge's variants of inputs: other distributions are what the kernel is made for.
bool IsOpen(const core::BufferArgument& buffer) {
  using Kind = core::Init::Kind;
  return buffer.init.kind == Kind::kDefault || buffer.init.kind == Kind::kNormal || buffer.init.kind == Kind::kUniform;
}

void Shuffle(std::vector<std::byte>& bytes, size_t width, const base::CounterRandom& random) {
  for (size_t i = bytes.size() / width; i > 1; --i) {
    std::byte* a = bytes.data() + (i - 1) * width;
    std::byte* b = bytes.data() + random.Below(i, i) * width;
    for (size_t k = 0; k < width; ++k) std::swap(a[k], b[k]);
  }
}

PointRange RangeOf(PointRange range, size_t buffer) {
  constexpr PointRange kMixture[] = {PointRange::kLarge, PointRange::kSmall, PointRange::kNormal, PointRange::kOffset};
  return range == PointRange::kMixed ? kMixture[buffer % std::size(kMixture)] : range;
}

}  // namespace

std::vector<core::BufferContent> MakePoint(const core::KernelSpec& spec, const std::vector<core::BufferContent>& given,
                                           PointRange range, uint64_t seed, std::span<const double> thresholds) {
  std::vector<core::BufferContent> contents = given;
  if (range == PointRange::kGiven) return contents;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || index >= contents.size()) continue;
    core::BufferContent& content = contents[index++];
    if (!IsInput(*buffer)) continue;
    const base::CounterRandom values(seed, 2 * index), choices(seed, 2 * index + 1);
    const size_t width = core::SizeOf(buffer->dtype);
    std::vector<std::byte> bytes = content.bytes.Copy();
    if (!core::IsFloat(buffer->dtype)) {
      if (buffer->init.kind == core::Init::Kind::kFile || buffer->init.kind == core::Init::Kind::kConstant) continue;
      Shuffle(bytes, width, values);
    } else if (IsOpen(*buffer)) {
      const Draw draw{.dtype = buffer->dtype,
                      .range = RangeOf(range, index - 1),
                      .values = values,
                      .choices = choices,
                      .thresholds = thresholds};
      for (size_t i = 0; i < bytes.size() / width; ++i)
        core::StoreFromDouble(buffer->dtype, bytes.data(), i, draw.At(i));
    } else {
      continue;
    }
    content.bytes = base::Bytes(std::move(bytes));
  }
  return contents;
}

}  // namespace warpwright::lift
