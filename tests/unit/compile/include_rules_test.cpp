#include "compile/include_rules.h"

#include <gtest/gtest.h>

#include "source/includes.h"

namespace warpwright {
namespace {

struct Row {
  const char* text;
  std::vector<std::pair<std::string, int>> includes;
};
class Includes : public testing::TestWithParam<Row> {};
TEST_P(Includes, AreSeenAsACompilerSeesThem) {
  std::vector<std::pair<std::string, int>> got;
  for (const auto& include : source::ScanIncludes(GetParam().text)) got.emplace_back(include.name, include.line);
  EXPECT_EQ(got, GetParam().includes) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    All, Includes,
    testing::Values(Row{"#include <a.h>\n#include \"b/c.h\"\n", {{"a.h", 1}, {"b/c.h", 2}}},
                    Row{"  #  include\t<a.h> // x\n", {{"a.h", 1}}},
                    Row{"#inc\\\nlude \\\n \"a.h\"\nint x;\n#include <b.h>", {{"a.h", 1}, {"b.h", 5}}},
                    Row{"#include /* why */ \"a.h\"", {{"a.h", 1}}},
                    Row{"/* c */ # /**/ include \"a.h\"", {{"a.h", 1}}},
                    Row{"/* spans\nlines */ #include \"a.h\"", {{"a.h", 2}}}, Row{"%:include \"a.h\"", {{"a.h", 1}}},
                    Row{"#include NAME\n", {{"", 1}}}, Row{"#include_next <a.h>", {{"a.h", 1}}},
                    Row{"#include \"unterminated\n#include <b.h>", {{"", 1}, {"b.h", 2}}}, Row{"#include", {{"", 1}}},
                    // no directives
                    Row{"// #include \"a.h\"\n/* #include \"b.h\"\n#include \"c.h\" */", {}},
                    Row{"// continued \\\n#include \"a.h\"", {}}, Row{"const char* s = \"\\\n#include <a.h>\";", {}},
                    Row{"auto s = R\"x(\n#include <a.h>\n)\" )x\";", {}},
                    Row{"int x; #include \"a.h\"\n#includes \"b.h\"\n#define include", {}},
                    // text that would hide a directive from a careless scanner
                    Row{"/* *\\\n/\n#include \"a.h\" // */", {{"a.h", 3}}},
                    Row{"auto s = R\"x(\n)x\\\n\" R\"()x\";\n#include \"a.h\" // )\"", {{"a.h", 4}}},
                    Row{"/\\ \n/ \\\nauto s = R\"(\n#include \"a.h\" // )\"", {{"a.h", 4}}},
                    Row{"char q = '\"'; // \"\n#include \"a.h\"", {{"a.h", 2}}},
                    Row{"int n = 1'000; // '\n#include \"a.h\"", {{"a.h", 2}}},
                    Row{"auto s = R\"(/*)\";\n#include \"a.h\" // */", {{"a.h", 2}}},
                    Row{"auto s = \"/*\";\n#include \"a.h\" // */", {{"a.h", 2}}},
                    Row{"auto s = fooR\"(\";\n#include \"a.h\"\n\")\"", {{"a.h", 2}}},
                    Row{"auto s = \"\\\\\"; /*\n*/\n#include \"a.h\"", {{"a.h", 3}}}));

struct Verdict {
  const char* text;
  const char* message;  // empty: allowed
};
class Rules : public testing::TestWithParam<Verdict> {};
TEST_P(Rules, NameTheLine) {
  const auto message =
      compile::ForbiddenInclude("k.cu", GetParam().text, {{"in/memory.h", "int x;\n"}, {"../odd.h", ""}});
  EXPECT_EQ(message.value_or(""), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    All, Rules,
    testing::Values(
        Verdict{"#include <cuda_fp16.h>\n#include \"in/memory.h\"\n#include \"../odd.h\"", ""},
        Verdict{"\n#include \"/proc/self/environ\"",
                "k.cu(2): error: #include of '/proc/self/environ' is outside the toolkit and the repository"},
        Verdict{"#include \"a/../../b.h\"",
                "k.cu(1): error: #include of 'a/../../b.h' is outside the toolkit and the repository"},
        Verdict{"#include <a/*b.h>\n#include </etc/passwd> // */",
                "k.cu(1): error: #include of 'a/*b.h' is outside the toolkit and the repository"},
        Verdict{"#define X \"/etc/passwd\"\n#include X", "k.cu(2): error: #include of a macro is not supported"}));
TEST(Rules, HoldForHeadersToo) {
  EXPECT_EQ(compile::ForbiddenInclude("k.cu", "", {{"h.cuh", "\n\n#include </etc/passwd>"}}).value_or(""),
            "h.cuh(3): error: #include of '/etc/passwd' is outside the toolkit and the repository");
}

}  // namespace
}  // namespace warpwright
