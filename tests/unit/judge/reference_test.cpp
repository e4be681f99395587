#include "judge/reference.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "judge/safetensors.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

std::vector<std::byte> Random(DType dtype, size_t n, uint64_t seed, double scale = 1) {
  const CounterRandom random(seed, 1);
  std::vector<std::byte> bytes(n * SizeOf(dtype));
  for (size_t i = 0; i < n; ++i)
    StoreFromDouble(dtype, bytes.data(), i,
                    scale * (IsFloat(dtype) ? random.Uniform(i) - 0.4 : static_cast<double>(random.Below(i, 100))));
  return bytes;
}

RecordedOutput Output(DType dtype, size_t n, bool whole) {
  RecordedOutput output;
  output.name = "out";
  output.dtype = dtype;
  output.shape = {static_cast<int64_t>(n)};
  const auto bytes = Random(dtype, n, 1);
  output.sha256 = Sha256(std::span<const std::byte>(bytes));
  if (whole)
    output.whole = bytes;
  else
    output.sketch = MakeSketch(dtype, bytes);
  return output;
}

RecordedReference Reference() {
  RecordedReference reference;
  reference.kernel = "softmax";
  reference.case_name = "N=1024,C=768";
  reference.scalars = {{"N", int64_t{1024}}, {"scale", 0.125}};
  reference.seed = 0xfedcba9876543210ULL;
  reference.source_sha256 = "aa";
  reference.spec_sha256 = "bb";
  reference.manifest_sha256 = "cc";
  reference.toolchain = "NVRTC 13.0";
  reference.device = "sim:h200";
  reference.outputs = {Output(DType::kF32, 1000, true)};
  return reference;
}

TEST(Reference, IsReadAsItWasWritten) {
  auto folder = *TemporaryDirectory::Create("reference");
  RecordedReference reference = Reference();
  reference.outputs[0].has_truth = true;
  reference.outputs[0].max_error_ulp = 1.25;
  reference.outputs[0].rms_error = 3e-8;
  RecordedOutput sketched = Output(DType::kF16, 100'000, false);
  sketched.name = "large";
  reference.outputs.push_back(sketched);
  ASSERT_TRUE(SaveReference(folder.path(), reference));
  const auto path = folder.path() / ".warpwright" / "references" / "softmax" / "N=1024,C=768.json";
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto again = LoadReference(folder.path(), "softmax", "N=1024,C=768");
  ASSERT_TRUE(again) << again.error().Format();
  ASSERT_TRUE(*again);
  EXPECT_EQ(**again, reference);
  const auto none = LoadReference(folder.path(), "softmax", "other");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(Reference, CaseNamesStayInsideTheFolder) {
  for (const char* name : {"../../etc/passwd", "a/b", "", ".", "..", "a b", "x.outputs", ".hidden"}) {
    const auto path = ReferencePath("/repo", "k", name);
    EXPECT_EQ(path.parent_path(), "/repo/.warpwright/references/k") << name;
    EXPECT_EQ(path.lexically_normal(), path) << name;
    EXPECT_NE(path.filename().string()[0], '.') << name;
  }
  EXPECT_NE(ReferencePath("/r", "k", "a/b"), ReferencePath("/r", "k", "a_b"));
}

TEST(Reference, DamageIsAnErrorWithTheFile) {
  const RecordedReference reference = Reference();
  const std::pair<const char*, const char*> edits[] = {{"\"format\": 1", "\"format\": 2"},
                                                       {"\"variant\": \"base\"", "\"variant\": \"x\""},
                                                       {"\"seed\": \"", "\"seed\": \"x"},
                                                       {"\"dtype\": \"f32\"", "\"dtype\": \"f16\""},
                                                       {"1000\n", "1001\n"},
                                                       {"\"storage\": \"whole\"", "\"storage\": \"sketch\""},
                                                       {"\"sha256\": \"", "\"sha256\": \"0"},
                                                       {"\"kernel\": \"softmax\"", "\"kernel\": \"other\""},
                                                       {"{", ""},
                                                       {"\"N\": 1024", "\"N\": \"x\""}};
  for (const auto& [from, to] : edits) {
    auto folder = *TemporaryDirectory::Create("reference");
    ASSERT_TRUE(SaveReference(folder.path(), reference));
    const auto path = folder.path() / ".warpwright" / "references" / "softmax" / "N=1024,C=768.json";
    std::string text = *ReadFile(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    ASSERT_TRUE(WriteFileAtomically(path, text));
    const auto loaded = LoadReference(folder.path(), "softmax", "N=1024,C=768");
    ASSERT_FALSE(loaded) << from;
    EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(loaded.error().file.find("N=1024,C=768.json"), std::string::npos);
  }
}

TEST(Reference, SketchTellsWrongFromRight) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
    const size_t n = 300'000;
    const RecordedOutput recorded = Output(dtype, n, false);
    const auto good = Random(dtype, n, 1);
    EXPECT_FALSE(CompareRecorded(recorded, 100, {}, good));
    auto rounded = good;  // one ulp here and there
    if (dtype == DType::kF32)
      for (size_t i = 0; i < n; i += 7)
        StoreFromDouble(dtype, rounded.data(), i, LoadAsDouble(dtype, good.data(), i) * (1 + 1.2e-7));
    EXPECT_FALSE(CompareRecorded(recorded, 100, {}, rounded)) << Name(dtype);

    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, Random(dtype, n, 2))) << Name(dtype);
    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, std::vector<std::byte>(good.size()))) << Name(dtype);
    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, {good.begin(), good.end() - 4})) << Name(dtype);
    auto one = good;  // a single wrong element that no sample sees shows in its tile's sum
    StoreFromDouble(dtype, one.data(), 123'457, 50 + LoadAsDouble(dtype, good.data(), 123'457));
    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, one)) << Name(dtype);
    if (!IsFloat(dtype)) continue;
    StoreFromDouble(dtype, one.data(), 123'457, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, one)) << Name(dtype);
    EXPECT_TRUE(CompareRecorded(recorded, 100, {}, Random(dtype, n, 1, 1.02))) << Name(dtype);
  }
}

TEST(Reference, SamplesAreSpreadAndFixed) {
  const auto positions = SamplePositions(1'000'000);
  ASSERT_EQ(positions.size(), 4096u);
  for (size_t i = 1; i < positions.size(); ++i) EXPECT_LT(positions[i - 1], positions[i]);
  EXPECT_LT(positions.back(), 1'000'000u);
  EXPECT_EQ(SamplePositions(1'000'000), positions);
  EXPECT_EQ(SamplePositions(5), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(SamplePositions(0).empty());
}

TEST(Reference, SuppliedTensorsMustFitTheCase) {
  const KernelSpec spec = ElementwiseSpec(DType::kF32, 16);
  struct Row {
    const char* why;
    std::map<std::string, Tensor> tensors;
    bool ok;
  };
  const Row rows[] = {
      {"both", {{"in", Tensor::Zeros(DType::kF32, {16})}, {"out", Tensor::Zeros(DType::kF32, {16})}}, true},
      {"output alone", {{"out", Tensor::Zeros(DType::kF32, {16})}}, true},
      {"no output", {{"in", Tensor::Zeros(DType::kF32, {16})}}, false},
      {"unknown name", {{"out", Tensor::Zeros(DType::kF32, {16})}, {"x", Tensor::Zeros(DType::kF32, {16})}}, false},
      {"a scalar's name", {{"out", Tensor::Zeros(DType::kF32, {16})}, {"n", Tensor::Zeros(DType::kI32, {1})}}, false},
      {"shape", {{"out", Tensor::Zeros(DType::kF32, {15})}}, false},
      {"dtype", {{"out", Tensor::Zeros(DType::kF16, {16})}}, false},
  };
  for (const Row& row : rows) {
    auto folder = *TemporaryDirectory::Create("reference");
    ASSERT_TRUE(WriteFileAtomically(ReferencePath(folder.path(), spec.name, "n") += ".safetensors",
                                    EncodeSafetensors({row.tensors, {}})));
    const auto loaded = LoadSupplied(folder.path(), spec, spec.cases[0]);
    EXPECT_EQ(loaded.has_value(), row.ok) << row.why;
    if (loaded) {
      EXPECT_EQ((*loaded)->tensors, row.tensors);
    }
  }
}

TEST(Reference, SpecDigestFollowsMeaning) {
  const KernelSpec spec = ElementwiseSpec(DType::kF32, 16);
  KernelSpec other = spec;
  other.cases[0].weight = 7;
  other.line = 99;
  EXPECT_EQ(SpecDigest(spec), SpecDigest(other));
  std::get<BufferArgument>(other.args[1].kind).init.b = 2;
  EXPECT_NE(SpecDigest(spec), SpecDigest(other));
}

}  // namespace
}  // namespace warpwright
