#include "core/kernel_spec.h"

#include <cmath>
#include <cstring>

namespace warpwright::core {
namespace {
constexpr std::pair<Allow, std::string_view> kAllowNames[] = {{Allow::kTf32, "tf32"},
                                                              {Allow::kNondeterministic, "nondeterministic"},
                                                              {Allow::kClock, "clock"},
                                                              {Allow::kCachePolicy, "cache_policy"},
                                                              {Allow::kPrintf, "printf"},
                                                              {Allow::kReducedPrecision, "reduced_precision"},
                                                              {Allow::kState, "state"},
                                                              {Allow::kBuildDependent, "build_dependent"},
                                                              {Allow::kSharedWorkspace, "shared_workspace"}};
}

std::string_view Name(Role role) {
  switch (role) {
    case Role::kIn: return "in";
    case Role::kOut: return "out";
    case Role::kInOut: return "inout";
    case Role::kScratch: return "scratch";
  }
  return "?";
}
std::string_view Name(Allow allow) {
  for (const auto& [value, name] : kAllowNames)
    if (value == allow) return name;
  return "?";
}
std::string_view Name(SpecialInputs special) {
  switch (special) {
    case SpecialInputs::kReliable: return "reliable";
    case SpecialInputs::kStrict: return "strict";
    case SpecialInputs::kFinite: return "finite_inputs";
  }
  return "?";
}
std::string_view Name(RequiredTool tool) {
  switch (tool) {
    case RequiredTool::kNvcc: return "nvcc";
    case RequiredTool::kComputeSanitizer: return "compute-sanitizer";
  }
  return "?";
}
std::optional<Allow> ParseAllow(std::string_view name) {
  for (const auto& [value, text] : kAllowNames)
    if (text == name) return value;
  return std::nullopt;
}

const Argument* KernelSpec::Find(std::string_view argument) const {
  for (const auto& arg : args)
    if (arg.name == argument) return &arg;
  return nullptr;
}

std::map<std::string, int64_t> IntegerScalars(const Case& c) {
  std::map<std::string, int64_t> integers;
  for (const auto& [name, value] : c.scalars)
    if (const auto* integer = std::get_if<int64_t>(&value)) integers[name] = *integer;
  return integers;
}

Result<std::vector<int64_t>> ShapeOf(const Argument& argument, const Case& c) {
  const auto& buffer = std::get<BufferArgument>(argument.kind);
  const auto variables = IntegerScalars(c);
  std::vector<int64_t> shape;
  for (const auto& extent : buffer.shape) {
    auto value = extent.Evaluate(variables);
    if (value && *value < 0)
      value = Fail(ErrorCode::kConfig, "'" + extent.text() + "' is negative (" + std::to_string(*value) + ")");
    if (!value) {
      Error error = value.error();
      error.message = "shape of '" + argument.name + "' in case '" + c.name + "': " + error.message;
      error.line = argument.line;
      return Fail(error);
    }
    shape.push_back(*value);
  }
  return shape;
}

std::vector<std::byte> ScalarBytes(const ScalarArgument& argument, const ScalarValue& value) {
  std::vector<std::byte> bytes(SizeOf(argument.dtype));
  if (const auto* integer = std::get_if<int64_t>(&value); integer != nullptr && !IsFloat(argument.dtype)) {
    std::memcpy(bytes.data(), integer, bytes.size());  // little endian: the low bytes
  } else {
    const double number = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    StoreFromDouble(argument.dtype, bytes.data(), 0, number);
  }
  return bytes;
}

}  // namespace warpwright::core
