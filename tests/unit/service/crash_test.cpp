// The process dies at every single point of a run: after each transaction, before and after each action on the forge,
// before and after each child. Afterwards everything exists exactly once.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/service/world.h"

namespace warpwright {
namespace {

// What users can see in the end.
struct Seen {
  std::vector<std::string> created;  // on the forge, sorted
  std::vector<std::string> branches;
  std::vector<std::string> outcomes;
  bool operator==(const Seen&) const = default;
};

Seen Look(World& world) {
  Seen seen;
  for (const auto& line : world.forge.log)
    if (line.starts_with("create") || line.starts_with("react")) seen.created.push_back(line);
  std::sort(seen.created.begin(), seen.created.end());
  for (const char* kernel : {"softmax", "gelu", "scan"}) {
    const std::string branch = std::string("warpwright/") + kernel;
    if (!world.RemoteTip(branch).empty())
      seen.branches.push_back(branch + " " + world.remote.Git({"rev-list", "--count", "main.." + branch}));
    seen.outcomes.push_back(std::string(Name(world.Job(kernel).phase)) + " " +
                            std::string(Name(*world.Job(kernel).outcome)));
  }
  return seen;
}

// A push that changes two kernels, one of which does not become faster, and a user who requests the third.
void Begin(World& world) {
  world.runner.outcomes["gelu"] = core::TaskOutcome::kUnchanged;
  world.remote.Write("softmax.cu", "// softmax 2\n");
  world.Push("gelu", "// gelu 2\n");
  world.Comment(1, "maintainer", "/warpwright optimize scan");
}

TEST(Crash, AtEveryPointTheRestIsDoneOnceAfterwards) {
  World whole;
  const int before = whole.point;
  Begin(whole);
  whole.Drive();
  const Seen expected = Look(whole);
  const int points = whole.point - before;
  ASSERT_GT(points, 40);
  ASSERT_EQ(expected.outcomes, (std::vector<std::string>{"done improved", "done unchanged", "done improved"}));

  size_t most_runs = 0;
  for (int n = 1; n <= points; ++n) {
    SCOPED_TRACE("dies at point " + std::to_string(n));
    World world;
    world.crash_at = world.point + n;
    try {
      Begin(world);
      world.Drive();
    } catch (const Crash&) {  // NOLINT(bugprone-empty-catch): what is tested is what comes after it
    }
    world.crash_at = 0;
    world.Restart();
    world.Drive();
    EXPECT_EQ(Look(world).created, expected.created);
    EXPECT_EQ(Look(world), expected);
    most_runs = std::max(most_runs, world.runner.runs.size());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LE(most_runs, 4u) << "at most one child is run again";
}

TEST(Crash, TwiceInARow) {
  World whole;
  Begin(whole);
  whole.Drive();
  const Seen expected = Look(whole);
  for (int n = 3; n <= 60; n += 9)
    for (int m = 2; m <= 20; m += 9) {
      SCOPED_TRACE("dies at point " + std::to_string(n) + " and again " + std::to_string(m) + " later");
      World world;
      Begin(world);
      for (const int next : {n, m}) {
        world.crash_at = world.point + next;
        try {
          world.Drive();
        } catch (const Crash&) {  // NOLINT(bugprone-empty-catch): as above
        }
        world.crash_at = 0;
        world.Restart();
      }
      world.Drive();
      EXPECT_EQ(Look(world), expected);
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace warpwright
