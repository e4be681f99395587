#include "tests/unit/architecture/folder_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>

#include "base/file.h"

namespace warpwright::architecture {
namespace {

namespace fs = std::filesystem;

std::set<std::string> Words(const std::string& text) {
  static const std::regex word("[a-z_0-9]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator()};
}

std::optional<FolderRow> ReadRow(const std::string& line) {
  static const std::regex row("^\\| `([a-z_]+)/`([^|]*)\\|([^|]*)\\|");
  std::smatch match;
  if (!std::regex_search(line, match, row)) return std::nullopt;
  return FolderRow{
      .name = match[1], .worker_only = match[2].str().find("¹") != std::string::npos, .includes = Words(match[3])};
}

bool IsSource(const fs::path& file) {
  const bool shim = std::any_of(file.begin(), file.end(), [](const fs::path& part) { return part == "shim"; });
  return !shim && (file.extension() == ".h" || file.extension() == ".cpp");
}

std::string WithoutComments(const std::string& cmake) { return std::regex_replace(cmake, std::regex("#[^\n]*"), ""); }

// The words of each call of a function: "ww_module(a SOURCES b.cpp)" gives {"a", "SOURCES", "b.cpp"}.
std::vector<std::vector<std::string>> Calls(const std::string& cmake, std::string_view function) {
  std::vector<std::vector<std::string>> calls;
  const std::string begin = std::string(function) + "(";
  for (size_t at = cmake.find(begin); at != std::string::npos; at = cmake.find(begin, at + 1)) {
    const size_t open = at + begin.size();
    std::istringstream words(cmake.substr(open, cmake.find(')', open) - open));
    calls.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return calls;
}

// Of a target: "ww_base" and "warpwright" are the library base and the program.
std::string NameOf(const std::string& target) { return target.starts_with("ww_") ? target.substr(3) : target; }

}  // namespace

std::vector<FolderRow> ReadFolderTable(std::string_view page) {
  std::vector<FolderRow> table;
  std::istringstream lines{std::string(page)};
  for (std::string line; std::getline(lines, line);)
    if (auto row = ReadRow(line)) table.push_back(std::move(*row));
  return table;
}

FolderUses FindIncludes(const fs::path& daemon) {
  static const std::regex include("^\\s*#\\s*include\\s+\"([^\"]+)\"");
  FolderUses uses;
  for (const auto& entry : fs::recursive_directory_iterator(daemon)) {
    const fs::path file = entry.path().lexically_relative(daemon);
    if (!IsSource(file)) continue;
    const std::string folder = file.begin()->string();
    auto& used = uses[folder];
    std::istringstream lines(*base::ReadFile(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string name = match[1];
      const std::string other = name.substr(0, name.find('/'));
      if (other != folder) used.try_emplace(other, fmt::format("{} includes {}", file.string(), name));
    }
  }
  return uses;
}

Libraries ReadLibraries(const std::map<std::string, std::string>& cmake_lists_by_folder) {
  static const std::set<std::string> keywords = {"SOURCES", "DEPENDS", "LINKS"};
  Libraries libraries;
  for (const auto& [folder, list] : cmake_lists_by_folder) {
    const std::string cmake = WithoutComments(list);
    for (const auto& words : Calls(cmake, "ww_module")) {
      libraries.folder[words.at(0)] = folder;
      std::string part;
      for (const auto& word : words) {
        if (keywords.contains(word)) part = word;
        else if (part == "DEPENDS") libraries.depends[words.at(0)].insert(word);
      }
    }
    for (const auto& words : Calls(cmake, "target_link_libraries")) {
      const std::string target = NameOf(words.at(0));
      libraries.folder[target] = folder;
      for (size_t i = 1; i < words.size(); ++i)
        if (words[i].starts_with("ww_")) libraries.depends[target].insert(NameOf(words[i]));
    }
  }
  for (const auto& [target, folder] : libraries.folder) {
    auto& used = libraries.uses[folder];
    for (const auto& library : libraries.depends[target]) {
      const auto other = libraries.folder.find(library);
      if (other == libraries.folder.end() || other->second == folder) continue;
      used.try_emplace(other->second, fmt::format("{} depends on {} in {}/CMakeLists.txt", target, library, folder));
    }
  }
  return libraries;
}

std::set<std::string> Reached(const Libraries& libraries, const std::string& library) {
  std::set<std::string> reached;
  std::vector<std::string> open = {library};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (!reached.insert(next).second) continue;
    const auto depends = libraries.depends.find(next);
    if (depends != libraries.depends.end()) open.insert(open.end(), depends->second.begin(), depends->second.end());
  }
  return reached;
}

FolderGraph ReadFolderGraph(std::string_view page) {
  static const std::regex arrow("^  ([a-z_& ]+) --> ([a-z_]+)$");
  FolderGraph graph;
  std::istringstream lines{std::string(page)};
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, arrow)) graph[match[2]].merge(Words(match[1]));
  return graph;
}

FolderGraph Reduced(const std::vector<FolderRow>& table) {
  FolderGraph reached, reduced;  // rows stand below those that they name
  for (const auto& row : table) {
    std::set<std::string> indirect;
    for (const auto& name : row.includes) indirect.insert(reached[name].begin(), reached[name].end());
    for (const auto& name : row.includes)
      if (!indirect.contains(name)) reduced[row.name].insert(name);
    indirect.insert(row.includes.begin(), row.includes.end());
    reached[row.name] = std::move(indirect);
  }
  return reduced;
}

std::vector<std::string> Disagreements(const std::vector<FolderRow>& table, const FolderUses& uses) {
  std::vector<std::string> found;
  std::set<std::string> above;
  for (const auto& row : table) {
    const auto used = uses.find(row.name);
    if (used == uses.end()) found.push_back(fmt::format("{} has a row and is no folder", row.name));
    for (const auto& name : row.includes) {
      if (!above.contains(name))
        found.push_back(fmt::format("the row of {} names {}, which does not stand above it", row.name, name));
      if (used != uses.end() && !used->second.contains(name))
        found.push_back(fmt::format("the row of {} names {}, which it does not use", row.name, name));
    }
    if (used != uses.end())
      for (const auto& [name, place] : used->second)
        if (!row.includes.contains(name))
          found.push_back(fmt::format("the row of {} does not name {}: {}", row.name, name, place));
    if (!above.insert(row.name).second) found.push_back(fmt::format("{} has two rows", row.name));
  }
  for (const auto& [folder, used] : uses) {
    if (above.contains(folder)) continue;
    std::vector<std::string> names;
    for (const auto& [name, place] : used) names.push_back(name);
    found.push_back(fmt::format("{} has no row; it uses {}", folder, fmt::join(names, ", ")));
  }
  return found;
}

}  // namespace warpwright::architecture
