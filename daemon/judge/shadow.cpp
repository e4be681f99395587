#include "judge/shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/uninitialized.h"
#include "core/typed_values.h"
#include "judge/inputs.h"

namespace warpwright::judge {
namespace {

bool HasFloatOutput(const core::KernelSpec& spec, bool* narrow) {
  bool any = false;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || !core::IsFloat(buffer->dtype)) continue;
    if (buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut) any = true;
    if (buffer->dtype != core::DType::kF64) *narrow = true;
  }
  return any;
}

core::KernelSpec ShadowSpec(const core::KernelSpec& original) {
  core::KernelSpec spec = original;
  size_t growth = 2;
  for (core::Argument& argument : spec.args) {
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
        buffer != nullptr && core::IsFloat(buffer->dtype)) {
      growth = std::max(growth, 8 / core::SizeOf(buffer->dtype));
      buffer->dtype = core::DType::kF64;
      buffer->alignment = std::max<int64_t>(buffer->alignment, 16);
    }
    auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    if (scalar == nullptr || !core::IsFloat(scalar->dtype)) continue;
    const core::DType from = scalar->dtype;
    const auto rounded = [from](core::ScalarValue& value) {  // the value that the original receives
      std::byte bytes[8] = {};
      core::StoreFromDouble(from, bytes, 0, std::visit([](auto v) { return static_cast<double>(v); }, value));
      value = core::LoadAsDouble(from, bytes, 0);
    };
    if (scalar->value) rounded(*scalar->value);
    for (core::Case& c : spec.cases)
      if (const auto found = c.scalars.find(argument.name); found != c.scalars.end()) rounded(found->second);
    scalar->dtype = core::DType::kF64;
  }
  if (spec.launch && spec.launch->shared_bytes)
    if (auto larger = core::Expression::Parse(fmt::format("{} * ({})", growth, spec.launch->shared_bytes->text())))
      spec.launch->shared_bytes = *larger;
  return spec;
}

}  // namespace

Result<Shadow> MakeShadow(const core::KernelSpec& spec, const core::SourceRef& original, core::Evaluator& evaluator) {
  bool narrow = false;
  if (!HasFloatOutput(spec, &narrow)) return Fail(ErrorCode::kUnsupported, "no output is of a floating-point type");
  if (!narrow) return Fail(ErrorCode::kUnsupported, "the kernel computes in f64 already");
  core::RewriteRequest request{.source = original,
                               .entry = spec.entry,
                               .kernel = {},
                               .transform = std::string(core::kFloat64Text),
                               .parameters = {}};
  WW_ASSIGN(core::RewriteOutcome outcome, evaluator.Rewrite(request));
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome))
    return Fail(ErrorCode::kUnsupported, refusal->reason);
  auto& rewritten = std::get<core::Rewritten>(outcome);
  Shadow shadow{.source = original, .spec = ShadowSpec(spec)};
  shadow.source.text = std::move(rewritten.text);
  shadow.spec.entry = std::move(rewritten.entry);
  return shadow;
}

std::vector<core::BufferContent> ShadowInputs(const core::KernelSpec& spec, uint64_t seed,
                                              const std::vector<core::BufferContent>& buffers) {
  std::vector<core::BufferContent> converted;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    core::BufferContent content = buffers[index++];
    content.pointer_offset = 0;
    if (core::IsFloat(buffer->dtype)) {
      const size_t count = content.bytes.size() / core::SizeOf(buffer->dtype);
      base::ByteVector wide(count * 8);
      if (content.uninitialized) FillPoison(wide, seed, index, false);
      else
        base::ParallelFor(count, [&](size_t begin, size_t end) {
          core::LoadAsDoubles(buffer->dtype, content.bytes.data(), begin,
                              {reinterpret_cast<double*>(wide.data()) + begin, end - begin});
        });
      content.bytes = base::ToBytes(std::move(wide));
    }
    converted.push_back(std::move(content));
  }
  return converted;
}

}  // namespace warpwright::judge
