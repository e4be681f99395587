// What schedules leave alone, and with which reason; what of a launcher stays.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/computation_builder.h"
#include "tests/support/stranger_forms.h"

namespace warpwright {
namespace {

using testing::Apply;
using testing::Find;
using testing::Stranger;
using testing::StubFor;

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Refusals, LaunchersThatAreNotOurs) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string stub = StubFor(stranger), entry = "void " + stranger.spec.entry;
  const struct {
    std::string text;
    const char* reason;
  } rows[] = {
      {Replaced(stub, entry, "template <typename T>\nvoid " + stranger.spec.entry), "template"},
      {Replaced(stub, entry, "__global__ void " + stranger.spec.entry), "kernel itself"},
      {Replaced(stub, entry, "int " + stranger.spec.entry), "does not end with a return"},
      {Replaced(stub, entry + "(", entry + "(int more, "), "does not know the parameter more"},
      {Replaced(stub, entry, "void another"), "no function"},
  };
  for (const auto& row : rows)
    EXPECT_NE(Apply("schedule_map", stranger, row.text).find(row.reason), std::string::npos)
        << Apply("schedule_map", stranger, row.text);
}

TEST(Launcher, DoesWhatItDidAtSizesThatTheFormIsNotOf) {
  Stranger stranger = Find("04-extension/elu_forward");
  stranger.form.assumptions = {"numel = 6"};
  const std::string check = "  if (numel == 0) return;\n";
  const std::string text = Replaced(StubFor(stranger), "  first_kernel<<<", check + "  first_kernel<<<");
  const std::string rewritten = Apply("schedule_map", stranger, text);
  EXPECT_NE(rewritten.find(check + "  // Other sizes take the launches below.\n  if (numel == 6) {\n"),
            std::string::npos)
      << rewritten;
  EXPECT_NE(rewritten.find("    return;\n  }\n  first_kernel<<<1, 1>>>();\n  old_kernel<<<1, 1>>>("), std::string::npos)
      << rewritten;
  EXPECT_NE(rewritten.find("__global__ void old_kernel("), std::string::npos) << rewritten;
  stranger.form.assumptions = {"the same = 6"};
  EXPECT_EQ(Apply("schedule_map", stranger, text),
            "REFUSED: what it computes is only known at some sizes (the same = 6)");
}

// "void f(...) { g<<<1, 1>>>(); }": behind the new way, its statement stood beside a brace.
TEST(Launcher, OfOneLineGetsLines) {
  Stranger stranger = Find("04-extension/elu_forward");
  stranger.form.assumptions = {"numel = 6"};
  std::string text = StubFor(stranger);
  text = Replaced(text, "\n  first_kernel<<<1, 1>>>();\n  old_kernel", " old_kernel");
  ASSERT_TRUE(text.ends_with(");\n}\n")) << text;
  text.replace(text.size() - 3, 2, " }");
  const std::string rewritten = Apply("schedule_map", stranger, text);
  EXPECT_NE(rewritten.find("    return;\n  }\n  old_kernel<<<1, 1>>>("), std::string::npos) << rewritten;
  EXPECT_TRUE(rewritten.ends_with(");\n}\n")) << rewritten;
}

// What its comment says of the old kernels' threads goes with them, and stays where they do.
TEST(Launcher, IsNotSaidToUseSingleThreadsAnyMore) {
  Stranger stranger = Find("04-extension/elu_forward");
  const std::string entry = "void " + stranger.spec.entry, remark = " * One thread per element.\n";
  const std::string text = Replaced(StubFor(stranger), entry, "/* The activation.\n" + remark + " */\n" + entry);
  const std::string rewritten = Apply("schedule_map", stranger, text);
  EXPECT_NE(rewritten.find("/* The activation.\n */\n" + entry), std::string::npos) << rewritten;
  stranger.form.assumptions = {"numel = 6"};
  EXPECT_NE(Apply("schedule_map", stranger, text).find(remark), std::string::npos);
}

TEST(Launcher, HasNumbersForSmallSizesThatAllCasesShare) {
  const Stranger pool = Find("07-shadownet/maxpool_naive");
  const std::string fixed = Apply("schedule_map", pool, StubFor(pool));
  EXPECT_NE(fixed.find("size == 2 && stride == 2) {"), std::string::npos) << fixed;
  EXPECT_NE(fixed.find("for (int kx = 0; kx < 2; ++kx)"), std::string::npos) << fixed;
  EXPECT_NE(fixed.find("__global__ void old_kernel("), std::string::npos) << "other sizes need it\n" << fixed;
  const std::string any = Apply("schedule_map", pool, StubFor(pool), {{"sizes", "any"}});
  EXPECT_EQ(any.find("stride == 2"), std::string::npos) << any;
  EXPECT_NE(any.find("for (int kx = 0; kx < size; ++kx)"), std::string::npos) << any;
  Stranger differing = pool;
  core::Case other = differing.spec.cases.back();
  other.name += "_other";
  other.scalars["stride"] = int64_t{3};
  differing.spec.cases.push_back(other);
  const std::string shared = Apply("schedule_map", differing, StubFor(differing));
  EXPECT_NE(shared.find("size == 2) {"), std::string::npos) << shared;
  EXPECT_EQ(shared.find("stride == "), std::string::npos) << shared;
  const Stranger& elementwise = Find("04-extension/elu_forward");
  EXPECT_EQ(Apply("schedule_map", elementwise, StubFor(elementwise), {{"sizes", "any"}}),
            "REFUSED: it has no small sizes that could stay open: this is the same as sizes=small_fixed");
}

// Also where nothing but the old kernel stood between the function above and the entry.
TEST(Splice, LeavesABlankLineAboveWhatItAdds) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string above = "inline int half(int n) {\n  return n / 2;\n}\n", stub = StubFor(stranger);
  for (const std::string& between : {std::string(), std::string("\n")}) {
    const std::string rewritten = Apply("schedule_map", stranger, above + between + stub);
    ASSERT_TRUE(rewritten.starts_with(above)) << rewritten;
    EXPECT_EQ(rewritten.find_first_not_of('\n', above.size()), above.size() + 1) << rewritten;
  }
}

// C rounds (0 - 1) / 3 + 1 to one.
TEST(Launcher, TakesNoThirdElementsOfNothing) {
  Stranger stranger = Find("04-extension/elu_forward");
  core::Stage& stage = stranger.form.stages.front();
  const core::Size thirds = testing::S("(numel - 1) / 3 + 1");
  for (core::TensorArgument& tensor : stranger.form.tensors)
    if (tensor.name == stage.name) tensor.shape = {thirds};
  stage.extents = {thirds};
  for (core::Node& node : stage.nodes)
    if (auto* read = std::get_if<core::TensorRead>(&node)) read->at = {testing::V(0) * "3"};
  const std::string rewritten = Apply("schedule_map", stranger, StubFor(stranger));
  EXPECT_NE(rewritten.find("if (numel - 1 >= 0) {"), std::string::npos) << rewritten;
}

TEST(Refusals, ChangesInPlaceThatOthersNeed) {
  const Stranger base = Find("13-losses/mse_grad_inplace");
  Stranger stranger = base;
  for (core::Node& node : stranger.form.stages[0].nodes)
    if (auto* read = std::get_if<core::TensorRead>(&node); read && read->tensor == "pred")
      std::get<core::Affine>(read->at[0]).constant = testing::S("1");
  EXPECT_FALSE(Apply("schedule_map", base, StubFor(base)).starts_with("REFUSED"));
  EXPECT_NE(Apply("schedule_map", stranger, StubFor(stranger)).find("in place"), std::string::npos);
  // The first elements by a variable of the sum, which has the number that the output's own has.
  Stranger summed = base;
  testing::StageBuilder sum("t0", {});
  sum.Reduce(core::ReduceOp::kSum, {{0, "4"}}, sum.Read("pred", {testing::V(0)}));
  core::Stage& output = summed.form.stages[0];
  const auto value = static_cast<core::NodeId>(output.nodes.size() - 1);
  output.nodes.push_back(core::TensorRead{.tensor = "t0", .stage = true, .at = {}});
  output.nodes.push_back(core::Nary{core::ReduceOp::kSum, {value, value + 1}});
  summed.form.stages.insert(summed.form.stages.begin(), sum.stage);
  EXPECT_NE(Apply("schedule_map", summed, StubFor(summed)).find("in place"), std::string::npos)
      << Apply("schedule_map", summed, StubFor(summed));
}

TEST(Refusals, IntermediatesInParts) {
  Stranger stranger = Find("13-losses/mse_grad_inplace");
  for (const bool first : {true, false}) {
    testing::StageBuilder part("t0", {"n"});
    part.Product({part.Read("target", {testing::V(0)}), part.Number(first ? 2 : 3)});
    part.stage.domain = {testing::Within(testing::V(0), first ? "" : "4", first ? "4" : "")};
    stranger.form.stages.insert(stranger.form.stages.end() - 1, part.stage);
  }
  core::Stage& output = stranger.form.stages.back();
  const auto value = static_cast<core::NodeId>(output.nodes.size() - 1);
  output.nodes.push_back(core::TensorRead{.tensor = "t0", .stage = true, .at = {testing::V(0)}});
  output.nodes.push_back(core::Nary{core::ReduceOp::kSum, {value, value + 1}});
  EXPECT_EQ(Apply("schedule_map", stranger, StubFor(stranger)),
            "REFUSED: the intermediate t0 is computed in several parts");
}

// A functor in a header computes as wide as its counter, which nobody sees in the file.
TEST(Launcher, WithACountOf64BitsHasSuchIndices) {
  for (const auto& [dtype, index] :
       {std::pair(core::DType::kI32, "const int i = "), {core::DType::kI64, "const long long i = "}}) {
    Stranger stranger = Find("04-extension/elu_forward");
    for (core::Argument& argument : stranger.spec.args)
      if (auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind); scalar && argument.name == "numel")
        scalar->dtype = dtype;
    const std::string rewritten = Apply("schedule_map", stranger, StubFor(stranger));
    EXPECT_NE(rewritten.find(index), std::string::npos) << rewritten;
  }
}

TEST(Launcher, KeepsItsChecksStreamAndResult) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  std::string text = StubFor(stranger);
  text = Replaced(text, "void " + stranger.spec.entry, "cudaError_t " + stranger.spec.entry);
  text = Replaced(text, ") {\n  first_kernel<<<1, 1>>>();\n  old_kernel<<<1, 1>>>(",
                  ", cudaStream_t stream) {\n  if (numel == 0) return cudaSuccess;\n  const int blocks = 1;\n"
                  "  cudaMemsetAsync(output, 0, 4, stream);\n  first_kernel<<<blocks, 1, 0, stream>>>();\n"
                  "  old_kernel<<<blocks, 1, 0, stream>>>(");
  text = Replaced(text, ");\n}\n", ");\n  return cudaGetLastError();\n}\n");
  const std::string rewritten = Apply("schedule_map", stranger, text);
  for (const char* stays : {"cudaStream_t stream) {\n  if (numel == 0) return cudaSuccess;\n", ", 0, stream>>>",
                            "  return cudaGetLastError();\n}"})
    EXPECT_NE(rewritten.find(stays), std::string::npos) << stays << "\n" << rewritten;
  for (const char* goes : {"cudaMemsetAsync", "old_kernel", "blocks ="})
    EXPECT_EQ(rewritten.find(goes), std::string::npos) << goes << "\n" << rewritten;
}

// What leaves behind a memset of the results, of a product of nothing, leaves them as they were cleared.
TEST(Launcher, LeavesResultsAsTheyWereCleared) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  for (const char* check : {"if (numel < 8) return;", "if (numel < 8) {\n    return;\n  }"}) {
    std::string text = Replaced(StubFor(stranger), ") {\n  first_kernel<<<1, 1>>>();",
                                std::string(") {\n  if (numel == 0) return;\n  cudaMemset(output, 0, 4);\n  ") + check +
                                    "\n  first_kernel<<<1, 1>>>();");
    const std::string rewritten = Apply("schedule_map", stranger, text);
    for (const char* stays :
         {"{\n  if (numel == 0) return;\n", "  if (numel < 8) {\n    cudaMemset(output, 0, 4);\n    return;\n  }\n"})
      EXPECT_NE(rewritten.find(stays), std::string::npos) << stays << "\n" << rewritten;
  }
}

// "if (out_n <= 0) return;" goes with the variable: a grid of nothing would be refused where the original did nothing.
TEST(Launcher, OfNoResultsLaunchesNothing) {
  const Stranger& stranger = Find("07-shadownet/maxpool_naive");
  std::string text = StubFor(stranger);
  const std::string launch = "\n  first_kernel<<<1, 1>>>();";
  EXPECT_EQ(Apply("schedule_window", stranger, text).find("> 0) {\n"), std::string::npos);
  text = Replaced(text, launch, "\n  int blocks = 0;\n  blocks = 7;\n  if (blocks <= 0) return;" + launch);
  const std::string rewritten = Apply("schedule_window", stranger, text);
  EXPECT_NE(rewritten.find("> 0) {\n"), std::string::npos) << rewritten;
}

TEST(Launcher, KeepsDeclarationsThatChecksNeed) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string launch = "\n  first_kernel<<<1, 1>>>();";
  const std::string rows = "\n  const int rows = divide(numel, 2);", others = "\n  const int others = 7;",
                    parts = "\n  const int first = 1, parts = rows / 4;",
                    check = "\n  if (first > 0 && parts > 65535) return;", own = "\n  if (numel > 1 << 20) return;";
  const std::string helper = "static int divide(int a, int b) { return (a + b - 1) / b; }\n";
  const std::string text = helper + Replaced(StubFor(stranger), launch, rows + own + others + parts + check + launch);
  const std::string rewritten = Apply("schedule_map", stranger, text);
  EXPECT_NE(rewritten.find(helper), std::string::npos) << rewritten;
  EXPECT_NE(rewritten.find(own + rows + parts + check), std::string::npos) << rewritten;
  EXPECT_EQ(rewritten.find(others), std::string::npos) << rewritten;
}

// What is computed without a buffer, the formula does not say.
TEST(Launcher, DoesWhatItDidWithoutABuffer) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string stub = StubFor(stranger), end = ") {}\n\nvoid";  // of the old kernel
  const struct {
    const char* kernel;  // what is in it
    const char* condition;
  } rows[] = {{"if (input != nullptr) output[0] = 0;", "  if (input != nullptr) {"},
              {"output[0] = input ? 1 : 0;", "  if (input != nullptr) {"},
              {"if (numel > 1 && input) output[0] = 0;", "  if (input != nullptr) {"},
              {"if (!input || !output) return;", "  if (input != nullptr && output != nullptr) {"},
              {"output[0] = numel ? 1 : 0;", nullptr},
              {"if ((numel) != 0) output[0] = input[0];", nullptr}};
  for (const auto& row : rows) {
    const std::string text = Replaced(stub, end, fmt::format(") {{ {} }}\n\nvoid", row.kernel));
    const std::string rewritten = Apply("schedule_map", stranger, text);
    EXPECT_EQ(rewritten.find("nullptr) {") != std::string::npos, row.condition != nullptr) << rewritten;
    if (row.condition == nullptr) continue;
    EXPECT_NE(rewritten.find(row.condition), std::string::npos) << rewritten;
  }
  const std::string checked = Replaced(Replaced(stub, end, ") { if (input) output[0] = 0; }\n\nvoid"),
                                       "  first_kernel<<<", "  if (input == nullptr) return;\n  first_kernel<<<");
  const std::string rewritten = Apply("schedule_map", stranger, checked);
  EXPECT_EQ(rewritten.find("input != nullptr"), std::string::npos) << rewritten;
}

// As macros and people write them; a variable that only the old launches needed goes with them.
TEST(Launcher, KeepsChecksThatHaveVariables) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string macro =
      "#define CHECK(call) do { cudaError_t status = (call); if (status != cudaSuccess) fail(status); } while (0)\n"
      "#define LAUNCH_CHECK() CHECK(cudaGetLastError())\nvoid fail(cudaError_t status);\n";
  for (const std::string check :
       {"  LAUNCH_CHECK();\n",
        "  cudaError_t error = cudaGetLastError();\n  if (error != cudaSuccess) fail(error);\n"}) {
    const std::string text =
        macro + Replaced(StubFor(stranger), ");\n}\n", ");\n  const int more = 2;\n" + check + "}\n");
    const std::string rewritten = Apply("schedule_map", stranger, text);
    EXPECT_NE(rewritten.find(">>>("), std::string::npos) << rewritten;
    EXPECT_NE(rewritten.find(check + "}"), std::string::npos) << rewritten;
    EXPECT_EQ(rewritten.find("more"), std::string::npos) << rewritten;
  }
}

TEST(Launcher, KernelsThatOthersUseStay) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string other = "\nvoid another(float* x) { old_kernel<<<1, 1>>>(x, x, 1.0f, 1); }\n";
  EXPECT_NE(Apply("schedule_map", stranger, StubFor(stranger) + other).find("__global__ void old_kernel"),
            std::string::npos);
  const std::string pasted = "\n#define CALL(name) old_##name\n";
  EXPECT_NE(Apply("schedule_map", stranger, StubFor(stranger) + pasted).find("__global__ void old_kernel"),
            std::string::npos);
}

// A copy to constant memory that only the old kernels read goes with them; where the old launches stay for other sizes,
// it stays in front of them alone. What other functions find there stays.
TEST(Launcher, CopiesToVariablesGoWithTheirReaders) {
  Stranger stranger = Find("04-extension/elu_forward");
  const std::string copy =
      "  cudaMemcpyToSymbolAsync(ns::table, input, 4 * sizeof(float), 0, cudaMemcpyDeviceToDevice, 0);\n";
  const std::string check = "  if (numel == 0) return;\n";
  const std::string stub =
      "namespace ns { __constant__ float table[4]; }\n" +
      Replaced(Replaced(StubFor(stranger), "first_kernel() {}", "first_kernel() { ns::table[0]; }"),
               "  first_kernel<<<", check + copy + "  first_kernel<<<");
  const std::string filler =
      "\n__global__ void third_kernel(float* x) { x[0] = ns::table[0]; }\nvoid third(float* x) {\n"
      "  cudaMemcpyToSymbol(ns::table, x, 16, 0, cudaMemcpyDeviceToDevice);\n  third_kernel<<<1, 1>>>(x);\n}\n";
  for (const std::string& text : {stub, stub + filler}) {
    const std::string rewritten = Apply("schedule_map", stranger, text);
    EXPECT_EQ(rewritten.find(copy), std::string::npos) << rewritten;
    EXPECT_NE(rewritten.find(check), std::string::npos) << rewritten;
  }
  const std::string readers[] = {"\nvoid another() { first_kernel<<<1, 1>>>(); }\n",
                                 "\n__global__ void third_kernel(float* x) { x[0] = ns::table[0]; }\n",
                                 "\nvoid another(float* x) { cudaMemcpyFromSymbol(x, ns::table, 16); }\n"};
  for (const std::string& reader : readers) {
    const std::string rewritten = Apply("schedule_map", stranger, stub + reader);
    EXPECT_NE(rewritten.find(check + copy), std::string::npos) << rewritten;
    EXPECT_EQ(rewritten.find("old_kernel<<<1, 1>>>("), std::string::npos) << rewritten;
    const std::string hidden =
        Replaced(Replaced(stub, copy, "  fill(input);\n"), "void " + stranger.spec.entry + "(",
                 "static void fill(const float* input) {\n" + copy + "}\n\nvoid " + stranger.spec.entry + "(");
    EXPECT_EQ(Apply("schedule_map", stranger, hidden + reader),
              "REFUSED: other functions count on what the launcher leaves in table");
  }
  stranger.form.assumptions = {"numel = 6"};
  const std::string branched = Apply("schedule_map", stranger, stub);
  EXPECT_NE(branched.find("    return;\n  }\n" + copy + "  first_kernel<<<1, 1>>>();"), std::string::npos) << branched;
  EXPECT_EQ(branched.find(copy), branched.rfind(copy)) << branched;
}

// What a function of a header launches is an old launch, through whatever other function it does.
TEST(Launcher, DropsLaunchesOfHeaders) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("headers"));
  Stranger stranger = Find("04-extension/elu_forward");
  stranger.root = folder.path();
  const std::string header =
      "#pragma once\ntemplate <typename F>\n__global__ void each_kernel(F f) { f(); }\n"
      "namespace tools {\ntemplate <typename F>\nvoid launch(F f) { each_kernel<F><<<1, 1>>>(f); }\n"
      "template <typename F>\nvoid for_each(F f) { launch(f); }\n"
      "inline void check() { cudaGetLastError(); }\n}\n";
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "each.cuh", header));
  const std::string text =
      Replaced(StubFor(stranger), ");\n}\n", ");\n  tools::for_each(alpha);\n  tools::check();\n}\n");
  const std::string rewritten = Apply("schedule_map", stranger, "#include \"each.cuh\"\n\n" + text);
  EXPECT_NE(rewritten.find("elu_forward_elements<"), std::string::npos) << rewritten;
  EXPECT_EQ(rewritten.find("for_each"), std::string::npos) << rewritten;
  EXPECT_NE(rewritten.find("  tools::check();\n}"), std::string::npos) << rewritten;
}

// A constant for the threads of a block stays one.
TEST(Launcher, KeepsTheNameOfItsBlockSize) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string stub =
      Replaced(Replaced(StubFor(stranger), "  first_kernel<<<1, 1>>>();\n", ""), "  old_kernel<<<1, 1>>>(",
               "  const int block_size = 64;\n  old_kernel<<<1, block_size>>>(");
  const std::string rewritten = Apply("schedule_map", stranger, stub);
  EXPECT_NE(rewritten.find("  const int block_size = 256;\n"), std::string::npos) << rewritten;
  EXPECT_NE(rewritten.find("+ block_size - 1) / block_size, block_size>>>("), std::string::npos) << rewritten;
  EXPECT_EQ(rewritten.find("256>>>"), std::string::npos) << rewritten;
  EXPECT_EQ(CompileError(stranger, rewritten), "");
  for (const char* other : {"  dim3 block_size(64);\n", "  int block_size = 64;\n  block_size *= 2;\n"}) {
    const std::string text = Apply("schedule_map", stranger, Replaced(stub, "  const int block_size = 64;\n", other));
    EXPECT_NE(text.find("256>>>("), std::string::npos) << text;
  }
}

// A sum is called what it was called, where one variable was the sum and the form has one.
TEST(Launcher, ResultsKeepTheirNames) {
  const Stranger& stranger = Find("01-student/columnSums");
  const auto written = [&](const std::string& body) {
    std::string text = StubFor(stranger);
    const size_t end = text.find(") {}", text.find("old_kernel("));
    return Apply("schedule_split", stranger, text.replace(end, 4, ") {\n" + body + "}"));
  };
  const std::string one = "  float tally = 0;\n  for (int i = 0; i < 4; i++) tally += 1.0f;\n",
                    other = "  float second = 0;\n  for (int i = 0; i < 4; i++) second += 1.0f;\n",
                    letter = "  float s = 0;\n  for (int i = 0; i < 4; i++) s += 1.0f;\n";
  EXPECT_NE(written(one).find("float tally = 0.0f;"), std::string::npos) << written(one);
  for (const std::string& body : {one + other, letter})
    EXPECT_NE(written(body).find("float sum = 0.0f;"), std::string::npos) << written(body);
}

// One kernel in the place of one; more of either, or one that stays, and the new ones are named after what they do.
TEST(Launcher, AKernelThatTakesThePlaceOfOneHasItsName) {
  const Stranger& stranger = Find("04-extension/elu_forward");
  const std::string two = StubFor(stranger), second = "  first_kernel<<<1, 1>>>();\n",
                    one = Replaced(Replaced(two, "__global__ void first_kernel() {}\n\n", ""), second, "");
  const auto named = [](const std::string& text, const std::string& name) {
    return text.find(" " + name + "(") != std::string::npos;
  };
  const std::string kept = Apply("schedule_map", stranger, one);
  EXPECT_TRUE(named(kept, "old_kernel")) << kept;
  EXPECT_EQ(kept.find("_elements"), std::string::npos) << kept;
  EXPECT_EQ(CompileError(stranger, kept), "");
  const std::string other = "\nvoid another(float* x) { old_kernel<<<1, 1>>>(x, x, 1.0f, 1); }\n";
  for (const std::string& text : {two, one + other}) {
    const std::string rewritten = Apply("schedule_map", stranger, text);
    EXPECT_TRUE(named(rewritten, "elu_forward_elements")) << rewritten;
  }
  // It would have moved behind what stands between them.
  const std::string apart =
      Apply("schedule_map", stranger, Replaced(one, "void elu_forward(", "#define SIDE 16\n\nvoid elu_forward("));
  EXPECT_TRUE(named(apart, "elu_forward_elements")) << apart;
  const Stranger& split = Find("01-student/columnSums");
  std::string text = Replaced(StubFor(split), "__global__ void first_kernel() {}\n\n", "");
  text = Apply("schedule_split", split, Replaced(text, second, ""));
  EXPECT_EQ(text.find("old_kernel"), std::string::npos) << text;
}

}  // namespace
}  // namespace warpwright
