// Which lines give a variable its value.
#include "rewrite/value_flow.h"

#include <gtest/gtest.h>

#include "rewrite/added_lines.h"

namespace warpwright::rewrite {
namespace {

using Sources = std::vector<std::vector<int>>;

TEST(ValueFlow, ConstantsAreNoSource) {
  const ValueFlow flow(
      "void f(float* out, const float* x, int n) {\n"
      "  float part[4] = {}, sum = 0.0f;\n"
      "  for (int k = 0; k < n; ++k) {\n"
      "    part[k & 3] += x[k];\n"
      "    part[0] = 0;\n"
      "  }\n"
      "  float all = part[0] + n;\n"
      "  sum += all;\n"
      "  out[0] = sum;\n"
      "}\n");
  EXPECT_EQ(flow.SourcesOf(2), Sources());
  EXPECT_EQ(flow.SourcesOf(4), Sources({{3}})) << "of k; x is no local variable";
  EXPECT_EQ(flow.SourcesOf(7), Sources({{4}}));
  EXPECT_EQ(flow.SourcesOf(8), Sources({{7}}));
  EXPECT_EQ(flow.SourcesOf(9), Sources({{8}}));
  EXPECT_EQ(flow.SourcesOf(10), Sources());
  for (int line = 1; line <= 10; ++line)
    EXPECT_EQ(flow.PutsConstants(line), line == 2 || line == 3 || line == 5) << line;
}

// What is not understood gives a value.
TEST(ValueFlow, WhatMayGiveAValueDoes) {
  for (const char* gives : {"part = x[0];", "load(part, x);", "load<4>(x, part);", "load(&part);", "part++;", "--part;",
                            "part >>= 1;", "part <<= 1;", "part.x = x[0];", "if ((part = x[0]) > 0) n = 2;",
                            "for (part = n; n > 0;) n = 2;", "auto& other = part; other = x[0];"}) {
    const std::string text =
        "void f(float* x, int n) {\n  float part = 0;\n  " + std::string(gives) + "\n  float sum = part;\n}\n";
    EXPECT_EQ(ValueFlow(text).SourcesOf(4), Sources({{3}})) << gives;
  }
  for (const char* reads : {"float other = part;", "n = f(part + 1);", "if (part > 0) n = 2;", "x[0] = part;"}) {
    const std::string text =
        "void f(float* x, int n) {\n  float part = 0;\n  " + std::string(reads) + "\n  float sum = part;\n}\n";
    EXPECT_EQ(ValueFlow(text).SourcesOf(4), Sources()) << reads;
  }
}

TEST(ValueFlow, FunctionsHaveTheirOwnVariables) {
  const ValueFlow flow(
      "void f(float* x) {\n  float part = 0;\n  part = x[0];\n  x[1] = part;\n}\n"
      "void g(float* x, float part) {\n  x[1] = part;\n}\n");
  EXPECT_EQ(flow.SourcesOf(4), Sources({{3}}));
  EXPECT_EQ(flow.SourcesOf(7), Sources()) << "a parameter has a value";
}

TEST(ValueFlow, HoldsWhatNobodyWrote) {
  for (const char* text : {"", "{", "(", "void f() {", "f() { for (", "f() { x = ", "f() { = ; }", "f() { a[ = 1; }",
                           "f() { }}}} x = y;", "f() { ,,, ; } ) {", "f() { if", "f() { *p = a; a->b = c; }"})
    EXPECT_LE(ValueFlow(text).SourcesOf(1).size(), 2u) << text;
}

// Only added lines may be without effect: what stood before is known to run.
TEST(AddedLines, HaveSourcesThatAreAdded) {
  const std::string original = "void f(float* x, int n) {\nfloat part = 0;\npart += x[0];\nx[1] = 2;\n}\n";
  const auto sources = [&](const std::string& line) {
    const auto lines =
        AddedLines(original, "void f(float* x, int n) {\nfloat part = 0;\n" + line + "\nx[1] = part;\n}\n");
    return lines.empty() ? Sources({{}}) : lines.back().sources;
  };
  EXPECT_EQ(sources("part += x[0];"), Sources());
  EXPECT_EQ(sources("part += x[2];"), Sources({{3}}));
  EXPECT_EQ(sources("part += x[2];\npart += x[0];"), Sources());
}

TEST(AddedLines, OldWorkMayHaveOtherNames) {
  const std::string original = "for (int k = 0; k < n; ++k) sum += x[k] * load(w, k).x;\n";
  const auto is_old = [&](const std::string& line) {
    const auto lines = AddedLines(original, "\n" + line + "\n");
    return lines.size() == 1 && lines[0].old_work;
  };
  EXPECT_TRUE(is_old("for (; j < n; ++j) s0 += x[j] * load(w, j).x;"));
  EXPECT_TRUE(is_old("acc += a[q] * load(b, q).x;"));
  EXPECT_FALSE(is_old("sum += x[k] * load(w, j).x;"));
  EXPECT_FALSE(is_old("sum += x[k + 1] * load(w, k).x;"));
  EXPECT_FALSE(is_old("sum += x[k] * load(w, k).y;"));
  EXPECT_FALSE(is_old("sum += x[k] * fetch(w, k).x;"));
}

}  // namespace
}  // namespace warpwright::rewrite
