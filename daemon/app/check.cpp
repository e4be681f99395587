#include "app/check.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/check_fates.h"
#include "app/draft_manifest.h"
#include "core/original_remedy.h"
#include "judge/reference.h"
#include "judge/source_file.h"

namespace warpwright::app {
namespace {

Error ManifestError(int line, std::string message, std::string remedy) {
  return {.code = ErrorCode::kConfig,
          .message = std::move(message),
          .file = ".warpwright.yml",
          .line = line,
          .remedy = std::move(remedy)};
}

// Mismatches between the manifest's arguments and the entry's signature; each error names the manifest's line.
void CompareSignature(const core::KernelSpec& spec, const core::EntryInfo& entry, std::vector<Error>& errors) {
  const auto complain = [&](int line, std::string message, std::string remedy = {}) {
    errors.push_back(ManifestError(line, "kernel '" + spec.name + "': " + std::move(message), std::move(remedy)));
  };
  std::vector<core::ParameterInfo> parameters;  // warpwright passes streams itself; they are not in the manifest
  for (const auto& parameter : entry.parameters)
    if (!IsStream(parameter)) parameters.push_back(parameter);
  if (spec.args.size() != parameters.size()) {
    complain(
        spec.line,
        fmt::format("{} has {} parameters, the manifest gives {}", spec.entry, parameters.size(), spec.args.size()),
        "list every parameter but streams, in the order of the signature");
    return;
  }
  std::string signature;
  for (const auto& parameter : parameters) signature += (signature.empty() ? "" : ", ") + parameter.name;
  for (size_t i = 0; i < spec.args.size(); ++i) {
    const core::Argument& argument = spec.args[i];
    const core::ParameterInfo& parameter = parameters[i];
    const bool buffer = std::holds_alternative<core::BufferArgument>(argument.kind);
    if (argument.name != parameter.name && !parameter.name.empty())
      complain(argument.line,
               fmt::format("argument {} is named '{}', but '{}' in the source", i + 1, argument.name, parameter.name),
               "name them in the order of the signature: " + signature);
    if (buffer != parameter.is_pointer)
      complain(argument.line,
               fmt::format("'{}' is a {} in the source ({})", argument.name,
                           parameter.is_pointer ? "pointer" : "scalar", parameter.type),
               parameter.is_pointer ? "write {buffer: f32, shape: [N], role: in}" : "write {scalar: i32}");
    const core::DType dtype = std::visit([](const auto& kind) { return kind.dtype; }, argument.kind);
    if (buffer == parameter.is_pointer && parameter.dtype && *parameter.dtype != dtype)
      complain(argument.line,
               fmt::format("'{}' is {} in the source ({}), but {} in the manifest", argument.name,
                           core::Name(*parameter.dtype), parameter.type, core::Name(dtype)),
               fmt::format("write {}", core::Name(*parameter.dtype)));
    if (buffer && parameter.is_const && std::get<core::BufferArgument>(argument.kind).role != core::Role::kIn)
      complain(argument.line, fmt::format("'{}' is const in the source; its role must be in", argument.name),
               "write role: in");
  }
}

std::string BaseName(const std::string& entry) { return entry.substr(0, entry.find('<')); }

Status CheckKernel(const std::filesystem::path& root, const core::KernelSpec& spec, core::Evaluator& worker,
                   std::vector<Error>& errors) {
  const auto source = judge::ReadSource(root, spec);
  if (!source) {
    errors.push_back(ManifestError(spec.line, fmt::format("kernel '{}': {}", spec.name, source.error().message),
                                   source.error().remedy));
    return {};
  }
  WW_ASSIGN(const core::Inspection inspection, worker.Inspect(*source));
  const core::EntryInfo* entry = nullptr;
  std::vector<std::string> names;
  for (const auto& candidate : inspection.entries) {
    names.push_back(candidate.name);
    if (candidate.name == BaseName(spec.entry)) entry = &candidate;
  }
  if (entry == nullptr) {
    errors.push_back(ManifestError(spec.line,
                                   fmt::format("kernel '{}': {} has no entry '{}'", spec.name, spec.file, spec.entry),
                                   fmt::format("it has: {}", fmt::join(names, ", "))));
    return {};
  }
  if (!entry->refusal.empty()) {
    const core::Refused refused{core::Check::kSlice, entry->refusal,
                                entry->refusal_file.empty() ? spec.file : entry->refusal_file, entry->refusal_line};
    errors.push_back({.code = ErrorCode::kUnsupported,
                      .message = fmt::format("'{}' cannot be optimized: {}", spec.entry, refused.reason),
                      .file = refused.file,
                      .line = refused.line,
                      .remedy = core::RemedyForOriginal(refused)});
    return {};
  }
  if (entry->kind == core::EntryInfo::Kind::kKernel && !spec.launch)
    errors.push_back(ManifestError(
        spec.line, fmt::format("kernel '{}': '{}' is a __global__ function and needs `launch`", spec.name, spec.entry),
        "launch: {grid: [\"ceil_div(N, 256)\"], block: [256]}"));
  CompareSignature(spec, *entry, errors);
  for (const auto& c : spec.cases) {
    if (const auto reference = judge::LoadReference(root, spec.name, c.name); !reference)
      errors.push_back(reference.error());
    if (const auto supplied = judge::LoadSupplied(root, spec, c); !supplied) errors.push_back(supplied.error());
  }
  return {};
}

// A row of the table for a kernel that is wrong as a whole. What the row says before is not said again.
CheckedKernel Whole(const std::string& kernel, const std::string& entry, CaseFate fate, const Error& error) {
  std::string why = error.message;
  for (const std::string& said : {fmt::format("'{}' cannot be optimized", entry), fmt::format("kernel '{}'", kernel),
                                  fmt::format(" {}", Name(fate)), std::string(": ")})
    if (why.starts_with(said)) why.erase(0, said.size());
  if (error.line > 0) why += fmt::format(" ({}:{})", error.file, error.line);
  return {kernel, entry, {{.name = "", .fate = fate, .tried = false, .why = std::move(why)}}};
}

}  // namespace

Result<CheckReport> CheckRepository(const Workspace& workspace, const CheckServices& services) {
  CheckReport report;
  if (const auto skills = services.skills(); !skills) report.errors.push_back(skills.error());
  const auto toolchain = services.toolchain();
  const auto manifest = workspace.ManifestWithQuestions();
  if (!manifest) {
    report.errors.push_back(manifest.error());
  } else {
    report.kernels = manifest->kernels.size();
    for (const core::UnansweredKernel& waiting : manifest->unanswered) {
      report.errors.push_back(waiting.question);
      report.fates.push_back(Whole(waiting.name, "", CaseFate::kUnanswered, waiting.question));
    }
    for (const auto& spec : manifest->kernels) {
      const size_t wrong = report.errors.size();
      if (const Status seen = CheckKernel(workspace.repository().root(), spec, services.worker, report.errors); !seen) {
        if (seen.error().code == ErrorCode::kEnvironment) return Fail(seen.error());  // no kernel could be looked at
        report.errors.push_back(seen.error());
      }
      if (report.errors.size() > wrong) {
        const Error& first = report.errors[wrong];
        const bool refused = first.code == ErrorCode::kUnsupported;
        report.fates.push_back(
            Whole(spec.name, spec.entry, refused ? CaseFate::kRefused : CaseFate::kWrongInManifest, first));
      }
      if (report.errors.size() > wrong || !services.run || !toolchain) continue;
      services.progress.step(spec.name + ": compiling, recording and running its smallest case");
      auto fates = FindFates(workspace, *manifest, spec, *toolchain, services.worker);
      services.progress.finish();
      if (!fates) report.errors.push_back(fates.error());
      report.fates.push_back(fates ? std::move(*fates)
                                   : Whole(spec.name, spec.entry, CaseFate::kNotTried, fates.error()));
    }
  }
  if (!toolchain) report.errors.push_back(toolchain.error());
  return report;
}

}  // namespace warpwright::app
