// The recorder ran untrusted code: its output is decoded strictly, and two runs must agree.
#include "source/recording.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

const std::string kLaunch =
    R"({"op":"launch","kernel":"k<float>","grid":[1,2,3],"block":[32,1,1],"shared":16,"stream":0,"cooperative":false,"file":"a.cu","line":7,)"
    R"("parameters":[{"bytes":"0000000000000000","pointer":true,"pointers":{"0":[0,4]}},{"bytes":"2a000000","pointer":false,"pointers":{}}]})";

std::string ThreeCalls(const std::string& body) {
  std::string text;
  for (int call = 0; call < 3; ++call) text += "{\"call\":" + std::to_string(call) + "}\n" + body;
  return text + "{\"end\":true}\n";
}
source::Recording Decoded(const std::string& text) {
  auto recording = source::DecodeRecording(text, 1, "a.cu");
  if (!recording) throw std::runtime_error(recording.error().Format());
  return *recording;
}
const std::vector<core::PlanBuffer> kArguments = {{core::PlanBuffer::Kind::kArgument, "x", 1024}};

TEST(Recording, DecodesALaunch) {
  const source::Recording recording = Decoded(ThreeCalls(kLaunch + "\n"));
  EXPECT_TRUE(recording.ended);
  const auto plan = source::MakePlan(recording, recording, kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  const core::LaunchPlan& p = std::get<core::LaunchPlan>(plan);
  EXPECT_TRUE(p.setup.empty());
  ASSERT_EQ(p.ops.size(), 1u);
  const auto& launch = std::get<core::KernelLaunch>(p.ops[0]);
  EXPECT_EQ(launch.kernel, "k<float>");
  EXPECT_EQ(launch.grid, (core::Dim3{1, 2, 3}));
  EXPECT_EQ(launch.parameters[0].pointers.at(0), (core::DevicePointer{0, 4}));
  EXPECT_EQ(launch.parameters[1].bytes[0], std::byte{0x2a});
  EXPECT_EQ(launch.line, 7);
}

TEST(Recording, DecodesAFault) {
  const std::string fault =
      "{\"fault\":11,\"buffer\":1,\"write\":true,\"dirty\":false,\"managed\":true,\"stack\":[4096,8192]}\n";
  const source::Recording recording = Decoded("{\"call\":0}\n" + fault);
  ASSERT_TRUE(recording.fault);
  EXPECT_EQ(recording.fault->signal, 11);
  EXPECT_EQ(recording.fault->buffer, 1);
  EXPECT_TRUE(recording.fault->write);
  EXPECT_TRUE(recording.fault->managed);
  EXPECT_FALSE(recording.fault->dirty);
  EXPECT_EQ(recording.fault->stack, (std::vector<uint64_t>{4096, 8192}));
  EXPECT_FALSE(recording.ended);
}

TEST(Recording, MalformedLinesAreErrors) {
  for (const char* line : {"nonsense", "[]", "{}", "{\"unknown\":1}", "{\"call\":1}", "{\"call\":0}\n{\"call\":0}",
                           "{\"end\":true}", "{\"op\":\"memset\"}", "{\"workspace\":5,\"bytes\":4}",
                           "{\"workspace\":1,\"bytes\":-4}", "{\"call\":0}\n{\"op\":\"erase\",\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"memset\",\"to\":[0],\"value\":0,\"bytes\":4,\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"memset\",\"to\":[-1,0],\"value\":0,\"bytes\":4,\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"memset\",\"to\":[0,0],\"value\":0,\"bytes\":1.5,\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"upload\",\"to\":[0,0],\"data\":\"abc\",\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"upload\",\"to\":[0,0],\"data\":\"zz\",\"stream\":0}",
                           "{\"call\":0}\n{\"op\":\"launch\",\"kernel\":7}",
                           "{\"fault\":11,\"buffer\":1,\"write\":true,\"dirty\":false,\"stack\":[]}"}) {
    EXPECT_FALSE(source::DecodeRecording(std::string(line) + "\n", 1, "a.cu")) << line;
  }
  EXPECT_FALSE(source::DecodeRecording("{\"call\":0}", 1, "a.cu")) << "an incomplete last line";
  std::string wide = kLaunch;
  wide.replace(wide.find("[1,2,3]"), 7, "[1,2,99999999999]");
  EXPECT_FALSE(source::DecodeRecording(ThreeCalls(wide + "\n"), 1, "a.cu"));
}

TEST(Recording, TwoRunsMustAgree) {
  const source::Recording a = Decoded(ThreeCalls(kLaunch + "\n"));
  std::string other = kLaunch;
  other.replace(other.find("2a000000"), 8, "2b000000");
  const auto plan = source::MakePlan(a, Decoded(ThreeCalls(other + "\n")), kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::Refused>(plan));
  EXPECT_EQ(std::get<core::Refused>(plan).line, 7);
  EXPECT_NE(std::get<core::Refused>(plan).reason.find("k<float>"), std::string::npos);
}

TEST(Recording, PointersInStructuresAreWhatBothRunsDecodeAlike) {
  const auto with = [](const std::string& bytes, const std::string& pointers) {
    return ThreeCalls(
        "{\"op\":\"launch\",\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],\"shared\":0,\"stream\":0,"
        "\"cooperative\":false,"
        "\"file\":\"a.cu\",\"line\":7,\"parameters\":[{\"bytes\":\"" +
        bytes + "\",\"pointer\":false,\"pointers\":" + pointers + "}]}\n");
  };
  // The first word moves with the base, the second only looks like an address in the first run.
  const source::Recording a = Decoded(with("00000040001000000000004000100000", "{\"0\":[0,0],\"8\":[0,0]}"));
  const source::Recording b = Decoded(with("00000040003000000000004000100000", "{\"0\":[0,0]}"));
  const auto plan = source::MakePlan(a, b, kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  const auto& parameter = std::get<core::KernelLaunch>(std::get<core::LaunchPlan>(plan).ops[0]).parameters[0];
  EXPECT_EQ(parameter.pointers.size(), 1u);
  EXPECT_EQ(parameter.bytes[5], std::byte{0});
  EXPECT_EQ(parameter.bytes[13], std::byte{0x10}) << "the number stays";
}

TEST(Recording, SetUpIsWhatOnlyTheFirstCallDoes) {
  const std::string workspace =
      "{\"workspace\":1,\"bytes\":64}\n{\"op\":\"memset\",\"to\":[1,0],\"value\":0,\"bytes\":64,\"stream\":0}\n";
  const std::string body = kLaunch + "\n";
  const std::string text =
      "{\"call\":0}\n" + workspace + body + "{\"call\":1}\n" + body + "{\"call\":2}\n" + body + "{\"end\":true}\n";
  const auto plan = source::MakePlan(Decoded(text), Decoded(text), kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan));
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).setup.size(), 1u);
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).ops.size(), 1u);
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).buffers.size(), 2u);
  const std::string late =
      "{\"call\":0}\n" + body + workspace + "{\"call\":1}\n" + body + "{\"call\":2}\n" + body + "{\"end\":true}\n";
  EXPECT_TRUE(
      std::holds_alternative<core::Refused>(source::MakePlan(Decoded(late), Decoded(late), kArguments, "a.cu")));
}

}  // namespace
}  // namespace warpwright
