#include "source/host_program.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

struct Compaction {
  const char* name;
  const char* text;
  const char* compact;     // "": compiled unchanged
  std::vector<int> lines;  // the user's
};
const Compaction kCompactions[] = {
    {"EmptyLines", "\n\nint  a;\n\n   \nint b; // c\n/* d\n e */ int c;\n", "int a;\nint b;\nint c;\n", {3, 6, 8}},
    {"Directives",
     "#define F(a, \\\n   b) a + \\\n b\n\n#define G (a)\n  #if 1\nint x;\n#endif",
     "#define F(a, b) a + b\n#define G (a)\n#if 1\nint x;\n#endif\n",
     {1, 5, 6, 7, 8}},
    {"RawString",
     "\nauto s = R\"(a\n\n b)\"; int x;\n\nint y;",
     "auto s = R\"(a\n\n b)\"; int x;\nint y;\n",
     {2, 3, 4, 6}},
    {"WindowsLines", "int a;\r\n\r\nint b;\r\n", "int a;\nint b;\n", {1, 3}},
    {"Includes",
     "#include <sys/types.h>\n\n#include \"a b.h\"",
     "#include <sys/types.h>\n#include \"a b.h\"\n",
     {1, 3}},
    {"LineOfACall",
     "\nvoid f() { log(__FILE__, __LINE__); }",
     "void f() { log(__FILE__, ::ww::UserLine(__FILE__, __builtin_LINE())); }\n",
     {2}},
    {"LineOfAMacro",
     "#define CHECK(x) check((x), __FILE__, __LINE__)\n",
     "#define CHECK(x) check((x), __FILE__, ::ww::UserLine(__FILE__, __builtin_LINE()))\n",
     {1}},
    {"LineOfAMacroOfTheSameName",
     "#define check(x) (check(x, __LINE__))\n",
     "#define check(x) (check(x, ::ww::UserLine(__FILE__, __builtin_LINE())))\n",
     {1}},
    {"LinePrinted",
     "void f() { std::cerr << __LINE__ << 1; }",
     "void f() { std::cerr << ::ww::UserLine(__FILE__, __builtin_LINE()) << 1; }\n",
     {1}},
    {"LineInAName", "#define PASTE(a, b) a##b\n\nint PASTE(x, __LINE__);\n", "", {}},
    {"LineInAConstant", "\nint a[__LINE__];\n", "", {}},
    {"LineInACondition", "\n#if foo(1, __LINE__)\n#endif\n", "", {}},
    {"LineInTemplateArguments", "\nint a = f<1, __LINE__>();\n", "", {}},
    {"LineDirective", "\n#line 7\nint a;\n", "", {}},
    {"LineMarker", "\n# 7 \"a.cu\"\nint a;\n", "", {}},
    {"Nothing", "\n\n", "\n", {}},
};

class HostProgramText : public ::testing::TestWithParam<Compaction> {};

TEST_P(HostProgramText, KeepsTokensAndKnowsLines) {
  const Compaction& expected = GetParam();
  source::Slices slices;
  slices.file = "src/a.cu";
  slices.host = expected.text;
  const source::HostProgram program = source::MakeHostProgram(slices);
  if (expected.compact[0] == '\0') {
    EXPECT_EQ(program.text, expected.text);
    EXPECT_TRUE(program.lines.empty());
  } else {
    EXPECT_EQ(program.text, expected.compact);
    EXPECT_EQ(program.lines.at("src/a.cu"), expected.lines);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HostProgramText, ::testing::ValuesIn(kCompactions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HostProgram, AHeaderThatNeedsItsLinesKeepsAllOfThem) {
  source::Slices slices;
  slices.file = "a.cu";
  slices.host = "\n\nint a;\n";
  slices.host_headers["b.cuh"] = "\nint b[__LINE__];\n";
  const source::HostProgram program = source::MakeHostProgram(slices);
  EXPECT_EQ(program.text, slices.host);
  EXPECT_EQ(program.headers, slices.host_headers);
  EXPECT_EQ(program.UserLine("a.cu", 3), 3);
}

TEST(HostProgram, TranslatesTheCompilersMessages) {
  source::HostProgram program;
  program.lines["src/a.cu"] = {4, 9};
  program.lines["b.cuh"] = {7};
  EXPECT_EQ(program.WithUserLines("In file included from src/a.cu:1,\nb.cuh:1: error: x\nsrc/a.cu:2: note: a.cu:2"),
            "In file included from src/a.cu:4,\nb.cuh:7: error: x\nsrc/a.cu:9: note: a.cu:2");
  EXPECT_EQ(program.WithUserLines("other/src/a.cu:1: src/a.cu:3: src/a.cu:x src/a.cu:"),
            "other/src/a.cu:1: src/a.cu:3: src/a.cu:x src/a.cu:");
  EXPECT_EQ(program.UserLine("src/a.cu", 2), 9);
  EXPECT_EQ(program.UserLine("src/a.cu", 3), 3);
  EXPECT_EQ(program.UserLine("unknown", 1), 1);
}

}  // namespace
}  // namespace warpwright
