// The table "What each folder may know" of daemon/ARCHITECTURE.md, and what of the code it is held against.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::architecture {

struct FolderRow {
  std::string name;
  bool worker_only = false;
  std::set<std::string> includes;
};
// In the order of the page. A page without the table has no rows.
std::vector<FolderRow> ReadFolderTable(std::string_view page);

// Folder to folder, with one place that shows it. A folder that uses no other has an entry too.
using FolderUses = std::map<std::string, std::map<std::string, std::string>>;

// By the #include "folder/..." lines below `daemon`; files of a shim, which are data for other compilers, aside.
FolderUses FindIncludes(const std::filesystem::path& daemon);

// Libraries of the CMakeLists.txt below a folder: ww_module's, and what target_link_libraries adds to a program or a
// library.
struct Libraries {
  std::map<std::string, std::string> folder;             // by name, "worker_service" to "worker"
  std::map<std::string, std::set<std::string>> depends;  // by name
  FolderUses uses;
};
Libraries ReadLibraries(const std::map<std::string, std::string>& cmake_lists_by_folder);
// `library` and all that it depends on.
std::set<std::string> Reached(const Libraries& libraries, const std::string& library);

// Folder to folders that it includes.
using FolderGraph = std::map<std::string, std::set<std::string>>;
// The lines "a & b --> c" of the page: c includes a and b.
FolderGraph ReadFolderGraph(std::string_view page);
// The table without what follows from it: where c includes b and a, and b includes a, only that c includes b.
FolderGraph Reduced(const std::vector<FolderRow>& table);

// What of the uses the table does not say, or says and is not so, and what is wrong in the table itself: one sentence
// each.
std::vector<std::string> Disagreements(const std::vector<FolderRow>& table, const FolderUses& uses);

}  // namespace warpwright::architecture
