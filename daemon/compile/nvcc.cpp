#include "compile/nvcc.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/utf8.h"
#include "compile/cubin.h"
#include "compile/resources.h"

namespace warpwright::compile {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMemoryBytes = 8ull << 30, kMaxOutputBytes = 64u << 20;
constexpr size_t kMaxMessage = 2000;
constexpr std::string_view kBaseName = "whole";

// "ns::(anonymous namespace)::k<4>(float*, long long)" -> "ns::k<4>(float*, long)": without unnamed namespaces and
// those in which nvcc puts what is local to a file ("_INTERNAL_4fbd9b84_4_k_cu_1a2b::k"), and with one name for what is
// 64 bits wide: the toolkit's headers make int64_t a long long for NVRTC, the C library's a long.
std::string NameForBothCompilers(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                     &std::free);
  std::string name = status == 0 && plain != nullptr ? plain.get() : symbol;
  for (const std::string_view local : {"(anonymous namespace)", "_INTERNAL_", "_GLOBAL__N__", "__nv_static_"})
    for (size_t at = name.find(local); at != std::string::npos; at = name.find(local)) {
      const size_t colons = name.find("::", at);
      name.erase(at, colons == std::string::npos ? local.size() : colons + 2 - at);
    }
  constexpr std::string_view kWide = "long long";
  for (size_t at = name.find(kWide); at != std::string::npos; at = name.find(kWide, at)) name.erase(at, 5);
  return name;
}

std::set<std::string> EntriesOf(const std::string& ptx) {
  constexpr std::string_view kEntry = ".entry ";
  std::set<std::string> entries;
  for (size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + 1)) {
    const size_t begin = at + kEntry.size();
    entries.insert(ptx.substr(begin, ptx.find_first_of("( \n", begin) - begin));
  }
  return entries;
}

// nvcc hands its command lines to a shell, in which a name like "$(id)" would run.
bool IsPlain(const std::string& path) { return path.find_first_of("$`\"\\\n") == std::string::npos; }

Result<base::Completed> RunNvcc(const fs::path& nvcc, const core::SourceRef& source, const std::string& arch,
                                const fs::path& folder, std::chrono::milliseconds deadline) {
  const fs::path beside = fs::path(source.root) / fs::path(source.file).parent_path();
  if (!IsPlain(beside.string()))
    return Fail(ErrorCode::kUnsupported, "nvcc would not take the name of the folder literally: " + beside.string());
  base::Command command;
  // "-arch=sm_90a" makes code for sm_90 as well.
  const std::string number = arch.substr(arch.find('_') + 1);
  const std::string architecture =
      arch.ends_with('a') ? fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number) : "-arch=" + arch;
  command.argv = {nvcc.string(), architecture, "-lineinfo", "-w", "-Xptxas=-v", "-c", "--keep"};
  for (std::string& argument : source.build.NvccArguments(source.root)) command.argv.push_back(std::move(argument));
  for (const std::string& include : {beside.string(), source.root}) command.argv.push_back("-I" + include);
  command.argv.push_back(fmt::format("{}.cu", kBaseName));
  command.env = base::MinimalEnvironment();
  command.env["TMPDIR"] = folder.string();
  command.directory = folder;
  command.deadline = deadline;
  command.output_limit_bytes = 1u << 20;
  command.sandbox.enabled = true;
  std::error_code ignored;
  command.sandbox.readable = {source.root, nvcc.parent_path().parent_path(),
                              fs::canonical(nvcc, ignored).parent_path().parent_path()};
  command.sandbox.writable = {folder};
  command.sandbox.memory_bytes = kMemoryBytes;
  return base::Run(command);
}

// What it kept under a name of its own: "whole.sm_90.cubin".
Result<std::string> ReadKept(const fs::path& folder, std::string_view extension) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == extension) return base::ReadFile(entry.path(), kMaxOutputBytes);
  return Fail(ErrorCode::kEnvironment, fmt::format("nvcc kept no {}", extension));
}

}  // namespace

std::string SameKernelIn(const std::string& ptx, const std::string& symbol) {
  const std::set<std::string> entries = EntriesOf(ptx);
  if (entries.contains(symbol)) return symbol;
  const std::string name = NameForBothCompilers(symbol);
  std::string found;
  for (const std::string& entry : entries) {
    if (NameForBothCompilers(entry) != name) continue;
    if (!found.empty()) return {};
    found = entry;
  }
  return found;
}

Result<WholeOutcome> CompileWithNvcc(const Toolkit& toolkit, const core::SourceRef& source,
                                     const core::CompiledModule& module, std::chrono::milliseconds deadline) {
  const fs::path nvcc = FindNvcc(toolkit);
  if (nvcc.empty()) return Fail(ErrorCode::kUnsupported, "there is no nvcc in " + (toolkit.root / "bin").string());
  WW_ASSIGN(const auto folder, base::TemporaryDirectory::Create("warpwright-nvcc"));
  WW_TRY(base::WriteFileAtomically(folder.path() / fmt::format("{}.cu", kBaseName), source.text));
  WW_ASSIGN(const base::Completed done, RunNvcc(nvcc, source, module.arch, folder.path(), deadline));
  if (done.timed_out) return WholeOutcome(core::CompileFailed{source.file + ": error: nvcc did not end in time"});
  if (done.exit_code != 0) {
    const std::string log = base::CleanText(done.err, kMaxMessage);
    return WholeOutcome(core::CompileFailed{
        log.empty() ? fmt::format("{}: error: nvcc ended with exit code {}", source.file, done.exit_code) : log});
  }

  WholeBuild whole;
  core::CompiledModule& built = whole.module;
  built.arch = module.arch;
  built.key = module.key + "-nvcc";
  WW_ASSIGN(built.ptx, ReadKept(folder.path(), ".ptx"));
  WW_ASSIGN(const std::string cubin, ReadKept(folder.path(), ".cubin"));
  const auto bytes = std::as_bytes(std::span(cubin));
  built.cubin.assign(bytes.begin(), bytes.end());
  WW_ASSIGN(const auto cubin_kernels, ReadCubin(built.cubin));
  for (const core::KernelResources& kernel : module.kernels) {
    const std::string symbol = SameKernelIn(built.ptx, kernel.symbol);
    const auto found = cubin_kernels.find(symbol);
    if (found == cubin_kernels.end())
      return WholeOutcome(core::CompileFailed{
          fmt::format("{}: error: nvcc makes no kernel '{}' of the whole file", source.file, kernel.kernel)});
    built.kernels.push_back(ReadResources(kernel.kernel, symbol, done.err, found->second));
  }
  whole.host_main = fmt::format("{}.cudafe1.cpp", kBaseName);
  for (const char* extension : {"cudafe1.cpp", "cudafe1.stub.c", "fatbin.c"}) {
    const std::string name = fmt::format("{}.{}", kBaseName, extension);
    WW_ASSIGN(whole.host_files[name], base::ReadFile(folder.path() / name, kMaxOutputBytes));
  }
  return WholeOutcome(std::move(whole));
}

}  // namespace warpwright::compile
