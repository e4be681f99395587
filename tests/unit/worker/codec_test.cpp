// Every value that is transferred, there and back: what arrives is the same frame when it is sent on. That no field is
// left out of a value's list, tests/unit/core/fields_test.cpp shows.
#include "worker/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warpwright {
namespace {

worker::Frame Travel(const worker::FrameView& view) {
  const auto bytes = worker::EncodeFrame(view);
  if (!bytes) throw std::runtime_error(bytes.error().Format());
  auto frame = worker::DecodeFrame(*bytes);
  if (!frame) throw std::runtime_error(frame.error().Format());
  return std::move(*frame);
}

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().Format());
  return std::move(*result);
}

void ExpectSame(const worker::FrameView& sent, const worker::FrameView& again) {
  EXPECT_EQ(sent.header, again.header);
  EXPECT_EQ(Must(worker::EncodeFrame(sent)), Must(worker::EncodeFrame(again)));
}
template <typename T>
T ExpectCallTravels(const T& sent) {
  const auto got = std::get<T>(Must(worker::DecodeCall(Travel(worker::EncodeCall(sent)))));
  ExpectSame(worker::EncodeCall(sent), worker::EncodeCall(got));
  return got;
}

core::Expression Parsed(const char* text) { return Must(core::Expression::Parse(text)); }

std::vector<std::byte> Bytes(const char* text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text);
  return {begin, begin + std::char_traits<char>::length(text)};
}

// Not UTF-8, and contains a NUL byte.
const std::string kLatin1("// gr\xfc\xdf\n\0__global__", 18);
const core::SourceRef kSource{"/repo", "kernels/k\xc3\xb6rnel.cu", kLatin1};

TEST(Codec, Calls) {
  const auto call = std::get<worker::InspectCall>(Must(worker::DecodeCall(Travel(worker::EncodeInspect(kSource)))));
  EXPECT_EQ(call.source.text, kLatin1);
  ExpectSame(worker::EncodeInspect(kSource), worker::EncodeInspect(call.source));
  ExpectCallTravels(core::RewriteRequest{
      kSource, "ns::entry<float>", "kernel", "launch_retune", {{"block_size", "256"}, {"x", "\"quoted\""}}});
  EXPECT_EQ(ExpectCallTravels(core::SpliceRequest{kSource, "edited \xff text", "entry"}).edited, "edited \xff text");
}

core::ExecuteRequest FullRequest() {
  core::ExecuteRequest r;
  r.source = kSource;
  r.spec.name = "softmax";
  r.spec.file = kSource.file;
  r.spec.entry = "softmax_forward";
  core::BufferArgument buffer;
  buffer.dtype = core::DType::kBF16;
  buffer.shape = {Parsed("ceil_div(N, 2)"), Parsed("C")};
  buffer.role = core::Role::kInOut;
  buffer.alignment = 4;
  r.spec.args = {{"x", buffer, 7},
                 {"n", core::ScalarArgument{core::DType::kF64, core::ScalarValue(0.1)}, 8},
                 {"m", core::ScalarArgument{core::DType::kI64, std::nullopt}, 9}};
  r.spec.launch = core::LaunchSpec{{Parsed("N"), Parsed("2")}, {Parsed("256")}, Parsed("4 * C")};
  r.spec.allow = {core::Allow::kClock, core::Allow::kReducedPrecision, core::Allow::kState};
  r.spec.line = 3;
  r.case_name = "N=3";
  r.scalars = {{"big", std::numeric_limits<int64_t>::min()},
               {"one", 1.0},
               {"inf", -std::numeric_limits<double>::infinity()},
               {"nan", std::nan("")},
               {"tiny", 5e-324},
               {"integer", int64_t{1}}};
  r.buffers = {{"x", Bytes("some bytes"), true, false, 8}, {"empty", {}, false, true, 0}};
  r.device = "sim:h200";
  r.options.counters = true;
  r.options.keep_outputs = false;
  r.options.guard_bytes = 65536;
  r.options.seed = ~0ull;
  r.options.sample_instructions = 1'000'000'007;
  r.options.instruction_limit = 12;
  r.options.block_limit = core::Dim3{1, 2, 3};
  return r;
}

TEST(Codec, ExecuteRequest) {
  const core::ExecuteRequest sent = FullRequest();
  const core::ExecuteRequest got = ExpectCallTravels(sent);
  EXPECT_EQ(got.source.file, kSource.file);
  EXPECT_EQ(std::get<core::BufferArgument>(got.spec.args.at(0).kind).shape.at(0).Evaluate({{"N", 3}}).value(), 2);
  for (const char* name : {"big", "one", "inf", "tiny", "integer"})
    EXPECT_EQ(got.scalars.at(name), sent.scalars.at(name)) << name;
  EXPECT_TRUE(std::isnan(std::get<double>(got.scalars.at("nan"))));
  EXPECT_EQ(got.buffers.at(0).bytes, sent.buffers[0].bytes);
  EXPECT_EQ(got.options.seed, ~0ull);
}

TEST(Codec, InspectionAnswer) {
  core::Inspection sent;
  core::EntryInfo entry;
  entry.kind = core::EntryInfo::Kind::kKernel;
  entry.name = "ns::f";
  entry.parameters = {{"p", "const float *", true, true, true, core::DType::kF16, core::Role::kScratch},
                      {"s", "Config", false, false, false, {}, {}}};
  entry.kernels = {"k1", "k2"};
  entry.slice_hash = "abc";
  entry.refusal = "uses cuBLAS";
  entry.refusal_line = 5;
  entry.line = 10;
  entry.end_line = 20;
  sent.entries = {entry};
  core::KernelInfo kernel;
  kernel.name = "k1";
  kernel.template_parameters = {"typename T"};
  kernel.parameters = entry.parameters;
  kernel.file = "a.cuh";
  kernel.line = 1;
  kernel.end_line = 9;
  core::StaticFeatures& f = kernel.features;
  f.operation = core::OperationClass::kMatmul;
  f.loops = {{3, 1, "C", 16, true, true, true}, {4, 0, "n", std::nullopt, false, false, false}};
  f.accesses = {{"p", core::AccessPattern::kStrided, true, true, 4, "C", 2, 8}};
  f.shared_bytes = 4096;
  f.dynamic_shared = true;
  f.barriers = 1, f.atomics = 2, f.shuffles = 3, f.votes = 4, f.divergent_branches = 5;
  f.bounds_guard = f.one_thread_per_row = f.const_restrict = f.launch_bounds = f.vectorized = true;
  f.tensor_cores = f.async_copy = f.cooperative_groups = true;
  f.max_vector_width = 8;
  f.independent_accumulators = 6;
  f.math = {"expf", "rsqrtf"};
  f.dtypes = {core::DType::kF32, core::DType::kBool};
  sent.kernels = {kernel};
  sent.headers = {"include/common.cuh"};
  sent.warnings = {"a.cu:1: something"};

  const core::Inspection got = Must(worker::DecodeInspection(Travel(worker::EncodeAnswer(sent))));
  ExpectSame(worker::EncodeAnswer(sent), worker::EncodeAnswer(got));
  const core::EntryInfo& e = got.entries.at(0);
  EXPECT_EQ(e.parameters.at(0).likely_role, core::Role::kScratch);
  EXPECT_FALSE(e.parameters.at(1).dtype || e.parameters.at(1).likely_role || e.parameters.at(1).is_pointer);
  EXPECT_EQ(got.kernels.at(0).features.loops.at(0).trip_count, 16);
}

TEST(Codec, RewriteAndSpliceAnswers) {
  for (const core::RewriteOutcome& sent : {core::RewriteOutcome(core::Rewritten{kLatin1, {"note"}, "entry<double>"}),
                                           core::RewriteOutcome(core::RewriteRefusal{"why", 31})}) {
    const auto got = Must(worker::DecodeRewrite(Travel(worker::EncodeAnswer(sent))));
    ExpectSame(worker::EncodeAnswer(sent), worker::EncodeAnswer(got));
    EXPECT_EQ(got.index(), sent.index());
  }
  for (const core::SpliceOutcome& sent :
       {core::SpliceOutcome(core::Rewritten{kLatin1, {}, {}}),
        core::SpliceOutcome(core::Refused{core::Check::kSplice, "outside", "a.cu", 4})}) {
    const auto got = Must(worker::DecodeSplice(Travel(worker::EncodeAnswer(sent))));
    ExpectSame(worker::EncodeAnswer(sent), worker::EncodeAnswer(got));
    EXPECT_EQ(got.index(), sent.index());
  }
}

core::ExecuteOutcome TravelOutcome(const core::ExecuteOutcome& outcome) {
  core::ExecuteOutcome got = Must(worker::DecodeExecute(Travel(worker::EncodeAnswer(outcome))));
  EXPECT_EQ(got.index(), outcome.index());
  return got;
}

TEST(Codec, ExecuteAnswersOfFailures) {
  EXPECT_EQ(std::get<core::CompileFailed>(TravelOutcome(core::CompileFailed{"a.cu(3): error"})).log, "a.cu(3): error");
  EXPECT_EQ(std::get<core::CompileFailed>(TravelOutcome(core::CompileFailed{"bad \xff byte"})).log,
            "bad \xef\xbf\xbd byte");  // logs become UTF-8
  EXPECT_EQ(std::get<core::Refused>(TravelOutcome(core::Refused{core::Check::kSlice, "r", "f", 2})).check,
            core::Check::kSlice);
  core::Fault fault{
      core::Fault::Kind::kDivergentBarrier, "message", "kernel", "a.cu", 12, {1, 2, 3}, {4, 5, 4'000'000'000u}};
  const core::ExecuteOutcome sent(core::Faulted{fault, "case"}), got = TravelOutcome(sent);
  ExpectSame(worker::EncodeAnswer(sent), worker::EncodeAnswer(got));
  EXPECT_EQ(std::get<core::Faulted>(got).fault.thread[2], 4'000'000'000u);
}

TEST(Codec, ExecutedAnswer) {
  core::Executed sent;
  sent.buffers = {Bytes("out"), {}};
  core::LaunchReport launch;
  launch.kernel = "k<float>";
  launch.registers = 40;
  launch.threads_per_block = 256;
  launch.shared_bytes_per_block = 1024;
  launch.blocks_total = 1ull << 40;
  launch.blocks_run = 7;
  uint64_t value = 1;
  for (const auto& field : core::Fields(launch.counters))
    ASSERT_TRUE(core::SetField(launch.counters, field.name, value += 1'000'000'000'007ull));
  launch.lines = {{"a.cu", 3, 1, 2, 3, 4, 5, 6, 7, 8, {{"barrier", 8}}}};
  launch.occupancy = {.blocks_per_multiprocessor = 4,
                      .theoretical = 0.5,
                      .achieved = 0.25,
                      .limiter = core::OccupancyLimiter::kRegisters,
                      .waves = 3.75};
  launch.time = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15.5, "dram"};
  launch.metrics = {{"dram__bytes_read.sum", 0.1}};
  launch.unmeasured = {"barriers"};
  sent.launches = {launch};
  sent.time_us = 12.34567890123;
  sent.modelled = false;
  sent.sampled = true;
  sent.guards = {{"x", -4, 1ull << 33}};
  sent.differing_runs = 3;
  sent.other_buffers = {Bytes("uot"), {}};
  sent.changed_globals = {"calls"};
  sent.uses = {{.use = {core::CodeUseKind::kConversion, core::NumberFormat::kTF32, {}},
                .instruction = "cvt.rna.tf32.f32 %r1, %f1",
                .file = "a.cu",
                .line = 7},
               {.use = {core::CodeUseKind::kHost, {}, "getenv"}, .instruction = "getenv", .file = "a.cu", .line = 9}};
  sent.plan_digest = "p";
  sent.module_key = "m";
  sent.seconds = {{"run", 0.25}};
  const core::ExecuteOutcome outcome(sent), got = TravelOutcome(outcome);
  ExpectSame(worker::EncodeAnswer(outcome), worker::EncodeAnswer(got));
  EXPECT_EQ(std::get<core::Executed>(got).time_us, sent.time_us);
  EXPECT_EQ(std::get<core::Executed>(got).buffers, sent.buffers);
  EXPECT_EQ(std::get<core::Executed>(got).launches.at(0).counters, launch.counters);
}

TEST(Codec, TheWorkersOwnErrors) {
  const Error sent{ErrorCode::kEnvironment, "no toolkit", "f", 1, 2, "install it"};
  const auto got = worker::DecodeExecute(Travel(worker::EncodeError(sent)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().Format(), sent.Format());
  EXPECT_EQ(got.error().code, sent.code);
}

class BrokenMessage : public ::testing::TestWithParam<const char*> {};
TEST_P(BrokenMessage, IsAnErrorOfEveryDecoder) {
  const auto corrupt = [](const auto& result) { return !result && result.error().code == ErrorCode::kCorrupt; };
  EXPECT_TRUE(corrupt(worker::DecodeCall({worker::FrameKind::kMessage, GetParam(), {}})));
  EXPECT_TRUE(corrupt(worker::DecodeInspection({worker::FrameKind::kMessage, GetParam(), {}})));
  EXPECT_TRUE(corrupt(worker::DecodeRewrite({worker::FrameKind::kMessage, GetParam(), {}})));
  EXPECT_TRUE(corrupt(worker::DecodeSplice({worker::FrameKind::kMessage, GetParam(), {}})));
  EXPECT_TRUE(corrupt(worker::DecodeExecute({worker::FrameKind::kMessage, GetParam(), {}})));
}
const std::string kDeep = std::string(100'000, '[') + std::string(100'000, ']');
INSTANTIATE_TEST_SUITE_P(
    All, BrokenMessage,
    ::testing::Values("", "{", "null", "[]", "{}", "{\"ok\": null}", "{\"ok\": []}", "{\"verb\": \"execute\"}",
                      "{\"verb\": \"format\", \"source\": {\"root\": \"\", \"file\": \"\", \"text\": 0}}",
                      "{\"verb\": \"inspect\", \"source\": {\"root\": \"\", \"file\": \"\", \"text\": 99}}",
                      "{\"ok\": {\"executed\": {\"buffers\": [0]}}}",
                      "{\"ok\": {\"rewritten\": {\"text\": -1, \"notes\": []}}}",
                      "{\"error\": {\"code\": 99, \"message\": \"\"}}", kDeep.c_str()));

TEST(Codec, AnAttachmentIsTakenOnce) {
  // Two buffers that claim the same bytes: the second gets none instead of a shared copy.
  worker::Frame frame = Travel(worker::EncodeCall(FullRequest()));
  const size_t at = frame.header.find("\"bytes\":2");
  ASSERT_NE(at, std::string::npos) << frame.header;
  frame.header.replace(at, 9, "\"bytes\":1");
  const auto request = std::get<core::ExecuteRequest>(Must(worker::DecodeCall(std::move(frame))));
  EXPECT_FALSE(request.buffers[0].bytes.empty());
  EXPECT_TRUE(request.buffers[1].bytes.empty());
}

}  // namespace
}  // namespace warpwright
