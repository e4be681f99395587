#include "compile/compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "compile/assembler_log.h"
#include "compile/cubin.h"
#include "compile/include_rules.h"
#include "compile/marker_prelude.h"
#include "compile/module_cache.h"
#include "compile/nvrtc.h"
#include "compile/ptx_code.h"
#include "compile/resources.h"
#include "source/tokens.h"

namespace warpwright::compile {
namespace {

constexpr size_t kMaxSourceBytes = 8u << 20;
constexpr size_t kMaxLogBytes = 64u << 10;
constexpr std::string_view kNoSuchKernel = "the compiler made no kernel", kNoKernel = "is not a kernel";
constexpr const char* kArchs[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"};

bool IsOther(Build build) { return build == Build::kOther || build == Build::kOtherSignedChars; }

std::string Key(const CompileRequest& request, const std::string& toolchain) {
  base::Hasher hasher;
  hasher.Add("module 2").Add(toolchain).Add(request.arch).Add(request.file).Add(request.text);
  for (const auto& [name, text] : request.headers) hasher.Add(name).Add(text);
  for (const auto& kernel : request.kernels) hasher.Add(kernel);
  if (!request.options.IsDefault()) hasher.Add(request.options.Text());
  if (!request.line_info) hasher.Add("no lines");
  if (IsOther(request.build)) hasher.Add("other build");
  if (request.build == Build::kOther) hasher.Add("unsigned chars");
  if (request.build == Build::kAsWritten) hasher.Add("as written");
  if (request.build == Build::kMarkers) hasher.Add("markers").Add(MarkerPrelude(request.text, request.headers));
  return hasher.Finish();
}

std::string CutLog(std::string log) {
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (log.size() > kMaxLogBytes) log = log.substr(0, kMaxLogBytes) + "\n(the log is longer)";
  return log;
}

std::string ProgramLog(const Nvrtc& nvrtc, nvrtcProgram program) {
  size_t size = 0;
  if (nvrtc.GetProgramLogSize(program, &size) != NVRTC_SUCCESS || size == 0) return {};
  std::string log(size, '\0');
  nvrtc.GetProgramLog(program, log.data());
  std::erase(log, '\0');  // what ptxas says follows the end of what the front end said
  return log;
}

// ptxas names kernels as the linker does: "Entry function '_ZN2ns1kEPf' (ns::k(float*)) uses too much shared data".
std::string WithPlainNames(const std::string& log) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t open = log.find("'_Z", at);
    const size_t close = open == std::string::npos ? open : log.find('\'', open + 1);
    if (close == std::string::npos) return out + log.substr(at);
    const std::string name = log.substr(open + 1, close - open - 1);
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                       &std::free);
    out += log.substr(at, close + 1 - at);
    if (plain != nullptr && status == 0) out += fmt::format(" ({})", plain.get());
    at = close + 1;
  }
}

// What the assembler read of a program that it refused: the same, compiled for the virtual architecture.
std::string RefusedPtx(const Nvrtc& nvrtc, nvrtcProgram program, std::vector<std::string> options) {
  std::vector<const char*> texts;
  for (std::string& option : options) {
    const size_t real = option.find("=sm_");
    if (real != std::string::npos) option.replace(real, 4, "=compute_");
    if (!option.starts_with("--ptxas-options")) texts.push_back(option.c_str());
  }
  size_t size = 0;
  if (nvrtc.CompileProgram(program, static_cast<int>(texts.size()), texts.data()) != NVRTC_SUCCESS ||
      nvrtc.GetPTXSize(program, &size) != NVRTC_SUCCESS)
    return {};
  std::string ptx(size, '\0');
  nvrtc.GetPTX(program, ptx.data());
  return ptx;
}

// Our headers need C++17, of which a text in C++14 hardly notices anything.
core::CxxStandard StandardOfSlices(const core::BuildOptions& options) {
  return std::max(options.standard, core::CxxStandard::k17);
}

std::vector<std::string> Options(const CompileRequest& request, const Toolkit& toolkit) {
  // As nvcc compiles by default, except that unannotated functions count as __device__, since the slice may hold host
  // helpers and members along with the kernels.
  const core::CxxStandard standard =
      IsOther(request.build) ? core::CxxStandard::k20 : StandardOfSlices(request.options);
  std::vector<std::string> options = {fmt::format("-std={}", core::Name(standard)), "--device-int128",
                                      "-default-device"};
  for (std::string& define : request.options.Defines()) options.push_back(std::move(define));
  for (const core::BuildFlag flag : request.options.flags)
    if (flag != core::BuildFlag::kRelaxedConstexpr && flag != core::BuildFlag::kHopperAlone)
      options.emplace_back(core::Name(flag));  // how slices are anyway, and their architecture
  if (IsOther(request.build)) {
    if (request.build == Build::kOther) options.emplace_back("-Xcudafe=--unsigned_chars");
    if (!request.options.define.contains("NDEBUG")) options.emplace_back("-DNDEBUG");
    options.push_back("--gpu-architecture=compute" + request.arch.substr(2));
  } else if (request.build == Build::kMarkers) {
    // Relocatable, since the markers are defined nowhere.
    options.push_back("--gpu-architecture=compute" + request.arch.substr(2));
    options.push_back("--relocatable-device-code=true");
    options.push_back(fmt::format("--pre-include={}", kMarkerPrelude));
  } else {
    options.push_back("--gpu-architecture=" + request.arch);
    options.push_back("--ptxas-options=-v");
    if (request.build == Build::kAsWritten) options.push_back("--Ofast-compile=max");
  }
  if (request.line_info) options.push_back("-lineinfo");
  for (const auto& folder : toolkit.include_folders) options.push_back("-I" + folder.string());
  return options;
}

// NVRTC puts the current folder in front of the names in .file directives; without it the PTX does not depend on where
// it is compiled.
void MakeFileNamesRelative(const CompileRequest& request, std::string& ptx) {
  std::error_code ignored;
  const std::string folder = std::filesystem::current_path(ignored).string();
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (size_t at = 0; (at = ptx.find(".file", at)) != std::string::npos; ++at) {
    const size_t open = ptx.find('"', at), close = open == std::string::npos ? open : ptx.find('"', open + 1);
    if (close == std::string::npos) return;
    const std::string name = ptx.substr(open + 1, close - open - 1);
    if (!name.starts_with(prefix)) continue;
    const std::string relative = name.substr(prefix.size());
    if (relative == request.file || request.headers.count(relative) != 0) ptx.replace(open + 1, name.size(), relative);
  }
}

// Kernels of a plain name that NVRTC takes for one of several functions.
std::set<std::string> OverloadedNames(const CompileRequest& request, const std::string& log) {
  std::set<std::string> names;
  if (log.find("__nv_name_map") == std::string::npos) return names;
  for (const std::string& kernel : request.kernels)
    if (log.find("overloaded function \"" + kernel + "\"") != std::string::npos) names.insert(kernel);
  return names;
}

// The only entry whose function has this plain name; empty: there is none, or several.
std::string SymbolIn(const std::string& ptx, const std::string& name) {
  constexpr std::string_view kEntry = ".entry ";
  const std::string mangled = fmt::format("_Z{}{}", name.size(), name);
  std::string symbol;
  for (size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + 1)) {
    const size_t begin = at + kEntry.size();
    const std::string found = ptx.substr(begin, ptx.find_first_of("( \n", begin) - begin);
    if (found != name && !found.starts_with(mangled)) continue;
    if (!symbol.empty()) return {};
    symbol = found;
  }
  return symbol;
}

// `by_symbol`: kernels that are looked up among the symbols.
Result<CompileOutcome> CompileNames(const Nvrtc& nvrtc, const Toolkit& toolkit, const CompileRequest& request,
                                    const std::string& key, const std::set<std::string>& by_symbol) {
  std::vector<const char*> names, texts;
  for (const auto& [name, text] : request.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  const std::string prelude =
      request.build == Build::kMarkers ? MarkerPrelude(request.text, request.headers) : std::string();
  if (request.build == Build::kMarkers) {
    names.push_back(kMarkerPrelude.data());
    texts.push_back(prelude.c_str());
  }
  nvrtcProgram raw = nullptr;
  const nvrtcResult created = nvrtc.CreateProgram(&raw, request.text.c_str(), request.file.c_str(),
                                                  static_cast<int>(names.size()), texts.data(), names.data());
  if (created != NVRTC_SUCCESS)
    return Fail(ErrorCode::kEnvironment, std::string("NVRTC: ") + nvrtc.GetErrorString(created));
  const NvrtcProgram program(nvrtc, raw);
  for (const auto& kernel : request.kernels)
    if (!by_symbol.contains(kernel) && nvrtc.AddNameExpression(raw, kernel.c_str()) != NVRTC_SUCCESS)
      return CompileOutcome(
          core::CompileFailed{request.file + ": error: '" + kernel + "' is not the name of a kernel"});

  std::vector<const char*> options;
  const auto texts_of_options = Options(request, toolkit);
  for (const auto& option : texts_of_options) options.push_back(option.c_str());
  const nvrtcResult compiled = nvrtc.CompileProgram(raw, static_cast<int>(options.size()), options.data());
  const std::string log = ProgramLog(nvrtc, raw);
  // When memory runs low, NVRTC reports it, with a capital letter or without; when it runs out, NVRTC ends the process,
  // which the supervisor detects.
  if (compiled == NVRTC_ERROR_OUT_OF_MEMORY ||
      (compiled != NVRTC_SUCCESS && log.find("atastrophic error: out of memory") != std::string::npos))
    return CompileOutcome(core::CompileFailed{request.file + ": error: the compiler exceeded its limit of memory"});
  if (compiled != NVRTC_SUCCESS) {
    std::string told = WithoutAssemblerLines(log);
    if (NamesPtxLines(told)) {
      std::string ptx = RefusedPtx(nvrtc, raw, texts_of_options);
      MakeFileNamesRelative(request, ptx);
      told = WithSourceLines(told, ptx);
    }
    const std::string reason = CutLog(WithPlainNames(told));
    return CompileOutcome(core::CompileFailed{
        reason.empty() ? request.file + ": error: " + nvrtc.GetErrorString(compiled) + "\n" + CutLog(log) : reason});
  }

  core::CompiledModule module;
  module.arch = request.arch;
  module.key = key;
  size_t size = 0;
  nvrtc.GetPTXSize(raw, &size);
  module.ptx.resize(size);
  nvrtc.GetPTX(raw, module.ptx.data());
  while (!module.ptx.empty() && module.ptx.back() == '\0') module.ptx.pop_back();
  MakeFileNamesRelative(request, module.ptx);
  module.log = CutLog(WithoutAssemblerLines(log));
  std::map<std::string, CubinKernel> cubin_kernels;
  const bool has_cubin = request.build == Build::kUsual || request.build == Build::kAsWritten;
  if (has_cubin) {
    nvrtc.GetCUBINSize(raw, &size);
    module.cubin.resize(size);
    nvrtc.GetCUBIN(raw, reinterpret_cast<char*>(module.cubin.data()));
    WW_ASSIGN(cubin_kernels, ReadCubin(module.cubin));
  }
  for (const auto& kernel : request.kernels) {
    const char* lowered = nullptr;
    std::string symbol;
    if (by_symbol.contains(kernel)) symbol = SymbolIn(module.ptx, kernel);
    else if (nvrtc.GetLoweredName(raw, kernel.c_str(), &lowered) == NVRTC_SUCCESS) symbol = lowered;
    if (symbol.empty())
      return CompileOutcome(
          core::CompileFailed{request.file + ": error: " + std::string(kNoSuchKernel) + " '" + kernel + "'"});
    const auto found = cubin_kernels.find(symbol);
    const bool is_kernel = has_cubin ? found != cubin_kernels.end()
                                     : module.ptx.find(fmt::format(".entry {}(", symbol)) != std::string::npos;
    if (!is_kernel)
      return CompileOutcome(core::CompileFailed{request.file + ": error: '" + kernel + "' " + std::string(kNoKernel)});
    module.kernels.push_back(has_cubin ? ReadResources(kernel, symbol, log, found->second)
                                       : core::KernelResources{.kernel = kernel, .symbol = symbol});
  }
  return CompileOutcome(std::move(module));
}

}  // namespace

bool FailedForName(const core::CompileFailed& failed) {
  return failed.log.find("__nv_name_map") != std::string::npos || failed.log.find(kNoSuchKernel) != std::string::npos ||
         failed.log.find(kNoKernel) != std::string::npos;
}

bool IsSupportedArch(const std::string& arch) {
  return std::find(std::begin(kArchs), std::end(kArchs), arch) != std::end(kArchs);
}

Result<Compiler> Compiler::Create(const std::filesystem::path& cache_folder) {
  Compiler compiler;
  WW_ASSIGN(compiler.toolkit_, FindToolkit());
  WW_ASSIGN(const Nvrtc* nvrtc, LoadNvrtc(compiler.toolkit_));
  compiler.cache_folder_ = cache_folder;
  compiler.toolchain_ = "NVRTC " + nvrtc->version;
  return compiler;
}

Result<CompileOutcome> Compiler::Compile(const CompileRequest& given) const {
  if (!IsSupportedArch(given.arch)) return Fail(ErrorCode::kUsage, "unsupported architecture '" + given.arch + "'");
  CompileRequest request = given;
  request.arch = given.options.ArchitectureOf(given.arch);
  if (request.text.size() > kMaxSourceBytes)
    return CompileOutcome(core::CompileFailed{request.file + ": error: larger than 8 MiB"});
  if (auto message = ForbiddenInclude(request.file, request.text, request.headers))
    return CompileOutcome(core::CompileFailed{std::move(*message)});

  const std::string key = Key(request, toolchain_);
  const ModuleCache cache(cache_folder_);
  if (auto cached = cache.Load(key)) return CompileOutcome(std::move(*cached));
  WW_ASSIGN(const Nvrtc* nvrtc, LoadNvrtc(toolkit_));
  WW_ASSIGN(CompileOutcome outcome, CompileNames(*nvrtc, toolkit_, request, key, {}));
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) {
    // Functions of the mathematical library share the names.
    const std::set<std::string> overloaded = OverloadedNames(request, failed->log);
    if (!overloaded.empty()) {
      WW_ASSIGN(outcome, CompileNames(*nvrtc, toolkit_, request, key, overloaded));
    }
  }
  if (const auto* module = std::get_if<core::CompiledModule>(&outcome)) cache.Store(*module);
  return outcome;
}

namespace {

// Whether a plain char may be in the text: written as that, as a literal that has a sign, or pasted together.
bool MayHavePlainChar(std::string_view text) {
  const std::vector<source::Token> tokens = source::Lex(text);
  const auto is_sign = [&](size_t at) {
    return at < tokens.size() && (tokens[at].Is("signed") || tokens[at].Is("unsigned"));
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const source::Token& token = tokens[i];
    using Kind = source::Token::Kind;
    if (token.kind == Kind::kCharacter || token.kind == Kind::kString) {
      const bool plain = std::none_of(token.text.begin(), token.text.end(), [](char c) { return (c & 0x80) != 0; });
      if (!plain || token.text.find("\\x") != std::string_view::npos ||
          token.text.find("\\2") != std::string_view::npos || token.text.find("\\3") != std::string_view::npos)
        return true;
    }
    if (token.Is("##") || token.text.starts_with("CHAR_M")) return true;
    if (source::Spelling(token) == "char" && !is_sign(i - 1) && !is_sign(i + 1)) return true;
  }
  return false;
}
bool MayHavePlainChar(const CompileRequest& request) {
  return MayHavePlainChar(request.text) ||
         std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
           return !header.first.starts_with("ww_device/") && MayHavePlainChar(header.second);
         });
}

// Whether a byte that becomes 16 bits wide is loaded with its sign says nothing: the compiler loads bools like chars,
// and what then is done with it shows the sign where there is one.
std::string WithoutSignsOfBytes(std::string code) {
  for (size_t at = code.find(".s8"); at != std::string::npos; at = code.find(".s8", at + 1)) {
    const size_t begin = code.find_first_not_of(" \t", code.rfind('\n', at) + 1);
    const size_t to = code.find_first_not_of(" \t{", at + 3);
    if (to != std::string::npos && code.compare(begin, 3, "ld.") == 0 && code.compare(to, 3, "%rs") == 0)
      code[at + 1] = 'u';
  }
  return code;
}

}  // namespace

Result<BothBuilds> Compiler::CompileBoth(const CompileRequest& request) const {
  CompileRequest other = request;
  other.build = MayHavePlainChar(request) ? Build::kOther : Build::kOtherSignedChars;
  auto beside = std::async(std::launch::async, [&] { return Compile(other); });
  auto compiled = Compile(request);
  const Result<CompileOutcome> built = beside.get();
  WW_ASSIGN(CompileOutcome usual, std::move(compiled));
  if (std::holds_alternative<core::CompileFailed>(usual)) return BothBuilds{std::move(usual)};
  if (!built) return Fail(built.error());
  const auto code_of = [](const CompileOutcome& outcome) -> std::optional<std::string> {
    const auto* module = std::get_if<core::CompiledModule>(&outcome);
    return module != nullptr ? std::optional(CodeOf(module->ptx)) : std::nullopt;
  };
  const std::optional<std::string> code = code_of(usual), another = code_of(*built);
  if (another == code || other.build == Build::kOtherSignedChars) return BothBuilds{std::move(usual), another != code};
  other.build = Build::kOtherSignedChars;  // which of both makes the difference?
  WW_ASSIGN(const CompileOutcome with_signs, Compile(other));
  const std::optional<std::string> signed_code = code_of(with_signs);
  const bool by_char = another.has_value() != signed_code.has_value() ||
                       (another && WithoutSignsOfBytes(*another) != WithoutSignsOfBytes(*signed_code));
  return BothBuilds{std::move(usual), signed_code != code, by_char};
}

}  // namespace warpwright::compile
