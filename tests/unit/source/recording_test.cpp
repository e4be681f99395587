// The recorder ran untrusted code: its output is decoded strictly, and two runs must agree.
#include "source/recording.h"

#include <gtest/gtest.h>

#include "source/recording_lines_fields.h"
#include "tests/support/described.h"

namespace warpwright {
namespace {

const std::string kLaunch =
    R"({"kind":"launch","kernel":"k<float>","grid":{"x":1,"y":2,"z":3},"block":{"x":32,"y":1,"z":1},"shared_bytes":16,"stream":0,"cooperative":false,"file":"a.cu","line":7,)"
    R"("parameters":[{"bytes":"0000000000000000","pointer":true,"pointers":[{"at":0,"buffer":0,"offset":4}]},{"bytes":"2a000000","pointer":false,"pointers":[]}]})";

std::string ThreeCalls(const std::string& body) {
  std::string text;
  for (int call = 0; call < 3; ++call) text += "{\"kind\":\"call\",\"number\":" + std::to_string(call) + "}\n" + body;
  return text + "{\"kind\":\"end\"}\n";
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
      "{\"kind\":\"fault\",\"signal\":11,\"buffer\":1,\"write\":true,\"dirty\":false,\"managed\":true,\"stack\":[4096,"
      "8192]}\n";
  const source::Recording recording = Decoded("{\"kind\":\"call\",\"number\":0}\n" + fault);
  ASSERT_TRUE(recording.fault);
  EXPECT_EQ(recording.fault->signal, 11);
  EXPECT_EQ(recording.fault->buffer, 1);
  EXPECT_TRUE(recording.fault->write);
  EXPECT_TRUE(recording.fault->managed);
  EXPECT_FALSE(recording.fault->dirty);
  EXPECT_EQ(recording.fault->stack, (std::vector<uint64_t>{4096, 8192}));
  EXPECT_FALSE(recording.ended);
}

TEST(Recording, DecodesCopiesWithASymbol) {
  const auto calls = [](const char* to_symbol) {
    return ThreeCalls(std::string("{\"kind\":\"symbol_copy\",\"symbol\":\"ns::table\",\"offset\":8,\"with\":{"
                                  "\"buffer\":0,\"offset\":16},\"to_symbol\":") +
                      to_symbol + ",\"bytes\":32,\"stream\":1}\n");
  };
  const source::Recording a = Decoded(calls("true"));
  const auto plan = source::MakePlan(a, a, kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  ASSERT_EQ(std::get<core::LaunchPlan>(plan).ops.size(), 1u);
  EXPECT_EQ(std::get<core::SymbolCopyOp>(std::get<core::LaunchPlan>(plan).ops[0]),
            (core::SymbolCopyOp{"ns::table", 8, {0, 16}, 32, 1, true}));
  EXPECT_TRUE(std::holds_alternative<core::Refused>(source::MakePlan(a, Decoded(calls("false")), kArguments, "a.cu")));
}

TEST(Recording, MalformedLinesAreErrors) {
  for (const char* line :
       {"nonsense",
        "[]",
        "{}",
        "{\"kind\":\"unknown\"}",
        "{\"kind\":\"call\",\"number\":1}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"call\",\"number\":0}",
        "{\"kind\":\"end\"}",
        "{\"kind\":\"memset\"}",
        "{\"kind\":\"workspace\",\"buffer\":5,\"bytes\":4}",
        "{\"kind\":\"workspace\",\"buffer\":1,\"bytes\":-4}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"erase\",\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"memset\",\"to\":{\"buffer\":0},\"value\":0,\"bytes\":4,"
        "\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"memset\",\"to\":{\"buffer\":-1,\"offset\":0},\"value\":0,"
        "\"bytes\":4,\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"memset\",\"to\":{\"buffer\":0,\"offset\":0},\"value\":0,"
        "\"bytes\":1.5,\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"upload\",\"to\":{\"buffer\":0,\"offset\":0},\"data\":\"abc\","
        "\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"upload\",\"to\":{\"buffer\":0,\"offset\":0},\"data\":\"zz\","
        "\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"symbol_copy\",\"symbol\":\"t\",\"offset\":0,\"with\":{"
        "\"buffer\":0,\"offset\":0},\"to_symbol\":1,\"bytes\":4,\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"symbol_copy\",\"symbol\":\"t\",\"offset\":-4,\"with\":{"
        "\"buffer\":0,\"offset\":0},\"to_symbol\":true,\"bytes\":4,\"stream\":0}",
        "{\"kind\":\"call\",\"number\":0}\n{\"kind\":\"launch\",\"kernel\":7}",
        "{\"kind\":\"fault\",\"signal\":11,\"buffer\":1,\"write\":true,\"dirty\":false,\"stack\":[]}"}) {
    EXPECT_FALSE(source::DecodeRecording(std::string(line) + "\n", 1, "a.cu")) << line;
  }
  EXPECT_FALSE(source::DecodeRecording("{\"kind\":\"call\",\"number\":0}", 1, "a.cu")) << "an incomplete last line";
  std::string wide = kLaunch;
  wide.replace(wide.find("\"z\":3"), 5, "\"z\":99999999999");
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
        "{\"kind\":\"launch\",\"kernel\":\"k\",\"grid\":{\"x\":1,\"y\":1,\"z\":1},\"block\":{\"x\":1,\"y\":1,\"z\":1},"
        "\"shared_bytes\":0,\"stream\":0,"
        "\"cooperative\":false,"
        "\"file\":\"a.cu\",\"line\":7,\"parameters\":[{\"bytes\":\"" +
        bytes + "\",\"pointer\":false,\"pointers\":" + pointers + "}]}\n");
  };
  // The first word moves with the base, the second only looks like an address in the first run.
  const source::Recording a =
      Decoded(with("00000040001000000000004000100000",
                   "[{\"at\":0,\"buffer\":0,\"offset\":0},{\"at\":8,\"buffer\":0,\"offset\":0}]"));
  const source::Recording b =
      Decoded(with("00000040003000000000004000100000", "[{\"at\":0,\"buffer\":0,\"offset\":0}]"));
  const auto plan = source::MakePlan(a, b, kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  const auto& parameter = std::get<core::KernelLaunch>(std::get<core::LaunchPlan>(plan).ops[0]).parameters[0];
  EXPECT_EQ(parameter.pointers.size(), 1u);
  EXPECT_EQ(parameter.bytes[5], std::byte{0});
  EXPECT_EQ(parameter.bytes[13], std::byte{0x10}) << "the number stays";
}

TEST(Recording, SetUpIsWhatOnlyTheFirstCallDoes) {
  const std::string workspace =
      "{\"kind\":\"workspace\",\"buffer\":1,\"bytes\":64}\n{\"kind\":\"memset\",\"to\":{\"buffer\":1,\"offset\":0},"
      "\"value\":0,\"bytes\":64,\"stream\":0}\n";
  const std::string body = kLaunch + "\n";
  const std::string text = "{\"kind\":\"call\",\"number\":0}\n" + workspace + body +
                           "{\"kind\":\"call\",\"number\":1}\n" + body + "{\"kind\":\"call\",\"number\":2}\n" + body +
                           "{\"kind\":\"end\"}\n";
  const auto plan = source::MakePlan(Decoded(text), Decoded(text), kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan));
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).setup.size(), 1u);
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).ops.size(), 1u);
  EXPECT_EQ(std::get<core::LaunchPlan>(plan).buffers.size(), 2u);
  const std::string late = "{\"kind\":\"call\",\"number\":0}\n" + body + workspace +
                           "{\"kind\":\"call\",\"number\":1}\n" + body + "{\"kind\":\"call\",\"number\":2}\n" + body +
                           "{\"kind\":\"end\"}\n";
  EXPECT_TRUE(
      std::holds_alternative<core::Refused>(source::MakePlan(Decoded(late), Decoded(late), kArguments, "a.cu")));
}

using Lines = testing::TypeList<source::PointerAt, source::ParameterRecord, source::LaunchLine, source::MemsetLine,
                                source::CopyLine, source::UploadLine, source::SymbolLine, source::SymbolCopyLine,
                                source::EventLine, source::CallLine, source::WorkspaceLine, source::Readback,
                                source::RefuseLine, source::RecordedFault, source::ServedLine>;
TEST(DescribedLine, EveryMemberTravels) { Lines::ExpectAllDescribed(); }

TEST(Recording, LaterCallsMayFindMoreButNothingElse) {
  const auto workspace = [](int bytes) {
    return "{\"kind\":\"workspace\",\"buffer\":1,\"bytes\":" + std::to_string(bytes) + "}\n";
  };
  const auto memset = [](int bytes, int value = 0) {
    return "{\"kind\":\"memset\",\"to\":{\"buffer\":1,\"offset\":0},\"value\":" + std::to_string(value) +
           ",\"bytes\":" + std::to_string(bytes) + ",\"stream\":0}\n";
  };
  const auto call = [](int number, bool earlier = false) {
    return "{\"kind\":\"call\",\"number\":" + std::to_string(number) + (earlier ? ",\"earlier\":true}\n" : "}\n");
  };
  const std::string launch = kLaunch + "\n", end = "{\"kind\":\"end\"}\n";
  const auto calls = [&](const std::string& first, const std::string& others) {
    return call(0) + first + call(1) + others + call(2) + others + end;
  };
  const std::string plain = calls(workspace(64) + memset(64) + launch, launch);
  const auto plan = source::MakePlan(Decoded(plain), Decoded(plain), kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  const auto depends = [&](const std::string& text) {
    return source::DependsOnEarlierCalls(std::get<core::LaunchPlan>(plan), Decoded(text));
  };
  const auto after = [&](const std::string& earlier, const std::string& first) {
    return call(0, true) + earlier + call(0) + first + call(1) + launch + call(2) + launch + end;
  };
  EXPECT_FALSE(depends(after(workspace(64) + memset(64) + launch, launch)));    // set up once
  EXPECT_FALSE(depends(after(workspace(128) + memset(128) + launch, launch)));  // and for more
  EXPECT_FALSE(depends(after(launch, workspace(64) + memset(64) + launch)));    // again, as it grew
  EXPECT_TRUE(depends(after(workspace(32) + memset(32) + launch, launch)));     // for fewer: a write beyond it
  EXPECT_TRUE(depends(after(workspace(64) + memset(64, 7) + launch, launch)));  // other content
  EXPECT_TRUE(depends(after(workspace(64) + launch, launch)));                  // none
  EXPECT_TRUE(depends(after(workspace(64) + memset(64) + launch, memset(64))));
  std::string other = launch;
  other.replace(other.find("2a000000"), 8, "2b000000");
  EXPECT_TRUE(depends(call(0, true) + workspace(64) + memset(64) + other + call(0) + other + call(1) + other + call(2) +
                      other + end));
}

TEST(Recording, EffectsAndFailingCallsAreListed) {
  const source::Recording recording =
      Decoded("{\"kind\":\"effect\",\"what\":\"a wait\",\"function\":\"cudaDeviceSynchronize\"}\n" + ThreeCalls("") +
              "{\"kind\":\"returned\",\"value\":\"bd020000\",\"failing\":true}\n");
  ASSERT_EQ(recording.effects.size(), 1u);
  EXPECT_EQ(recording.effects[0].function, "cudaDeviceSynchronize");
  EXPECT_EQ(recording.returned_failing, "bd020000");
  EXPECT_TRUE(recording.returned.empty());
}

// Of two workspaces, one that all calls use, and one that each call makes and leaves.
TEST(Recording, KnowsWhatOutlivesACall) {
  const auto memset = [](int buffer) {
    return "{\"kind\":\"memset\",\"to\":{\"buffer\":" + std::to_string(buffer) +
           ",\"offset\":0},\"value\":0,\"bytes\":4,\"stream\":0}\n";
  };
  const auto workspace = [](int buffer) {
    return "{\"kind\":\"workspace\",\"buffer\":" + std::to_string(buffer) + ",\"bytes\":64}\n";
  };
  std::string text;
  for (int call = 0; call < 3; ++call)
    text += "{\"kind\":\"call\",\"number\":" + std::to_string(call) + "}\n" + (call == 0 ? workspace(1) : "") +
            workspace(2 + call) + memset(1) + memset(2 + call);
  for (int buffer = 1; buffer < 5; ++buffer) text += "{\"kind\":\"kept\",\"buffer\":" + std::to_string(buffer) + "}\n";
  const source::Recording recording = Decoded(text + "{\"kind\":\"end\"}\n");
  const auto plan = source::MakePlan(recording, recording, kArguments, "a.cu");
  ASSERT_TRUE(std::holds_alternative<core::LaunchPlan>(plan)) << std::get<core::Refused>(plan).reason;
  const auto& buffers = std::get<core::LaunchPlan>(plan).buffers;
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_TRUE(buffers[1].kept);
  EXPECT_FALSE(buffers[2].kept);
}

}  // namespace
}  // namespace warpwright
