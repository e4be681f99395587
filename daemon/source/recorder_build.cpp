#include "source/recorder_build.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/subprocess.h"

namespace warpwright::source {
namespace embedded {
const std::map<std::string_view, std::string_view>& HostShim();
}
namespace {

namespace fs = std::filesystem;

// The shim and the slices are compiled with the same flags, or g++ rejects the precompiled headers: there is one for
// each build. -g1 and the frame pointer give the lines of host reads of device memory. Columns are omitted: they would
// refer to a text that the user never sees.
const std::vector<std::string> kFlags = {"-g1",
                                         "-w",
                                         "-fno-pie",
                                         "-fno-omit-frame-pointer",
                                         "-fmax-errors=5",
                                         "-fno-diagnostics-color",
                                         "-fno-show-column",
                                         "-fno-diagnostics-show-caret"};
using core::CxxStandard;
std::vector<std::string> FlagsOf(HostBuild build, CxxStandard standard) {
  if (build == HostBuild::kOther) return {"-std=c++20", "-O2", "-DNDEBUG", "-funsigned-char"};
  return {fmt::format("-std={}", core::Name(standard)), "-O0"};
}
// The recorder needs C++17, of which launchers in C++14 hardly notice anything.
CxxStandard StandardOf(const core::BuildOptions& options) { return std::max(options.standard, CxxStandard::k17); }
// The launcher's comparisons and the recorder's own time (shim/host/record_compared.cpp, record_time.cpp).
constexpr const char *kFollowed = "-fsanitize-coverage=trace-cmp", *kMeasured = "-finstrument-functions";
constexpr int kShimDeadlines = 5;  // it is compiled once, perhaps beside much other work
constexpr uint64_t kCompilerMemoryBytes = 4ull << 30;

// A folder of the cache is either complete or absent: it is written under a temporary name and renamed. Another process
// may have been faster.
Status Publish(const fs::path& made, const fs::path& wanted) {
  std::error_code failed;
  fs::rename(made, wanted, failed);
  if (failed && !fs::exists(wanted)) {
    return Fail(ErrorCode::kIo, fmt::format("cannot create {}: {}", wanted.string(), failed.message()));
  }
  if (failed) fs::remove_all(made, failed);
  return {};
}

Result<fs::path> NewFolder(const fs::path& cache) {
  static std::atomic<int> counter = 0;
  const fs::path folder = cache / fmt::format("making-{}-{}", getpid(), counter++);
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (!fs::create_directories(folder, failed) && failed) {
    return Fail(ErrorCode::kIo, fmt::format("cannot create {}: {}", folder.string(), failed.message()));
  }
  return folder;
}

Result<base::Completed> Compile(const std::vector<std::string>& flags, const std::vector<std::string>& arguments,
                                const fs::path& folder, std::vector<fs::path> readable,
                                std::chrono::milliseconds deadline) {
  base::Command command;
  command.argv = {"g++"};
  for (const auto* part : {&kFlags, &flags, &arguments})
    command.argv.insert(command.argv.end(), part->begin(), part->end());
  command.env = base::MinimalEnvironment();
  command.env["TMPDIR"] = folder.string();
  command.directory = folder;
  command.deadline = deadline;
  command.output_limit_bytes = 1u << 20;
  command.sandbox.enabled = true;
  command.sandbox.readable = std::move(readable);
  command.sandbox.writable = {folder};
  command.sandbox.memory_bytes = kCompilerMemoryBytes;
  return base::Run(command);
}

constexpr char kObject[] = "host.o", kProgram[] = "recorder";

std::string ObjectOf(const fs::path& shim, fs::path source) { return (shim / source.replace_extension(".o")).string(); }

constexpr std::string_view kOfNvcc = "record_nvcc.cpp";  // not for slices, which call the runtime by our header

std::vector<fs::path> RuntimeObjects(const fs::path& shim) {
  std::vector<fs::path> objects;
  for (const auto& [name, text] : embedded::HostShim())
    if (name.ends_with(".cpp") && name != kOfNvcc) objects.push_back(ObjectOf(shim, name));
  return objects;
}

// The link inputs, in the order that state_begin.cpp and state_end.cpp need.
std::vector<std::string> LinkedWith(const std::string& object, const fs::path& shim) {
  const std::string begin = ObjectOf(shim, "state_begin.cpp"), end = ObjectOf(shim, "state_end.cpp");
  std::vector<std::string> files = {begin, object, end};
  for (const fs::path& path : RuntimeObjects(shim))
    if (path != begin && path != end) files.push_back(path.string());
  return files;
}

// Two workers begin a run, and both need the shim: the second waits for that of the first (16 s of compiling). Where
// the file cannot be locked, both compile it, as Publish allows.
base::Fd TakeTurn(const fs::path& cache) {
  base::Fd lock(::open((cache / "shim.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  while (lock.valid() && ::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return lock;
}

// What a project defines comes behind the shim's header and before everything else: the shim's own text does not depend
// on it, and stays precompiled.
constexpr char kDefines[] = "build_defines.h";

Result<fs::path> BuildShim(const fs::path& cache, CxxStandard standard, std::chrono::milliseconds deadline) {
  base::Hasher hasher;
  const auto usual = FlagsOf(HostBuild::kUsual, standard), optimized = FlagsOf(HostBuild::kOther, standard);
  for (const auto* flags : {&kFlags, &usual, &optimized})
    for (const std::string& flag : *flags) hasher.Add(flag);
  hasher.Add(kMeasured);
  for (const auto& [name, text] : embedded::HostShim()) hasher.Add(name).Add(text);
  const fs::path wanted = cache / ("shim-" + hasher.Finish().substr(0, 16));
  if (fs::exists(wanted)) return wanted;
  const base::Fd turn = TakeTurn(cache);
  if (fs::exists(wanted)) return wanted;

  WW_ASSIGN(const fs::path folder, NewFolder(cache));
  std::vector<std::string> sources;
  for (const auto& [name, text] : embedded::HostShim()) {
    WW_TRY(base::WriteFileAtomically(folder / name, text));
    if (name.ends_with(".cpp")) sources.emplace_back(name);
  }
  const auto compile = [&](const std::vector<std::string>& arguments, const std::vector<std::string>& flags) -> Status {
    WW_ASSIGN(const base::Completed done, Compile(flags, arguments, folder, {folder}, kShimDeadlines * deadline));
    if (done.exit_code == 0) return {};
    if (done.timed_out) return Fail(ErrorCode::kEnvironment, "g++ takes too long to compile the launch recorder");
    return Fail(ErrorCode::kEnvironment, "g++ cannot compile the launch recorder: " + done.err.substr(0, 2000),
                "install g++ 12 or newer with its standard library");
  };
  const std::string headers = "cuda_runtime.h.gch";
  std::error_code failed;
  fs::create_directory(folder / headers, failed);  // g++ takes the one in it that fits its flags
  Status other;
  {
    const std::jthread beside(
        [&] { other = compile({"-x", "c++-header", "cuda_runtime.h", "-o", headers + "/other"}, optimized); });
    WW_TRY(compile({"-x", "c++-header", "cuda_runtime.h", "-o", headers + "/usual"}, usual));
  }
  WW_TRY(other);
  std::vector<Status> compiled(sources.size());
  base::ParallelFor(
      sources.size(),
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)  // the header first, or the precompiled one is not used
          compiled[i] = compile({"-include", "cuda_runtime.h", kMeasured, "-c", sources[i]}, usual);
      },
      1);
  for (const Status& status : compiled) WW_TRY(status);
  WW_TRY(Publish(folder, wanted));
  return wanted;
}

// "src/a.cu:12: error: ..." -> file and line of the first error.
HostCompileFailed ReadLog(std::string log) {
  HostCompileFailed failed;
  size_t at = 0;
  while (at < log.size()) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string line = log.substr(at, end - at);
    const size_t error = line.find(" error: ");
    const size_t fatal = line.find(" fatal error: ");
    const size_t mark = std::min(error, fatal);
    if (mark != std::string::npos) {
      const size_t colon = line.find(':');
      failed.file = line.substr(0, colon);
      failed.line = colon == std::string::npos ? 0 : std::atoi(line.c_str() + colon + 1);
      break;
    }
    at = end + 1;
  }
  failed.log = std::move(log);
  return failed;
}

}  // namespace

Result<std::variant<Recorder, HostCompileFailed>> BuildRecorder(const std::string& file, const HostProgram& host,
                                                                const core::BuildOptions& options,
                                                                const std::string& harness, HostBuild build,
                                                                const fs::path& cache,
                                                                std::chrono::milliseconds deadline) {
  using Outcome = std::variant<Recorder, HostCompileFailed>;
  std::error_code failed;
  fs::create_directories(cache, failed);
  const fs::path absolute = fs::absolute(cache);
  WW_ASSIGN(const fs::path shim, BuildShim(absolute, StandardOf(options), deadline));
  const std::vector<std::string> flags = FlagsOf(build, StandardOf(options));
  const std::string defines = options.Directives();
  base::Hasher hasher;
  for (const std::string& flag : flags) hasher.Add(flag);
  hasher.Add(kFollowed).Add(shim.filename().string()).Add(file).Add(host.text).Add(defines).Add(harness);
  for (const auto& [name, text] : host.headers) hasher.Add(name).Add(text);
  const fs::path wanted = absolute / ("recorder-" + hasher.Finish().substr(0, 32));
  const Recorder recorder{wanted / kProgram, wanted / kObject, RuntimeObjects(shim)};
  if (fs::exists(recorder.program)) return Outcome(recorder);

  WW_ASSIGN(const fs::path folder, NewFolder(absolute));
  WW_TRY(base::WriteFileAtomically(folder / "overlay" / file, host.text + harness));
  for (const auto& [name, text] : host.headers) WW_TRY(base::WriteFileAtomically(folder / "overlay" / name, text));
  WW_TRY(base::WriteFileAtomically(folder / kDefines, defines));
  // Messages and __FILE__ contain the file name that the user knows; the compiler runs in the overlay.
  std::vector<std::string> compile = {"-c",
                                      "-I",
                                      "overlay",
                                      "-I",
                                      shim.string(),
                                      "-include",
                                      (shim / "cuda_runtime.h").string(),
                                      "-include",
                                      kDefines,
                                      "-fmacro-prefix-map=overlay/=",
                                      "-ffile-prefix-map=overlay/=",
                                      "-x",
                                      "c++",
                                      "overlay/" + file,
                                      "-o",
                                      kObject};
  if (build == HostBuild::kUsual) compile.emplace_back(kFollowed);
  std::vector<std::string> link = LinkedWith(kObject, shim);
  link.insert(link.end(), {"-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-o", kProgram});
  for (const std::vector<std::string>& arguments : {compile, link}) {
    WW_ASSIGN(const base::Completed done, Compile(flags, arguments, folder, {shim}, deadline));
    if (done.exit_code == 0 && !done.timed_out) continue;
    fs::remove_all(folder, failed);
    std::string log = done.timed_out ? "error: g++ did not end in time\n" + done.err : done.err;
    for (size_t at = log.find("overlay/"); at != std::string::npos; at = log.find("overlay/")) log.erase(at, 8);
    return Outcome(ReadLog(host.WithUserLines(std::move(log))));
  }
  WW_TRY(Publish(folder, wanted));
  return Outcome(recorder);
}

Result<std::variant<Recorder, HostCompileFailed>> BuildWholeRecorder(
    const std::map<std::string, std::string>& files, const std::string& main, const std::string& harness,
    const std::vector<fs::path>& include_folders, const core::BuildOptions& options, const fs::path& cache,
    std::chrono::milliseconds deadline) {
  using Outcome = std::variant<Recorder, HostCompileFailed>;
  std::error_code failed;
  fs::create_directories(cache, failed);
  const fs::path absolute = fs::absolute(cache);
  WW_ASSIGN(const fs::path shim, BuildShim(absolute, StandardOf(options), deadline));
  base::Hasher hasher;
  hasher.Add("whole").Add(shim.filename().string()).Add(main).Add(harness).Add(core::Name(options.standard));
  for (const auto& [name, text] : files) hasher.Add(name).Add(text);
  const fs::path wanted = absolute / ("recorder-" + hasher.Finish().substr(0, 32));
  Recorder recorder{wanted / kProgram, wanted / kObject, RuntimeObjects(shim)};
  recorder.runtime.emplace_back(ObjectOf(shim, kOfNvcc));
  if (fs::exists(recorder.program)) return Outcome(recorder);

  WW_ASSIGN(const fs::path folder, NewFolder(absolute));
  for (const auto& [name, text] : files)
    WW_TRY(base::WriteFileAtomically(folder / name, name == main ? text + harness : text));
  // As nvcc calls g++.
  std::vector<std::string> compile = {"-c",         "-x", "c++", "-DCUDA_DOUBLE_MATH_FUNCTIONS",
                                      "-Wno-psabi", main, "-o",  kObject};
  std::vector<fs::path> readable = include_folders;
  for (const fs::path& include : include_folders) compile.push_back("-I" + include.string());
  readable.push_back(shim);
  std::vector<std::string> link = LinkedWith(kObject, shim);
  link.push_back(recorder.runtime.back().string());
  link.insert(link.end(), {"-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-o", kProgram});
  const std::vector<std::string> flags = {fmt::format("-std={}", core::Name(options.standard)), "-O0"};
  for (const std::vector<std::string>& arguments : {compile, link}) {
    WW_ASSIGN(const base::Completed done, Compile(flags, arguments, folder, readable, deadline));
    if (done.exit_code == 0 && !done.timed_out) continue;
    fs::remove_all(folder, failed);
    return Outcome(ReadLog(done.timed_out ? "error: g++ did not end in time\n" + done.err : done.err));
  }
  for (const auto& [name, text] : files) fs::remove(folder / name, failed);  // megabytes, and of no more use
  WW_TRY(Publish(folder, wanted));
  return Outcome(recorder);
}

}  // namespace warpwright::source
