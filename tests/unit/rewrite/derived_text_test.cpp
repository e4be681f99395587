#include "rewrite/derived_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "core/entry_text.h"
#include "rewrite/float64.h"

namespace warpwright {
namespace {

Result<core::RewriteOutcome> Widen(const core::SourceRef& source, const std::string& entry) {
  return rewrite::DeriveText({.source = source, .entry = entry, .transform = std::string(core::kFloat64Text)});
}

TEST(Float64, RewritesTokens) {
  struct Row {
    const char *before, *after;
  };
  const Row rows[] = {
      {"float x = 0.5f;", "double x = ((double)0.5f);"},
      {"const float4* p = reinterpret_cast<const float4*>(q);",
       "const double4* p = reinterpret_cast<const double4*>(q);"},
      {"expf(x) + __expf(y) * rsqrtf(z)", "exp(x) + exp(y) * rsqrt(z)"},
      {"fmaxf(m, -INFINITY)", "fmax(m, -INFINITY)"},
      {"1e-5F + 2.5e+3f + .5f + 1.f", "((double)1e-5F) + ((double)2.5e+3f) + ((double).5f) + ((double)1.f)"},
      {"int i = 0x1f; 10u; 7", "int i = 0x1f; 10u; 7"},
      {"0x1.8p3f", "((double)0x1.8p3f)"},
      {"3.0 * x", "3.0 * x"},
      {"k<float, 4><<<g, b, n * sizeof(float)>>>(x)", "k<double, 4><<<g, b, n * sizeof(double)>>>(x)"},
      {"// a float 1.0f\n\"float\" 'f' /* float */", "// a float 1.0f\n\"float\" 'f' /* float */"},
      {"floats = my_float + afloat4;", "floats = my_float + afloat4;"},
      {"int half = n / 2;", "int half = n / 2;"},
      {"#include <cuda_fp16.h>\nhalf a; __half b = __float2half(__half2float(a));",
       "#include <cuda_fp16.h>\nww_half a; ww_half b = ww_half(double(a));"},
      {"#include \"float.h\"\nfloat x;", "#include \"float.h\"\ndouble x;"},
      {"\"unterminated float\nfloat", "\"unterminated float\ndouble"},
      {"R\"(\nfloat 1.0f\n)\" float", "R\"(\nfloat 1.0f\n)\" double"},
      {"// a \\\nfloat\nfloat", "// a \\\nfloat\ndouble"},
  };
  for (const Row& row : rows) {
    const auto rewritten = rewrite::WidenTokens(row.before);
    ASSERT_TRUE(rewritten) << row.before << ": " << rewritten.error().message;
    EXPECT_EQ(*rewritten, row.after);
  }
}

TEST(Float64, RefusesWhatLooksAtBits) {
  for (const char* text : {"__float_as_int(x)", "asm volatile(\"\")", "__hadd2_rn(a, b)", "__float2int_rn(x)",
                           "wmma::load", "__half_as_ushort(h)"}) {
    const auto rewritten = rewrite::WidenTokens(text);
    ASSERT_FALSE(rewritten) << text;
    EXPECT_EQ(rewritten.error().code, ErrorCode::kUnsupported);
  }
  for (const char* text : {"__forceinline__ __host__ int f() { return __ffs(1); }"})
    EXPECT_TRUE(rewrite::WidenTokens(text));
}

TEST(Float64, InlinesHeadersOfTheRepositoryOnly) {
  auto folder = *base::TemporaryDirectory::Create("shadow");
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "kernels" / "common.cuh",
                                        "#pragma once\n#include \"deep.cuh\"\nfloat helper(float x);\n"));
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "kernels" / "deep.cuh",
                                        "#include \"common.cuh\"\nstruct Deep { float f; };\n"));
  const core::SourceRef source{folder.path().string(), "kernels/softmax.cu",
                               "#include <cuda_runtime.h>\n#include \"common.cuh\"\n#include \"common.cuh\"\n#include "
                               "\"/etc/passwd\"\nfloat kernel;\n"};
  const auto outcome = Widen(source, "softmax<float>");
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto& widened = std::get<core::Rewritten>(*outcome);
  EXPECT_EQ(widened.text,
            "#include <cuda_runtime.h>\nstruct Deep { double f; };\n\ndouble helper(double x);\n\n#include "
            "\"/etc/passwd\"\ndouble kernel;\n");
  EXPECT_EQ(widened.entry, "softmax<double>");
}

TEST(Float64, WidensWhatTheBuildDefines) {
  core::SourceRef source{"/tmp", "a.cu", "#include <cuda_fp16.h>\nREAL x = kOne; HALF y;"};
  source.build.define = {{"REAL", "float"}, {"HALF", "half"}, {"TILE", "32"}};
  const auto outcome = Widen(source, "f");
  ASSERT_TRUE(outcome);
  const std::string& text = std::get<core::Rewritten>(*outcome).text;
  EXPECT_NE(text.find("#undef REAL\n#define REAL double\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#define HALF ww_half\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#define TILE 32\n"), std::string::npos) << text;
}

TEST(Float64, RefusesAWholeTextWithAReason) {
  const auto outcome = Widen({"/tmp", "a.cu", "int x = __float_as_int(y);"}, "f");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<core::RewriteRefusal>(*outcome).reason, "__float_as_int has no counterpart in float64");
}

TEST(Float64, BringsWhatNarrowTypesNeed) {
  const auto outcome = Widen({"/tmp", "a.cu", "#include <cuda_fp16.h>\n__half x;"}, "f<__half>");
  ASSERT_TRUE(outcome);
  const auto& widened = std::get<core::Rewritten>(*outcome);
  EXPECT_NE(widened.text.find("struct ww_narrow"), std::string::npos);
  EXPECT_TRUE(widened.text.ends_with("ww_half x;"));
  EXPECT_EQ(widened.entry, "f<ww_half>");
}

TEST(Declaration, StandsBehindTheLastInclude) {
  struct Row {
    const char *before, *after;
  };
  for (const Row& row : {Row{"#include <a.h>\n  # include \"b.h\" // b\nint x;\n",
                             "#include <a.h>\n  # include \"b.h\" // b\nD\nint x;\n"},
                         {"int x;\n", "D\nint x;\n"},
                         {"#include <a.h>\n/*\n#include <b.h>\n*/\n", "#include <a.h>\nD\n/*\n#include <b.h>\n*/\n"}})
    EXPECT_EQ(rewrite::InsertDeclaration(row.before, "D\n"), row.after);
}

using Names = std::vector<std::string>;

TEST(IncludedNames, EverythingThatLooksLikeAnIncludeIsOne) {
  struct Row {
    const char* text;
    Names names;
  };
  for (const Row& row : {Row{"#include \"a/b.cuh\"\n", {"b.cuh"}},
                         {"#include <x/y.h>\n", {"y.h"}},
                         {"  #  include\t/* why */ \"c.h\"\n", {"c.h"}},
                         {"#inc\\\nlude \"d.h\"\n", {"d.h"}},
                         {"#include_next <e.h>\n", {"e.h"}},
                         {"#import \"f.h\"\n", {"f.h"}},
                         {"%:include \"g.h\"\n", {"g.h"}},
                         {"#if __has_include(\"h.h\")\n", {"h.h"}},
                         {"#if __has_include_next ( <i.h> )\n", {"i.h"}},
                         {"// #include \"j.h\"\n", {}},
                         {"#include \"k.h\" // l.h\n", {"k.h"}},
                         {"#include MACRO\n", {}},
                         {"#include \"unfinished\n", {}},
                         {"int included = 1;\n", {}},
                         {"#include", {}},
                         {"#include /* open", {}},
                         {"", {}}})
    EXPECT_EQ(rewrite::IncludedNames(row.text), row.names) << row.text;
}

// What belongs to an entry keeps its place; what does not is blank, with the comment above it.
TEST(EntryText, IsWhatTheEntryReaches) {
  auto folder = *base::TemporaryDirectory::Create("entry-text");
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "kernels" / "common.cuh",
                                        "#pragma once\n__device__ float twice(float x) { return x + x; }\n"
                                        "__device__ float thrice(float x) { return 3 * x; }\n"));
  const core::SourceRef source{folder.path().string(), "kernels/a.cu",
                               "#include \"common.cuh\"\n"
                               "// of another entry\n"
                               "__global__ void other(float* x) { x[0] = 1; }\n"
                               "\n"
                               "// doubles\n"
                               "template <int N>\n"
                               "__global__ void k(float* x) {\n"
                               "  x[threadIdx.x] = twice(x[threadIdx.x]);\n"
                               "}\n"
                               "void g(float* x) { other<<<1, 1>>>(x); }\n"
                               "void f(float* x) { k<4><<<1, 32>>>(x); }\n"};
  const auto derive = [&](const core::SourceRef& from, std::map<std::string, std::string> parameters) {
    return rewrite::DeriveText({.source = from,
                                .entry = "f",
                                .kernel = {},
                                .transform = std::string(core::kEntryText),
                                .parameters = std::move(parameters)});
  };
  const auto outcome = derive(source, {});
  ASSERT_TRUE(outcome) << outcome.error().Format();
  const auto entry = core::DecodeEntryText(std::get<core::Rewritten>(*outcome));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(std::count(entry->text.begin(), entry->text.end(), '\n'), 11);
  EXPECT_EQ(entry->text.find("other"), std::string::npos) << entry->text;
  EXPECT_NE(entry->text.find("// doubles\ntemplate <int N>\n__global__ void k"), std::string::npos) << entry->text;
  EXPECT_EQ(entry->headers, std::vector<std::string>{"kernels/common.cuh"});
  ASSERT_EQ(entry->functions.size(), 2u);
  EXPECT_EQ(entry->functions[0].name, "k");
  EXPECT_EQ(entry->functions[0].first, 6);
  EXPECT_EQ(entry->functions[0].last, 9);
  EXPECT_EQ(entry->functions[1].name, "f");

  const auto header = derive(source, {{core::kEntryTextFile, "kernels/common.cuh"}});
  ASSERT_TRUE(header) << header.error().Format();
  const std::string& text = std::get<core::Rewritten>(*header).text;
  EXPECT_NE(text.find("twice"), std::string::npos);
  EXPECT_EQ(text.find("thrice"), std::string::npos);

  core::SourceRef spaced = source;  // the same tokens
  spaced.text.replace(spaced.text.find("// doubles"), 10, "/* twice as much */");
  const auto same = derive(spaced, {});
  ASSERT_TRUE(same);
  EXPECT_EQ(core::DecodeEntryText(std::get<core::Rewritten>(*same))->slice_hash, entry->slice_hash);
  core::SourceRef changed = source;
  changed.text.replace(changed.text.find("1, 32"), 5, "1, 64");
  EXPECT_NE(core::DecodeEntryText(std::get<core::Rewritten>(*derive(changed, {})))->slice_hash, entry->slice_hash);
  EXPECT_TRUE(std::holds_alternative<core::RewriteRefusal>(*derive(source, {{core::kEntryTextFile, "no.cuh"}})));
}

TEST(EntryText, NotesThatDoNotDecodeAreAnError) {
  for (const char* note : {"function f 2 1", "function f x 3", "function 1 2", "other", "function f 0 1"})
    EXPECT_FALSE(core::DecodeEntryText({.text = "", .notes = {note}, .entry = {}})) << note;
}

}  // namespace
}  // namespace warpwright
