// Holds what daemon/ARCHITECTURE.md promises about the folders: who may include whom, and which program may link what.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kOrder = {"base",   "core",   "config", "source", "compile", "sim",  "gpu",  "rewrite", "judge", "worker",
                                         "skills", "memory", "agents", "search", "repo", "forge", "http", "report", "nights", "service", "app", "cli"};

size_t Rank(const std::string& folder) {
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), folder) - kOrder.begin());
}

std::vector<fs::path> Sources() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / "daemon"))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") files.push_back(entry.path());
  return files;
}

// The folder of daemon/ that a file belongs to; empty for files of the shim, which are data for the host compiler.
std::string FolderOf(const fs::path& file) {
  const fs::path relative = fs::relative(file, fs::path(WW_SOURCE_DIR) / "daemon");
  for (const auto& part : relative)
    if (part == "shim") return {};
  return relative.begin()->string();
}

TEST(Architecture, EveryFolderStandsInTheOrder) {
  for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / "daemon")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "cmake") {
      EXPECT_LT(Rank(name), kOrder.size()) << name;
    }
  }
}

TEST(Architecture, AFolderIncludesOnlyThoseAboveIt) {
  const std::regex include("^\\s*#\\s*include\\s+\"([a-z_]+)/[^\"]+\"");
  size_t seen = 0;
  for (const auto& file : Sources()) {
    const std::string folder = FolderOf(file);
    if (folder.empty()) continue;
    const std::string text = *ReadFile(file);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      ++seen;
      EXPECT_LE(Rank(match[1]), Rank(folder)) << file << " includes " << match[0];
    }
  }
  EXPECT_GT(seen, 100u) << "the pattern no longer finds includes";
}

// Linker names of the libraries that only the worker may use.
TEST(Architecture, TheDaemonLinksNoCudaAndNoClang) {
  const fs::path program = fs::path(WW_BINARY_DIR) / "daemon/cli/warpwright";
  if (!fs::exists(program)) GTEST_SKIP() << "warpwright is not built";
  const std::string bytes = *ReadFile(program, 1u << 30);
  for (const char* library : {"libcuda.so", "libcudart", "libnvrtc.so", "libcupti.so", "libclang-19.so", "libclang.so"})
    EXPECT_EQ(bytes.find(library), std::string::npos) << library;
}

}  // namespace
}  // namespace warpwright
