// What a large repository costs the daemon: bench_repo [files], 50,000 by default. Prints milliseconds as one JSON
// object.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/subprocess.h"
#include "repo/remote.h"

namespace warpwright {
namespace {

std::string Git(const std::filesystem::path& at, std::vector<std::string> arguments, std::string input = {}) {
  base::Command command;
  command.argv = {"git", "-C", at.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env = base::MinimalEnvironment();
  command.input = std::move(input);
  command.deadline = std::chrono::minutes(5);
  const auto done = base::Run(command);
  if (!done || done->exit_code != 0) {
    std::fprintf(stderr, "git %s: %s\n", arguments[0].c_str(),
                 done ? done->err.c_str() : done.error().Format().c_str());
    std::exit(3);
  }
  return done->out.substr(0, done->out.find('\n'));
}

// One folder for every 50 files; different sources of about a kilobyte.
std::string FastImport(int files) {
  std::string stream = "commit refs/heads/main\ncommitter Bench <bench@example.org> 1700000000 +0000\ndata 5\nfiles\n";
  for (int i = 0; i < files; ++i) {
    const std::string text =
        fmt::format("// file {}\n__global__ void k{}(float* p) {{ p[threadIdx.x] += {}.0f; }}\n", i, i, i) +
        std::string(900, static_cast<char>('a' + i % 26)) + "\n";
    stream += fmt::format("M 100644 inline part{}/folder{}/file{}.{}\ndata {}\n{}\n", i / 2500, i / 50, i,
                          i % 10 == 0 ? "cu" : "h", text.size(), text);
  }
  return stream;
}
std::string Change(const std::string& parent, int round) {
  const std::string text = fmt::format("// changed {}\n", round);
  return fmt::format(
      "commit refs/heads/main\ncommitter Bench <bench@example.org> {} +0000\ndata 6\nchange\nfrom {}\nM 100644 inline "
      "part0/folder0/file0.cu\ndata {}\n{}\n",
      1700000001 + round, parent, text.size(), text);
}

double Milliseconds(const std::function<bool()>& act, const char* what) {
  const auto begin = std::chrono::steady_clock::now();
  if (!act()) {
    std::fprintf(stderr, "%s failed\n", what);
    std::exit(1);
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

int Main(int files) {
  auto folder = std::move(*base::TemporaryDirectory::Create("ww-bench-repo"));
  const auto origin = folder.path() / "origin.git";
  Git(folder.path(), {"init", "-q", "--bare", "-b", "main", origin.string()});
  Git(origin, {"fast-import", "--quiet"}, FastImport(files));
  const std::string first = Git(origin, {"rev-parse", "main"});

  repo::RemoteAddress remote;
  remote.url = "file://" + origin.string();
  auto mirror = std::move(*repo::Mirror::Open(folder.path() / "mirror.git", remote));
  fmt::print("{{\"files\": {}", files);
  const auto say = [](const char* what, double ms) { fmt::print(", \"{}_ms\": {:.1f}", what, ms); };
  say("first_fetch", Milliseconds([&] { return mirror.Fetch().has_value(); }, "fetch"));
  say("idle_fetch", Milliseconds([&] { return mirror.Fetch().has_value(); }, "fetch"));
  std::string before = first;
  for (int round = 0; round < 2; ++round)
    Git(origin, {"fast-import", "--quiet"}, Change(std::exchange(before, ""), round)),
        before = Git(origin, {"rev-parse", "main"});
  say("fetch_of_a_push", Milliseconds([&] { return mirror.Fetch().has_value(); }, "fetch"));
  say("touched_paths",
      Milliseconds([&] { return mirror.repository().TouchedPaths(first, before)->size() == 1; }, "touched paths"));
  say("all_files",
      Milliseconds([&] { return mirror.repository().Files(before)->size() == static_cast<size_t>(files); }, "files"));
  say("export_sources", Milliseconds(
                            [&] {
                              return mirror.repository()
                                  .Export(
                                      before,
                                      [](std::string_view p) { return p.ends_with(".cu") || p.ends_with(".h"); },
                                      folder.path() / "tree")
                                  .has_value();
                            },
                            "export"));
  fmt::print("}}\n");
  return 0;
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) { return warpwright::Main(argc > 1 ? std::atoi(argv[1]) : 50'000); }
