// What a candidate adds must run where its gain was found.
#include "judge/dead_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rewrite/added_lines.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

using judge::AddedCode;
using Sizes = AddedCode::Sizes;

AddedCode Added(std::string_view original, std::string_view candidate) {
  return AddedCode(rewrite::AddedLines(original, candidate), "k.cu");
}

constexpr const char* kOriginal = "int k;\nsum += x[k];\n}\n";
// Lines 2 and 3 are new, 4 is the old one elsewhere and indented; a comment adds no code.
constexpr const char* kCandidate = "int k;\nfor (; k + 3 < n; k += 4)\npart += x[k + 1];\n  sum += x[k];\n// new\n}\n";

std::vector<core::LineUse> Uses(uint64_t header, uint64_t body, uint64_t rest) {
  return {{"k.cu", 2, header, false}, {"k.cu", 3, body, true}, {"k.cu", 4, rest, true}, {"other.cuh", 3, 0, true}};
}

struct Row {
  const char* name;
  std::vector<core::LineUse> in_case, elsewhere;
  const char* refusal;  // part of it; nullptr: it passes
};

TEST(DeadCode, IsWhatNothingRunsAndWhatOnlyOtherSizesUse) {
  const Row rows[] = {
      {"runs in a case", Uses(9, 8, 1), Uses(9, 8, 1), nullptr},
      {"runs nowhere", Uses(9, 0, 9), Uses(9, 0, 9), "line 3 \"part += x[k + 1];\" never runs"},
      {"does its work with other sizes only", Uses(9, 0, 9), Uses(9, 8, 0), "runs only with sizes that no case has"},
      {"the header runs nowhere either", Uses(0, 0, 9), Uses(0, 0, 9), "line 2 \"for (; k + 3 < n; k += 4)\" never"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    AddedCode added = Added(kOriginal, kCandidate);
    added.Saw(row.in_case, Sizes::kOfCountedCase);
    added.Saw(row.elsewhere, Sizes::kOther);
    const auto refused = added.Judge();
    ASSERT_EQ(refused.has_value(), row.refusal != nullptr);
    if (!refused) continue;
    EXPECT_EQ(refused->check, core::CheckName(core::Check::kDeadCode));
    EXPECT_EQ(refused->file, "k.cu");
    EXPECT_GT(refused->line, 0);
    EXPECT_NE(refused->reason.find(row.refusal), std::string::npos) << refused->reason;
  }
}

// As loops are written on one line: the remainder does what the original did, under another head.
TEST(DeadCode, ANewHeadOverAnOldStatementIsNoWork) {
  const char* original = "for (int k = 0; k < n; k++) sum += x[k] * (w[k]);\n";
  const char* unrolled =
      "for (; k + 3 < n; k += 4)\npart[u] += x[k] * (w[k]) + 0;\nfor (int k = base; k < n; k++) sum += x[k] * "
      "(w[k]);\n";
  const auto judge = [](const char* from, const char* to, const std::vector<core::LineUse>& in_case,
                        const std::vector<core::LineUse>& elsewhere) {
    AddedCode added = Added(from, to);
    added.Saw(in_case, Sizes::kOfCountedCase);
    added.Saw(elsewhere, Sizes::kOther);
    return added.Judge();
  };
  const auto uses = [](uint64_t body, uint64_t rest) {
    return std::vector<core::LineUse>{{"k.cu", 1, 9, false}, {"k.cu", 2, body, true}, {"k.cu", 3, rest, true}};
  };
  const auto refused = judge(original, unrolled, uses(0, 9), uses(8, 0));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->line, 2);
  EXPECT_FALSE(judge(original, unrolled, uses(8, 1), uses(8, 0))) << "a case has four steps";
  EXPECT_FALSE(judge("sum += x[j];\n", unrolled, uses(0, 9), uses(8, 0))) << "another statement is work";
  EXPECT_FALSE(judge(original, "if (n > (2)) {\n} else if (n) while (next(x)) sum += x[k] * (w[k]);\n",
                     {{"k.cu", 1, 9, false}, {"k.cu", 2, 9, true}}, {}))
      << "nothing that is added runs with other sizes only";
}

// What is only put together from sums that nothing was added to is bookkeeping, whatever the sums are called.
TEST(DeadCode, WhatAddsUpNothingIsNoWork) {
  const std::string head = "void f(float* out, float* x, int K) {\n";
  const std::string original = head + "float sum = 0;\nfor (int k = 0; k < K; ++k) sum += x[k];\nout[0] = sum;\n}\n";
  const std::string parts = head +
                            "float sum = 0;\nfloat part[4] = {};\nint k = 0;\nfor (; k + 3 < K; k += 4)\n"
                            "for (int u = 0; u < 4; ++u) part[u] += x[k + u];\n"
                            "for (int u = 0; u < 4; ++u) sum += part[u];\n"
                            "for (; k < K; ++k) sum += x[k];\nout[0] = sum;\n}\n";
  const std::string named = head +
                            "float s0 = 0, s1 = 0;\nfloat all = 0;\nint k = 0;\nfor (; k + 1 < K; k += 2)\n"
                            "s0 += x[k], s1 += x[k + 1];\nall += s1;\n"
                            "for (; k < K; ++k) s0 += x[k];\nout[0] = s0 + all;\n}\n";
  for (const std::string& candidate : {parts, named})
    for (const bool runs : {true, false}) {
      const std::vector<core::LineUse> in_case = {
          {"k.cu", 3, 9, false}, {"k.cu", 5, 9, false}, {"k.cu", 6, runs ? uint64_t{9} : 0, true},
          {"k.cu", 7, 9, false}, {"k.cu", 8, 9, true},  {"k.cu", 9, 9, true}};
      AddedCode added = Added(original, candidate);
      added.Saw(in_case, Sizes::kOfCountedCase);
      added.Saw({{"k.cu", 6, 9, true}}, Sizes::kOther);
      const auto refused = added.Judge();
      ASSERT_EQ(refused.has_value(), !runs) << candidate;
      if (!runs) {
        EXPECT_EQ(refused->line, 6) << refused->reason;
      }
    }
}

// A remainder that no case needs is code that other sizes need.
TEST(DeadCode, ARemainderNeedsAnOddShapeOnly) {
  const char* text = "int k;\nwide(x);\nsum += x[k] * 1;\n}\n";
  const auto uses = [](uint64_t wide, uint64_t rest) {
    return std::vector<core::LineUse>{{"k.cu", 2, wide, true}, {"k.cu", 3, rest, true}};
  };
  AddedCode added = Added(kOriginal, text);
  added.Saw(uses(8, 0), Sizes::kOfCountedCase);
  EXPECT_FALSE(added.complete());
  added.Saw(uses(7, 1), Sizes::kOther);
  EXPECT_TRUE(added.complete());
  EXPECT_FALSE(added.Judge());
}

// The load of an unrolled loop reads as the original's, and that of the remainder as a second copy.
TEST(DeadCode, ASumOfWhatAnOldLineLoadsIsWork) {
  const char* original = "for (k)\nfloat v = x[k];\nsum += v * v;\n";
  const char* unrolled =
      "for (u)\nfloat v = x[k];\nsum_part[u] += v * v;\nfor (rest)\nfloat v = x[k];\nsum += v * v;\n";
  const auto uses = [](uint64_t loop, uint64_t rest) {
    return std::vector<core::LineUse>{{"k.cu", 1, 1, false}, {"k.cu", 2, loop, true}, {"k.cu", 3, loop, false},
                                      {"k.cu", 4, 1, false}, {"k.cu", 5, rest, true}, {"k.cu", 6, rest, false}};
  };
  AddedCode added = Added(original, unrolled);
  added.Saw(uses(8, 0), Sizes::kOfCountedCase);
  added.Saw(uses(4, 1), Sizes::kOther);
  EXPECT_FALSE(added.Judge());
  AddedCode hidden = Added(original, "if (n == 77)\nfloat v = x[k + 1];\nelse\nfloat v = x[k];\nsum += v * v;\n");
  hidden.Saw({{"k.cu", 1, 9, false}, {"k.cu", 2, 0, true}, {"k.cu", 4, 9, true}}, Sizes::kOfCountedCase);
  hidden.Saw({{"k.cu", 2, 9, true}}, Sizes::kOther);
  EXPECT_TRUE(hidden.Judge()) << "a branch is no work";
}

// Of an unrolled loop, a part that is never reached may be all that has the line.
TEST(DeadCode, APragmaStandsBetweenNoStatements) {
  const auto is_refused = [](const std::string& directive) {
    AddedCode added = Added(kOriginal, "for (;;) {\n  int q = q0 + j;\n" + directive + "\n  v = x[q];\n");
    added.Saw({{"k.cu", 2, 0, false}, {"k.cu", 4, 9, true}}, Sizes::kOfCountedCase);
    return added.Judge().has_value();
  };
  EXPECT_FALSE(is_refused("#pragma unroll 1"));
  EXPECT_TRUE(is_refused("#if 1"));
  EXPECT_TRUE(is_refused("#pragma unroll \\"));
}

// The head of a loop may have no instructions of its own.
TEST(DeadCode, APlainStatementRunsWhereALaterBlockOfItsOwnDoes) {
  const auto is_refused = [](const std::string& head, const std::string& work) {
    AddedCode added = Added(kOriginal, "for (;;) {\n  int q = q0 + j;\n  " + head + "\n    " + work + "\n  }\n}\n");
    added.Saw({{"k.cu", 2, 0, false}, {"k.cu", 4, 9, true}}, Sizes::kOfCountedCase);
    return added.Judge().has_value();
  };
  EXPECT_FALSE(is_refused("for (int i = 0; i < 8; ++i) {", "v += x[q + i];"));
  EXPECT_TRUE(is_refused("for (int i = 0; i < 8; ++i) {", "on: v += x[q + i];")) << "others come here too";
  EXPECT_TRUE(is_refused("} if (n) {", "v += x[q + i];")) << "another block";
  EXPECT_TRUE(is_refused("switch (n) {", "case 1: v += x[q + i];"));
  EXPECT_TRUE(is_refused("f('{');", "} v += x[q + i];"));
}

// Of a loop that is taken apart, what its head compares may be left in a rest that is never reached.
TEST(DeadCode, AHeadRunsWhereItsBlockDoes) {
  const struct {
    const char* head;
    uint64_t body;
    bool refused;
  } rows[] = {{"for (int k = 0; k < 3; ++k) {", 9, false},
              {"while (k < 3) {", 9, false},
              {"if (k < 3) {", 9, false},
              {"for (int k = 0; k < 3; ++k) {", 0, true},
              {"for (int k = 0; k < 3; ++k) if (k) {", 9, false},
              {"for (const int k : three) {", 9, true},
              {"switch (k) {", 9, true}};
  for (const auto& row : rows) {
    const std::string text = fmt::format("int k = 0;\n{}\n  sum += x[k];\n}}\n", row.head);
    AddedCode added = Added("int k = 0;\n", text);
    added.Saw({{"k.cu", 2, 0, false}, {"k.cu", 3, row.body, true}}, Sizes::kOfCountedCase);
    EXPECT_EQ(added.Judge().has_value(), row.refused) << row.head;
  }
}

TEST(DeadCode, APlainStatementRunsWhereTheNextOneDoes) {
  const auto is_refused = [](const std::string& before, const std::string& line, const std::string& after,
                             bool memory) {
    AddedCode added = Added(kOriginal, before + "\n" + line + "\n" + after + "\n");
    added.Saw({{"k.cu", 2, 0, memory}, {"k.cu", 3, 9, true}}, Sizes::kOfCountedCase);
    return added.Judge().has_value();
  };
  EXPECT_FALSE(is_refused("for (;;) {", "  int q = q0 + j;", "  v = x[q];", false));
  EXPECT_TRUE(is_refused("for (;;) {", "  w = x[q0 + j];", "  v = x[q];", true)) << "it reads memory";
  EXPECT_TRUE(is_refused("if (n == 77)", "  q = 3;", "  v = x[q];", false)) << "it is what a condition has";
  EXPECT_TRUE(is_refused("for (;;) {", "  if (n == 77) q = 3;", "  v = x[q];", false));
  EXPECT_TRUE(is_refused("for (;;) {", "  n == 77 && (q = 3);", "  v = x[q];", false));
  EXPECT_TRUE(is_refused("if (n == 77) {", "  q = 3;", "} v = x[q];", false)) << "another block";
  EXPECT_TRUE(is_refused("if (n == 77) {", "    q = 3;", "  v = x[q];", false)) << "another block, by its place";
  EXPECT_TRUE(is_refused("goto on;", "  q = 3;", "  on: v = x[q];", false)) << "others come here too";
  EXPECT_TRUE(is_refused("if (n == 77)  // why;", "  q = 3;", "  v = x[q];", false)) << "a comment ends no statement";
  EXPECT_TRUE(is_refused("#pragma nv_abc;", "  n == 77 and (q = 3);", "  v = x[q];", false));
  EXPECT_TRUE(is_refused("if (n == 77) /* ; */", "  q = 3;", "  v = x[q];", false));
  EXPECT_TRUE(is_refused("#define ODD if (n == 77)", "  ODD q = 3;", "  v = x[q];", false));
}

TEST(DeadCode, MovedCodeIsNotAdded) {
  EXPECT_FALSE(Added("a;\nb;\nc;\n", "  b;\nc;\n\ta;\r\n// why\n").any());
  EXPECT_TRUE(Added("a;\n", "a;\na;\n").any()) << "a second copy is";
}

// As of a repository whose cases with weight are a GPU's.
TEST(DeadCode, WhereNoCaseCountsAllDo) {
  JudgeBench bench;
  for (core::Case& c : bench.spec.cases) c.weight = 0;
  bench.untrusted.Add("candidate", [&](FakeRun& run) {
    Twice(run);
    run.lines = {{"kernels/k.cu", 2, 1000, true}};
  });
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\n"}, bench.untrusted,
                                      judge::VerificationLevel::kQuick);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  EXPECT_FALSE(std::holds_alternative<core::Refused>(*verdict)) << core::VerdictMessage(*verdict);
}

// What could not be looked at is said: otherwise a reader takes it for looked at.
TEST(DeadCode, ARunThatTellsNoLinesIsNoted) {
  JudgeBench bench;
  bench.untrusted.Add("candidate", Twice);
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\n"}, bench.untrusted,
                                      judge::VerificationLevel::kQuick);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* measured = std::get_if<core::Measured>(&*verdict);
  ASSERT_NE(measured, nullptr) << core::VerdictMessage(*verdict);
  const std::string note = "dead-code: not tested: no run told which lines it ran";
  EXPECT_EQ(std::count(measured->notes.begin(), measured->notes.end(), note), 1);
  EXPECT_EQ(std::count(measured->checks.begin(), measured->checks.end(), core::CheckName(core::Check::kDeadCode)), 0);
}

TEST(DeadCode, ACandidateThatDoesNotRunItsCodeIsRefused) {
  for (const bool runs : {true, false}) {
    JudgeBench bench;
    bench.untrusted.Add("candidate", [&](FakeRun& run) {
      Twice(run);
      run.lines = {{"kernels/k.cu", 2, runs ? uint64_t{1000} : uint64_t{0}, true}};
    });
    judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
    const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\n"}, bench.untrusted,
                                        judge::VerificationLevel::kQuick);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    const auto* refused = std::get_if<core::Refused>(&*verdict);
    ASSERT_EQ(refused == nullptr, runs);
    if (refused != nullptr) {
      EXPECT_EQ(refused->check, core::CheckName(core::Check::kDeadCode));
      EXPECT_EQ(refused->line, 2);
    }
    const bool other_sizes = std::any_of(bench.untrusted.calls.begin(), bench.untrusted.calls.end(), [](const auto& c) {
      return c.case_name.find("n=17 (odd shape") != std::string::npos;
    });
    EXPECT_EQ(other_sizes, !runs) << "before a line is called dead, a search tries all odd shapes";
  }
}

// Odd sizes that somebody makes up need not fit together, as a window's and its image's: the small cases' do.
TEST(DeadCode, OnAGpuTheSmallCasesAreSimulatedToo) {
  const auto verdict_of = [](int64_t size, int64_t offset) {
    JudgeBench bench;
    bench.device = "cuda";
    bench.options.simulator = "sim:h200";
    for (core::Argument& argument : bench.spec.args)
      if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) buffer->alignment = 4;
    bench.spec.cases.push_back(bench.spec.cases.front());
    bench.spec.cases.back().name = "small";
    bench.spec.cases.back().scalars["n"] = int64_t{77};
    bench.spec.cases.back().on = {core::DeviceKind::kSim};
    bench.untrusted.Add("candidate", [&](FakeRun& run) {
      Twice(run);
      const bool there = run.Scalar("n") == size && run.request.buffers[0].pointer_offset == offset;
      run.lines = {{"kernels/k.cu", 2, 1000, true}, {"kernels/k.cu", 3, there ? uint64_t{1} : uint64_t{0}, false}};
    });
    judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
    return judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\nfloat z;\n"}, bench.untrusted,
                          judge::VerificationLevel::kFull);
  };
  struct {
    int64_t size, offset;
    bool runs;
  } const rows[] = {{77, 0, true}, {77, 4, true}, {1000, 4, true}, {123456, 0, false}};
  for (const auto& row : rows) {
    const auto verdict = verdict_of(row.size, row.offset);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    EXPECT_EQ(core::Passed(*verdict), row.runs) << row.size << " " << row.offset << core::VerdictMessage(*verdict);
  }
}

// A path of its own for NaN, which the launcher takes in the second case alone: special values are tried in the first.
TEST(DeadCode, WhatRunsForSpecialValuesAloneIsTriedInEveryCase) {
  for (const char* device : {"sim:h200", "cuda"})
    for (const bool tells_nan : {true, false}) {
      JudgeBench bench;
      bench.device = device;
      bench.options.simulator = "sim:h200";
      bench.spec.cases.push_back(bench.spec.cases.front());
      bench.spec.cases.back().name = "second";
      bench.spec.cases.back().scalars["n"] = int64_t{2000};
      bench.untrusted.Add("candidate", [&](FakeRun& run) {
        Twice(run);
        const std::vector<double> values = run.Values("in");
        const bool any = std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
        const bool there = run.Scalar("n") == 2000 && tells_nan && any;
        run.lines = {{"kernels/k.cu", 2, 1000, true}, {"kernels/k.cu", 3, there ? uint64_t{1} : uint64_t{0}, false}};
      });
      judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
      const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\nfloat z;\n"},
                                          bench.untrusted, judge::VerificationLevel::kFull);
      ASSERT_TRUE(verdict) << verdict.error().Format();
      EXPECT_EQ(core::Passed(*verdict), tells_nan) << device << ": " << core::VerdictMessage(*verdict);
    }
}

// Sizes that somebody draws may take more than any memory: of a square of 65,537 by 65,537 nothing is made.
TEST(DeadCode, WhatIsTooLargeIsNotSimulated) {
  JudgeBench bench;
  bench.device = "cuda";
  bench.options.simulator = "sim:h200";
  for (core::Argument& argument : bench.spec.args)
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      buffer->shape = {*core::Expression::Parse("n"), *core::Expression::Parse("n")};
  for (core::Case& c : bench.spec.cases) c.scalars["n"] = int64_t{40};
  uint64_t largest = 0;
  bench.untrusted.Add("candidate", [&](FakeRun& run) {
    largest = std::max<uint64_t>(largest, run.request.buffers[0].bytes.size());
    Twice(run);
    run.lines = {{"kernels/k.cu", 2, 1000, true}, {"kernels/k.cu", 3, 0, false}};
  });
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\nfloat z;\n"}, bench.untrusted,
                                      judge::VerificationLevel::kFull);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  EXPECT_FALSE(core::Passed(*verdict));
  EXPECT_LE(largest, bench.options.max_long_bytes);
}

// A path for the taps of the case that counts, which is too large to be simulated whole, and there a part for NaN.
TEST(DeadCode, SpecialValuesAreTriedWithTheTapsOfTheTimedCase) {
  for (const char* device : {"sim:h200", "cuda"}) {
    JudgeBench bench;
    bench.device = device;
    bench.options.simulator = "sim:h200";
    core::Argument taps{.name = "taps", .kind = core::ScalarArgument{core::DType::kI32}};
    bench.spec.args.push_back(taps);
    bench.spec.cases.push_back(bench.spec.cases.front());
    bench.spec.cases.front().scalars["taps"] = int64_t{3};
    bench.spec.cases.front().scalars["n"] = int64_t{200'000};
    bench.spec.cases.back().name = "others";
    bench.spec.cases.back().scalars["taps"] = int64_t{5};
    bench.spec.cases.back().weight = 0;
    bench.untrusted.Add("candidate", [&](FakeRun& run) {
      Twice(run);
      const std::vector<double> values = run.Values("in");
      const bool any = std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
      const bool there = run.Scalar("taps") == 3 && run.Scalar("n") < 1000 && any;
      run.lines = {{"kernels/k.cu", 2, 1000, true}, {"kernels/k.cu", 3, there ? uint64_t{1} : uint64_t{0}, false}};
    });
    judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
    const auto verdict = judge.Evaluate({"/tmp", "kernels/k.cu", "// candidate\nfloat y;\nfloat z;\n"}, bench.untrusted,
                                        judge::VerificationLevel::kFull);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    EXPECT_TRUE(core::Passed(*verdict)) << device << ": " << core::VerdictMessage(*verdict);
  }
}

}  // namespace
}  // namespace warpwright
