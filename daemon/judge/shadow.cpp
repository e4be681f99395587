#include "judge/shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "judge/inputs.h"

namespace warpwright {
namespace {

bool HasFloatOutput(const KernelSpec& spec, bool* narrow) {
  bool any = false;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr || !IsFloat(buffer->dtype)) continue;
    if (buffer->role == Role::kOut || buffer->role == Role::kInOut) any = true;
    if (buffer->dtype != DType::kF64) *narrow = true;
  }
  return any;
}

KernelSpec ShadowSpec(const KernelSpec& original) {
  KernelSpec spec = original;
  size_t growth = 2;
  for (Argument& argument : spec.args) {
    if (auto* buffer = std::get_if<BufferArgument>(&argument.kind); buffer != nullptr && IsFloat(buffer->dtype)) {
      growth = std::max(growth, 8 / SizeOf(buffer->dtype));
      buffer->dtype = DType::kF64;
      buffer->alignment = std::max<int64_t>(buffer->alignment, 16);
    }
    auto* scalar = std::get_if<ScalarArgument>(&argument.kind);
    if (scalar == nullptr || !IsFloat(scalar->dtype)) continue;
    const DType from = scalar->dtype;
    const auto rounded = [from](ScalarValue& value) {  // the value that the original receives
      std::byte bytes[8] = {};
      StoreFromDouble(from, bytes, 0, std::visit([](auto v) { return static_cast<double>(v); }, value));
      value = LoadAsDouble(from, bytes, 0);
    };
    if (scalar->value) rounded(*scalar->value);
    for (Case& c : spec.cases)
      if (const auto found = c.scalars.find(argument.name); found != c.scalars.end()) rounded(found->second);
    scalar->dtype = DType::kF64;
  }
  if (spec.launch && spec.launch->shared_bytes)
    if (auto larger = Expression::Parse(fmt::format("{} * ({})", growth, spec.launch->shared_bytes->text())))
      spec.launch->shared_bytes = *larger;
  return spec;
}

}  // namespace

Result<Shadow> MakeShadow(const KernelSpec& spec, const SourceRef& original, Evaluator& evaluator) {
  bool narrow = false;
  if (!HasFloatOutput(spec, &narrow)) return Fail(ErrorCode::kUnsupported, "no output is of a floating-point type");
  if (!narrow) return Fail(ErrorCode::kUnsupported, "the kernel computes in f64 already");
  RewriteRequest request{.source = original, .entry = spec.entry, .kernel = {}, .transform = std::string(kFloat64Text), .parameters = {}};
  WW_ASSIGN(RewriteOutcome outcome, evaluator.Rewrite(request));
  if (const auto* refusal = std::get_if<RewriteRefusal>(&outcome)) return Fail(ErrorCode::kUnsupported, refusal->reason);
  auto& rewritten = std::get<Rewritten>(outcome);
  Shadow shadow{.source = original, .spec = ShadowSpec(spec)};
  shadow.source.text = std::move(rewritten.text);
  shadow.spec.entry = std::move(rewritten.entry);
  return shadow;
}

std::vector<BufferContent> ShadowInputs(const KernelSpec& spec, uint64_t seed,
                                        const std::vector<BufferContent>& buffers) {
  std::vector<BufferContent> converted;
  size_t index = 0;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    BufferContent content = buffers[index++];
    content.pointer_offset = 0;
    if (IsFloat(buffer->dtype)) {
      const size_t count = content.bytes.size() / SizeOf(buffer->dtype);
      std::vector<std::byte> wide(count * 8);
      if (content.uninitialized)
        FillPoison(wide, seed, index, false);
      else
        ParallelFor(count, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) StoreFromDouble(DType::kF64, wide.data(), i, LoadAsDouble(buffer->dtype, content.bytes.data(), i));
        });
      content.bytes = std::move(wide);
    }
    converted.push_back(std::move(content));
  }
  return converted;
}

}  // namespace warpwright
