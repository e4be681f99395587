#include "judge/special_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/random.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kFiniteStream = 0x66696e697465ULL;

// change(index of the buffer, type, element) for each element of a floating-point input that is not finite.
template <typename Change>
void ForEachNonFinite(const core::KernelSpec& spec, const std::vector<core::BufferContent>& inputs, Change change) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    if (inputs[i].uninitialized || !core::IsFloat(buffer->dtype)) continue;
    for (size_t e = 0; e < inputs[i].bytes.size() / core::SizeOf(buffer->dtype); ++e)
      if (!std::isfinite(core::LoadAsDouble(buffer->dtype, inputs[i].bytes.data(), e))) change(i, buffer->dtype, e);
  }
}

bool MayStand(double original, double candidate, bool unrelated) {
  if (!std::isnan(candidate) || std::isnan(original)) return false;
  return std::isinf(original) || unrelated;
}

}  // namespace

std::string NonFiniteInputs(const core::KernelSpec& spec, const std::vector<core::BufferContent>& inputs) {
  std::vector<bool> has(inputs.size());
  ForEachNonFinite(spec, inputs, [&](size_t i, core::DType, size_t) { has[i] = true; });
  std::string names;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (has[i]) names += (names.empty() ? "" : ", ") + inputs[i].name;
  return names;
}

std::vector<core::BufferContent> WithFiniteInputs(const core::KernelSpec& spec, uint64_t seed,
                                                  const std::vector<core::BufferContent>& inputs) {
  std::vector<core::BufferContent> finite = inputs;
  std::vector<std::vector<std::byte>> bytes(inputs.size());
  ForEachNonFinite(spec, inputs, [&](size_t i, core::DType dtype, size_t e) {
    if (bytes[i].empty()) bytes[i] = inputs[i].bytes.Copy();
    const base::CounterRandom random(seed, kFiniteStream + i);
    core::StoreFromDouble(dtype, bytes[i].data(), e, 0.5 + random.Uniform(e));
  });
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!bytes[i].empty()) finite[i].bytes = std::move(bytes[i]);
  return finite;
}

Relaxed RelaxNonFinite(const TrialReference& reference, const TrialReference& finite,
                       const std::vector<base::Bytes>& buffers, InputVariant variant) {
  const bool may_ignore = variant != InputVariant::kOldValues;
  Relaxed relaxed{.buffers = buffers};
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const core::DType dtype = reference.layouts[o].dtype;
    if (!core::IsFloat(dtype)) continue;
    const size_t size = core::SizeOf(dtype), i = reference.outputs[o];
    const base::Bytes &original = reference.references[o].bytes, &other = finite.references[o].bytes;
    std::vector<std::byte> bytes = buffers[i].Copy();
    for (size_t e = 0; e < bytes.size() / size; ++e) {
      const bool unrelated = may_ignore && std::memcmp(original.data() + e * size, other.data() + e * size, size) == 0;
      if (!MayStand(core::LoadAsDouble(dtype, original.data(), e), core::LoadAsDouble(dtype, bytes.data(), e),
                    unrelated))
        continue;
      std::memcpy(bytes.data() + e * size, original.data() + e * size, size);
      ++relaxed.elements;
    }
    relaxed.buffers[i] = std::move(bytes);
  }
  return relaxed;
}

}  // namespace warpwright::judge
