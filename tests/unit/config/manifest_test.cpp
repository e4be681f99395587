#include "config/manifest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "config/repository_path.h"

namespace warpwright {
namespace {

constexpr std::string_view kManifest = R"yaml(version: 1
kernels:
  - name: softmax
    file: kernels/softmax.cu
    entry: softmax_forward
    args:
      out: {buffer: f32, shape: [N, C], role: out}
      inp: {buffer: f32, shape: [N, "ceil_div(C, 1)"], role: in, init: {normal: [0, 2]}, alignment: 16}
      index: {buffer: i32, shape: [N], role: in, init: {integers: [0, "C - 1"]}}
      work: {buffer: u8, shape: [N * 4], role: scratch}
      N: {scalar: i32}
      C: {scalar: i32}
      eps: {scalar: f32, value: 1e-5}
      causal: {scalar: bool, value: false}
    cases:
      - {name: gpt2, N: 8192, C: 50257, weight: 3}
      - {N: 1024, C: 768, eps: 0.5}
      - {name: small, N: 37, C: 130, on: [sim], causal: true}
    launch: {grid: ["ceil_div(N, 256)"], block: [32, 8], shared_bytes: 4 * C}
    tolerance: {relative: 1e-3}
    allow: [tf32, clock, state]
    accumulation: C
    special: strict
    alias: [[out, inp]]
policy: {min_speedup: 1.1, max_rounds: 5, require: [nvcc]}
)yaml";

TEST(Manifest, ReadsEverything) {
  auto manifest = config::ParseManifest(kManifest, ".warpwright.yml");
  ASSERT_TRUE(manifest) << manifest.error().Format();
  EXPECT_EQ(manifest->digest.size(), 64u);
  EXPECT_EQ(manifest->policy.min_speedup, 1.1);
  EXPECT_EQ(manifest->policy.max_rounds, 5);
  EXPECT_EQ(manifest->policy.max_repairs, 3);
  ASSERT_EQ(manifest->kernels.size(), 1u);
  const core::KernelSpec& spec = manifest->kernels[0];
  EXPECT_EQ(spec.name, "softmax");
  EXPECT_EQ(spec.entry, "softmax_forward");
  EXPECT_EQ(spec.line, 3);
  ASSERT_EQ(spec.args.size(), 8u);
  EXPECT_EQ(spec.args[0].name, "out");
  EXPECT_EQ(spec.args[0].line, 7);
  EXPECT_EQ(spec.args[7].name, "causal");
  const auto& inp = std::get<core::BufferArgument>(spec.Find("inp")->kind);
  EXPECT_EQ(inp.init.kind, core::Init::Kind::kNormal);
  EXPECT_EQ(inp.init.b, 2);
  EXPECT_EQ(inp.alignment, 16);
  EXPECT_EQ(inp.role, core::Role::kIn);
  const auto& index = std::get<core::BufferArgument>(spec.Find("index")->kind);
  EXPECT_EQ(index.init.kind, core::Init::Kind::kIntegers);
  EXPECT_EQ(index.init.high->text(), "C - 1");
  ASSERT_EQ(spec.cases.size(), 3u);
  EXPECT_EQ(spec.cases[0].weight, 3);
  for (const core::Case& c : spec.cases)
    if (c.on == std::set<core::DeviceKind>{core::DeviceKind::kSim}) {
      EXPECT_EQ(c.weight, 0) << c.name << " is only for the simulator: verified, its time does not count";
    }
  EXPECT_EQ(spec.cases[1].name, "N=1024,C=768,eps=0.5");
  EXPECT_EQ(std::get<int64_t>(spec.cases[1].scalars.at("C")), 768);
  EXPECT_EQ(std::get<double>(spec.cases[1].scalars.at("eps")), 0.5);
  EXPECT_EQ(std::get<double>(spec.cases[0].scalars.at("eps")), 1e-5);
  EXPECT_EQ(std::get<int64_t>(spec.cases[2].scalars.at("causal")), 1);
  EXPECT_EQ(spec.cases[2].on, std::set<core::DeviceKind>{core::DeviceKind::kSim});
  EXPECT_EQ(spec.cases[0].on.size(), 2u);
  ASSERT_TRUE(spec.launch);
  EXPECT_EQ(spec.launch->block.size(), 2u);
  EXPECT_EQ(spec.tolerance.relative, 1e-3);
  EXPECT_EQ(spec.allow, (std::set<core::Allow>{core::Allow::kTf32, core::Allow::kClock, core::Allow::kState}));
  EXPECT_EQ(spec.accumulation->text(), "C");
  EXPECT_EQ(spec.special, core::SpecialInputs::kStrict);
  ASSERT_TRUE(spec.alias);
  ASSERT_EQ(spec.alias->size(), 1u);
  EXPECT_EQ(spec.alias->front().output, "out");
  EXPECT_EQ(spec.alias->front().input, "inp");
  EXPECT_EQ(manifest->policy.require, std::set<core::RequiredTool>{core::RequiredTool::kNvcc});
}

TEST(Manifest, SpecialAndAliasHaveDefaults) {
  std::string text(kManifest);
  const auto drop = [&](std::string_view line) { text.erase(text.find(line), line.size()); };
  drop("    special: strict\n");
  drop("    alias: [[out, inp]]\n");
  drop(", require: [nvcc]");
  const auto manifest = config::ParseManifest(text, "m.yml");
  ASSERT_TRUE(manifest) << manifest.error().Format();
  EXPECT_EQ(manifest->kernels[0].special, core::SpecialInputs::kReliable);
  EXPECT_FALSE(manifest->kernels[0].alias);
  EXPECT_TRUE(manifest->policy.require.empty());
  text.replace(text.find("    accumulation: C\n"), 0, "    alias: []\n");
  const auto never = config::ParseManifest(text, "m.yml");
  ASSERT_TRUE(never) << never.error().Format();
  EXPECT_TRUE(never->kernels[0].alias && never->kernels[0].alias->empty());
}

TEST(Manifest, AKernelsBuildHoldsInPlaceOfTheCommonOne) {
  std::string text(kManifest);
  text.insert(text.find("kernels:"),
              "build: {include: [include, .], define: {TILE: 32, REAL: float, EMPTY: }, std: c++20, "
              "flags: [-use_fast_math, --fmad=false]}\n");
  const auto common = config::ParseManifest(text, "m.yml");
  ASSERT_TRUE(common) << common.error().Format();
  const core::BuildOptions& build = common->kernels[0].build;
  EXPECT_EQ(build.Text(), "-Iinclude -I. -DEMPTY= -DREAL=float -DTILE=32 -std=c++20 --use_fast_math -fmad=false");
  EXPECT_EQ(build.line, 2);
  EXPECT_EQ(build.NvccArguments("/r"),
            (std::vector<std::string>{"-std=c++20", "-I/r/include", "-I/r", "-DEMPTY=", "-DREAL=float", "-DTILE=32",
                                      "--use_fast_math", "-fmad=false"}));
  EXPECT_FALSE(build.IsDefault());
  text.replace(text.find("    accumulation: C\n"), 0, "    build: {std: c++14, define: {}}\n");
  const auto own = config::ParseManifest(text, "m.yml");
  ASSERT_TRUE(own) << own.error().Format();
  EXPECT_EQ(own->kernels[0].build.Text(), "-Iinclude -I. -std=c++14 --use_fast_math -fmad=false");
  EXPECT_TRUE(config::ParseManifest(kManifest, "m.yml")->kernels[0].build.IsDefault());
}

// The manifest above with `from` replaced by `to` must give an error with `message` at `line`.
struct Broken {
  std::string name, from, to, message;
  int line;
};
class ManifestRefuses : public testing::TestWithParam<Broken> {};

TEST_P(ManifestRefuses, WithPlaceAndReason) {
  std::string text(kManifest);
  size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, GetParam().from.size(), GetParam().to);
  auto manifest = config::ParseManifest(text, "m.yml");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, ErrorCode::kConfig);
  EXPECT_NE(manifest.error().message.find(GetParam().message), std::string::npos) << manifest.error().Format();
  EXPECT_EQ(manifest.error().line, GetParam().line) << manifest.error().Format();
  EXPECT_EQ(manifest.error().message.find("m.yml:"), std::string::npos)
      << "more than one error: " << manifest.error().Format();
  EXPECT_NE(manifest.error().remedy, "") << manifest.error().Format();
}

INSTANTIATE_TEST_SUITE_P(
    All, ManifestRefuses,
    testing::Values(
        Broken{"version", "version: 1", "version: 2", "'version' is 2; it must be 1", 1},
        Broken{"misspelt_required", "    entry: softmax", "    entri: softmax", "did you mean 'entry'?", 5},
        Broken{"tab", "    entry: softmax", "\t    entry: softmax", "a tab indents this line", 5},
        Broken{"misspelt_key", "shape: [N, C], role: out", "shape: [N, C], role: out, alignmnt: 16",
               "did you mean 'alignment'?", 7},
        Broken{"misspelt_top", "policy:", "polcy:", "did you mean 'policy'?", 25},
        Broken{"absolute", "kernels/softmax.cu", "/etc/passwd", "absolute", 4},
        Broken{"parent", "kernels/softmax.cu", "kernels/../../x.cu", "leaves the repository", 4},
        Broken{"git", "kernels/softmax.cu", ".GIT/hooks/x", ".git", 4},
        Broken{"backslash", "kernels/softmax.cu", "kernels\\softmax.cu", "backslash", 4},
        Broken{"name", "name: softmax", "name: a/b", "kernel's name", 3},
        Broken{"lock", "name: softmax", "name: a.lock", "kernel's name", 3},
        Broken{"entry", "entry: softmax_forward", "entry: f(int)", "not the name of a function", 5},
        Broken{"dtype", "{scalar: i32}\n      C", "{scalar: i33}\n      C", "did you mean 'i32'?", 11},
        Broken{"role", "role: scratch", "role: scrach", "did you mean 'scratch'?", 10},
        Broken{"unknown_in_shape", "[N * 4]", "[M * 4]", "unknown integer scalar 'M'", 10},
        Broken{"float_in_shape", "[N * 4]", "[eps]", "floating scalar", 10},
        Broken{"expression_syntax", "[N * 4]", "[N *]", "expected", 10},
        Broken{"comma", "[N * 4]", "[ceil_div(N, 4)]", "expected", 10},
        Broken{"negative_size", "[N * 4]", "[N - 1000]", "negative", 10},
        Broken{"division_by_zero", "[N * 4]", "[\"N / (C - 768)\"]", "division by zero", 10},
        Broken{"huge", "[N * 4]", "[N * 1000000000]", "16 GiB", 10},
        Broken{"huge_overflow", "[N * 4]", "[N * 1000000000, 1000000000]", "16 GiB", 10},
        Broken{"no_shape", "shape: [N * 4], ", "", "needs the key 'shape'", 10},
        Broken{"init_of_output", "role: out}", "role: out, init: {constant: 1}}", "only 'in' and 'inout'", 7},
        Broken{"init_kind", "{normal: [0, 2]}", "{nromal: [0, 2]}", "did you mean 'normal'?", 8},
        Broken{"init_count", "{normal: [0, 2]}", "{normal: [0]}", "two numbers", 8},
        Broken{"init_negative", "{normal: [0, 2]}", "{normal: [0, -2]}", "negative", 8},
        Broken{"init_empty_range", "{normal: [0, 2]}", "{uniform: [2, 1]}", "below", 8},
        Broken{"init_two", "{normal: [0, 2]}", "{normal: [0, 2], constant: 1}", "one distribution", 8},
        Broken{"init_integers", "[0, \"C - 1\"]", "[0, \"C - 500\"]", "is empty", 9},
        Broken{"init_integers_range", "i32, shape: [N], role: in, init: {integers: [0, \"C - 1\"]}",
               "i8, shape: [N], role: in, init: {integers: [0, \"C - 1\"]}", "must be from -128 to 127", 9},
        Broken{"init_float_for_integers", "{integers: [0, \"C - 1\"]}", "{normal: [0, 1]}", "floating element type", 9},
        Broken{"init_file_path", "{normal: [0, 2]}", "{file: ../x.safetensors, tensor: a}", "leaves the repository", 8},
        Broken{"alignment", "alignment: 16", "alignment: 12", "power of two", 8},
        Broken{"missing_scalar", "C: 768, eps", "eps", "no value for 'C'", 17},
        Broken{"unknown_scalar", "eps: 0.5", "epz: 0.5", "did you mean 'eps'?", 17},
        Broken{"scalar_range", "N: 1024", "N: 3000000000", "i32 holds", 17},
        Broken{"scalar_type", "N: 1024", "N: 1.5", "expected an integer", 17},
        Broken{"duplicate_case", "name: small", "name: gpt2", "second case", 18},
        Broken{"case_name", "name: small", "name: a/b", "case's name", 18},
        Broken{"weight", "weight: 3", "weight: -1", "weight", 16},
        Broken{"device", "on: [sim]", "on: [smi]", "did you mean 'sim'?", 18},
        Broken{"no_device", "on: [sim]", "on: []", "'on' must list", 18},
        Broken{"launch_dims", "block: [32, 8]", "block: [8, 8, 1, 1]", "list of 1 to 3", 19},
        Broken{"launch_threads", "block: [32, 8]", "block: [64, 32]", "2048 threads", 19},
        Broken{"launch_zero", "ceil_div(N, 256)", "N / 100", "must be from 1", 19},
        Broken{"tolerance", "relative: 1e-3", "relative: 2", "must be from", 20},
        Broken{"allow", "[tf32, clock, state]", "[tf23]", "did you mean 'tf32'?", 21},
        Broken{"accumulation", "accumulation: C", "accumulation: C - 130", "must be from 1", 22},
        Broken{"special", "special: strict", "special: strikt", "did you mean 'strict'?", 23},
        Broken{"alias_name", "[[out, inp]]", "[[oot, inp]]", "'oot' is no buffer with the role 'out'", 24},
        Broken{"alias_role", "[[out, inp]]", "[[inp, out]]", "'inp' is no buffer with the role 'out'", 24},
        Broken{"alias_pair", "[[out, inp]]", "[[out]]", "list of pairs", 24},
        Broken{"alias_list", "[[out, inp]]", "out", "list of pairs", 24},
        Broken{"alias_shape", "[[out, inp]]", "[[out, index]]", "different element types or shapes", 24},
        Broken{"build_key", "    special: strict", "    build: {includes: [a]}\n    special: strict",
               "did you mean 'include'?", 23},
        Broken{"build_parent", "    special: strict", "    build:\n      include: [a, ../b]\n    special: strict",
               "leaves the repository", 24},
        Broken{"build_absolute", "    special: strict", "    build: {include: [/usr/include]}\n    special: strict",
               "absolute", 23},
        Broken{"build_shell", "    special: strict", "    build: {include: ['$(id)']}\n    special: strict",
               "nvcc's shell", 23},
        Broken{"build_option", "    special: strict", "    build: {include: ['-imacros']}\n    special: strict",
               "nvcc's shell", 23},
        Broken{"build_define", "    special: strict", "    build: {define: {'A B': 1}}\n    special: strict",
               "not the name of a macro", 23},
        Broken{"build_own_define", "    special: strict",
               "    build: {define: {__CUDA_ARCH__: 1}}\n    special: strict", "defined by the compiler", 23},
        Broken{"build_value", "    special: strict", "    build: {define: {A: '`id`'}}\n    special: strict",
               "cannot be passed", 23},
        Broken{"build_long_value", "    special: strict",
               "    build: {define: {A: " + std::string(201, '1') + "}}\n    special: strict", "cannot be passed", 23},
        Broken{"build_std", "    special: strict", "    build: {std: c++71}\n    special: strict",
               "did you mean 'c++17'?", 23},
        Broken{"build_flag", "    special: strict", "    build: {flags: [--use-fast-math]}\n    special: strict",
               "did you mean '--use_fast_math'?", 23},
        Broken{"build_file_flag", "    special: strict",
               "    build: {flags: [-Xcompiler=-fplugin=a.so]}\n    special: strict", "unknown flag", 23},
        Broken{"require", "require: [nvcc]", "require: [nvc]", "did you mean 'nvcc'?", 25},
        Broken{"require_list", "require: [nvcc]", "require: nvcc", "'require' must be a list", 25},
        Broken{"policy", "min_speedup: 1.1", "min_speedup: 0.5", "must be from 1", 25},
        Broken{"no_output", "role: out}", "role: in}", "'out' or 'inout'", 7},
        Broken{"reserved_scalar", "value: false}", "value: false}\n      weight: {scalar: i32, value: 1}",
               "key of cases", 15}),
    [](const auto& test) { return test.param.name; });

// What `warpwright init` could not know: a question blocks the kernel that it is about.
TEST(Manifest, AnUnansweredQuestionBlocksItsOwnKernel) {
  const std::string waiting = R"yaml(  - name: other
    file: other.cu
    entry: other
    args:
      out: {buffer: f32, shape: [?], role: out}  # how many elements? e.g. [rows, columns]
      rows: {scalar: i32}
    cases:
      - {name: typical, rows: ?}
)yaml";
  std::string text(kManifest);
  text.insert(text.find("policy:"), waiting);
  const auto manifest = config::ParseManifest(text, ".warpwright.yml");
  ASSERT_TRUE(manifest) << manifest.error().Format();
  ASSERT_EQ(manifest->kernels.size(), 1u);
  ASSERT_EQ(manifest->unanswered.size(), 1u);
  EXPECT_EQ(manifest->unanswered[0].name, "other");
  const Error& question = manifest->unanswered[0].question;
  EXPECT_EQ(question.message, "kernel 'other' waits for an answer: 'shape' is a question mark");
  EXPECT_NE(question.remedy.find("for example shape: [rows, columns]"), std::string::npos) << question.remedy;
  EXPECT_GT(question.line, 0);
  const auto alone = config::ParseManifest("version: 1\nkernels:\n" + waiting, ".warpwright.yml");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("waits for an answer"), std::string::npos);
  const auto listed =
      config::ParseManifest("version: 1\nkernels:\n" + waiting, ".warpwright.yml", config::Unanswered::kList);
  ASSERT_TRUE(listed) << listed.error().Format();
  EXPECT_EQ(listed->unanswered.size(), 1u);
}

// The example is one that can be written there.
TEST(Manifest, AnswersHaveAnExampleOfTheirKind) {
  struct Row {
    const char *from, *to, *example;
  };
  for (const Row& row : {Row{"in: {buffer: f32, shape: [N], role: in}", "in: ?",
                             "for example in: {buffer: f32, shape: [N], role: in}, or in: {scalar: i32}"},
                         Row{"shape: [N], role: in", "shape: ?, role: in", "for example shape: [rows, columns]"},
                         Row{"role: in}", "role: ?}", "for example role: in, out or inout"},
                         Row{"N: 100}", "N: ?}", "for example N: 1024"}}) {
    std::string text =
        "version: 1\nkernels:\n  - name: k\n    file: k.cu\n    entry: k\n    args:\n"
        "      in: {buffer: f32, shape: [N], role: in}\n      N: {scalar: i32}\n    cases: [{name: c, N: 100}]\n";
    text.replace(text.find(row.from), std::string_view(row.from).size(), row.to);
    const auto manifest = config::ParseManifest(text, "m.yml", config::Unanswered::kList);
    ASSERT_TRUE(manifest) << row.to << manifest.error().Format();
    ASSERT_EQ(manifest->unanswered.size(), 1u) << row.to;
    EXPECT_TRUE(manifest->unanswered[0].question.remedy.starts_with(row.example))
        << manifest->unanswered[0].question.remedy;
  }
}

TEST(Manifest, ListsEveryError) {
  std::string text(kManifest);
  text.replace(text.find("relative"), 8, "realtive");
  text.replace(text.find("tf32"), 4, "tf99");
  auto manifest = config::ParseManifest(text, "m.yml");
  ASSERT_FALSE(manifest);
  std::string all = manifest.error().Format();
  for (const char* part : {"m.yml:20:17: unknown key 'realtive'; did you mean 'relative'?", "m.yml:21:"})
    EXPECT_NE(all.find(part), std::string::npos) << all;
  EXPECT_EQ(all.find("needs the key"), std::string::npos) << "it is there, misspelt: " << all;
}

TEST(Manifest, CasesWithoutScalars) {
  auto manifest = config::ParseManifest(
      "version: 1\nkernels:\n- {name: k, file: k.cu, entry: 'ns::k<float, 4>', args: {o: {buffer: f16, shape: [], "
      "role: out}}, cases: [{}]}\n",
      "m.yml");
  ASSERT_TRUE(manifest) << manifest.error().Format();
  EXPECT_EQ(manifest->kernels[0].cases[0].name, "default");
}

class LoadManifestTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryDirectory::Create("ww-manifest");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    std::filesystem::create_directories(root() / "kernels");
    Write(".warpwright.yml", std::string(kManifest));
  }
  const std::filesystem::path& root() const { return folder_->path(); }
  void Write(const std::string& file, const std::string& text) { std::ofstream(root() / file) << text; }
  std::string LoadError() {
    auto manifest = config::LoadManifest(root());
    return manifest ? "" : manifest.error().Format();
  }
  std::optional<base::TemporaryDirectory> folder_;
};

TEST_F(LoadManifestTest, FindsTheFile) {
  EXPECT_NE(LoadError().find("does not exist"), std::string::npos);
  Write("kernels/softmax.cu", "");
  EXPECT_EQ(LoadError(), "");
}
TEST_F(LoadManifestTest, RefusesSymbolicLinks) {
  Write("real.cu", "");
  std::filesystem::create_symlink(root() / "real.cu", root() / "kernels/softmax.cu");
  EXPECT_NE(LoadError().find("symbolic link"), std::string::npos);
  std::filesystem::remove_all(root() / "kernels");
  std::filesystem::create_directories(root() / "other");
  Write("other/softmax.cu", "");
  std::filesystem::create_directory_symlink(root() / "other", root() / "kernels");
  EXPECT_NE(LoadError().find("symbolic link"), std::string::npos);
}
TEST_F(LoadManifestTest, RefusesAFolderAndAMissingOrLinkedManifest) {
  std::filesystem::create_directories(root() / "kernels/softmax.cu");
  EXPECT_NE(LoadError().find("not a regular file"), std::string::npos);
  std::filesystem::rename(root() / ".warpwright.yml", root() / "x.yml");
  EXPECT_NE(LoadError().find("warpwright init"), std::string::npos);
  std::filesystem::create_symlink(root() / "x.yml", root() / ".warpwright.yml");
  EXPECT_NE(LoadError().find("not a regular file"), std::string::npos);
}

TEST_F(LoadManifestTest, FoldersOfTheBuildAreInTheRepository) {
  Write("kernels/softmax.cu", "");
  const auto with = [&](const std::string& folder) {
    Write(".warpwright.yml", "version: 1\nbuild:\n  include: [" + folder + "]\n" +
                                 std::string(kManifest).substr(std::string_view("version: 1\n").size()));
    return LoadError();
  };
  EXPECT_EQ(with("."), "");
  EXPECT_EQ(with("kernels"), "");
  const std::string missing = with("missing");
  EXPECT_NE(missing.find("'missing' does not exist in the repository"), std::string::npos) << missing;
  EXPECT_NE(missing.find(".warpwright.yml:3"), std::string::npos) << missing;
  EXPECT_NE(missing.find("name a folder"), std::string::npos) << missing;
  EXPECT_NE(with("kernels/softmax.cu").find("not a folder"), std::string::npos);
  std::filesystem::create_directory_symlink("/usr/include", root() / "linked");
  EXPECT_NE(with("linked").find("symbolic link"), std::string::npos);
}

TEST(RepositoryPath, Texts) {
  for (const char* good : {"a.cu", "a/b.cu", "a/.github/b", "..a/b", "a b/c.cu"})
    EXPECT_TRUE(config::CheckRepositoryPath(good)) << good;
  for (const char* bad :
       {"", "/", "/a", "a/", "a//b", "./a", "a/./b", "..", "a/..", ".git", "a/.git/b", ".Git", "GIT~1/x", "a\nb"})
    EXPECT_FALSE(config::CheckRepositoryPath(bad)) << bad;
}

}  // namespace
}  // namespace warpwright
