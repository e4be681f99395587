#include "app/draft_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace warpwright::app {
namespace {

// A bare __global__ kernel that a launcher already covers needs no separate entry.
std::set<std::string> LaunchedKernels(const core::Inspection& inspection) {
  std::set<std::string> launched;
  for (const auto& entry : inspection.entries)
    if (entry.kind == core::EntryInfo::Kind::kLauncher) launched.insert(entry.kernels.begin(), entry.kernels.end());
  return launched;
}

std::string ShortName(const std::string& qualified) {
  const size_t colon = qualified.rfind("::");
  return colon == std::string::npos ? qualified : qualified.substr(colon + 2);
}

std::string_view RoleText(const core::ParameterInfo& parameter) {
  switch (parameter.likely_role.value_or(parameter.is_const ? core::Role::kIn : core::Role::kInOut)) {
    case core::Role::kIn: return "in";
    case core::Role::kOut: return "out";
    case core::Role::kInOut: return "inout";
    case core::Role::kScratch: return "scratch";
  }
  return "in";
}

class Draft {
 public:
  void AddEntry(const std::string& file, const core::EntryInfo& entry) {
    if (!entry.refusal.empty()) {
      text_ += fmt::format("\n  # {} in {}:{} is left out: {}\n", entry.name, file, entry.line, entry.refusal);
      return;
    }
    std::string name = ShortName(entry.name);
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", ShortName(entry.name), i);
    text_ += fmt::format("\n  - name: {}\n    file: {}\n    entry: {}\n    args:\n", name, file, entry.name);
    std::vector<std::string> sizes, scalars;
    for (const auto& parameter : entry.parameters)
      if (!parameter.is_pointer && !IsStream(parameter)) {
        scalars.push_back(parameter.name);
        if (parameter.dtype && !core::IsFloat(*parameter.dtype)) sizes.push_back(parameter.name);
      }
    for (const auto& parameter : entry.parameters)
      if (!IsStream(parameter)) AddParameter(parameter, sizes);
    AddCases(entry, scalars);
  }
  std::string Finish() && {
    return "# Written by `warpwright init`. Replace each question mark, then run `warpwright check`.\nversion: "
           "1\nkernels:" +
           (names_.empty() ? std::string(" []\n") + text_ : text_) + "\npolicy: {min_speedup: 1.05, max_rounds: 10}\n";
  }

 private:
  void AddParameter(const core::ParameterInfo& parameter, const std::vector<std::string>& sizes) {
    const std::string type = parameter.dtype ? std::string(core::Name(*parameter.dtype)) : "?";
    const std::string unknown = parameter.dtype ? "" : fmt::format("  # which type? {} in the source", parameter.type);
    if (!parameter.is_pointer) {
      text_ += fmt::format("      {}: {{scalar: {}}}{}\n", parameter.name, type, unknown);
      return;
    }
    const std::string shape = sizes.size() == 1 ? sizes[0] : "?";
    const std::string question =
        sizes.size() == 1 ? "" : fmt::format("  # how many elements? e.g. [{}]", fmt::join(sizes, ", "));
    text_ += fmt::format("      {}: {{buffer: {}, shape: [{}], role: {}}}{}{}\n", parameter.name, type, shape,
                         RoleText(parameter), question, unknown);
  }
  void AddCases(const core::EntryInfo& entry, const std::vector<std::string>& scalars) {
    std::string values;
    for (const auto& parameter : entry.parameters)
      if (!parameter.is_pointer && !IsStream(parameter)) values += fmt::format(", {}: ?", parameter.name);
    text_ += "    cases:\n";
    if (scalars.empty()) {
      text_ += "      - {name: only}\n";
    } else {
      text_ += fmt::format("      - {{name: typical{}}}  # the sizes that matter to you\n", values);
      text_ += fmt::format("      - {{name: small{}, on: [sim]}}  # a small, odd size for the simulator\n", values);
    }
    if (entry.kind == core::EntryInfo::Kind::kKernel)
      text_ += "    launch: {grid: [\"?\"], block: [256]}  # e.g. [\"ceil_div(n, 256)\"]\n";
  }

  std::string text_;
  std::set<std::string> names_;
};

}  // namespace

bool IsStream(const core::ParameterInfo& parameter) {
  return parameter.type.find("cudaStream_t") != std::string::npos ||
         parameter.type.find("CUstream") != std::string::npos;
}

std::string DraftManifest(const std::vector<InspectedFile>& files) {
  Draft draft;
  for (const auto& [file, inspection] : files) {
    const auto launched = LaunchedKernels(inspection);
    for (const auto& entry : inspection.entries)
      if (entry.kind == core::EntryInfo::Kind::kLauncher || launched.count(entry.name) == 0)
        draft.AddEntry(file, entry);
  }
  return std::move(draft).Finish();
}

}  // namespace warpwright::app
