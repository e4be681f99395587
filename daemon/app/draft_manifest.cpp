#include "app/draft_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace warpwright::app {
namespace {

const std::string kQuestion = "\"?\"";  // in quotes: a bare one is no YAML within brackets

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

// What a floating-point argument is when callers pass it: of no weight for the time, so it is not asked for.
std::string_view TypicalScalar(std::string_view name) {
  return name.find("eps") != std::string_view::npos ? "1e-5" : "1.0";
}

class EntryDraft {
 public:
  EntryDraft(const core::EntryInfo& entry, const ProbeOutcome* probe) : entry_(entry) {
    if (probe == nullptr) return;
    std::visit(Overload{[&](const NotProbed& p) { why_not_ = p.why; }, [&](const ProbedEntry& p) { probed_ = &p; }},
               *probe);
  }
  // `build`: a line, or nothing.
  std::string Text(const std::string& name, const std::string& file, const std::string& build) {
    text_ = fmt::format("\n  - name: {}\n    file: {}\n    entry: {}\n", name, file, entry_.name);
    if (!build.empty()) text_ += "    " + build;
    if (!why_not_.empty()) text_ += fmt::format("    # not run: {}\n", Comment(why_not_));
    text_ += "    args:\n";
    for (const auto& parameter : entry_.parameters)
      if (!IsStream(parameter)) parameter.is_pointer ? AddBuffer(parameter) : AddScalar(parameter);
    AddCases();
    return std::move(text_);
  }

 private:
  // Text from elsewhere: in one line, and short.
  static std::string Comment(std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    std::replace(text.begin(), text.end(), '?', '.');
    return text.size() > 160 ? text.substr(0, 157) + "..." : text;
  }
  static bool IsInteger(const core::ParameterInfo& parameter) {
    return !parameter.is_pointer && !IsStream(parameter) && parameter.dtype && !core::IsFloat(*parameter.dtype);
  }
  static std::string TypeOf(const core::ParameterInfo& parameter) {
    return parameter.dtype ? std::string(core::Name(*parameter.dtype)) : kQuestion;
  }
  static std::string TypeQuestion(const core::ParameterInfo& parameter) {
    return parameter.dtype ? "" : fmt::format("  # which type? {} in the source", Comment(parameter.type));
  }
  void AddScalar(const core::ParameterInfo& parameter) {
    const bool typical = parameter.dtype && core::IsFloat(*parameter.dtype);
    text_ +=
        fmt::format("      {}: {{scalar: {}{}}}{}\n", parameter.name, TypeOf(parameter),
                    typical ? fmt::format(", value: {}", TypicalScalar(parameter.name)) : "", TypeQuestion(parameter));
  }
  void AddBuffer(const core::ParameterInfo& parameter) {
    const ProbedBuffer* seen = nullptr;
    if (probed_ != nullptr)
      if (const auto found = probed_->buffers.find(parameter.name); found != probed_->buffers.end())
        seen = &found->second;
    std::string shape = kQuestion, comment;
    if (seen != nullptr && seen->shape) {
      std::vector<std::string> extents = *seen->shape;
      for (std::string& extent : extents)  // commas would end the element
        if (extent.find_first_of(" ,") != std::string::npos) extent = "\"" + extent + "\"";
      shape = fmt::format("{}", fmt::join(extents, ", "));
      if (probed_->partial) comment = "  # as far as sampled blocks reached";
    } else {
      std::vector<std::string> sizes;
      for (const auto& other : entry_.parameters)
        if (IsInteger(other)) sizes.push_back(other.name);
      if (sizes.size() == 1 && seen == nullptr) shape = sizes[0];
      else comment = fmt::format("  # how many elements? e.g. [{}]", fmt::join(sizes, ", "));
      if (seen != nullptr && !seen->seen.empty()) comment += "; it " + Comment(seen->seen);
    }
    const std::string_view role = seen != nullptr && seen->role ? core::Name(*seen->role) : RoleText(parameter);
    text_ += fmt::format("      {}: {{buffer: {}, shape: [{}], role: {}{}}}{}{}\n", parameter.name, TypeOf(parameter),
                         shape, role, IndexRange(parameter, role), comment, TypeQuestion(parameter));
  }
  // Indices must be within what they index.
  std::string IndexRange(const core::ParameterInfo& parameter, std::string_view role) const {
    const bool integers = parameter.dtype && !core::IsFloat(*parameter.dtype);
    if (probed_ == nullptr || !probed_->indexes || !integers || role == core::Name(core::Role::kOut)) return "";
    return probed_->index_bound ? fmt::format(", init: {{integers: [0, \"{} - 1\"]}}", *probed_->index_bound)
                                : ", init: {integers: [0, \"?\"]}";
  }
  // An argument is asked for where it is a size, or where nothing is known of it.
  void AddCases() {
    std::string typical, small;
    bool asks = false;
    for (const auto& parameter : entry_.parameters) {
      if (!IsInteger(parameter) && (parameter.is_pointer || IsStream(parameter) || parameter.dtype)) continue;
      const auto ran = probed_ == nullptr ? std::optional<int64_t>() : RanWith(parameter.name);
      const bool is_size = !ran || probed_->sizes.contains(parameter.name);
      typical += fmt::format(", {}: {}", parameter.name, is_size ? kQuestion : fmt::format("{}", *ran));
      small += fmt::format(", {}: {}", parameter.name, ran ? fmt::format("{}", *ran) : kQuestion);
      asks |= is_size;
    }
    text_ += "    cases:\n";
    if (typical.empty()) {
      text_ += "      - {name: only}\n";
    } else {
      text_ += fmt::format("      - {{name: typical{}}}{}\n", typical, asks ? "  # the sizes that matter to you" : "");
      text_ += fmt::format(
          "      - {{name: small{}, on: [sim]}}  # {}\n", small,
          probed_ != nullptr ? "with these it ran on the simulator" : "a small, odd size for the simulator");
    }
    if (entry_.kind == core::EntryInfo::Kind::kKernel)
      text_ += "    launch: {grid: [\"?\"], block: [256]}  # e.g. [\"ceil_div(n, 256)\"]\n";
  }
  std::optional<int64_t> RanWith(const std::string& name) const {
    const auto found = probed_->small.find(name);
    return found == probed_->small.end() ? std::nullopt : std::optional(found->second);
  }

  const core::EntryInfo& entry_;
  const ProbedEntry* probed_ = nullptr;
  std::string why_not_;
  std::string text_;
};

std::string BuildLine(const GuessedBuild& guessed) {
  if (guessed.build.IsDefault()) return {};
  return fmt::format("{}  # what the code needs of {}\n", ManifestText(guessed.build), guessed.from);
}

class Draft {
 public:
  // `build`: the common line, or nothing.
  explicit Draft(std::string build) : build_(std::move(build)) {}
  void AddEntry(const std::string& file, const core::EntryInfo& entry, const ProbeOutcome* probe,
                const std::string& build) {
    if (!entry.refusal.empty()) {
      text_ += fmt::format("\n  # {} in {}:{} is left out: {}\n", entry.name, file, entry.line, entry.refusal);
      return;
    }
    std::string name = ShortName(entry.name);
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", ShortName(entry.name), i);
    text_ += EntryDraft(entry, probe).Text(name, file, build_.empty() ? build : std::string());
  }
  std::string Finish() && {
    return "# Written by `warpwright init`. Replace each question mark, then run `warpwright check`.\nversion: 1\n" +
           build_ + "kernels:" + (names_.empty() ? std::string(" []\n") + text_ : text_) +
           "\npolicy: {min_speedup: 1.05, max_rounds: 10}\n";
  }

 private:
  std::string build_, text_;
  std::set<std::string> names_;
};

}  // namespace

bool IsStream(const core::ParameterInfo& parameter) {
  return parameter.type.find("cudaStream_t") != std::string::npos ||
         parameter.type.find("CUstream") != std::string::npos;
}

std::string DraftManifest(const std::vector<InspectedFile>& files) {
  std::set<std::string> builds;
  for (const InspectedFile& file : files) builds.insert(BuildLine(file.build));
  Draft draft(builds.size() == 1 ? *builds.begin() : std::string());
  for (const auto& [file, inspection, probes, build] : files) {
    const auto launched = LaunchedKernels(inspection);
    for (const auto& entry : inspection.entries) {
      if (entry.kind != core::EntryInfo::Kind::kLauncher && launched.contains(entry.name)) continue;
      const auto probe = probes.find(entry.name);
      draft.AddEntry(file, entry, probe == probes.end() ? nullptr : &probe->second, BuildLine(build));
    }
  }
  return std::move(draft).Finish();
}

}  // namespace warpwright::app
