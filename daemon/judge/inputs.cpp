#include "judge/inputs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/uninitialized.h"
#include "judge/drawn_numbers.h"
#include "judge/integer_inputs.h"
#include "judge/real_inputs.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kPoisonStream = 0x706f69736f6eULL, kPerturbStream = 0x7065727475726245ULL;

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
         variant == InputVariant::kIntegerBeyond || variant == InputVariant::kIntegerNamed;
}

// By what is written in the manifest: the same name is the same index.
void MarkShared(const core::KernelSpec& spec, const core::Argument& argument, InputTarget& target) {
  const auto& own = std::get<core::BufferArgument>(argument.kind).shape;
  target.shared_with_earlier.assign(own.size(), false);
  target.shared_with_later.assign(own.size(), false);
  bool earlier = true;
  for (const core::Argument& other : spec.args) {
    if (&other == &argument) earlier = false;
    const auto* buffer = std::get_if<core::BufferArgument>(&other.kind);
    if (buffer == nullptr || &other == &argument || !IsReplaceable(*buffer)) continue;
    for (size_t d = 0; d < own.size(); ++d)
      for (const core::Expression& extent : buffer->shape)
        if (extent.text() == own[d].text()) (earlier ? target.shared_with_earlier : target.shared_with_later)[d] = true;
  }
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
                                         "special-finite",
                                         "tiny",
                                         "subnormal",
                                         "dominant",
                                         "buffer-scales",
                                         "zero-runs",
                                         "equal-rows",
                                         "named-numbers",
                                         "around-a-named-number",
                                         "offset",
                                         "zeros-facing-nan",
                                         "infinite-rows",
                                         "infinite-columns",
                                         "old-values",
                                         "integers-equal",
                                         "integers-sorted",
                                         "integers-beyond",
                                         "integers-named",
                                         "far-needle",
                                         "lone-nan",
                                         "max-finite"};
  return kNames[static_cast<size_t>(variant)];
}

bool VariantApplies(const core::KernelSpec& spec) { return AnyBuffer(spec, IsReplaceable); }

bool OldValuesApply(const core::KernelSpec& spec) {
  return AnyBuffer(spec, [](const core::BufferArgument& buffer) {
    return buffer.role == core::Role::kInOut && IsReplaceable(buffer);
  });
}

bool IntegerVariantApplies(const core::KernelSpec& spec) { return AnyBuffer(spec, IsInteger); }

bool SeedMatters(const core::KernelSpec& spec) {
  return AnyBuffer(spec, [](const core::BufferArgument& buffer) {
    return IsFilled(buffer) && buffer.init.kind != core::Init::Kind::kConstant &&
           buffer.init.kind != core::Init::Kind::kFile;
  });
}

namespace {

Result<std::vector<core::BufferContent>> Make(const core::KernelSpec& spec, const core::Case& c, InputVariant variant,
                                              uint64_t seed, const std::filesystem::path& repository,
                                              std::span<const double> named, uint64_t tile) {
  // All shapes first: where the last one is not allowed, those before it may be beyond all memory.
  std::vector<std::pair<std::vector<int64_t>, uint64_t>> sizes;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    WW_ASSIGN(std::vector<int64_t> shape, core::ShapeOf(argument, c));
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > (1ull << 40))
        return Fail(Error{.code = ErrorCode::kConfig,
                          .message = "argument " + argument.name + " is too large in case " + c.name,
                          .line = argument.line});
    sizes.emplace_back(std::move(shape), bytes);
  }
  std::vector<core::BufferContent> buffers;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto& [shape, bytes] = sizes[buffers.size()];
    core::BufferContent content;
    content.name = argument.name;
    content.element_bytes = static_cast<uint32_t>(core::SizeOf(buffer->dtype));
    const uint64_t tile_bytes = tile * core::SizeOf(buffer->dtype);
    if (tile > 0 && bytes > tile_bytes) {
      content.repeated_bytes = bytes;
      content.read_only = buffer->role == core::Role::kIn;  // what was touched of it is of no interest
    }
    base::ByteVector values(content.repeated_bytes > 0 ? tile_bytes : bytes);
    const uint64_t stream = buffers.size() + 1;
    if (IsFilled(*buffer)) {
      if (content.repeated_bytes > 0 && buffer->init.kind == core::Init::Kind::kFile)
        return Fail(ErrorCode::kConfig, "argument " + argument.name + " is read from a file of one size");
      InputTarget target{.argument = argument,
                         .buffer = *buffer,
                         .c = c,
                         .shape = shape,
                         .bytes = values,
                         .seed = seed,
                         .stream = stream,
                         .named = named};
      WW_ASSIGN(target.elementwise, IsElementwise(spec, c, shape));
      MarkShared(spec, argument, target);
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
    content.bytes = base::ToBytes(std::move(values));
    buffers.push_back(std::move(content));
  }
  return buffers;
}

}  // namespace

Result<std::vector<core::BufferContent>> MakeInputs(const core::KernelSpec& spec, const core::Case& c,
                                                    InputVariant variant, uint64_t seed,
                                                    const std::filesystem::path& repository,
                                                    std::span<const double> named) {
  return Make(spec, c, variant, seed, repository, named, 0);
}

Result<std::vector<core::BufferContent>> MakeRepeatedInputs(const core::KernelSpec& spec, const core::Case& c,
                                                            uint64_t seed, const std::filesystem::path& repository,
                                                            uint64_t tile) {
  return Make(spec, c, InputVariant::kBase, seed, repository, {}, tile);
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
    base::ByteVector poison(content.bytes.size());
    FillPoison(poison, seed, index, true);
    content.bytes = base::ToBytes(std::move(poison));
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
    const base::CounterRandom random(seed ^ kPerturbStream, 1000 + index);
    base::ByteVector moved = base::CopyOf(content.bytes);
    base::ParallelFor(moved.size() / core::SizeOf(buffer->dtype), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const double x = core::LoadAsDouble(buffer->dtype, moved.data(), i);
        if (std::isfinite(x))
          core::StoreFromDouble(buffer->dtype, moved.data(), i, x * (1 + SignAt(random, i) * epsilon));
      }
    });
    content.bytes = base::ToBytes(std::move(moved));
  }
}

}  // namespace warpwright::judge
