#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/draft_manifest.h"
#include "cli/exit_code.h"
#include "judge/reference.h"

namespace warpwright {
namespace {

// What is wrong between the manifest's arguments and the entry's signature; each names the manifest's line.
void CompareSignature(const KernelSpec& spec, const EntryInfo& entry, std::vector<Error>& errors) {
  const auto complain = [&](int line, std::string message, std::string remedy = {}) {
    errors.push_back({ErrorCode::kConfig, "kernel '" + spec.name + "': " + std::move(message), ".warpwright.yml", line, 0, std::move(remedy)});
  };
  std::vector<ParameterInfo> parameters;  // streams are passed by us, and are not in the manifest
  for (const auto& parameter : entry.parameters)
    if (!IsStream(parameter)) parameters.push_back(parameter);
  if (spec.args.size() != parameters.size()) {
    complain(spec.line, fmt::format("{} has {} parameters, the manifest gives {}", spec.entry, parameters.size(), spec.args.size()),
             "list every parameter but streams, in the order of the signature");
    return;
  }
  for (size_t i = 0; i < spec.args.size(); ++i) {
    const Argument& argument = spec.args[i];
    const ParameterInfo& parameter = parameters[i];
    const bool buffer = std::holds_alternative<BufferArgument>(argument.kind);
    if (argument.name != parameter.name && !parameter.name.empty())
      complain(argument.line, fmt::format("argument {} is called '{}', in the source '{}'", i + 1, argument.name, parameter.name));
    if (buffer != parameter.is_pointer)
      complain(argument.line, fmt::format("'{}' is a {} in the source ({})", argument.name, parameter.is_pointer ? "pointer" : "scalar", parameter.type));
    const DType dtype = std::visit([](const auto& kind) { return kind.dtype; }, argument.kind);
    if (buffer == parameter.is_pointer && parameter.dtype && *parameter.dtype != dtype)
      complain(argument.line, fmt::format("'{}' is {} in the source ({}), the manifest says {}", argument.name, Name(*parameter.dtype), parameter.type, Name(dtype)));
    if (buffer && parameter.is_const && std::get<BufferArgument>(argument.kind).role != Role::kIn)
      complain(argument.line, fmt::format("'{}' is const in the source; its role is in", argument.name));
  }
}

std::string BaseName(const std::string& entry) { return entry.substr(0, entry.find('<')); }

Status CheckKernel(const std::filesystem::path& root, const KernelSpec& spec, WorkerEvaluator& worker, std::vector<Error>& errors) {
  WW_ASSIGN(const SourceRef source, Session::Source(root, spec.file));
  WW_ASSIGN(const Inspection inspection, worker.Inspect(source));
  const EntryInfo* entry = nullptr;
  std::vector<std::string> names;
  for (const auto& candidate : inspection.entries) {
    names.push_back(candidate.name);
    if (candidate.name == BaseName(spec.entry)) entry = &candidate;
  }
  if (entry == nullptr) {
    errors.push_back({ErrorCode::kConfig, fmt::format("kernel '{}': {} has no entry '{}'", spec.name, spec.file, spec.entry), ".warpwright.yml", spec.line, 0,
                      fmt::format("it has: {}", fmt::join(names, ", "))});
    return {};
  }
  if (!entry->refusal.empty()) {
    errors.push_back({ErrorCode::kUnsupported, fmt::format("'{}' cannot be optimized: {}", spec.entry, entry->refusal), spec.file, entry->refusal_line, 0, {}});
    return {};
  }
  if (entry->kind == EntryInfo::Kind::kKernel && !spec.launch)
    errors.push_back({ErrorCode::kConfig, fmt::format("kernel '{}': '{}' is a __global__ function and needs `launch`", spec.name, spec.entry), ".warpwright.yml", spec.line, 0,
                      "launch: {grid: [\"ceil_div(N, 256)\"], block: [256]}"});
  CompareSignature(spec, *entry, errors);
  for (const auto& c : spec.cases) {
    if (const auto reference = LoadReference(root, spec.name, c.name); !reference) errors.push_back(reference.error());
    if (const auto supplied = LoadSupplied(root, spec, c); !supplied) errors.push_back(supplied.error());
  }
  return {};
}

}  // namespace

Result<int> RunCheck(const CommonOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options));
  std::vector<Error> errors;
  if (const auto skills = session.Skills(); !skills) errors.push_back(skills.error());
  size_t kernels = 0;
  if (const auto manifest = session.ManifestOfWorkingTree(); !manifest) {
    errors.push_back(manifest.error());
  } else {
    WorkerEvaluator worker = session.MakeWorker();
    kernels = manifest->kernels.size();
    for (const auto& spec : manifest->kernels) WW_TRY(CheckKernel(session.repository().root(), spec, worker, errors));
  }
  if (const auto toolchain = session.Toolchain(); !toolchain) errors.push_back(toolchain.error());

  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& e : errors) list.push_back({{"file", e.file}, {"line", e.line}, {"column", e.column}, {"message", e.message}, {"remedy", e.remedy}});
    std::puts(nlohmann::json({{"ok", errors.empty()}, {"kernels", kernels}, {"errors", list}}).dump(2).c_str());
  } else {
    for (const auto& error : errors) fmt::print(stderr, "{}\n", error.Format());
    if (errors.empty()) fmt::print("{} kernels, their sources, references and the skills are fine.\n", kernels);
  }
  return errors.empty() ? kExitDone : ExitCodeOf(errors.front());
}

}  // namespace warpwright
