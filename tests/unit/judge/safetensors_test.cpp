#include "judge/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

namespace warpwright {
namespace {

std::string File(const std::string& header, size_t data_bytes) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(header.size() >> (8 * i)));
  return bytes + header + std::string(data_bytes, '\0');
}

TEST(Safetensors, EveryDTypeSurvivesARoundTrip) {
  judge::TensorFile file;
  file.metadata["format"] = "pt";
  for (const core::DType dtype : core::kAllDTypes) {
    core::Tensor tensor = core::Tensor::Zeros(dtype, {3, 2});
    for (size_t i = 0; i < 6; ++i) core::StoreFromDouble(dtype, tensor.data.data(), i, static_cast<double>(i % 2));
    file.tensors[std::string(core::Name(dtype))] = tensor;
  }
  file.tensors["empty"] = core::Tensor::Zeros(core::DType::kF32, {0, 5});
  file.tensors["scalar"] = core::Tensor::Zeros(core::DType::kF64, {});
  const std::string bytes = judge::EncodeSafetensors(file);
  const auto again = judge::DecodeSafetensors(bytes, "x");
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(*again, file);
  EXPECT_EQ(judge::EncodeSafetensors(*again), bytes);
  EXPECT_EQ((bytes.size() -
             [&] {
               size_t data = 0;
               for (const auto& [name, tensor] : file.tensors) data += tensor.data.size();
               return data;
             }()) %
                8,
            0u);
}

TEST(Safetensors, ReadsAFileAsPythonWritesIt) {
  std::string bytes = File(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"a":"b"}}   )", 8);
  const float values[] = {1.5f, -2.0f};
  std::memcpy(bytes.data() + bytes.size() - 8, values, 8);
  const auto file = judge::DecodeSafetensors(bytes, "x");
  ASSERT_TRUE(file) << file.error().Format();
  EXPECT_EQ(file->tensors.at("x").At(0), 1.5);
  EXPECT_EQ(file->tensors.at("x").At(1), -2.0);
  EXPECT_EQ(file->metadata.at("a"), "b");
}

struct Bad {
  const char* why;
  std::string bytes;
  const char* message;
};

TEST(Safetensors, RefusesWhatIsNotExactlyRight) {
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  const Bad cases[] = {
      {"empty", "", "shorter"},
      {"only a length", std::string(8, '\0'), "begin with {"},
      {"length beyond the file", File("{}", 0).substr(0, 9), "longer than the file"},
      {"huge length", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), "larger than 1 MiB"},
      {"no JSON", File("{x}", 0), "not JSON"},
      {"not an object", File("[]", 0), "begin with {"},
      {"nested", File(deep, 0), "more than 4 levels"},
      {"name twice",
       File(
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
           1),
       "twice"},
      {"key twice inside", File(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1), "twice"},
      {"missing field", File(R"({"a":{"dtype":"U8","shape":[1]}})", 1), "needs dtype"},
      {"extra field", File(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1), "nothing else"},
      {"unknown dtype", File(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1), "unsupported dtype"},
      {"negative extent", File(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1), "natural number"},
      {"fractional extent", File(R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1), "natural number"},
      {"product overflows", File(R"({"a":{"dtype":"F64","shape":[4611686018427387904,8],"data_offsets":[0,0]}})", 0),
       "too large"},
      {"outside", File(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 1), "outside the file"},
      {"backwards", File(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[1,0]}})", 1), "outside the file"},
      {"wrong size", File(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4), "its shape needs 8"},
      {"overlap",
       File(
           R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
           3),
       "overlaps"},
      {"hole", File(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2), "hole"},
      {"rest", File(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2), "after the last"},
      {"bool of 2", File(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 0) + "\x02", "neither 0 nor 1"},
      {"rank 17", File(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1),
       "16 dimensions"},
      {"metadata not text", File(R"({"__metadata__":{"a":1}})", 0), "not text"},
      {"bad UTF-8", File("{\"\xff\":1}", 0), "not JSON"},
  };
  for (const Bad& bad : cases) {
    const auto file = judge::DecodeSafetensors(bad.bytes, "refs/x.safetensors");
    ASSERT_FALSE(file) << bad.why;
    EXPECT_EQ(file.error().code, ErrorCode::kConfig) << bad.why;
    EXPECT_EQ(file.error().file, "refs/x.safetensors");
    EXPECT_NE(file.error().message.find(bad.message), std::string::npos) << bad.why << ": " << file.error().message;
  }
}

TEST(Safetensors, EveryTruncationIsAnError) {
  judge::TensorFile file;
  file.tensors["a"] = core::Tensor::Zeros(core::DType::kF32, {4});
  file.tensors["b"] = core::Tensor::Zeros(core::DType::kI8, {3});
  const std::string bytes = judge::EncodeSafetensors(file);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(judge::DecodeSafetensors(bytes.substr(0, n), "x")) << n;
}

}  // namespace
}  // namespace warpwright
