#include "judge/reference.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "judge/safetensors.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

std::vector<std::byte> Random(core::DType dtype, size_t n, uint64_t seed, double scale = 1) {
  const base::CounterRandom random(seed, 1);
  std::vector<std::byte> bytes(n * core::SizeOf(dtype));
  for (size_t i = 0; i < n; ++i)
    core::StoreFromDouble(
        dtype, bytes.data(), i,
        scale * (core::IsFloat(dtype) ? random.Uniform(i) - 0.4 : static_cast<double>(random.Below(i, 100))));
  return bytes;
}

judge::RecordedOutput Output(core::DType dtype, size_t n, bool whole) {
  judge::RecordedOutput output;
  output.name = "out";
  output.dtype = dtype;
  output.shape = {static_cast<int64_t>(n)};
  const auto bytes = Random(dtype, n, 1);
  output.sha256 = base::Sha256(std::span<const std::byte>(bytes));
  if (whole) output.whole = bytes;
  else output.sketch = judge::MakeSketch(dtype, bytes);
  return output;
}

judge::RecordedReference Reference() {
  judge::RecordedReference reference;
  reference.kernel = "softmax";
  reference.case_name = "N=1024,C=768";
  reference.scalars = {{"N", int64_t{1024}}, {"scale", 0.125}};
  reference.seed = 0xfedcba9876543210ULL;
  reference.source_sha256 = "aa";
  reference.spec_sha256 = "bb";
  reference.manifest_sha256 = "cc";
  reference.toolchain = "NVRTC 13.0";
  reference.device = "sim:h200";
  reference.outputs = {Output(core::DType::kF32, 1000, true)};
  return reference;
}

TEST(Reference, IsReadAsItWasWritten) {
  auto folder = *base::TemporaryDirectory::Create("reference");
  judge::RecordedReference reference = Reference();
  reference.outputs[0].truth = judge::TruthSource::kForm;
  reference.outputs[0].max_error_ulp = 1.25;
  reference.outputs[0].rms_error = 3e-8;
  judge::RecordedOutput sketched = Output(core::DType::kF16, 100'000, false);
  sketched.name = "large";
  reference.outputs.push_back(sketched);
  ASSERT_TRUE(judge::SaveReference(folder.path(), reference));
  const auto path = folder.path() / ".warpwright" / "references" / "softmax" / "N=1024,C=768.json";
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto again = judge::LoadReference(folder.path(), "softmax", "N=1024,C=768");
  ASSERT_TRUE(again) << again.error().Format();
  ASSERT_TRUE(*again);
  EXPECT_EQ(**again, reference);
  const auto none = judge::LoadReference(folder.path(), "softmax", "other");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(Reference, CaseNamesStayInsideTheFolder) {
  for (const char* name : {"../../etc/passwd", "a/b", "", ".", "..", "a b", "x.outputs", ".hidden"}) {
    const auto path = judge::ReferencePath("/repo", "k", name);
    EXPECT_EQ(path.parent_path(), "/repo/.warpwright/references/k") << name;
    EXPECT_EQ(path.lexically_normal(), path) << name;
    EXPECT_NE(path.filename().string()[0], '.') << name;
  }
  EXPECT_NE(judge::ReferencePath("/r", "k", "a/b"), judge::ReferencePath("/r", "k", "a_b"));
}

TEST(Reference, DamageIsAnErrorWithTheFile) {
  const judge::RecordedReference reference = Reference();
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
    auto folder = *base::TemporaryDirectory::Create("reference");
    ASSERT_TRUE(judge::SaveReference(folder.path(), reference));
    const auto path = folder.path() / ".warpwright" / "references" / "softmax" / "N=1024,C=768.json";
    std::string text = *base::ReadFile(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    ASSERT_TRUE(base::WriteFileAtomically(path, text));
    const auto loaded = judge::LoadReference(folder.path(), "softmax", "N=1024,C=768");
    ASSERT_FALSE(loaded) << from;
    EXPECT_EQ(loaded.error().code, ErrorCode::kConfig);
    EXPECT_NE(loaded.error().file.find("N=1024,C=768.json"), std::string::npos);
  }
}

TEST(Reference, SketchTellsWrongFromRight) {
  for (const core::DType dtype : {core::DType::kF32, core::DType::kF16, core::DType::kI32}) {
    const size_t n = 300'000;
    const judge::RecordedOutput recorded = Output(dtype, n, false);
    const auto good = Random(dtype, n, 1);
    EXPECT_FALSE(judge::CompareRecorded(recorded, 100, {}, good));
    auto rounded = good;  // one ulp here and there
    if (dtype == core::DType::kF32)
      for (size_t i = 0; i < n; i += 7)
        core::StoreFromDouble(dtype, rounded.data(), i, core::LoadAsDouble(dtype, good.data(), i) * (1 + 1.2e-7));
    EXPECT_FALSE(judge::CompareRecorded(recorded, 100, {}, rounded)) << core::Name(dtype);

    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, Random(dtype, n, 2))) << core::Name(dtype);
    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, std::vector<std::byte>(good.size()))) << core::Name(dtype);
    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, {good.begin(), good.end() - 4})) << core::Name(dtype);
    auto one = good;  // a single wrong element that no sample covers changes its tile's sum
    core::StoreFromDouble(dtype, one.data(), 123'457, 50 + core::LoadAsDouble(dtype, good.data(), 123'457));
    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, one)) << core::Name(dtype);
    if (!core::IsFloat(dtype)) continue;
    core::StoreFromDouble(dtype, one.data(), 123'457, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, one)) << core::Name(dtype);
    EXPECT_TRUE(judge::CompareRecorded(recorded, 100, {}, Random(dtype, n, 1, 1.02))) << core::Name(dtype);
  }
}

// A mean near zero, of numbers that cancel, in a tile of its own.
TEST(Reference, ASmallElementMayBeOffAsMuchAsThoseBesideIt) {
  const auto with = [](double value) {
    auto bytes = Random(core::DType::kF32, 512, 1, 0.05);
    core::StoreFromDouble(core::DType::kF32, bytes.data(), 312, value);
    return bytes;
  };
  judge::RecordedOutput recorded = Output(core::DType::kF32, 512, false);
  recorded.sketch = judge::MakeSketch(core::DType::kF32, with(1.8e-4));
  EXPECT_FALSE(judge::CompareRecorded(recorded, 768, {}, with(1.8e-4 + 2e-8)));
  EXPECT_TRUE(judge::CompareRecorded(recorded, 768, {}, with(1.8e-4 + 2e-5)));
}

TEST(Reference, SamplesAreSpreadAndFixed) {
  const auto positions = judge::SamplePositions(1'000'000);
  ASSERT_EQ(positions.size(), 4096u);
  for (size_t i = 1; i < positions.size(); ++i) EXPECT_LT(positions[i - 1], positions[i]);
  EXPECT_LT(positions.back(), 1'000'000u);
  EXPECT_EQ(judge::SamplePositions(1'000'000), positions);
  EXPECT_EQ(judge::SamplePositions(5), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(judge::SamplePositions(0).empty());
}

TEST(Reference, SuppliedTensorsMustFitTheCase) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 16);
  struct Row {
    const char* why;
    std::map<std::string, core::Tensor> tensors;
    bool ok;
  };
  const Row rows[] = {
      {"both",
       {{"in", core::Tensor::Zeros(core::DType::kF32, {16})}, {"out", core::Tensor::Zeros(core::DType::kF32, {16})}},
       true},
      {"output alone", {{"out", core::Tensor::Zeros(core::DType::kF32, {16})}}, true},
      {"no output", {{"in", core::Tensor::Zeros(core::DType::kF32, {16})}}, false},
      {"unknown name",
       {{"out", core::Tensor::Zeros(core::DType::kF32, {16})}, {"x", core::Tensor::Zeros(core::DType::kF32, {16})}},
       false},
      {"a scalar's name",
       {{"out", core::Tensor::Zeros(core::DType::kF32, {16})}, {"n", core::Tensor::Zeros(core::DType::kI32, {1})}},
       false},
      {"shape", {{"out", core::Tensor::Zeros(core::DType::kF32, {15})}}, false},
      {"dtype", {{"out", core::Tensor::Zeros(core::DType::kF16, {16})}}, false},
  };
  for (const Row& row : rows) {
    auto folder = *base::TemporaryDirectory::Create("reference");
    ASSERT_TRUE(base::WriteFileAtomically(judge::ReferencePath(folder.path(), spec.name, "n") += ".safetensors",
                                          judge::EncodeSafetensors({row.tensors, {}})));
    const auto loaded = judge::LoadSupplied(folder.path(), spec, spec.cases[0]);
    EXPECT_EQ(loaded.has_value(), row.ok) << row.why;
    if (loaded) {
      EXPECT_EQ((*loaded)->tensors, row.tensors);
    }
  }
}

TEST(Reference, SpecDigestFollowsMeaning) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 16);
  core::KernelSpec other = spec;
  other.cases[0].weight = 7;
  other.line = 99;
  EXPECT_EQ(judge::SpecDigest(spec), judge::SpecDigest(other));
  std::get<core::BufferArgument>(other.args[1].kind).init.b = 2;
  EXPECT_NE(judge::SpecDigest(spec), judge::SpecDigest(other));
}

}  // namespace
}  // namespace warpwright
