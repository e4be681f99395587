#include "tests/unit/architecture/folder_table.h"

#include <gtest/gtest.h>

namespace warpwright::architecture {
namespace {

std::vector<FolderRow> Table(std::initializer_list<std::pair<const char*, std::set<std::string>>> rows) {
  std::vector<FolderRow> table;
  for (const auto& [name, includes] : rows) table.push_back({.name = name, .worker_only = false, .includes = includes});
  return table;
}

FolderUses Uses(std::initializer_list<std::pair<const char*, std::set<std::string>>> rows) {
  FolderUses uses;
  for (const auto& [name, used] : rows) {
    uses[name];
    for (const auto& other : used) uses[name][other] = "here";
  }
  return uses;
}

TEST(FolderTable, IsReadFromThePage) {
  const auto table = ReadFolderTable(
      "# Page\ntext with `sim/` in it\n| folder | includes | knows |\n|---|---|---|\n| `base/` | — | files |\n| `sim/` "
      "¹ | base, core_2 | PTX |\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].name, "base");
  EXPECT_TRUE(table[0].includes.empty());
  EXPECT_FALSE(table[0].worker_only);
  EXPECT_EQ(table[1].name, "sim");
  EXPECT_EQ(table[1].includes, (std::set<std::string>{"base", "core_2"}));
  EXPECT_TRUE(table[1].worker_only);
}

TEST(FolderTable, IsHeldAgainstTheCode) {
  const struct {
    const char* what;
    std::vector<FolderRow> table;
    FolderUses uses;
    std::vector<std::string> expected;
  } rows[] = {
      {"all as it should be", Table({{"a", {}}, {"b", {"a"}}}), Uses({{"a", {}}, {"b", {"a"}}}), {}},
      {"an include too many",
       Table({{"a", {}}, {"b", {}}}),
       Uses({{"a", {}}, {"b", {"a"}}}),
       {"the row of b does not name a: here"}},
      {"a name too many",
       Table({{"a", {}}, {"b", {"a"}}}),
       Uses({{"a", {}}, {"b", {}}}),
       {"the row of b names a, which it does not use"}},
      {"no row", Table({{"a", {}}}), Uses({{"a", {}}, {"b", {"a"}}}), {"b has no row; it uses a"}},
      {"no folder", Table({{"a", {}}, {"b", {}}}), Uses({{"a", {}}}), {"b has a row and is no folder"}},
      {"upward",
       Table({{"a", {"b"}}, {"b", {}}}),
       Uses({{"a", {"b"}}, {"b", {}}}),
       {"the row of a names b, which does not stand above it"}},
      {"a cycle",
       Table({{"a", {}}, {"b", {"c"}}, {"c", {"a", "b"}}}),
       Uses({{"a", {}}, {"b", {"c"}}, {"c", {"a", "b"}}}),
       {"the row of b names c, which does not stand above it"}},
      {"twice", Table({{"a", {}}, {"a", {}}}), Uses({{"a", {}}}), {"a has two rows"}},
      {"a name of nothing",
       Table({{"a", {"z"}}}),
       Uses({{"a", {"z"}}}),
       {"the row of a names z, which does not stand above it"}},
  };
  for (const auto& row : rows) EXPECT_EQ(Disagreements(row.table, row.uses), row.expected) << row.what;
}

TEST(FolderTable, IsReducedToAGraph) {
  const FolderGraph graph = Reduced(Table({{"a", {}}, {"b", {"a"}}, {"c", {"a", "b"}}, {"d", {"a", "c"}}, {"e", {}}}));
  EXPECT_EQ(graph, (FolderGraph{{"b", {"a"}}, {"c", {"b"}}, {"d", {"c"}}}));
  EXPECT_EQ(ReadFolderGraph("```mermaid\n  a & b --> c\n  d --> e_one\n  d --> c\n```\nx --> y is text\n"),
            (FolderGraph{{"c", {"a", "b", "d"}}, {"e_one", {"d"}}}));
}

TEST(FolderTable, KnowsTheLibrariesOfAFolder) {
  const Libraries libraries = ReadLibraries({
      {"base", "ww_module(base SOURCES a.cpp LINKS dep_fmt)\n"},
      {"sim",
       "# ww_module(no DEPENDS such)\nww_module(sim\n  SOURCES b.cpp\n  DEPENDS base)\nww_embed(ww_sim SYMBOL X)\n"},
      {"cli",
       "ww_module(both SOURCES c.cpp DEPENDS sim)\nww_module(cli SOURCES d.cpp DEPENDS base LINKS dep_fmt)\n"
       "target_link_libraries(program PRIVATE ww_both ww_settings)\ntarget_link_libraries(ww_cli PUBLIC "
       "Threads::Threads)\n"},
  });
  EXPECT_EQ(libraries.folder.at("both"), "cli");
  EXPECT_EQ(libraries.uses.at("cli").size(), 2u);
  EXPECT_EQ(libraries.uses.at("cli").at("sim"), "both depends on sim in cli/CMakeLists.txt");
  EXPECT_TRUE(libraries.uses.at("base").empty());
  EXPECT_EQ(Reached(libraries, "cli"), (std::set<std::string>{"cli", "base"}));
  EXPECT_EQ(Reached(libraries, "program"), (std::set<std::string>{"program", "both", "settings", "sim", "base"}));
}

}  // namespace
}  // namespace warpwright::architecture
