#include "skills/match.h"

#include <algorithm>
#include <cmath>

#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

Evidence Of(std::initializer_list<std::pair<const char*, double>> values) {
  Evidence evidence;
  for (const auto& [name, value] : values) evidence.Set(name, value);
  return evidence;
}
const RankedMethod* Find(const MatchResult& result, std::string_view id) {
  for (const RankedMethod& m : result.methods)
    if (m.card->id == id) return &m;
  return nullptr;
}
const VetoedMethod* FindVeto(const MatchResult& result, std::string_view id) {
  for (const VetoedMethod& v : result.vetoed)
    if (v.method == id) return &v;
  return nullptr;
}
size_t Rank(const MatchResult& result, std::string_view id) {
  for (size_t i = 0; i < result.methods.size(); ++i)
    if (result.methods[i].card->id == id) return i;
  return 999;
}
Evidence NaiveRows() {
  return Of({{"op_row_reduction", 1},
             {"one_thread_per_row", 1},
             {"load_efficiency_pct", 12.5},
             {"store_sector_pct", 1},
             {"roofline_pct", 3},
             {"headroom", 33},
             {"waves", 0.2},
             {"limited_by_grid", 1},
             {"compute_capability", 90},
             {"accumulating_loop", 1},
             {"accumulators", 1},
             {"op_matmul", 0},
             {"const_restrict", 0}});
}

TEST(Match, CitesFieldsWithNumbers) {
  const MatchResult result = Match(BuiltIn(), NaiveRows(), {});
  ASSERT_NE(result.primary(), nullptr);
  EXPECT_EQ(result.primary()->id, "serial_rows");
  EXPECT_EQ(result.primary()->evidence, "one_thread_per_row = yes");
  EXPECT_EQ(result.position, "3.0 % of the roofline, 33 times the floor");
  EXPECT_EQ(result.state, "serial_rows;headroom>=20;compute_floor=?;uses_shared=?;launches=?");
  ASSERT_FALSE(result.methods.empty());
  EXPECT_EQ(result.methods[0].card->id, "row_parallel");
  bool cited = false;
  for (const std::string& reason : result.methods[0].reasons)
    cited |= reason.find("load_efficiency_pct = 12.5 % (below 60)") != std::string::npos;
  EXPECT_TRUE(cited);
}

TEST(Match, StatesTheRooflineWithItsFigure) {
  const MatchResult result =
      Match(BuiltIn(), Of({{"roofline_pct", 95.5}, {"headroom", 1.05}, {"compute_capability", 90}}), {});
  ASSERT_TRUE(result.at_roofline);
  EXPECT_DOUBLE_EQ(result.at_roofline->share_pct, 95.5);
  EXPECT_NE(result.at_roofline->message.find("95.5 %"), std::string::npos);
  EXPECT_FALSE(Match(BuiltIn(), Of({{"roofline_pct", 91.9}}), {}).at_roofline);
  EXPECT_TRUE(Match(BuiltIn(), Of({{"roofline_pct", 92}}), {}).at_roofline);
}

TEST(Match, OnlyWhatRaisesTheRoofGoesBeyondIt) {
  Evidence at_roof = Of({{"roofline_pct", 96},
                         {"headroom", 1.04},
                         {"op_matmul", 1},
                         {"dtype_half", 0},
                         {"dtype_f64", 0},
                         {"compute_floor", 1},
                         {"tensor_cores", 0},
                         {"compute_capability", 90}});
  EXPECT_TRUE(Match(BuiltIn(), at_roof, {}).at_roofline);
  MatchContext tf32;
  tf32.allow = {Allow::kTf32};
  const MatchResult result = Match(BuiltIn(), at_roof, tf32);
  EXPECT_FALSE(result.at_roofline);
  ASSERT_EQ(result.methods.size(), 1u);
  EXPECT_EQ(result.methods[0].card->id, "tensor_core_mma");
}

TEST(Match, RecognisesWhatIsThereAlready) {
  Evidence evidence = NaiveRows();
  evidence.Set("one_thread_per_row", 0);
  evidence.Set("shuffles", 5);
  const MatchResult result = Match(BuiltIn(), evidence, {});
  EXPECT_EQ(Find(result, "row_parallel"), nullptr);
  ASSERT_NE(FindVeto(result, "row_parallel"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_parallel")->kind, VetoedMethod::Kind::kAlreadyApplied);
}

TEST(Match, VetoesSayWhy) {
  Evidence evidence = Of({{"op_elementwise", 1},
                          {"op_matmul", 0},
                          {"load_reuse", 1},
                          {"launches", 1},
                          {"strided_access", 1},
                          {"load_efficiency_pct", 12},
                          {"access_bytes", 4},
                          {"one_thread_per_row", 0},
                          {"compute_capability", 80},
                          {"roofline_pct", 20},
                          {"overhead_pct", 40},
                          {"vector_width", 1},
                          {"dram_throughput_pct", 70},
                          {"memory_excess", 3}});
  const MatchResult result = Match(BuiltIn(), evidence, {});
  const struct {
    const char* method;
    VetoedMethod::Kind kind;
    const char* text;
  } rows[] = {
      {"vectorize_elementwise", VetoedMethod::Kind::kPolicy, "strided"},
      {"kernel_fusion", VetoedMethod::Kind::kPrecondition, "launches = 1"},
      {"programmatic_dependent_launch", VetoedMethod::Kind::kArchitecture, "compute capability 80"},
      {"l2_persistence", VetoedMethod::Kind::kAllowance, "cache_policy"},
      {"row_parallel", VetoedMethod::Kind::kPrecondition, "one_thread_per_row = no"},
  };
  for (const auto& row : rows) {
    const VetoedMethod* veto = FindVeto(result, row.method);
    ASSERT_NE(veto, nullptr) << row.method;
    EXPECT_EQ(Name(veto->kind), Name(row.kind)) << row.method << ": " << veto->reason;
    EXPECT_NE(veto->reason.find(row.text), std::string::npos) << veto->reason;
    EXPECT_EQ(Find(result, row.method), nullptr);
  }
}

TEST(Match, ContextExcludes) {
  MatchContext context;
  context.excluded["row_parallel"] = "tried on this base: slower by 3 %";
  context.applied = {"online_softmax"};
  Evidence evidence = NaiveRows();
  evidence.Set("op_row_reduction", 0);
  evidence.Set("op_row_normalization", 1);
  evidence.Set("loops", 3);
  const MatchResult result = Match(BuiltIn(), evidence, context);
  ASSERT_NE(FindVeto(result, "row_parallel"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_parallel")->reason, "tried on this base: slower by 3 %");
  ASSERT_NE(FindVeto(result, "row_in_registers"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_in_registers")->kind, VetoedMethod::Kind::kConflict);
}

TEST(Match, BuiltInOnlyKeepsTransformations) {
  MatchContext context;
  context.built_in_only = true;
  const MatchResult result = Match(BuiltIn(), NaiveRows(), context);
  ASSERT_FALSE(result.methods.empty());
  for (const RankedMethod& m : result.methods) EXPECT_FALSE(m.card->transform.empty()) << m.card->id;
}

TEST(Match, UnknownLowersTheScoreAndNeverVetoes) {
  const Evidence known = Of({{"op_transpose", 1}, {"uses_shared", 0}, {"roofline_pct", 20}});
  const Evidence unknown = Of({{"uses_shared", 0}, {"roofline_pct", 20}, {"store_efficiency_pct", 12.5}});
  const MatchResult sure = Match(BuiltIn(), known, {}), unsure = Match(BuiltIn(), unknown, {});
  ASSERT_NE(Find(sure, "transpose_tile"), nullptr);
  const RankedMethod* method = Find(unsure, "transpose_tile");
  ASSERT_NE(method, nullptr);
  ASSERT_EQ(method->unknown.size(), 1u);
  EXPECT_NE(method->unknown[0].find("op_transpose = unknown"), std::string::npos) << method->unknown[0];
  Evidence decided = unknown;
  decided.Set("op_transpose", 1);
  EXPECT_LT(method->score, Find(Match(BuiltIn(), decided, {}), "transpose_tile")->score);
}

TEST(Match, OrderHoldsFollowersBack) {
  Evidence evidence = NaiveRows();
  evidence.Set("latency_pct", 95);
  evidence.Set("access_bytes", 4);
  const MatchResult result = Match(BuiltIn(), evidence, {});
  ASSERT_NE(Find(result, "unroll_accumulators"), nullptr);
  EXPECT_LT(Rank(result, "row_parallel"), Rank(result, "unroll_accumulators"));
  EXPECT_LT(Rank(result, "restrict_readonly"), Rank(result, "unroll_accumulators"))
      << "`before` of another card counts as `after`";
  const double restrict_gain = Find(result, "restrict_readonly")->expected_log_gain;
  EXPECT_LT(restrict_gain, Find(result, "launch_retune")->expected_log_gain);
  EXPECT_LT(Rank(result, "restrict_readonly"), Rank(result, "launch_retune")) << "it opens the way for a larger step";
}

TEST(Match, GainIsLimitedByTheHeadroom) {
  Evidence far = NaiveRows(), near = NaiveRows();
  near.Set("headroom", 1.3);
  const double gain_far = Find(Match(BuiltIn(), far, {}), "row_parallel")->expected_log_gain;
  const double gain_near = Find(Match(BuiltIn(), near, {}), "row_parallel")->expected_log_gain;
  EXPECT_GT(gain_far, 1.0);
  EXPECT_LE(gain_near, std::log(1.3) + 1e-12);
}

TEST(Match, IsDeterministic) {
  const MatchResult a = Match(BuiltIn(), NaiveRows(), {}), b = Match(BuiltIn(), NaiveRows(), {});
  ASSERT_EQ(a.methods.size(), b.methods.size());
  for (size_t i = 0; i < a.methods.size(); ++i) {
    EXPECT_EQ(a.methods[i].card, b.methods[i].card);
    EXPECT_EQ(a.methods[i].score, b.methods[i].score);
    EXPECT_EQ(a.methods[i].reasons, b.methods[i].reasons);
  }
}

TEST(Condition, ThreeValuedLogic) {
  Diagnostics diagnostics;
  const auto read = [&](std::string_view text) { return ReadCondition(*ParseYaml(text, "t.yml"), diagnostics); };
  const std::set<Allow> allow = {Allow::kTf32};
  const Evidence evidence = Of({{"waves", 2}, {"uses_shared", 1}});
  const Facts facts(evidence, allow);
  const struct {
    const char* text;
    Truth truth;
  } rows[] = {
      {"{field: waves, below: 2}", Truth::kFalse},
      {"{field: waves, at_most: 2}", Truth::kTrue},
      {"{field: waves, above: 2}", Truth::kFalse},
      {"{field: waves, at_least: 2}", Truth::kTrue},
      {"{field: waves, equals: 2}", Truth::kTrue},
      {"{field: waves, between: [2, 3]}", Truth::kTrue},
      {"{field: uses_shared, is: true}", Truth::kTrue},
      {"{field: uses_shared, is: false}", Truth::kFalse},
      {"{field: loops, above: 0}", Truth::kUnknown},
      {"{not: {field: loops, above: 0}}", Truth::kUnknown},
      {"{allow: tf32}", Truth::kTrue},
      {"{allow: clock}", Truth::kFalse},
      {"{all: [{field: loops, above: 0}, {field: waves, above: 5}]}", Truth::kFalse},
      {"{all: [{field: loops, above: 0}, {field: waves, above: 1}]}", Truth::kUnknown},
      {"{any: [{field: loops, above: 0}, {field: waves, above: 1}]}", Truth::kTrue},
      {"{any: [{field: loops, above: 0}, {field: waves, above: 5}]}", Truth::kUnknown},
      {"{not: {field: waves, above: 1}}", Truth::kFalse},
      {"{operation: [matmul, scan]}", Truth::kUnknown},
  };
  for (const auto& row : rows) EXPECT_EQ(Evaluate(read(row.text), facts), row.truth) << row.text;
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Condition, CitesWhatDecides) {
  Diagnostics diagnostics;
  const Condition any = ReadCondition(
      *ParseYaml("{any: [{field: waves, below: 1}, {field: uses_shared, is: true}]}", "t.yml"), diagnostics);
  const std::set<Allow> none;
  EXPECT_EQ(Cite(any, Facts(Of({{"waves", 0.25}, {"uses_shared", 0}}), none)), "waves = 0.25 (below 1)");
  EXPECT_EQ(Cite(any, Facts(Of({{"waves", 3}, {"uses_shared", 1}}), none)), "uses_shared = yes");
  EXPECT_EQ(Describe(any), "waves below 1 or uses_shared is true");
}

TEST(Predictions, AreComparedWithMeasurements) {
  MethodCard card;
  card.expected = {{"dram_throughput_pct", true, 2},
                   {"global_load_sectors", false, 0.25},
                   {"barriers", false, 0.5},
                   {"waves", true, 2}};
  const auto results = ComparePredictions(
      card, {{"dram_throughput_pct", 20}, {"global_load_sectors", 1000}, {"waves", 4}, {"barriers", 2}},
      {{"dram_throughput_pct", 45}, {"global_load_sectors", 1100}, {"waves", 4.01}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].held);
  EXPECT_FALSE(results[1].held);
  EXPECT_FALSE(results[2].held) << "a quarter of a per cent is noise";
}

}  // namespace
}  // namespace warpwright
