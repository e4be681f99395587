// What `init` concludes from runs: with an evaluator that touches what a function of the sizes says.
#include "app/probe_entry.h"

#include <gtest/gtest.h>

#include <functional>

#include "app/draft_manifest.h"

namespace warpwright::app {
namespace {

using Sizes = std::map<std::string, int64_t>;

struct Touch {
  int64_t read = 0, written = 0;  // elements
  bool reads_initial = false;
};
// By buffer; none: the launcher refuses these sizes. `content`: of the integer buffers.
using Model = std::function<std::optional<std::map<std::string, Touch>>(const Sizes&, int64_t content)>;

class ScriptedEvaluator final : public core::Evaluator {
 public:
  explicit ScriptedEvaluator(Model model) : model_(std::move(model)) {}
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    ++runs;
    Sizes sizes;
    for (const auto& [name, value] : request.scalars)
      if (const auto* integer = std::get_if<int64_t>(&value)) sizes[name] = *integer;
    int64_t content = 0;
    for (size_t b = 0, a = 0; a < request.spec.args.size(); ++a) {
      const auto* buffer = std::get_if<core::BufferArgument>(&request.spec.args[a].kind);
      if (buffer == nullptr) continue;
      if (!core::IsFloat(buffer->dtype)) content = static_cast<int64_t>(request.buffers[b].bytes[0]);
      ++b;
    }
    const auto touched = model_(sizes, content);
    if (!touched) return core::Refused{core::Check::kRecord, "it launches nothing", "a.cu", 1};
    core::Executed executed;
    for (const core::BufferContent& buffer : request.buffers) {
      const auto found = touched->find(buffer.name);
      const Touch touch = found == touched->end() ? Touch{} : found->second;
      const auto read = static_cast<uint64_t>(4 * touch.read), written = static_cast<uint64_t>(4 * touch.written);
      if (std::max(read, written) > buffer.bytes.size()) {
        core::Fault fault;
        fault.kind = core::Fault::Kind::kOutOfBounds;
        return core::Faulted{fault, ""};
      }
      executed.extents.push_back({buffer.name, read, written, read, written, touch.reads_initial});
    }
    return executed;
  }
  Result<core::Inspection> Inspect(const core::SourceRef&) override { return Unused(); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest&) override { return Unused(); }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override { return Unused(); }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override { return Unused(); }

  int runs = 0;

 private:
  static tl::unexpected<Error> Unused() { return Fail(ErrorCode::kUnsupported, "not used by init"); }
  Model model_;
};

core::EntryInfo Entry(const std::vector<std::string>& buffers, const std::vector<std::string>& integers) {
  core::EntryInfo entry;
  entry.name = "entry";
  for (const std::string& name : buffers) {
    const bool ids = name == "ids";
    entry.parameters.push_back(
        {.name = name, .type = "float *", .is_pointer = true, .dtype = ids ? core::DType::kI32 : core::DType::kF32});
  }
  for (const std::string& name : integers)
    entry.parameters.push_back({.name = name, .type = "int", .dtype = core::DType::kI32});
  entry.parameters.push_back({.name = "stream", .type = "cudaStream_t"});
  return entry;
}

std::string Drafted(const core::EntryInfo& entry, ScriptedEvaluator& evaluator) {
  const auto probe = ProbeEntry({"", "a.cu", ""}, entry, evaluator);
  EXPECT_TRUE(probe) << probe.error().Format();
  core::Inspection inspection;
  inspection.entries = {entry};
  return DraftManifest({{"a.cu", inspection, {{entry.name, *probe}}}});
}

TEST(ProbeEntry, ShapesRolesAndSizes) {
  ScriptedEvaluator evaluator([](const Sizes& s, int64_t) {
    const int64_t n = s.at("N"), c = s.at("C");
    return std::map<std::string, Touch>{
        {"out", {0, n * c}}, {"inp", {n * c, 0, true}}, {"gain", {c, 0, true}}, {"state", {n, n, true}}};
  });
  const std::string text = Drafted(Entry({"out", "inp", "gain", "state", "spare"}, {"N", "C", "mode"}), evaluator);
  for (const char* line :
       {"out: {buffer: f32, shape: [N, C], role: out}\n", "inp: {buffer: f32, shape: [N, C], role: in}\n",
        "gain: {buffer: f32, shape: [C], role: in}\n", "state: {buffer: f32, shape: [N], role: inout}\n",
        "spare: {buffer: f32, shape: [\"?\"]", "{name: typical, N: \"?\", C: \"?\", mode: "})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  EXPECT_EQ(text.find("mode: \"?\""), std::string::npos) << "no size depends on it\n" << text;
  EXPECT_EQ(text.find('?', text.find("{name: small")), std::string::npos) << text;
}

TEST(ProbeEntry, FindsSizesThatALauncherAccepts) {
  const struct {
    const char* what;
    std::vector<std::string> names;
    std::function<bool(const Sizes&)> accepts;
    std::function<int64_t(const Sizes&)> elements;
    const char* shape;
  } rows[] = {
      {"tiles",
       {"M", "N"},
       [](const Sizes& s) { return s.at("M") % 32 == 0 && s.at("N") % 32 == 0; },
       [](const Sizes& s) { return s.at("M") * s.at("N"); },
       "shape: [M, N]"},
      {"windows",
       {"N", "H", "W", "K", "S"},
       [](const Sizes& s) { return s.at("H") > 3 * s.at("K") && s.at("W") > 3 * s.at("K"); },
       [](const Sizes& s) {
         return s.at("N") * ((s.at("H") - s.at("K")) / s.at("S") + 1) * ((s.at("W") - s.at("K")) / s.at("S") + 1);
       },
       "shape: [N, \"(H - K) / S + 1\", \"(W - K) / S + 1\"]"},
  };
  for (const auto& row : rows) {
    ScriptedEvaluator evaluator([&](const Sizes& s, int64_t) -> std::optional<std::map<std::string, Touch>> {
      if (!row.accepts(s)) return std::nullopt;
      return std::map<std::string, Touch>{{"out", {0, row.elements(s)}}};
    });
    const std::string text = Drafted(Entry({"out"}, row.names), evaluator);
    EXPECT_NE(text.find(row.shape), std::string::npos) << row.what << "\n" << text;
    EXPECT_LE(evaluator.runs, 40) << row.what;
  }
}

TEST(ProbeEntry, DoesNotGuessWhatDependsOnData) {
  ScriptedEvaluator evaluator([](const Sizes& s, int64_t content) {
    const int64_t n = s.at("N"), c = s.at("C");
    return std::map<std::string, Touch>{
        {"out", {0, n * c}}, {"table", {(content + 1) * c, 0, true}}, {"ids", {n, 0, true}}};
  });
  const std::string text = Drafted(Entry({"out", "table", "ids"}, {"N", "C"}), evaluator);
  EXPECT_NE(text.find("table: {buffer: f32, shape: [\"?\"], role: in}"), std::string::npos) << text;
  EXPECT_NE(text.find("depends on the values of an integer buffer"), std::string::npos) << text;
  EXPECT_NE(text.find("ids: {buffer: i32, shape: [N], role: in, init: {integers: [0, \"?\"]}}"), std::string::npos)
      << text;
}

TEST(ProbeEntry, FindsWhatIndicesMustStayBelow) {
  ScriptedEvaluator evaluator([](const Sizes& s, int64_t content) {
    const int64_t n = s.at("N"), v = s.at("V");
    return std::map<std::string, Touch>{
        {"losses", {0, n}}, {"logits", {std::max(n * v, (n - 1) * v + content + 1), 0, true}}, {"ids", {n, 0, true}}};
  });
  const std::string text = Drafted(Entry({"losses", "logits", "ids"}, {"N", "V"}), evaluator);
  EXPECT_NE(text.find("logits: {buffer: f32, shape: [N, V], role: in}"), std::string::npos) << text;
  EXPECT_NE(text.find("ids: {buffer: i32, shape: [N], role: in, init: {integers: [0, \"V - 1\"]}}"), std::string::npos)
      << text;
}

TEST(ProbeEntry, LargeHardCodedSizesAreFoundWithLargerBuffers) {
  ScriptedEvaluator evaluator([](const Sizes&, int64_t) {
    return std::map<std::string, Touch>{{"out", {0, 3'000'000}}, {"inp", {5'000'000, 0, true}}};
  });
  const std::string text = Drafted(Entry({"out", "inp"}, {}), evaluator);
  EXPECT_NE(text.find("out: {buffer: f32, shape: [3000000], role: out}"), std::string::npos) << text;
  EXPECT_NE(text.find("- {name: only}"), std::string::npos) << text;
  EXPECT_EQ(text.find('?', text.find("kernels:")), std::string::npos) << text;
}

TEST(ProbeEntry, SaysWhyItKnowsNothing) {
  ScriptedEvaluator evaluator([](const Sizes&, int64_t) { return std::nullopt; });
  const std::string text = Drafted(Entry({"out", "inp"}, {"N", "C"}), evaluator);
  EXPECT_NE(text.find("# not run: it launches nothing"), std::string::npos) << text;
  EXPECT_NE(text.find("out: {buffer: f32, shape: [\"?\"], role: inout}  # how many elements? e.g. [N, C]"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace warpwright::app
