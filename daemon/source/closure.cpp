#include "source/closure.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace warpwright::source {
namespace {

struct UnsupportedApi {
  std::string_view prefix;
  bool is_namespace;  // "thrust" counts only if "::" follows
  std::string_view what;
};
// APIs that a launcher must not use. The remedy for most is to make a kernel or an inner launcher the entry.
constexpr UnsupportedApi kUnsupportedApis[] = {
    {"cublas", false, "cuBLAS"},
    {"cudnn", false, "cuDNN"},
    {"cusparse", false, "cuSPARSE"},
    {"cusolver", false, "cuSOLVER"},
    {"cufft", false, "cuFFT"},
    {"curandGenerate", false, "cuRAND's host library"},
    {"curandCreateGenerator", false, "cuRAND's host library"},
    {"nccl", false, "NCCL"},
    {"cutlass", true, "CUTLASS"},
    {"thrust", true, "Thrust"},
    {"cub", true, "CUB's device-wide algorithms"},
    {"torch", true, "PyTorch"},
    {"at", true, "PyTorch"},
    {"c10", true, "PyTorch"},
    {"cudaGraph", false, "CUDA graphs"},
    {"cudaStreamBeginCapture", false, "CUDA graphs"},
    {"cudaOccupancyMaxActiveClusters", false, "clusters of thread blocks"},
    {"cudaOccupancyMaxPotentialClusterSize", false, "clusters of thread blocks"},
    {"cudaCreateTextureObject", false, "textures"},
    {"cudaBindTexture", false, "textures"},
    {"cudaCreateSurfaceObject", false, "surfaces"},
    {"cudaMalloc3D", false, "pitched memory of three dimensions"},
    {"cudaMallocArray", false, "CUDA arrays"},
    {"cudaMemcpy2DToArray", false, "CUDA arrays"},
    {"cudaMemcpy2DFromArray", false, "CUDA arrays"},
    {"cudaMemcpy2DArray", false, "CUDA arrays"},
    {"cudaMemcpy3D", false, "pitched copies of three dimensions"},
    {"cudaMemcpyToArray", false, "CUDA arrays"},
    {"cudaMemcpyPeer", false, "several devices"},
    {"cudaDeviceEnablePeerAccess", false, "several devices"},
    {"cudaIpc", false, "memory of other processes"},
    {"cudaLaunchHostFunc", false, "host callbacks"},
    {"cudaStreamAddCallback", false, "host callbacks"},
    {"cuLaunchKernel", false, "the driver API"},
    {"cuModule", false, "the driver API"},
    {"cuMemAlloc", false, "the driver API"},
    {"cuTensorMap", false, "tensor maps"},
    {"nvrtc", false, "run-time compilation"},
};

bool IsKernelUnit(const Unit& unit) {
  return unit.is_kernel() && (unit.kind == Unit::Kind::kFunction || unit.kind == Unit::Kind::kInvocation);
}
// "at::Tensor" is PyTorch's and "vector<int>" the standard library's; a parameter `at` or a field `map` is the user's
// own.
bool IsHostOnly(const std::vector<Token>& code, size_t i) {
  static const std::set<std::string_view> kNamespaces = {"std", "torch", "at", "c10"};
  static const std::set<std::string_view> kLibrary = {"string",     "vector",   "map",   "ostream", "unique_ptr",
                                                      "shared_ptr", "function", "mutex", "thread"};
  static const std::set<std::string_view> kNames = {"FILE",        "cudaStream_t",   "cudaEvent_t",
                                                    "cudaError_t", "cudaDeviceProp", "virtual"};
  const std::string_view text = code[i].text;
  if (kNames.contains(text) || text.starts_with("cublas") || text.starts_with("cudnn")) return true;
  if (i + 1 >= code.size()) return false;
  const Token& next = code[i + 1];
  return (kNamespaces.contains(text) && next.text == "::") ||
         (kLibrary.contains(text) && (next.text == "<" || next.IsIdentifier()));
}

// A type that the host side names may be a template argument of a kernel (a functor, a configuration), which only the
// recording shows. It is included on the device side unless it contains something that cannot be there.
bool MayBeOnDevice(const SourceUnits& units, const Unit& unit) {
  if (unit.kind == Unit::Kind::kFunction) return (unit.attributes & kDevice) != 0;
  if (unit.kind != Unit::Kind::kType) return false;
  const FileUnits& file = units.files.at(unit.path);
  std::vector<TextRange> host_members;
  if (unit.body_open != kNone) {
    for (const Unit& member :
         SplitUnits(file.code, unit.body_open + 1, unit.body_close, units.macros, /*in_class=*/true)) {
      const bool host =
          member.kind == Unit::Kind::kFunction && (member.attributes & kDevice) == 0 && !member.is_constexpr;
      if (host) host_members.push_back(member.range);
    }
  }
  for (size_t i = 0; i < file.code.size(); ++i) {
    const Token& token = file.code[i];
    if (!unit.range.Contains(token.range) || !token.IsIdentifier() || !IsHostOnly(file.code, i)) continue;
    const bool in_host = std::any_of(host_members.begin(), host_members.end(),
                                     [&](TextRange range) { return range.Contains(token.range); });
    if (!in_host) return false;
  }
  return true;
}
bool IsSymbol(const Unit& unit) {
  return unit.kind == Unit::Kind::kVariable && (unit.attributes & (kDevice | kConstant | kManaged)) != 0;
}
// On the host side a kernel is only its stub, and a device function only its signature.
bool HostBodyCounts(const Unit& unit) {
  if (unit.kind != Unit::Kind::kFunction) return true;
  return !unit.is_kernel() && (!unit.is_device_only() || unit.is_constexpr);
}

std::optional<core::Refused> FindBan(const SourceUnits& units, const std::set<const Unit*>& host) {
  std::optional<core::Refused> first;
  const auto consider = [&](const Unit& unit, const std::vector<Token>& tokens, TextRange skip) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (!token.IsIdentifier() || !unit.range.Contains(token.range) || skip.Contains(token.range)) continue;
      for (const UnsupportedApi& ban : kUnsupportedApis) {
        const bool scoped = i + 1 < tokens.size() && tokens[i + 1].text == "::";
        const bool hit = ban.is_namespace ? token.text == ban.prefix && scoped : token.text.starts_with(ban.prefix);
        const bool earlier = first && std::tie(first->file, first->line) <= std::tie(unit.path, token.line);
        if (!hit || earlier) continue;
        std::string reason =
            fmt::format("the launcher uses {} ({}{})", ban.what, token.text, ban.is_namespace ? "::" : "");
        first = core::Refused{core::Check::kSlice, std::move(reason), unit.path, token.line};
      }
    }
  };
  for (const Unit* unit : host) {
    const FileUnits& file = units.files.at(unit->path);
    TextRange skip;
    if (!HostBodyCounts(*unit) && unit->body_open != kNone) {
      skip = {file.code[unit->body_open].range.begin, file.code[unit->body_close].range.end};
    }
    if (unit->kind == Unit::Kind::kMacro || unit->kind == Unit::Kind::kUsingNamespace) continue;
    consider(*unit, file.code, skip);
    // The host writes it without a call that could be recorded.
    const bool managed = unit->kind == Unit::Kind::kVariable && (unit->attributes & kManaged) != 0;
    if (managed && !(first && std::tie(first->file, first->line) <= std::tie(unit->path, unit->line))) {
      first = core::Refused{core::Check::kSlice,
                            fmt::format("the launcher uses the __managed__ variable {}", unit->QualifiedName()),
                            unit->path, unit->line};
    }
  }
  if (first) return first;
  for (const Unit* unit : host) {  // macros last: their line is that of the definition
    if (unit->kind == Unit::Kind::kMacro) consider(*unit, units.files.at(unit->path).all, {});
  }
  return first;
}

// Cluster dimensions are declared only on the device side, and no plan holds them.
std::optional<core::Refused> FindCluster(const std::set<const Unit*>& device) {
  const Unit* first = nullptr;
  for (const Unit* unit : device) {
    if (!unit->head_references.count("__cluster_dims__")) continue;
    if (first == nullptr || std::tie(unit->path, unit->line) < std::tie(first->path, first->line)) first = unit;
  }
  if (first == nullptr) return std::nullopt;
  return core::Refused{core::Check::kSlice,
                       fmt::format("{} asks for clusters of thread blocks (__cluster_dims__), which are not supported",
                                   first->QualifiedName()),
                       first->path, first->line};
}

// A kernel whose parameters neither the tokens nor the syntax tree show: its launches could not be recorded.
std::optional<core::Refused> FindUnseenKernel(const std::set<const Unit*>& host) {
  const Unit* first = nullptr;
  for (const Unit* unit : host) {
    const bool unseen = IsKernelUnit(*unit) && unit->body_open != kNone &&
                        (unit->macro_header || unit->opened_by_macro()) && !unit->expanded;
    if (!unseen) continue;
    if (first == nullptr || std::tie(unit->path, unit->line) < std::tie(first->path, first->line)) first = unit;
  }
  if (first == nullptr) return std::nullopt;
  return core::Refused{core::Check::kSlice,
                       fmt::format("the macro {} makes a kernel that is not understood", first->name), first->path,
                       first->line};
}

std::string PlainEntry(const std::string& entry) {
  std::string plain = entry.substr(0, entry.find('<'));
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain.starts_with("::") ? plain.substr(2) : plain;
}

// Functions that have a body but cannot be called from outside.
std::optional<core::Refused> CheckEntry(const Unit& unit, bool is_kernel) {
  const auto refuse = [&](const char* why) {
    return core::Refused{core::Check::kSlice, fmt::format("{} {}", unit.QualifiedName(), why), unit.path, unit.line};
  };
  if (unit.QualifiedName() == "main") return refuse("is the program: name the launcher that it calls, or a kernel");
  if (unit.is_device_only() && !is_kernel) return refuse("is a __device__ function: name a launcher or a kernel");
  return std::nullopt;
}

std::vector<const Unit*> FindEntries(const SourceUnits& units, const std::string& main, const std::string& entry) {
  const std::string plain = PlainEntry(entry);
  const size_t colon = plain.rfind("::");
  const std::string last = colon == std::string::npos ? plain : plain.substr(colon + 2);
  std::vector<const Unit*> exact, partial;
  for (auto [it, end] = units.by_name.equal_range(last); it != end; ++it) {
    const Unit* unit = it->second;
    if (unit->path != main) continue;
    if (unit->kind == Unit::Kind::kInvocation) {
      partial.push_back(unit);
    } else if (unit->kind == Unit::Kind::kFunction && unit->body_open != kNone && unit->name == last) {
      const std::string qualified = unit->QualifiedName();
      if (qualified == plain) exact.push_back(unit);
      if (qualified.ends_with("::" + plain) || colon != std::string::npos) partial.push_back(unit);
    }
  }
  return exact.empty() ? partial : exact;
}

}  // namespace

std::vector<std::string> EntryNames(const SourceUnits& units, const std::string& main) {
  std::vector<std::string> names;
  for (const Unit& unit : units.files.at(main).units) {
    if (unit.kind != Unit::Kind::kFunction || unit.body_open == kNone || unit.is_device_only() || unit.name == "main")
      continue;
    const std::string name = unit.QualifiedName();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

ReachableUnits FindReachable(const Ast& ast, const SourceUnits& units, const std::string& entry) {
  const std::string& main = ast.tree().main;
  ReachableUnits reach;
  reach.entries = FindEntries(units, main, entry);
  if (reach.entries.empty()) return reach;
  const auto operators = [&](unsigned wanted, std::vector<const Unit*>& roots) {
    for (auto [it, end] = units.by_name.equal_range("operator"); it != end; ++it) {
      const unsigned attributes = it->second->attributes;
      const bool fits = wanted == kDevice ? (attributes & kDevice) != 0 : attributes == 0 || (attributes & kHost) != 0;
      if (fits) roots.push_back(it->second);
    }
  };
  std::vector<const Unit*> roots = reach.entries;
  // What the build defines may name what the file declares, as its own macros do: "-DKERNEL=softmax_rows".
  for (const auto& [name, value] : ast.source().build.define)
    for (const Token& token : Lex(value))
      for (auto [it, end] = units.by_name.equal_range(std::string(token.text)); it != end; ++it)
        roots.push_back(it->second);
  reach.entry_is_kernel = reach.entries.front()->kind == Unit::Kind::kFunction && reach.entries.front()->is_kernel();
  if (reach.entries.front()->kind == Unit::Kind::kInvocation) {  // only the syntax tree shows what a macro expands to
    const auto function = ast::FindFunction(ast, entry);
    reach.entry_is_kernel = function && ast::IsKernel(*function);
  }
  std::vector<const Unit*> device_roots;
  if (!reach.entry_is_kernel) {
    operators(kHost, roots);
    reach.host = Closure(units, roots, HostBodyCounts);
  } else {
    reach.host = {};
    device_roots = roots;
  }
  std::vector<const Unit*> ordered;
  for (const auto& [path, file] : units.files) {
    for (const Unit& unit : file.units) {
      if (reach.host.count(&unit) || std::count(device_roots.begin(), device_roots.end(), &unit))
        ordered.push_back(&unit);
    }
  }
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (const Unit* unit : ordered) {
    if (IsKernelUnit(*unit)) {
      device_roots.push_back(unit);
      if (unit->kind == Unit::Kind::kFunction) {
        add_once(reach.kernels, unit->QualifiedName());
      } else {
        for (const std::string& name : unit->names) add_once(reach.kernels, name);
      }
    }
    if (MayBeOnDevice(units, *unit)) device_roots.push_back(unit);
    if (IsSymbol(*unit)) {
      device_roots.push_back(unit);
      add_once(reach.symbols, unit->QualifiedName());
    }
  }
  operators(kDevice, device_roots);
  reach.device = Closure(units, device_roots, [](const Unit&) { return true; });
  reach.refusal = FindBan(units, reach.host);
  if (!reach.refusal) reach.refusal = FindCluster(reach.device);
  if (!reach.refusal) reach.refusal = FindUnseenKernel(reach.host);
  if (auto refused = CheckEntry(*reach.entries.front(), reach.entry_is_kernel)) reach.refusal = std::move(refused);
  if (reach.entry_is_kernel && reach.entries.front()->is_template && entry.find('<') == std::string::npos) {
    const Unit& unit = *reach.entries.front();
    reach.refusal = core::Refused{core::Check::kSlice,
                                  fmt::format("{0} is a template: name its arguments, as in \"{0}<float>\"", entry),
                                  unit.path, unit.line};
  }
  if (!reach.refusal && !reach.entry_is_kernel && reach.kernels.empty()) {
    const Unit& unit = *reach.entries.front();
    reach.refusal = core::Refused{core::Check::kSlice, fmt::format("{} launches no kernel of this repository", entry),
                                  unit.path, unit.line};
  }
  return reach;
}

std::string SliceHash(const SourceUnits& units, const ReachableUnits& reach) {
  base::Hasher hasher;
  for (const auto& [path, file] : units.files) {
    bool contributes = false;
    for (const Unit& unit : file.units) {
      if (!reach.host.count(&unit) && !reach.device.count(&unit)) continue;
      contributes = true;
      for (const std::string& scope : unit.scope) hasher.Add(scope);
      hasher.Add(NormalizedText(std::string_view(file.file->text).substr(unit.range.begin, unit.range.size())));
    }
    if (!contributes) continue;
    for (const IncludeDirective& include : file.file->includes) {
      if (include.resolved.empty()) hasher.Add(include.name);
    }
    // Which declarations exist depends on the conditional directives around them.
    std::string directives;
    for (size_t i = 0; i < file.all.size(); ++i) {
      const Token& token = file.all[i];
      const bool hash = token.OpensDirective();
      if (!hash || i + 1 >= file.all.size()) continue;
      const std::string_view word = file.all[i + 1].text;
      if (!word.starts_with("if") && !word.starts_with("el") && word != "endif" && word != "undef") continue;
      for (size_t k = i; k < file.all.size() && file.all[k].in_directive && (k == i || !file.all[k].starts_line); ++k) {
        directives += std::string(file.all[k].text) + " ";
      }
    }
    hasher.Add(directives);
  }
  return hasher.Finish();
}

}  // namespace warpwright::source
