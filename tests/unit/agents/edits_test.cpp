#include "agents/edits.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

const std::string kBase = "#include <a.h>\nvoid k() {\n  x();\n}\nvoid f() { k(); }\n";
const core::EntryText kEntry{.text = kBase,
                             .slice_hash = {},
                             .headers = {},
                             .functions = {{"ns::k", 2, 4}, {"f", 5, 5}, {"twice", 1, 1}, {"twice", 5, 5}}};

std::vector<std::string> Texts(const agents::Edits& edits) {
  const auto applied = agents::ApplyEdits(kBase, kEntry, edits);
  if (const auto* fault = std::get_if<agents::Fault>(&applied)) return {fault->what};
  std::vector<std::string> texts;
  for (const auto& one : std::get<std::vector<agents::EditedText>>(applied)) texts.push_back(one.text);
  return texts;
}
using Strings = std::vector<std::string>;

TEST(Edits, ReplaceFunctionsAndLines) {
  EXPECT_EQ(Texts({.functions = {{"ns::k", "void h() {}\nvoid k() { h(); }"}}, .lines = {}, .parameters = {}}),
            Strings{"#include <a.h>\nvoid h() {}\nvoid k() { h(); }\nvoid f() { k(); }\n"});
  EXPECT_EQ(Texts({.functions = {{"k", "void k() {}"}}, .lines = {}, .parameters = {}}),
            Strings{"#include <a.h>\nvoid k() {}\nvoid f() { k(); }\n"})
      << "named as it is declared, within its namespace";
  EXPECT_EQ(Texts({.functions = {{"f", "void f() {}\n"}},
                   .lines = {{1, 0, "#include <b.h>"}, {3, 3, "  y();"}},
                   .parameters = {}}),
            Strings{"#include <b.h>\n#include <a.h>\nvoid k() {\n  y();\n}\nvoid f() {}\n"});
  EXPECT_EQ(Texts({.functions = {}, .lines = {{6, 5, "// end"}, {2, 4, ""}}, .parameters = {}}),
            Strings{"#include <a.h>\nvoid f() { k(); }\n// end\n"});
}

TEST(Edits, ParametersMakeOneTextForEachSetting) {
  const agents::Edits edits{.functions = {{"f", "void f() { k<@A@, @B@>(@A@); }"}},
                            .lines = {},
                            .parameters = {{"A", {"1", "2"}}, {"B", {"x", "y"}}}};
  const auto applied = agents::ApplyEdits(kBase, kEntry, edits);
  const auto& texts = std::get<std::vector<agents::EditedText>>(applied);
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_NE(texts[0].text.find("void f() { k<1, x>(1); }\n"), std::string::npos) << texts[0].text;
  EXPECT_EQ(texts[3].parameters, (core::Parameters{{"A", "2"}, {"B", "y"}}));
}

TEST(Edits, FaultsSayWhatToMend) {
  struct Row {
    agents::Edits edits;
    const char* fault;
  };
  const Row rows[] = {
      {{}, "it changes nothing: give functions or lines"},
      {{.functions = {{"g", ""}}, .lines = {}, .parameters = {}},
       "the listing defines no function g; it defines ns::k, f, twice, twice"},
      {{.functions = {{"twice", ""}}, .lines = {}, .parameters = {}},
       "there are several functions twice: replace lines instead"},
      {{.functions = {}, .lines = {{6, 6, "x"}}, .parameters = {}}, "lines 6 to 6 do not exist: the file has 5 lines"},
      {{.functions = {}, .lines = {{4, 2, "x"}}, .parameters = {}}, "lines 4 to 2 do not exist: the file has 5 lines"},
      {{.functions = {{"ns::k", "x"}}, .lines = {{3, 3, "y"}}, .parameters = {}},
       "two changes meet at line 3: join them"},
      {{.functions = {{"f", "x"}}, .lines = {}, .parameters = {{"N", {"1"}}}},
       "the parameter N is not used: no text has @N@"},
      {{.functions = {{"f", "@N@ @M@"}}, .lines = {}, .parameters = {{"N", {"1", "2", "3"}}, {"M", {"1", "2", "3"}}}},
       "9 settings of the parameters: at most 8 are tried"},
  };
  for (const Row& row : rows) EXPECT_EQ(Texts(row.edits), Strings{row.fault});
}

}  // namespace
}  // namespace warpwright
