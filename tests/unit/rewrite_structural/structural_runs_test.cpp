// The original and its rewrites give the same results on the simulated device, on sizes around warps, blocks and tiles.
// The simulator also faults on accesses out of bounds, reads of uninitialised memory, races in shared memory and
// barriers that not all threads reach.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/random.h"
#include "cli/worker_devices.h"
#include "config/manifest.h"
#include "core/expression.h"
#include "products.h"
#include "row_styles.h"
#include "structural_test_support.h"
#include "tests/support/compiled_cache.h"
#include "worker/service.h"

namespace warpwright {
namespace {

using namespace structural_test;
using Sizes = std::map<std::string, int64_t>;

const std::string kExamples = std::string(WW_SOURCE_DIR) + "/config/examples/kernels";

worker::Service& TheService() {
  static worker::Service service(CompiledCache(), cli::OpenDevice);
  return service;
}

// "out:f32[N*C]:out inp:f32[N*C]:in N C B=2 M:i64"
core::KernelSpec DescribeArguments(const std::string& description, Sizes& sizes) {
  core::KernelSpec spec;
  spec.name = spec.entry = "entry";
  spec.file = "kernel.cu";
  std::istringstream words(description);
  for (std::string word; words >> word;) {
    core::Argument argument;
    const size_t open = word.find('['), colon = word.find(':'), equals = word.find('=');
    argument.name = word.substr(0, std::min({open, colon, equals}));
    if (open != std::string::npos) {
      core::BufferArgument buffer;
      buffer.dtype = *core::ParseDType(word.substr(colon + 1, open - colon - 1));
      const size_t close = word.find(']');
      buffer.shape.push_back(*core::Expression::Parse(word.substr(open + 1, close - open - 1)));
      const std::string role = word.substr(close + 2);
      buffer.role = role == "in" ? core::Role::kIn : role == "out" ? core::Role::kOut : core::Role::kInOut;
      argument.kind = buffer;
    } else {
      core::ScalarArgument scalar;
      if (colon != std::string::npos) scalar.dtype = *core::ParseDType(word.substr(colon + 1));
      if (equals != std::string::npos) sizes[argument.name] = std::stoll(word.substr(equals + 1));
      argument.kind = scalar;
    }
    spec.args.push_back(std::move(argument));
  }
  return spec;
}

// Values in [-1, 1], multiples of 1/4 if ties matter; indices and offsets of compressed rows by name.
double ValueOf(const core::Argument& argument, core::DType dtype, size_t i, const Sizes& sizes, bool ties) {
  const base::CounterRandom random(7, std::hash<std::string>()(argument.name));
  if (argument.name == "start") return static_cast<double>(static_cast<int64_t>(i) * sizes.at("C"));
  if (argument.name == "column") return static_cast<double>(random.Below(i, static_cast<uint64_t>(sizes.at("n"))));
  if (argument.name == "targets") return static_cast<double>(random.Below(i, static_cast<uint64_t>(sizes.at("V"))));
  if (!core::IsFloat(dtype)) return static_cast<double>(random.Below(i, 17)) - 8.0;
  const double value = 2 * random.Uniform(i) - 1;
  return ties ? std::round(value * 4) / 4 : value;
}

struct Run {
  std::vector<base::Bytes> buffers;  // of all buffer arguments
  std::string problem;
};

Run Execute(const core::KernelSpec& spec, const std::string& file, const std::string& text, const Sizes& sizes,
            bool ties) {
  core::ExecuteRequest request;
  request.source = {kExamples, file, text};
  request.spec = spec;
  request.device = "sim:h200";
  for (const core::Argument& argument : spec.args) {
    if (const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind)) {
      if (sizes.contains(argument.name)) request.scalars[argument.name] = sizes.at(argument.name);
      else if (scalar->value) request.scalars[argument.name] = *scalar->value;
      else if (core::IsFloat(scalar->dtype)) request.scalars[argument.name] = 0.25;
      else request.scalars[argument.name] = int64_t{3};
      continue;
    }
    const auto& buffer = std::get<core::BufferArgument>(argument.kind);
    int64_t count = 1;
    for (const core::Expression& extent : buffer.shape) {
      const auto value = extent.Evaluate(sizes);
      if (!value) return {{}, value.error().Format()};
      count *= *value;
    }
    core::BufferContent content;
    content.name = argument.name;
    std::vector<std::byte> values(static_cast<size_t>(count) * core::SizeOf(buffer.dtype));
    content.uninitialized = buffer.role == core::Role::kOut;
    content.read_only = buffer.role == core::Role::kIn;
    if (buffer.role != core::Role::kOut)
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        core::StoreFromDouble(buffer.dtype, values.data(), i, ValueOf(argument, buffer.dtype, i, sizes, ties));
    content.bytes = std::move(values);
    request.buffers.push_back(std::move(content));
  }
  const auto outcome = TheService().Execute(request);
  if (!outcome) return {{}, outcome.error().Format()};
  return std::visit(Overload{[](const core::CompileFailed& failed) { return Run{{}, failed.log}; },
                             [](const core::Refused& refused) { return Run{{}, refused.reason}; },
                             [](const core::Faulted& faulted) { return Run{{}, "fault: " + faulted.fault.message}; },
                             [](const core::Executed& executed) { return Run{executed.buffers, ""}; }},
                    *outcome);
}

double Tolerance(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return 1e-11;
    case core::DType::kF32: return 1e-4;
    case core::DType::kF16: return 4e-3;
    case core::DType::kBF16: return 3e-2;
    default: return 0;
  }
}

// "" or the location of the first difference.
std::string Difference(const core::KernelSpec& spec, const Run& expected, const Run& actual) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto& want = expected.buffers.at(index);
    const auto& got = actual.buffers.at(index++);
    if (buffer->role == core::Role::kIn) continue;
    for (size_t i = 0; i < want.size() / core::SizeOf(buffer->dtype); ++i) {
      const double a = core::LoadAsDouble(buffer->dtype, want.data(), i),
                   b = core::LoadAsDouble(buffer->dtype, got.data(), i);
      const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                        std::abs(a - b) <= Tolerance(buffer->dtype) * std::max(1.0, std::abs(a));
      if (!same)
        return argument.name + "[" + std::to_string(i) + "]: " + std::to_string(a) + " became " + std::to_string(b);
    }
  }
  return "";
}

void ExpectSame(const core::KernelSpec& spec, const std::string& file, const std::string& original,
                const std::string& rewritten, const std::vector<Sizes>& cases, bool ties) {
  ASSERT_FALSE(rewritten.starts_with("REFUSED") || rewritten.starts_with("ERROR")) << rewritten;
  for (const Sizes& sizes : cases) {
    std::string label;
    for (const auto& [name, value] : sizes) label += name + "=" + std::to_string(value) + " ";
    const Run expected = Execute(spec, file, original, sizes, ties),
              actual = Execute(spec, file, rewritten, sizes, ties);
    ASSERT_EQ(expected.problem, "") << label;
    ASSERT_EQ(actual.problem, "") << label << "\n" << rewritten;
    ASSERT_EQ(Difference(spec, expected, actual), "") << label << "\n" << rewritten;
  }
}

// Rows and columns under all the names that the kernels use.
std::vector<Sizes> RowSizes(const Sizes& fixed) {
  std::vector<Sizes> cases;
  for (const auto& [rows, columns] : {std::pair(1, 1), {7, 31}, {37, 33}, {7, 130}, {3, 1000}, {37, 1}}) {
    Sizes sizes;
    for (const char* name : {"N", "rows", "n", "T"}) sizes[name] = rows;
    for (const char* name : {"C", "cols", "D", "V"}) sizes[name] = columns;
    for (const auto& [name, value] : fixed) sizes[name] = value;
    cases.push_back(std::move(sizes));
  }
  return cases;
}

class RowStylesRun : public testing::TestWithParam<Style> {};
TEST_P(RowStylesRun, TheSame) {
  const Style& style = GetParam();
  Sizes fixed;
  const core::KernelSpec spec = DescribeArguments(style.arguments, fixed);
  const std::string source = style.kernel + style.host;
  const bool ties = style.name.find("arg") != std::string::npos;
  // One of the two modes for each style, to limit the time for compiling recorders.
  const Parameters parameters =
      style.name.size() % 2 == 0 ? Parameters{{"threads", "128"}} : Parameters{{"mode", "warp"}};
  ExpectSame(spec, "kernel.cu", source, Apply("row_parallel", source, "entry", parameters), RowSizes(fixed), ties);
}
INSTANTIATE_TEST_SUITE_P(Table, RowStylesRun, testing::ValuesIn(RowStyles()),
                         [](const auto& tested) { return tested.param.name; });

class ProductsRun : public testing::TestWithParam<Product> {};
TEST_P(ProductsRun, TheSame) {
  const Product& product = GetParam();
  Sizes fixed;
  const core::KernelSpec spec = DescribeArguments(product.arguments, fixed);
  std::vector<Sizes> cases;
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1), {7, 33, 31}, {65, 70, 17}, {130, 37, 40}}) {
    Sizes sizes = {{"M", m},  {"N", n}, {"K", k},  {"B", 3},       {"T", m},
                   {"OC", n}, {"C", k}, {"NH", 1}, {"batches", 3}, {"sqrt_block_size", 16}};
    if (product.name.starts_with("causal")) sizes["NH"] = 4, sizes["C"] = 4 * k;
    cases.push_back(std::move(sizes));
  }
  const char* tile = product.name.size() % 2 == 0 ? "64x64x16" : "32x32x32";
  ExpectSame(spec, "kernel.cu", product.source, Apply("tile_matmul", product.source, "entry", {{"tile", tile}}), cases,
             false);
}
INSTANTIATE_TEST_SUITE_P(Table, ProductsRun, testing::ValuesIn(Products()),
                         [](const auto& tested) { return tested.param.name; });

// Every entry of the example repository to which one of the two applies.
struct Example {
  std::string entry, transform;
};
std::ostream& operator<<(std::ostream& out, const Example& example) { return out << example.entry; }
class ExamplesRun : public testing::TestWithParam<Example> {};
TEST_P(ExamplesRun, TheSame) {
  const auto text = structural_test::ReadExample(".warpwright.yml");
  const auto manifest = config::ParseManifest(text, ".warpwright.yml");
  ASSERT_TRUE(manifest) << manifest.error().Format();
  const core::KernelSpec* spec = nullptr;
  for (const core::KernelSpec& kernel : manifest->kernels)
    if (kernel.entry == GetParam().entry) spec = &kernel;
  ASSERT_NE(spec, nullptr);
  std::vector<Sizes> cases = RowSizes({});
  std::vector<Parameters> variants = {{{"threads", "256"}}, {{"mode", "warp"}, {"rows_per_block", "8"}}};
  if (GetParam().transform == "tile_matmul") {
    cases = {{{"M", 7}, {"N", 33}, {"K", 31}, {"B", 2}, {"T", 37}, {"D", 40}},
             {{"M", 65}, {"N", 129}, {"K", 64}, {"B", 1}, {"T", 70}, {"D", 3}}};
    variants = {{{"tile", "64x64x16"}}, {{"tile", "128x128x8"}}, {{"tile", "128x64x16"}}};
  }
  const std::string original = ReadExample(spec->file);
  for (const Parameters& parameters : variants)
    ExpectSame(*spec, spec->file, original, ApplyToExample(GetParam().transform, spec->file, spec->entry, parameters),
               cases, spec->entry == "argmax");
}
INSTANTIATE_TEST_SUITE_P(Table, ExamplesRun,
                         testing::Values(Example{"softmax_forward", "row_parallel"},
                                         Example{"layernorm_forward", "row_parallel"},
                                         Example{"rmsnorm_f32", "row_parallel"},
                                         Example{"rmsnorm_bf16", "row_parallel"}, Example{"row_sum", "row_parallel"},
                                         Example{"argmax", "row_parallel"}, Example{"cross_entropy", "row_parallel"},
                                         Example{"matmul_bias", "tile_matmul"},
                                         Example{"attention_scores", "tile_matmul"}),
                         [](const auto& tested) { return tested.param.entry; });

}  // namespace
}  // namespace warpwright
