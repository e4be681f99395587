// What prompts say of measurements.
#include "agents/briefing.h"

#include "tests/support/golden.h"
#include "tests/unit/agents/model_kit.h"

namespace warpwright {
namespace {

core::LineCounters Sampled(const std::string& file, int line, uint64_t samples, const std::string& stall) {
  core::LineCounters counters;
  counters.file = file;
  counters.line = line;
  counters.samples = samples;
  counters.stalls = {{stall, samples * 3 / 4}};
  return counters;
}

core::LaunchReport Launch(const std::string& kernel, double us) {
  core::LaunchReport launch;
  launch.kernel = kernel;
  launch.registers = 40;
  launch.threads_per_block = 128;
  launch.blocks_total = 900;
  launch.time.total_us = us;
  launch.time.limiter = "latency";
  return launch;
}

// Whoever plans for two kernels must see the lines and the instructions of both, as they are in this version.
TEST(Briefing, TellsOfEveryLaunchThatTakesTime) {
  ModelKit kit;
  core::LaunchReport wide = Launch("scores", 60), narrow = Launch("sums", 33), little = Launch("fill", 5);
  wide.lines = {Sampled(kit.spec.file, 3, 70, "long_scoreboard"), Sampled("kernels/rows.h", 12, 30, "barrier"),
                Sampled(kit.spec.file, 99, 0, "barrier")};
  wide.counters.global_load_requests = 100;
  wide.counters.global_load_bytes = 100 * 32 * 16;
  wide.counters.global_load_sectors = 1600;
  wide.counters.global_store_requests = 10;
  wide.counters.global_store_bytes = 10 * 32 * 2;
  wide.counters.global_store_sectors = 40;
  wide.time.tensor_us = 21;
  narrow.lines = {Sampled(kit.spec.file, 7, 50, "wait")};
  narrow.counters = wide.counters;
  narrow.counters.local_load_bytes = 4096;
  narrow.unmeasured = {"global_load_sectors", "tensor_us"};
  narrow.time.tensor_us = 3;
  little.lines = {Sampled(kit.spec.file, 1, 9, "wait")};
  kit.measured.cases[0].time_us = 100;
  kit.measured.cases[0].launches = {wide, narrow, little};
  ExpectGolden("prompts/measured-launches.txt", agents::MeasuredFacts(kit.At()));
}

TEST(Briefing, HotLinesAreThoseOfTheBase) {
  ModelKit kit;
  core::Candidate later{.text = "//\n//\n  rows[0] = 1;\n"};
  const agents::Situation at = kit.At();
  const agents::Situation of_later{.spec = at.spec,
                                   .original = at.original,
                                   .chip = at.chip,
                                   .evaluator = at.evaluator,
                                   .base = later,
                                   .measured = at.measured,
                                   .features = at.features};
  const std::string text = agents::MeasuredFacts(of_later);
  EXPECT_NE(text.find("line 3: 100 % of the warp instructions, 100 % of the global sectors: \"rows[0] = 1;\"\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace warpwright
