// Every value that is transferred, there and back. Fields are set to values that differ from their defaults, so that a
// forgotten one shows.
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

core::Expression Parsed(const char* text) { return Must(core::Expression::Parse(text)); }

std::vector<std::byte> Bytes(const char* text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text);
  return {begin, begin + std::char_traits<char>::length(text)};
}

// Not UTF-8, and contains a NUL byte.
const std::string kLatin1("// gr\xfc\xdf\n\0__global__", 18);
const core::SourceRef kSource{"/repo", "kernels/k\xc3\xb6rnel.cu", kLatin1};

void ExpectSame(const core::SourceRef& a, const core::SourceRef& b) {
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.text, b.text);
}

TEST(Codec, Inspect) {
  const auto call = std::get<worker::InspectCall>(Must(worker::DecodeCall(Travel(worker::EncodeInspect(kSource)))));
  ExpectSame(call.source, kSource);
}

TEST(Codec, Rewrite) {
  const core::RewriteRequest sent{
      kSource, "ns::entry<float>", "kernel", "launch_retune", {{"block_size", "256"}, {"x", "\"quoted\""}}};
  const auto got = std::get<core::RewriteRequest>(Must(worker::DecodeCall(Travel(worker::EncodeCall(sent)))));
  ExpectSame(got.source, sent.source);
  EXPECT_EQ(got.entry, sent.entry);
  EXPECT_EQ(got.kernel, sent.kernel);
  EXPECT_EQ(got.transform, sent.transform);
  EXPECT_EQ(got.parameters, sent.parameters);
}

TEST(Codec, Splice) {
  const core::SpliceRequest sent{kSource, "edited \xff text", "entry"};
  const auto got = std::get<core::SpliceRequest>(Must(worker::DecodeCall(Travel(worker::EncodeCall(sent)))));
  ExpectSame(got.original, sent.original);
  EXPECT_EQ(got.edited, sent.edited);
  EXPECT_EQ(got.entry, sent.entry);
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
  const auto got = std::get<core::ExecuteRequest>(Must(worker::DecodeCall(Travel(worker::EncodeCall(sent)))));
  ExpectSame(got.source, sent.source);
  EXPECT_EQ(got.spec.name, sent.spec.name);
  EXPECT_EQ(got.spec.file, sent.spec.file);
  EXPECT_EQ(got.spec.entry, sent.spec.entry);
  EXPECT_EQ(got.spec.line, sent.spec.line);
  EXPECT_EQ(got.spec.allow, sent.spec.allow);
  ASSERT_EQ(got.spec.args.size(), 3u);
  const auto& buffer = std::get<core::BufferArgument>(got.spec.args[0].kind);
  EXPECT_EQ(got.spec.args[0].name, "x");
  EXPECT_EQ(got.spec.args[0].line, 7);
  EXPECT_EQ(buffer.dtype, core::DType::kBF16);
  EXPECT_EQ(buffer.role, core::Role::kInOut);
  EXPECT_EQ(buffer.alignment, 4);
  ASSERT_EQ(buffer.shape.size(), 2u);
  EXPECT_EQ(buffer.shape[0].Evaluate({{"N", 3}}).value(), 2);
  const auto& scalar = std::get<core::ScalarArgument>(got.spec.args[1].kind);
  EXPECT_EQ(scalar.dtype, core::DType::kF64);
  EXPECT_EQ(std::get<double>(*scalar.value), 0.1);
  EXPECT_FALSE(std::get<core::ScalarArgument>(got.spec.args[2].kind).value.has_value());
  ASSERT_TRUE(got.spec.launch);
  EXPECT_EQ(got.spec.launch->grid, sent.spec.launch->grid);
  EXPECT_EQ(got.spec.launch->block, sent.spec.launch->block);
  EXPECT_EQ(got.spec.launch->shared_bytes, sent.spec.launch->shared_bytes);
  EXPECT_EQ(got.case_name, sent.case_name);
  for (const char* name : {"big", "one", "inf", "tiny", "integer"})
    EXPECT_EQ(got.scalars.at(name), sent.scalars.at(name)) << name;
  EXPECT_TRUE(std::isnan(std::get<double>(got.scalars.at("nan"))));
  ASSERT_EQ(got.buffers.size(), 2u);
  EXPECT_EQ(got.buffers[0].name, "x");
  EXPECT_EQ(got.buffers[0].bytes, sent.buffers[0].bytes);
  EXPECT_TRUE(got.buffers[0].uninitialized);
  EXPECT_FALSE(got.buffers[0].read_only);
  EXPECT_EQ(got.buffers[0].pointer_offset, 8);
  EXPECT_TRUE(got.buffers[1].read_only);
  EXPECT_EQ(got.device, sent.device);
  EXPECT_EQ(got.options.counters, true);
  EXPECT_EQ(got.options.keep_outputs, false);
  EXPECT_EQ(got.options.guard_bytes, 65536u);
  EXPECT_EQ(got.options.seed, ~0ull);
  EXPECT_EQ(got.options.sample_instructions, 1'000'000'007u);
  EXPECT_EQ(got.options.instruction_limit, 12u);
  EXPECT_EQ(got.options.block_limit, sent.options.block_limit);
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
  ASSERT_EQ(got.entries.size(), 1u);
  const core::EntryInfo& e = got.entries[0];
  EXPECT_EQ(e.kind, entry.kind);
  EXPECT_EQ(e.name, entry.name);
  EXPECT_EQ(e.kernels, entry.kernels);
  EXPECT_EQ(e.slice_hash, entry.slice_hash);
  EXPECT_EQ(e.refusal, entry.refusal);
  EXPECT_EQ(e.refusal_line, 5);
  EXPECT_EQ(e.line, 10);
  EXPECT_EQ(e.end_line, 20);
  ASSERT_EQ(e.parameters.size(), 2u);
  EXPECT_EQ(e.parameters[0].type, "const float *");
  EXPECT_TRUE(e.parameters[0].is_pointer && e.parameters[0].is_const && e.parameters[0].is_restrict);
  EXPECT_EQ(e.parameters[0].dtype, core::DType::kF16);
  EXPECT_EQ(e.parameters[0].likely_role, core::Role::kScratch);
  EXPECT_FALSE(e.parameters[1].dtype || e.parameters[1].likely_role || e.parameters[1].is_pointer);
  ASSERT_EQ(got.kernels.size(), 1u);
  EXPECT_EQ(got.kernels[0].template_parameters, kernel.template_parameters);
  EXPECT_EQ(got.kernels[0].file, "a.cuh");
  EXPECT_EQ(got.kernels[0].end_line, 9);
  const core::StaticFeatures& g = got.kernels[0].features;
  EXPECT_EQ(g.operation, f.operation);
  ASSERT_EQ(g.loops.size(), 2u);
  EXPECT_EQ(g.loops[0].trip_count, 16);
  EXPECT_EQ(g.loops[0].bound, "C");
  EXPECT_TRUE(g.loops[0].thread_strided && g.loops[0].unrolled && g.loops[0].accumulates);
  EXPECT_FALSE(g.loops[1].trip_count);
  ASSERT_EQ(g.accesses.size(), 1u);
  EXPECT_EQ(g.accesses[0].pattern, core::AccessPattern::kStrided);
  EXPECT_EQ(g.accesses[0].vector_width, 4);
  EXPECT_EQ(g.accesses[0].loop_depth, 2);
  EXPECT_EQ(g.accesses[0].stride, "C");
  EXPECT_TRUE(g.accesses[0].reads && g.accesses[0].writes);
  EXPECT_EQ(g.shared_bytes, 4096);
  EXPECT_TRUE(g.dynamic_shared && g.bounds_guard && g.one_thread_per_row && g.const_restrict && g.launch_bounds &&
              g.vectorized && g.tensor_cores && g.async_copy && g.cooperative_groups);
  EXPECT_EQ((std::vector{g.barriers, g.atomics, g.shuffles, g.votes, g.divergent_branches, g.max_vector_width,
                         g.independent_accumulators}),
            (std::vector{1, 2, 3, 4, 5, 8, 6}));
  EXPECT_EQ(g.math, f.math);
  EXPECT_EQ(g.dtypes, f.dtypes);
  EXPECT_EQ(got.headers, sent.headers);
  EXPECT_EQ(got.warnings, sent.warnings);
}

TEST(Codec, RewriteAndSpliceAnswers) {
  const auto rewritten = std::get<core::Rewritten>(Must(worker::DecodeRewrite(
      Travel(worker::EncodeAnswer(core::RewriteOutcome(core::Rewritten{kLatin1, {"note"}, "entry<double>"}))))));
  EXPECT_EQ(rewritten.text, kLatin1);
  EXPECT_EQ(rewritten.notes, std::vector<std::string>{"note"});
  EXPECT_EQ(rewritten.entry, "entry<double>");
  const auto refusal = std::get<core::RewriteRefusal>(
      Must(worker::DecodeRewrite(Travel(worker::EncodeAnswer(core::RewriteOutcome(core::RewriteRefusal{"why", 31}))))));
  EXPECT_EQ(refusal.reason, "why");
  EXPECT_EQ(refusal.line, 31);
  const auto spliced = std::get<core::Rewritten>(
      Must(worker::DecodeSplice(Travel(worker::EncodeAnswer(core::SpliceOutcome(core::Rewritten{kLatin1, {}, {}}))))));
  EXPECT_EQ(spliced.text, kLatin1);
  const auto refused = std::get<core::Refused>(Must(worker::DecodeSplice(
      Travel(worker::EncodeAnswer(core::SpliceOutcome(core::Refused{core::Check::kSplice, "outside", "a.cu", 4}))))));
  EXPECT_EQ(refused.check, core::Check::kSplice);
  EXPECT_EQ(refused.reason, "outside");
  EXPECT_EQ(refused.file, "a.cu");
  EXPECT_EQ(refused.line, 4);
}

core::ExecuteOutcome TravelOutcome(const core::ExecuteOutcome& outcome) {
  return Must(worker::DecodeExecute(Travel(worker::EncodeAnswer(outcome))));
}

TEST(Codec, ExecuteAnswersOfFailures) {
  EXPECT_EQ(std::get<core::CompileFailed>(TravelOutcome(core::CompileFailed{"a.cu(3): error"})).log, "a.cu(3): error");
  EXPECT_EQ(std::get<core::CompileFailed>(TravelOutcome(core::CompileFailed{"bad \xff byte"})).log,
            "bad \xef\xbf\xbd byte");  // logs become UTF-8
  EXPECT_EQ(std::get<core::Refused>(TravelOutcome(core::Refused{core::Check::kSlice, "r", "f", 2})).check,
            core::Check::kSlice);
  core::Fault fault{
      core::Fault::Kind::kDivergentBarrier, "message", "kernel", "a.cu", 12, {1, 2, 3}, {4, 5, 4'000'000'000u}};
  const auto got = std::get<core::Faulted>(TravelOutcome(core::Faulted{fault, "case"}));
  EXPECT_EQ(got.case_name, "case");
  EXPECT_EQ(got.fault.kind, fault.kind);
  EXPECT_EQ(got.fault.message, fault.message);
  EXPECT_EQ(got.fault.kernel, fault.kernel);
  EXPECT_EQ(got.fault.file, fault.file);
  EXPECT_EQ(got.fault.line, 12);
  EXPECT_EQ(got.fault.block[2], 3u);
  EXPECT_EQ(got.fault.thread[2], 4'000'000'000u);
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
  launch.time = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.5, "dram"};
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
  sent.precision = {{"to tf32", {"cvt.rna.tf32.f32 %r1, %f1", "a.cu", 7}}};
  sent.plan_digest = "p";
  sent.module_key = "m";
  sent.seconds = {{"run", 0.25}};
  const auto got = std::get<core::Executed>(TravelOutcome(sent));
  EXPECT_EQ(got.differing_runs, 3u);
  EXPECT_EQ(got.other_buffers, sent.other_buffers);
  EXPECT_EQ(got.changed_globals, sent.changed_globals);
  ASSERT_EQ(got.precision.size(), 1u);
  EXPECT_EQ(got.precision.at("to tf32").instruction, "cvt.rna.tf32.f32 %r1, %f1");
  EXPECT_EQ(got.precision.at("to tf32").file, "a.cu");
  EXPECT_EQ(got.precision.at("to tf32").line, 7);
  EXPECT_EQ(got.buffers, sent.buffers);
  EXPECT_EQ(got.time_us, sent.time_us);
  EXPECT_EQ(got.modelled, false);
  EXPECT_EQ(got.sampled, true);
  ASSERT_EQ(got.guards.size(), 1u);
  EXPECT_EQ(got.guards[0].buffer, "x");
  EXPECT_EQ(got.guards[0].offset, -4);
  EXPECT_EQ(got.guards[0].bytes, 1ull << 33);
  EXPECT_EQ(got.plan_digest, "p");
  EXPECT_EQ(got.module_key, "m");
  EXPECT_EQ(got.seconds, sent.seconds);
  ASSERT_EQ(got.launches.size(), 1u);
  const core::LaunchReport& l = got.launches[0];
  EXPECT_EQ(l.kernel, launch.kernel);
  EXPECT_EQ(l.registers, 40);
  EXPECT_EQ(l.threads_per_block, 256);
  EXPECT_EQ(l.shared_bytes_per_block, 1024u);
  EXPECT_EQ(l.blocks_total, launch.blocks_total);
  EXPECT_EQ(l.blocks_run, 7u);
  EXPECT_EQ(l.counters, launch.counters);
  ASSERT_EQ(l.lines.size(), 1u);
  EXPECT_EQ(l.lines[0].file, "a.cu");
  EXPECT_EQ(l.lines[0].divergent_branches, 7u);
  EXPECT_EQ(l.lines[0].samples, 8u);
  EXPECT_EQ(l.lines[0].stalls, launch.lines[0].stalls);
  EXPECT_EQ(l.metrics, launch.metrics);
  EXPECT_EQ(l.unmeasured, launch.unmeasured);
  EXPECT_EQ(l.occupancy.limiter, core::OccupancyLimiter::kRegisters);
  EXPECT_EQ(l.occupancy.waves, 3.75);
  EXPECT_EQ(l.time.overhead_us, 14.5);
  EXPECT_EQ(l.time.limiter, "dram");
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
