#include "cli/misspelt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/yaml_reader.h"

namespace warpwright::cli {
namespace {

Error Unknown(const char* what, const std::string& word, const std::vector<std::string>& known, std::string otherwise) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto nearest = config::NearestName(word, names);
  return {.code = ErrorCode::kUsage,
          .message = nearest ? fmt::format("unknown {} '{}'; did you mean '{}'?", what, word, *nearest)
                             : fmt::format("unknown {} '{}'", what, word),
          .remedy = nearest ? fmt::format("write {}", *nearest) : std::move(otherwise)};
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::optional<Error> FindMisspelt(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (const std::string& argument : arguments) {
    if (argument == "--") return std::nullopt;
    if (argument.starts_with("--")) {
      const std::string name = argument.substr(0, argument.find('='));
      const std::vector<std::string> known = OptionsOf(*command);
      if (std::find(known.begin(), known.end(), name) == known.end())
        return Unknown("option", name, known,
                       fmt::format("see `warpwright {}--help`", command == &app ? "" : command->get_name() + " "));
      continue;
    }
    if (argument.starts_with('-')) continue;
    const std::vector<std::string> known = CommandsOf(*command);
    if (known.empty()) continue;  // a positional argument, or an option's value
    if (std::find(known.begin(), known.end(), argument) == known.end())
      return Unknown("command", argument, known, fmt::format("choose one of {}", fmt::join(known, ", ")));
    const std::vector<const CLI::App*> next = command->get_subcommands([](const CLI::App*) { return true; });
    command = *std::find_if(next.begin(), next.end(), [&](const CLI::App* one) { return one->get_name() == argument; });
  }
  return std::nullopt;
}

}  // namespace warpwright::cli
