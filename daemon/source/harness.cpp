#include "source/harness.h"

#include <fmt/core.h>

#include "source/signature.h"

namespace warpwright::source {
namespace {

std::string_view HostType(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return "double";
    case core::DType::kF32: return "float";
    case core::DType::kF16: return "__half";
    case core::DType::kBF16: return "__nv_bfloat16";
    case core::DType::kI64: return "long long";
    case core::DType::kI32: return "int";
    case core::DType::kU32: return "unsigned int";
    case core::DType::kI8: return "signed char";
    case core::DType::kU8: return "unsigned char";
    case core::DType::kBool: return "bool";
  }
  return "float";
}

}  // namespace

std::variant<std::string, core::Refused> MakeHarness(const Slices& slices, const core::KernelSpec& spec) {
  std::string arguments;
  size_t next = 0, buffers = 0, scalars = 0;
  bool has_stream = false;
  const auto add = [&](const std::string& argument) { arguments += (arguments.empty() ? "" : ", ") + argument; };
  const auto refuse = [&](std::string reason) {
    return core::Refused{core::Check::kRecord, std::move(reason), slices.file, slices.entry_line};
  };
  for (size_t i = 0; i < slices.parameters.size(); ++i) {
    const core::ParameterInfo& parameter = slices.parameters[i];
    if (IsStream(parameter)) {
      add("::ww::CallersStream()");
      has_stream = true;
      continue;
    }
    if (next == spec.args.size()) break;  // the rest must have defaults, or the compiler reports an error
    if (const auto found = slices.unsupported.find(i); found != slices.unsupported.end()) {
      return core::Refused{core::Check::kRecord, found->second.reason, slices.file, found->second.line};
    }
    const core::Argument& argument = spec.args[next++];
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer != nullptr && !parameter.is_pointer) {
      return refuse(fmt::format("the manifest's argument '{}' is a buffer, but parameter '{}' of {} is not a pointer",
                                argument.name, parameter.name, slices.entry));
    }
    if (buffer == nullptr && parameter.is_pointer) {
      return refuse(fmt::format("the manifest's argument '{}' is a scalar, but parameter '{}' of {} is a pointer",
                                argument.name, parameter.name, slices.entry));
    }
    if (buffer != nullptr) {
      // Templates are deduced, and overloads resolved, from the pointer's type.
      add(slices.entry_deduces ? fmt::format("::ww::TypedBuffer<{}>({})", HostType(buffer->dtype), buffers)
                               : fmt::format("::ww::AnyPointer{{{}}}", buffers));
      ++buffers;
    } else {
      add(fmt::format("::ww::Scalar<{}>({})", HostType(std::get<core::ScalarArgument>(argument.kind).dtype),
                      scalars++));
    }
  }
  if (next < spec.args.size()) {
    return refuse(fmt::format("{} takes {} arguments, the manifest gives {}", slices.entry, next, spec.args.size()));
  }
  std::string text = fmt::format("\n#line 1 \"{}\"\nstatic const ::ww::Symbol ww_symbol_table[] = {{", kHarnessFile);
  for (const std::string& symbol : slices.symbols) text += fmt::format("{{\"{0}\", &::{0}, sizeof(::{0})}}, ", symbol);
  text += "{nullptr, nullptr, 0}};\n";
  text += "const ::ww::Symbol* const ww::symbols = ww_symbol_table;\n";
  text += fmt::format("const size_t ww::symbol_count = {};\n", slices.symbols.size());
  text += fmt::format("const bool ww::has_callers_stream = {};\n", has_stream);
  text +=
      fmt::format("void ww::Call() {{ ::ww::RecordCall([] {{ return ::{}({}); }}); }}\n", slices.entry_name, arguments);
  return text;
}

}  // namespace warpwright::source
