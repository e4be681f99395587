// Holds what daemon/ARCHITECTURE.md promises about the folders: who may include whom, and which program may link what.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/unit/architecture/folder_table.h"

namespace warpwright::architecture {
namespace {

namespace fs = std::filesystem;

fs::path Daemon() { return fs::path(WW_SOURCE_DIR) / "daemon"; }

std::vector<FolderRow> Table() { return ReadFolderTable(*base::ReadFile(Daemon() / "ARCHITECTURE.md")); }

Libraries AllLibraries() {
  std::map<std::string, std::string> lists;
  for (const auto& entry : fs::directory_iterator(Daemon()))
    if (const fs::path list = entry.path() / "CMakeLists.txt"; fs::exists(list))
      lists[entry.path().filename().string()] = *base::ReadFile(list);
  return ReadLibraries(lists);
}

TEST(Architecture, FoldersIncludeWhatTheTableNames) {
  const FolderUses uses = FindIncludes(Daemon());
  EXPECT_GE(uses.size(), 15u) << "folders are no longer found";
  EXPECT_GE(uses.at("cli").size(), 5u) << "the pattern no longer finds includes";
  for (const auto& disagreement : Disagreements(Table(), uses)) ADD_FAILURE() << disagreement;
}

TEST(Architecture, LibrariesDependOnWhatTheTableNames) {
  for (const auto& disagreement : Disagreements(Table(), AllLibraries().uses)) ADD_FAILURE() << disagreement;
}

TEST(Architecture, TheGraphIsTheTable) {
  EXPECT_EQ(ReadFolderGraph(*base::ReadFile(Daemon() / "ARCHITECTURE.md")), Reduced(Table()));
}

TEST(Architecture, NothingOfTheWorkerReachesTheDaemon) {
  const Libraries libraries = AllLibraries();
  std::set<std::string> worker_only;
  for (const auto& row : Table())
    if (row.worker_only) worker_only.insert(row.name);
  EXPECT_FALSE(worker_only.empty());
  for (const auto& library : Reached(libraries, "warpwright")) {
    const auto folder = libraries.folder.find(library);
    const bool ours = folder != libraries.folder.end();
    EXPECT_FALSE(ours && worker_only.contains(folder->second)) << library;
  }
}

// Linker names of the libraries that only the worker may use.
TEST(Architecture, TheDaemonLinksNoCudaAndNoClang) {
  const fs::path program = fs::path(WW_BINARY_DIR) / "daemon/cli/warpwright";
  const auto read = base::ReadFile(program, 1u << 30);
  ASSERT_TRUE(read) << read.error().Format();
  for (const char* library : {"libcuda.so", "libcudart", "libnvrtc.so", "libcupti.so", "libclang-19.so", "libclang.so"})
    EXPECT_EQ(read->find(library), std::string::npos) << library;
}

}  // namespace
}  // namespace warpwright::architecture
