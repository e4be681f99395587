#include "judge/form_arguments.h"

#include <utility>
#include <variant>

#include "base/parallel.h"
#include "core/typed_values.h"

namespace warpwright::judge {

FormArguments FormArgumentsOf(const core::KernelSpec& spec, const core::Case& c,
                              const std::vector<core::BufferContent>& contents) {
  FormArguments arguments;
  arguments.sizes = core::IntegerScalars(c);
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    if (const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind)) {
      const auto found = c.scalars.find(argument.name);
      if (found == c.scalars.end() || !core::IsFloat(scalar->dtype)) continue;
      const std::vector<std::byte> bytes = core::ScalarBytes(*scalar, found->second);  // as the original receives it
      arguments.values.scalars[argument.name] = core::LoadAsDouble(scalar->dtype, bytes.data(), 0);
      continue;
    }
    const auto& buffer = std::get<core::BufferArgument>(argument.kind);
    const core::DType dtype = buffer.dtype;
    const core::BufferContent& content = contents[index++];
    if (buffer.role == core::Role::kOut || buffer.role == core::Role::kScratch) continue;  // which is read by no form
    const size_t count = content.bytes.size() / core::SizeOf(dtype);
    base::UninitializedVector<double> reals(core::IsFloat(dtype) ? count : 0);
    base::UninitializedVector<int64_t> integers(core::IsFloat(dtype) ? 0 : count);
    base::ParallelFor(count, [&](size_t begin, size_t end) {
      if (core::IsFloat(dtype))
        return core::LoadAsDoubles(dtype, content.bytes.data(), begin, std::span(reals).subspan(begin, end - begin));
      for (size_t i = begin; i < end; ++i) integers[i] = core::LoadAsInteger(dtype, content.bytes.data(), i);
    });
    arguments.reals.push_back(std::move(reals));
    arguments.integers.push_back(std::move(integers));
    arguments.values.tensors[argument.name] = {arguments.reals.back(), arguments.integers.back()};
  }
  return arguments;
}

}  // namespace warpwright::judge
