#include "source/kernel_plan.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "source/recorder_run.h"

namespace warpwright::source {

Result<RecordOutcome> PlanOfKernel(const Slices& slices, const RecordRequest& request) {
  const core::KernelSpec& spec = *request.spec;
  if (!spec.launch)
    return RecordOutcome(
        RefuseToRecord(slices, fmt::format("{} is a kernel and the manifest gives no launch", slices.entry)));
  if (spec.args.size() != slices.parameters.size()) {
    return RecordOutcome(RefuseToRecord(slices, fmt::format("{} takes {} arguments, the manifest gives {}",
                                                            slices.entry, slices.parameters.size(), spec.args.size())));
  }
  std::map<std::string, int64_t> variables;
  for (const auto& [name, value] : request.scalars) {
    if (const auto* integer = std::get_if<int64_t>(&value)) variables[name] = *integer;
  }
  core::KernelLaunch launch;
  launch.kernel = slices.entry_name;
  launch.file = slices.file;
  launch.line = slices.entry_line;
  const auto dimension = [&](const core::Expression& expression) -> Result<uint32_t> {
    WW_ASSIGN(const int64_t value, expression.Evaluate(variables));
    if (value < 0 || value > 0x7fffffff) {
      return Fail(ErrorCode::kConfig,
                  fmt::format("launch: {} is {}, which is not a valid dimension", expression.text(), value));
    }
    return static_cast<uint32_t>(value);
  };
  const auto dimensions = [&](const std::vector<core::Expression>& expressions, core::Dim3& target) -> Status {
    uint32_t* const parts[] = {&target.x, &target.y, &target.z};
    for (size_t i = 0; i < std::min<size_t>(3, expressions.size()); ++i) {
      WW_ASSIGN(*parts[i], dimension(expressions[i]));
    }
    return {};
  };
  WW_TRY(dimensions(spec.launch->grid, launch.grid));
  WW_TRY(dimensions(spec.launch->block, launch.block));
  if (spec.launch->shared_bytes) {
    WW_ASSIGN(launch.dynamic_shared_bytes, dimension(*spec.launch->shared_bytes));
  }
  core::LaunchPlan plan;
  for (size_t i = 0; i < spec.args.size(); ++i) {
    if (const auto found = slices.unsupported.find(i); found != slices.unsupported.end()) {
      return RecordOutcome(RefuseToRecord(slices, found->second.reason, found->second.line));
    }
    const core::Argument& argument = spec.args[i];
    const core::ParameterInfo& parameter = slices.parameters[i];
    core::KernelParameter value;
    if (const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind)) {
      if (parameter.is_pointer)
        return RecordOutcome(
            RefuseToRecord(slices, fmt::format("parameter '{}' of {} is a pointer", parameter.name, slices.entry)));
      const auto given = request.scalars.find(argument.name);
      if (given == request.scalars.end())
        return Fail(ErrorCode::kUsage, fmt::format("no value for the scalar argument '{}'", argument.name));
      // Converted as in a C++ call: an i32 of the manifest may be passed to a size_t parameter.
      core::ScalarArgument converted = *scalar;
      if (parameter.dtype) converted.dtype = *parameter.dtype;
      core::ScalarValue number = given->second;
      if (core::IsFloat(converted.dtype) && std::holds_alternative<int64_t>(number))
        number = static_cast<double>(std::get<int64_t>(number));
      if (!core::IsFloat(converted.dtype) && std::holds_alternative<double>(number))
        number = static_cast<int64_t>(std::get<double>(number));
      value.bytes = core::ScalarBytes(converted, number);
    } else {
      if (!parameter.is_pointer)
        return RecordOutcome(
            RefuseToRecord(slices, fmt::format("parameter '{}' of {} is not a pointer", parameter.name, slices.entry)));
      value.bytes.resize(8);
      const RecordBuffer& buffer = request.buffers[plan.buffers.size()];
      if (!buffer.absent) value.pointers[0] = {buffer.same_as.value_or(static_cast<uint32_t>(plan.buffers.size())), 0};
      plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, buffer.name, buffer.bytes});
    }
    launch.parameters.push_back(std::move(value));
  }
  plan.ops.push_back(std::move(launch));
  return RecordOutcome(Recorded{.plan = std::move(plan), .foreign_uses = {}, .compared = {}, .decisions = {}});
}

}  // namespace warpwright::source
