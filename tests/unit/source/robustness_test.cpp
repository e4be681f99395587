// Broken files: slicing, inspecting and splicing must return a value for any text.
#include <gtest/gtest.h>

#include <algorithm>

#include "source/inspect.h"
#include "source/slice.h"
#include "source/splice.h"
#include "tests/unit/source/case_file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / "tests/unit/source/cases")) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void Handle(const core::SourceRef& source, const std::string& entry) {
  const auto sliced = source::Slice(source, entry);
  ASSERT_TRUE(sliced) << sliced.error().Format();
  if (const auto* slices = std::get_if<source::Slices>(&*sliced)) {
    const auto lines = std::count(source.text.begin(), source.text.end(), '\n');
    const auto kept = std::count(slices->device.begin(), slices->device.end(), '\n');
    EXPECT_TRUE(kept == lines || (kept == lines + 2 && slices->device.find("#line 1 ") != std::string::npos))
        << source.text;
  }
  EXPECT_TRUE(source::InspectSource(source));
}

TEST(Robustness, TruncatedAndDamagedFiles) {
  uint64_t state = 7;
  const auto next = [&](size_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % std::max<size_t>(1, bound);
  };
  const std::vector<fs::path> files = Files();
  for (size_t i = 0; i < files.size(); i += 5) {
    const SourceCase c = ReadCase(files[i]);
    core::SourceRef source{files[i].parent_path().string(), files[i].filename().string(),
                           c.text.substr(0, next(c.text.size()))};
    Handle(source, c.spec.entry);
    source.text = c.text;
    for (int k = 0; k < 8; ++k) {
      const char junk[] = "(){}<>;#\\\"'/*,:\n";
      source.text[next(source.text.size())] = junk[next(sizeof(junk) - 1)];
    }
    Handle(source, c.spec.entry);
    EXPECT_TRUE(source::Splice({{source.root, source.file, c.text}, source.text, c.spec.entry}));
  }
}

TEST(Robustness, OddTexts) {
  for (const char* text : {"",
                           "\n",
                           "#",
                           "#include",
                           "#include <",
                           "__global__",
                           "k<<<",
                           "k<<<>>>()",
                           ">>>(",
                           "template <",
                           "namespace {",
                           "}",
                           "}}}",
                           "extern \"C\" {",
                           "void f(",
                           "void f() {",
                           "__global__ void f() {",
                           "#define f(",
                           "#define",
                           "f<<<1,1>>>(",
                           "\"",
                           "R\"(",
                           "/*",
                           "struct",
                           "operator",
                           "using",
                           "typedef",
                           "enum {",
                           "void f() {} /* \\",
                           "#define A {\nA A A\n",
                           "\xef\xbb\xbf__global__ void f() {}"}) {
    Handle({"/tmp", "ww-odd.cu", text}, "f");
  }
}

TEST(Robustness, DeepNestingAndLongLines) {
  Handle({"/tmp", "ww-deep.cu", "void f() " + std::string(200, '{') + std::string(200, '}')}, "f");
  Handle({"/tmp", "ww-long.cu", "__global__ void f(float* x) { *x = 0" + std::string(20'000, ' ') + "; }"}, "f");
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += "__device__ float f" + std::to_string(i) + "() { return " + std::to_string(i) + "; }\n";
  Handle({"/tmp", "ww-many.cu", many + "__global__ void f(float* x) { *x = f1999(); }"}, "f");
}

}  // namespace
}  // namespace warpwright
