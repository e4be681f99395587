// The stand-in as a program, for manual experiments: prints its port, and at the end (SIGINT, SIGTERM) what it saw as
// JSON.
//   github_stand_in --root /tmp/hub --repository acme/kernels --token t0ken=octocat --app-token bot=warpwright[bot]
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/support/github_stand_in/github_stand_in.h"

namespace warpwright {
namespace {

struct Arguments {
  StandInOptions options;
  std::vector<std::string> repositories, tokens, app_tokens, writers;
};

int Serve(const Arguments& arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto hub = GithubStandIn::Start(arguments.options);
  if (!hub) {
    std::cerr << hub.error().Format() << "\n";
    return 3;
  }
  for (const std::string& name : arguments.repositories)
    if (auto added = (*hub)->AddRepository(name); !added) {
      std::cerr << added.error().Format() << "\n";
      return 3;
    }
  for (const auto* list : {&arguments.tokens, &arguments.app_tokens})
    for (const std::string& pair : *list)
      (*hub)->AddToken(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1), list == &arguments.app_tokens);
  for (const std::string& name : arguments.repositories)
    for (const std::string& login : arguments.writers) (*hub)->AddPerson(login, name, "write");
  std::cout << (*hub)->port() << std::endl;
  int signal = 0;
  ::sigwait(&signals, &signal);
  nlohmann::json seen = {
      {"violations", (*hub)->Violations()}, {"conduct", (*hub)->Conduct()}, {"requests", (*hub)->Log().size()}};
  for (const std::string& name : arguments.repositories) seen["repositories"][name] = (*hub)->Dump(name);
  std::cout << seen.dump(1) << std::endl;
  return 0;
}

}  // namespace
}  // namespace warpwright

int main(int count, char** values) {
  CLI::App app("A server on loopback that behaves as GitHub does for what warpwright asks of it");
  warpwright::Arguments arguments;
  arguments.options.rules = WW_SOURCE_DIR "/tests/support/github_stand_in/rules.json";
  app.add_option("--root", arguments.options.repositories, "Folder of the bare repositories")->required();
  app.add_option("--repository", arguments.repositories, "OWNER/NAME; repeatable")->required();
  app.add_option("--token", arguments.tokens, "TOKEN=LOGIN of a user; repeatable");
  app.add_option("--app-token", arguments.app_tokens, "TOKEN=LOGIN of an App, which may write check runs; repeatable");
  app.add_option("--writer", arguments.writers, "LOGIN of somebody who may write to all repositories; repeatable");
  app.add_option("--port", arguments.options.port, "0: any");
  app.add_option("--faults", arguments.options.faults.share, "Share of requests that go wrong");
  app.add_option("--seed", arguments.options.faults.seed, "Of the faults");
  app.add_flag("--secondary-limits", arguments.options.enforce_secondary, "Refuse two writes within a second");
  CLI11_PARSE(app, count, values);
  return warpwright::Serve(arguments);
}
