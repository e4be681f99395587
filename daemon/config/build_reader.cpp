#include "config/build_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "config/name_check.h"
#include "config/repository_path.h"

namespace warpwright::config {
namespace {

constexpr size_t kMaxMacroName = 100, kMaxMacroValue = 200;

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool Consists(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsLetterOrDigit(c) || others.find(c) != std::string_view::npos; });
}

// Compilers define these themselves, or CUDA's headers do; another value would be another language.
bool IsCompilersOwn(std::string_view name) {
  for (const std::string_view own : {"__CUDA_ARCH", "__CUDACC", "__NVCC__", "__cplusplus", "__global__", "__device__",
                                     "__host__", "__shared__", "__constant__", "__managed__"})
    if (name.starts_with(own)) return true;
  return name == "defined";
}

class BuildReader {
 public:
  BuildReader(const core::BuildOptions& defaults, Diagnostics& diagnostics)
      : build_(defaults), diagnostics_(diagnostics) {}

  core::BuildOptions Read(const YamlNode& node) {
    YamlObject map(node, "a build", {"include", "define", "std", "flags"}, diagnostics_);
    if (build_.include.empty()) build_.line = node.line();  // else of what was inherited
    if (const YamlNode* include = map.Find("include")) ReadFolders(*include);
    if (const YamlNode* define = map.Find("define")) ReadDefines(*define);
    if (const YamlNode* standard = map.Find("std")) ReadStandard(*standard);
    if (const YamlNode* flags = map.Find("flags")) ReadFlags(*flags);
    return std::move(build_);
  }

 private:
  // False: noted.
  bool IsShort(const YamlNode& node, std::string_view key, size_t count) {
    if (count <= kMaxBuildItems) return true;
    diagnostics_.Add(node, fmt::format("'{}' has {} items; at most {} are possible", key, count, kMaxBuildItems),
                     "leave out what these kernels do not need");
    return false;
  }

  void ReadFolders(const YamlNode& node) {
    if (!node.IsList())
      return diagnostics_.Add(node, "'include' must be a list of folders", "write include: [include, third_party/x]");
    build_.include.clear();
    build_.line = node.line();
    if (!IsShort(node, "include", node.items().size())) return;
    for (const YamlNode& item : node.items()) {
      if (!item.IsScalar() || item.text().empty()) {
        diagnostics_.Add(item, "a folder is a name", "name one below the repository's root, such as include");
      } else if (const Status path = CheckRepositoryFolderName(item.text()); !path) {
        diagnostics_.Add(item, path.error().message, path.error().remedy);
      } else if (!IsIncludeFolder(item.text())) {
        diagnostics_.Add(item, fmt::format("the folder '{}' has a character that nvcc's shell could read", item.text()),
                         "use letters, digits and . _ + - / in its name");
      } else {
        build_.include.push_back(item.text());
      }
    }
  }

  void ReadDefines(const YamlNode& node) {
    if (!node.IsMap())
      return diagnostics_.Add(node, "'define' must be a map from name to value",
                              "write define: {TILE: 32, USE_BF16: 1}; -DNAME is NAME: 1");
    build_.define.clear();
    if (!IsShort(node, "define", node.entries().size())) return;
    for (const auto& [key, value] : node.entries()) {
      const std::string shown = key.text().substr(0, 100);
      if (!IsDefine(key.text(), "")) {
        diagnostics_.Add(key,
                         IsCompilersOwn(key.text()) ? fmt::format("'{}' is defined by the compiler itself", shown)
                                                    : fmt::format("'{}' is not the name of a macro", shown),
                         IsCompilersOwn(key.text()) ? "remove it" : "write NAME: value; -DNAME is NAME: 1");
      } else if ((!value.IsScalar() && !value.IsNull()) || !IsDefine(key.text(), value.text())) {
        diagnostics_.Add(value.IsNull() ? key : value,
                         fmt::format("the value of '{}' cannot be passed to compilers", shown),
                         "use letters, digits and . _ : + - * ( ) , and spaces, at most 200; what needs more can be "
                         "defined in a header");
      } else {
        build_.define[key.text()] = value.text();
      }
    }
  }

  void ReadStandard(const YamlNode& node) {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Last(core::CxxStandard{})); ++i)
      names.push_back(core::Name(static_cast<core::CxxStandard>(i)));
    if (const auto standard = base::ParseName<core::CxxStandard>(node.text())) build_.standard = *standard;
    else diagnostics_.Add(UnknownName(node, "standard", node.text(), names));
  }

  void ReadFlags(const YamlNode& node) {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Last(core::BuildFlag{})); ++i)
      names.push_back(core::Name(static_cast<core::BuildFlag>(i)));
    if (!node.IsList())
      return diagnostics_.Add(node, "'flags' must be a list", fmt::format("choose from [{}]", fmt::join(names, ", ")));
    build_.flags.clear();
    for (const YamlNode& item : node.items()) {
      if (const auto flag = ParseBuildFlag(item.text())) build_.flags.insert(*flag);
      else diagnostics_.Add(UnknownName(item, "flag", item.text(), names));
    }
  }

  core::BuildOptions build_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool IsIncludeFolder(std::string_view folder) {
  return folder == "." || (CheckRepositoryPath(folder) && folder[0] != '-' && Consists(folder, "._+-/"));
}

bool IsDefine(std::string_view name, std::string_view value) {
  return name.size() <= kMaxMacroName && IsIdentifier(name) && !IsCompilersOwn(name) &&
         value.size() <= kMaxMacroValue && Consists(value, "._:+-*(), ");
}

std::optional<core::BuildFlag> ParseBuildFlag(std::string_view text) {
  const auto bare = [](std::string_view flag) {
    flag.remove_prefix(flag.starts_with("--") ? 2 : 1);
    return flag;
  };
  if (!text.starts_with('-')) return std::nullopt;
  if (bare(text) == "expt-extended-lambda") return core::BuildFlag::kExtendedLambda;
  if (bare(text) == "gpu-architecture=sm_90a") return core::BuildFlag::kHopperAlone;
  for (int i = 0; i <= static_cast<int>(Last(core::BuildFlag{})); ++i) {
    const auto flag = static_cast<core::BuildFlag>(i);
    if (bare(core::Name(flag)) == bare(text)) return flag;
  }
  return std::nullopt;
}

core::BuildOptions ReadBuild(const YamlNode& node, const core::BuildOptions& defaults, Diagnostics& diagnostics) {
  return BuildReader(defaults, diagnostics).Read(node);
}

}  // namespace warpwright::config
