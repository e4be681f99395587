// Every verb, with every kind of fault at every request, and with the program killed at every request: afterwards the
// object exists once and has the right content.
#include <gtest/gtest.h>

#include "tests/unit/forge/model_github.h"

namespace warpwright {
namespace {

using Fault = ModelGithub::Fault;

struct Verb {
  const char* name;
  std::function<Status(forge::GithubClient&)> act;
  std::function<void(const ModelGithub&)> check;
};

template <typename T>
Status Done(const Result<T>& result) {
  return result ? Status() : Status(tl::unexpected<Error>(result.error()));
}

forge::CheckRequest Check(size_t annotations) {
  forge::CheckRequest request{.name = "warpwright / softmax",
                              .sha = std::string(40, 'b'),
                              .external_id = "job-17",
                              .conclusion = forge::Conclusion::kSuccess,
                              .title = "1.64x faster",
                              .summary = "summary",
                              .text = "text"};
  for (size_t i = 0; i < annotations; ++i)
    request.annotations.push_back({"k.cu", int(i) + 1, int(i) + 1, "", "note " + std::to_string(i)});
  return request;
}

std::vector<Verb> Verbs() {
  return {
      {"pull request",
       [](forge::GithubClient& client) {
         return Done(client.PutPullRequest(
             kRepository, {"warpwright/softmax", "main", "title", "body", true, {"performance"}, {"ada", "grace"}}));
       },
       [](const ModelGithub& model) {
         ASSERT_EQ(model.pulls.size(), 1u);
         EXPECT_EQ(model.pulls[0]["body"], "body");
         EXPECT_EQ(model.pulls[0]["labels"].size(), 1u);
         EXPECT_EQ(model.pulls[0]["requested_reviewers"].size(), 2u);
       }},
      {"check", [](forge::GithubClient& client) { return Done(client.PutCheck(kRepository, Check(120))); },
       [](const ModelGithub& model) {
         ASSERT_EQ(model.checks.size(), 1u);
         ASSERT_EQ(model.checks[0]["annotations"].size(), 120u);
         for (size_t i = 0; i < 120; ++i)
           EXPECT_EQ(model.checks[0]["annotations"][i]["message"], "note " + std::to_string(i));
         EXPECT_EQ(model.checks[0]["conclusion"], "success");
       }},
      {"dashboard",
       [](forge::GithubClient& client) {
         return Done(client.PutDashboard(kRepository, {"warpwright", "<!-- board -->\nqueue", "<!-- board -->"}));
       },
       [](const ModelGithub& model) { EXPECT_EQ(model.issues.size(), 1u); }},
      {"comment",
       [](forge::GithubClient& client) {
         return Done(client.PutComment(kRepository, {5, "answer <!-- c9 -->", "<!-- c9 -->"}));
       },
       [](const ModelGithub& model) { EXPECT_EQ(model.comments.size(), 1u); }},
  };
}

TEST(Repeat, EveryFaultAtEveryRequestIsSurvivedWithinOneCall) {
  size_t tried = 0;
  for (const Verb& verb : Verbs())
    for (Fault fault : {Fault::k502Before, Fault::k502After, Fault::kTimeoutAfter, Fault::kRateLimit})
      for (size_t at = 0; at < 15; ++at) {
        ModelGithub model;
        ClientKit kit;
        kit.http.reply = [&](const http::ClientRequest& request) { return model.Serve(request); };
        model.fault = [&](size_t index) { return index == at ? fault : Fault::kNone; };
        const Status done = verb.act(kit.Client());
        ASSERT_TRUE(done) << verb.name << " " << int(fault) << " at " << at << ": " << done.error().Format();
        verb.check(model);
        ASSERT_FALSE(testing::Test::HasFailure()) << verb.name << " fault " << int(fault) << " at " << at;
        ++tried;
      }
  EXPECT_EQ(tried, 240u);
}

TEST(Repeat, KilledAtEveryRequestAndStartedAgain) {
  struct Killed {};
  for (const Verb& verb : Verbs())
    for (bool served : {false, true})
      for (size_t at = 0; at < 12; ++at) {
        ModelGithub model;
        size_t index = 0;
        const auto serve = [&](const http::ClientRequest& request) -> Result<http::ClientResponse> {
          const bool dies = index++ == at;
          if (dies && !served) throw Killed{};
          auto answer = model.Serve(request);
          if (dies) throw Killed{};
          return answer;
        };
        for (int life = 0; life < 2; ++life) {
          ClientKit kit;  // a new process remembers nothing
          kit.http.reply = serve;
          try {
            ASSERT_TRUE(verb.act(kit.Client())) << verb.name;
          } catch (const Killed&) {  // NOLINT(bugprone-empty-catch): the next life goes on
          }
        }
        verb.check(model);
        ASSERT_FALSE(testing::Test::HasFailure())
            << verb.name << " at " << at << (served ? " after" : " before") << " it was served";
      }
}

TEST(Repeat, WhatIsThereAlreadyCausesNoWrite) {
  for (const Verb& verb : Verbs()) {
    ModelGithub model;
    ClientKit kit;
    kit.http.reply = [&](const http::ClientRequest& request) { return model.Serve(request); };
    ASSERT_TRUE(verb.act(kit.Client()));
    const size_t before = kit.http.log.size();
    ASSERT_TRUE(verb.act(kit.Client()));
    for (size_t i = before; i < kit.http.log.size(); ++i)
      EXPECT_TRUE(kit.http.log[i].starts_with("GET ")) << verb.name << ": " << kit.http.log[i];
  }
}

TEST(Repeat, AThirdOfAllRequestsFailing) {
  int failed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    ModelGithub model;
    const base::CounterRandom random(seed, 1);
    model.fault = [&](size_t index) {
      const double draw = random.Uniform(index);
      return draw < 0.1    ? Fault::k502Before
             : draw < 0.2  ? Fault::k502After
             : draw < 0.25 ? Fault::kTimeoutAfter
             : draw < 0.3  ? Fault::kRateLimit
                           : Fault::kNone;
    };
    for (const Verb& verb : Verbs()) {
      bool done = false;
      for (int call = 0; call < 5 && !done; ++call) {  // as the publisher does
        ClientKit kit;
        kit.http.reply = [&](const http::ClientRequest& request) { return model.Serve(request); };
        done = verb.act(kit.Client()).has_value();
        failed += !done;
      }
      ASSERT_TRUE(done) << verb.name << " seed " << seed;
      verb.check(model);
      ASSERT_FALSE(testing::Test::HasFailure()) << verb.name << " seed " << seed;
    }
  }
  EXPECT_LT(failed, 60) << "of 1,200 calls";
}

}  // namespace
}  // namespace warpwright
