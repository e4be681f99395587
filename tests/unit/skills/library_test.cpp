#include "skills/library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/file.h"
#include "rewrite/transform.h"
#include "schedule/schedule.h"
#include "skills/transform_catalog.h"
#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

constexpr char kPolicy[] = R"(version: 1
roofline: {field: roofline_pct, at_least: 90}
unknown_factor: 0.8
unknown_bottleneck: 0.2
order_binds_at: 0.1
stages: {gap: 1.0}
state: [{field: headroom, edges: [2, 5]}]
bottlenecks:
  - id: latency
    title: Waiting
    stage: gap
    when: {field: latency_pct, above: 30}
    severity: {field: latency_pct, from: 20, to: 90}
    methods:
      - {method: tune, weight: 0.5, reason: "a"}
      - {method: wide, weight: 0.5, reason: "b"}
fallback:
  - {method: tune, weight: 0.1, reason: "c"}
vetoes:
  - {methods: [wide], when: {field: strided_access, is: true}, reason: "d"}
)";

std::string Card(const std::string& id, const std::string& more) {
  return "id: " + id + R"(
title: T
intent: I
mechanism: M
sketch: "x = y;"
expected_gain: {low: 0.9, typical: 1.2, high: 2}
architectures: {min: 80}
expected: [{name: latency_pct, direction: down, factor: 0.5}]
forbidden: ["nothing"]
failures: [{symptom: "s", cause: "c", remedy: "r"}]
sources: [{title: "t", url: "https://example.org/"}]
)" + more;
}

constexpr const char* kCause =
    "\ncause: [\"It waited for {latency_pct.before} of its time, now {latency_pct.after}.\"]";

std::map<std::string, std::string> Files() {
  return {{"policy.yml", kPolicy},
          {"methods/tune.yml", Card("tune", "transform: launch_retune" + std::string(kCause) + "\n")},
          {"methods/wide.yml", Card("wide", "preconditions: [{field: access_bytes, below: 8, reason: \"narrow\"}]\n")}};
}
std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Library, BuiltInIsCompleteAndEqualToTheFolder) {
  const skills::SkillLibrary& library = BuiltIn();
  EXPECT_GE(library.methods.size(), 50u);
  const auto folder = skills::LoadSkills(std::string(WW_SOURCE_DIR) + "/skills");
  ASSERT_TRUE(folder) << folder.error().Format();
  EXPECT_EQ(folder->digest, library.digest);
  for (const auto& [id, card] : library.methods) {
    EXPECT_FALSE(card.sources.empty()) << id;
    EXPECT_GE(card.mechanism.size(), 80u) << id;
  }
}

// What the cards state about a transformation must equal what the worker accepts: the cards are all that `warpwright`
// knows of it, and the planner sweeps the values that they name.
TEST(Library, CardsAndTheWorkersTransformationsAgree) {
  for (const skills::TransformSignature& signature : skills::TransformCatalog()) {
    if (schedule::IsSchedule(signature.id)) continue;
    EXPECT_NE(rewrite::FindTransform(signature.id), nullptr)
        << "a card names the transformation '" << signature.id << "', and daemon/rewrite/transforms has none";
  }
  for (const rewrite::Transform& transform : rewrite::Transforms()) {
    const skills::TransformSignature* signature = skills::FindTransformSignature(transform.id);
    ASSERT_NE(signature, nullptr) << "no card of skills/methods names the transformation '" << transform.id << "'";
    std::map<std::string_view, std::set<std::string_view>> cards, worker;
    for (const auto& [name, values] : signature->parameters) cards[name] = {values.begin(), values.end()};
    for (const auto& [name, values] : transform.parameters) worker[name] = {values.begin(), values.end()};
    EXPECT_EQ(cards, worker) << transform.id;
    // A card may try fewer values and in another order, but must name every parameter.
    for (const auto& [id, card] : BuiltIn().methods) {
      if (card.transform == transform.id) {
        EXPECT_EQ(card.parameters.size(), transform.parameters.size()) << id;
      }
    }
  }
  EXPECT_FALSE(rewrite::Transforms().empty());
}

TEST(Library, CardsAndTheWorkersSchedulesAgree) {
  size_t schedules = 0;
  for (const skills::TransformSignature& signature : skills::TransformCatalog()) {
    if (!schedule::IsSchedule(signature.id)) continue;
    ++schedules;
    EXPECT_NE(schedule::FindSchedule(signature.id), nullptr) << signature.id;
  }
  EXPECT_EQ(schedules, schedule::Schedules().size()) << "a schedule has no card";
  for (const schedule::Schedule& schedule : schedule::Schedules()) {
    const skills::TransformSignature* signature = skills::FindTransformSignature(schedule.id);
    ASSERT_NE(signature, nullptr) << schedule.id;
    std::map<std::string_view, std::set<std::string_view>> card, worker;
    for (const auto& [name, values] : signature->parameters) card[name] = {values.begin(), values.end()};
    for (const auto& [name, values] : schedule.parameters) worker[name] = {values.begin(), values.end()};
    EXPECT_EQ(card, worker) << schedule.id;
  }
}

TEST(Library, SmallLibraryLoads) {
  const auto library = skills::ParseSkills(Files(), "lib");
  ASSERT_TRUE(library) << library.error().Format();
  EXPECT_EQ(library->methods.size(), 2u);
}

// One defect each, and the message that must name it with its location.
TEST(Library, DefectsAreNamedWithTheirPlace) {
  const struct {
    const char* file;
    const char* from;
    const char* to;
    const char* message;
  } rows[] = {
      {"policy.yml", "latency_pct, above: 30", "latency_pc, above: 30",
       "lib/policy.yml:12:19: unknown evidence field 'latency_pc'; did you mean 'latency_pct'"},
      {"policy.yml", "above: 30", "above: 130", "lib/policy.yml:12:39: 130 is outside of 'latency_pct'"},
      {"policy.yml", "above: 30", "abov: 30", "did you mean 'above'"},
      {"policy.yml", "above: 30", "above: 30, below: 70", "one comparison at a time"},
      {"policy.yml", "above: 30", "is: true", "'latency_pct' is a number"},
      {"policy.yml", "method: wide", "method: wise",
       "lib/policy.yml:16:18: unknown method 'wise'; did you mean 'wide'"},
      {"policy.yml", "methods: [wide]", "methods: [wid]", "unknown method 'wid'"},
      {"policy.yml", "weight: 0.5", "weight: 1.5", "'weight' is 1.5; it must be from 0.01 to 1"},
      {"policy.yml", "stage: gap", "stage: gab", "unknown stage 'gab'; did you mean 'gap'"},
      {"policy.yml", "edges: [2, 5]", "edges: [5, 2]", "rising order"},
      {"policy.yml", "from: 20, to: 90", "from: 20, to: 20", "must differ"},
      {"policy.yml", "method: wide, weight", "method: tune, weight", "calls for 'tune' twice"},
      {"policy.yml", "strided_access, is: true", "strided_access, below: 1", "'strided_access' is a boolean"},
      {"policy.yml", "at_least: 90", "at_least: 190", "it must be from 1 to 100"},
      {"policy.yml", "version: 1", "version: 2", "it must be 1"},
      {"methods/tune.yml", "id: tune", "id: tuna",
       "lib/methods/tune.yml:1:5: the id 'tuna' differs from the file's name 'tune'"},
      {"methods/tune.yml", "launch_retune", "launch_retun",
       "unknown transformation 'launch_retun'; did you mean 'launch_retune'"},
      {"methods/tune.yml", "transform: launch_retune",
       "transform: launch_retune\nparameters: [{name: width, values: [\"4\"], meaning: m}]",
       "has no parameter 'width'"},
      {"methods/tune.yml", "transform: launch_retune",
       "transform: launch_retune\nparameters: [{name: block_size, values: [\"100\"], meaning: m}]",
       "takes no block_size = '100'"},
      {"methods/tune.yml", "transform: launch_retune", "transform: launch_retune\nafter: [nothing]",
       "unknown method 'nothing'"},
      {"methods/tune.yml", "transform: launch_retune", "transform: launch_retune\nconflicts: [tune]",
       "refers to itself"},
      {"methods/tune.yml", kCause, "", "lib/methods/tune.yml:12:12: a card with a 'transform' needs a 'cause'"},
      {"methods/tune.yml", kCause, "\ncause: [\"It waits.\"]", "bound to no figure"},
      {"methods/tune.yml", kCause, "\ncause: [\"{latency.before} and {latency.after}\"]",
       "'latency' is not one of the card's expected changes"},
      {"methods/tune.yml", kCause, "\ncause: [\"{latency_pct.before}\"]", "it gives 'latency_pct' before only"},
      {"methods/tune.yml", kCause, "\ncause: [\"{latency_pct.before} became {latency_pct.after}.\"]",
       "begins with a figure"},
      {"methods/tune.yml", kCause,
       "\ncause: [\"A[ of {latency_pct.before}] {latency_pct.before} {latency_pct.after}.\"]", "does not end with .is"},
      {"methods/tune.yml", kCause, "\ncause: [\"A[ of {latency.is}] {latency_pct.before} {latency_pct.after}.\"]",
       "'latency' is no field of the evidence"},
      {"methods/tune.yml", kCause, "\ncause: [\"A[ of many {latency_pct.before} {latency_pct.after}.\"]",
       "its brackets do not match"},
      {"methods/tune.yml", kCause, "\ncause: [\"A[ row] {latency_pct.before} {latency_pct.after}.\"]",
       "brackets without a {name.is}"},
      {"methods/tune.yml", kCause, "\ncause: [\"A {threads_per_block.is} {latency_pct.before} {latency_pct.after}.\"]",
       "ends with neither .before nor .after"},
      {"methods/tune.yml", kCause, "\ncause: [\"{latency_pct}\"]", "ends with neither .before nor .after"},
      {"methods/tune.yml", kCause, "\ncause: [\"{latency_pct.before\"]", "its braces do not match"},
      {"methods/tune.yml", "name: latency_pct", "name: latency", "unknown evidence field or counter 'latency'"},
      {"methods/tune.yml", "factor: 0.5", "factor: 1.5", "below 1 for down"},
      {"methods/tune.yml", "typical: 1.2", "typical: 3", "rising order"},
      {"methods/tune.yml", "mechanism: M", "mechanics: M", "did you mean 'mechanism'"},
      {"methods/wide.yml", ", reason: \"narrow\"", "", "a precondition needs a 'reason'"},
      {"methods/wide.yml", "access_bytes, below: 8", "access_bytes, below: 0", "this can never hold"},
      {"methods/wide.yml", "{min: 80}", "{min: 90, max: 80}", "'max' is below 'min'"},
  };
  for (const auto& row : rows) {
    auto files = Files();
    files[row.file] = Replaced(files[row.file], row.from, row.to);
    const auto library = skills::ParseSkills(files, "lib");
    ASSERT_FALSE(library) << row.to;
    EXPECT_NE(library.error().Format().find(row.message), std::string::npos) << row.message << "\n--- got:\n"
                                                                             << library.error().Format();
    EXPECT_EQ(library.error().code, ErrorCode::kConfig);
  }
}

TEST(Library, AllErrorsAtOnce) {
  auto files = Files();
  files["policy.yml"] = Replaced(files["policy.yml"], "latency_pct, above", "latency_pc, above");
  files["methods/wide.yml"] = Replaced(files["methods/wide.yml"], "access_bytes", "acces_bytes");
  const std::string text = skills::ParseSkills(files, "lib").error().Format();
  EXPECT_NE(text.find("latency_pc"), std::string::npos) << text;
  EXPECT_NE(text.find("acces_bytes"), std::string::npos) << text;
}

TEST(Library, UnreachableMethodsAreRefused) {
  const struct {
    const char* what;
    const char* file;
    const char* from;
    const char* to;
  } rows[] = {
      {"nobody calls for it", "policy.yml", "      - {method: wide, weight: 0.5, reason: \"b\"}\n", ""},
      {"preconditions exclude each other", "methods/wide.yml", "below: 8, reason: \"narrow\"}",
       "below: 8, reason: \"n\"}, {field: access_bytes, above: 9, reason: \"m\"}"},
      {"always applied", "methods/wide.yml",
       "preconditions:", "already_applied: {field: access_bytes, below: 8}\npreconditions:"},
      {"two operation classes", "methods/wide.yml", "below: 8, reason: \"narrow\"}",
       "below: 8, reason: \"n\"}, {all: [{field: op_scan, is: true}, {field: op_matmul, is: true}], reason: \"m\"}"},
      {"vetoed wherever it applies", "policy.yml", "{field: strided_access, is: true}, reason: \"d\"",
       "{field: access_bytes, below: 16}, reason: \"d\""},
  };
  for (const auto& row : rows) {
    auto files = Files();
    files[row.file] = Replaced(files[row.file], row.from, row.to);
    const auto library = skills::ParseSkills(files, "lib");
    ASSERT_FALSE(library) << row.what;
    EXPECT_NE(library.error().Format().find("no evidence leads to the method 'wide'"), std::string::npos)
        << row.what << library.error().Format();
  }
}

TEST(Library, AnUncoveredPolicyIsRefused) {
  const struct {
    const char* file;
    const char* from;
    const char* to;
  } rows[] = {
      {"methods/tune.yml", "transform: launch_retune",
       "transform: launch_retune\npreconditions: [{field: waves, above: 1, reason: \"n\"}]"},
      {"methods/tune.yml", "transform: launch_retune",
       "transform: launch_retune\nalready_applied: {field: launch_bounds, is: true}"},
      {"methods/tune.yml", "transform: launch_retune", "transform: launch_retune\nneeds: [tf32]"},
      {"methods/tune.yml", "transform: launch_retune", "conflicts: [wide]"},
      {"policy.yml", "methods: [wide], when", "methods: [wide, tune], when"},
      {"methods/tune.yml", "{min: 80}", "{min: 90}"},
  };
  for (const auto& row : rows) {
    auto files = Files();
    files[row.file] = Replaced(files[row.file], row.from, row.to);
    const auto library = skills::ParseSkills(files, "lib");
    ASSERT_FALSE(library) << row.to;
    EXPECT_NE(library.error().Format().find("no fallback is unconditional"), std::string::npos)
        << row.to << library.error().Format();
  }
}

TEST(Library, CircularOrderIsRefused) {
  auto files = Files();
  files["methods/tune.yml"] += "after: [wide]\n";
  files["methods/wide.yml"] += "after: [tune]\n";
  const auto library = skills::ParseSkills(files, "lib");
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().Format().find("the order goes in a circle: tune after wide after tune"), std::string::npos)
      << library.error().Format();
}

TEST(Library, AFolderOverrides) {
  auto temporary = base::TemporaryDirectory::Create("skills");
  ASSERT_TRUE(temporary);
  for (const auto& [name, text] : Files()) ASSERT_TRUE(base::WriteFileAtomically(temporary->path() / name, text));
  const auto library = skills::LoadSkills(temporary->path());
  ASSERT_TRUE(library) << library.error().Format();
  EXPECT_EQ(library->methods.size(), 2u);
  EXPECT_EQ(library->origin, temporary->path().string());
  EXPECT_FALSE(skills::LoadSkills(temporary->path() / "methods"));
  std::filesystem::remove(temporary->path() / "policy.yml");
  EXPECT_FALSE(skills::LoadSkills(temporary->path()));
}

}  // namespace
}  // namespace warpwright
