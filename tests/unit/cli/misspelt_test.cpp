// Words of the command line that were meant otherwise.
#include "cli/misspelt.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(Misspelt, NamesTheNearestCommandOrOption) {
  CLI::App app;
  app.require_subcommand(1);
  app.add_subcommand("version");
  CLI::App* optimize = app.add_subcommand("optimize");
  optimize->add_option("--kernel");
  optimize->add_option("--max-rounds");
  CLI::App* skills = app.add_subcommand("skills");
  skills->require_subcommand(1);
  skills->add_subcommand("show")->add_option("id");
  struct Row {
    std::vector<std::string> arguments;
    const char *message, *remedy;
  };
  for (const Row& row : {
           Row{{"optimise"}, "unknown command 'optimise'; did you mean 'optimize'?", "write optimize"},
           Row{{"bake"}, "unknown command 'bake'", "choose one of version, optimize, skills"},
           Row{{"optimize", "--kernl", "softmax"},
               "unknown option '--kernl'; did you mean '--kernel'?",
               "write --kernel"},
           Row{{"optimize", "--kernel", "a", "--max-round=3"},
               "unknown option '--max-round'; did you mean '--max-rounds'?",
               "write --max-rounds"},
           Row{{"optimize", "--zzzzzzzz"}, "unknown option '--zzzzzzzz'", "see `warpwright optimize --help`"},
           Row{{"skills", "shw", "tile"}, "unknown command 'shw'; did you mean 'show'?", "write show"},
       }) {
    const auto found = cli::FindMisspelt(app, row.arguments);
    ASSERT_TRUE(found) << row.message;
    EXPECT_EQ(found->code, ErrorCode::kUsage);
    EXPECT_EQ(found->message, row.message);
    EXPECT_EQ(found->remedy, row.remedy);
  }
  for (const std::vector<std::string>& known : {std::vector<std::string>{},
                                                {"optimize", "--kernel", "optimise"},
                                                {"optimize", "-k", "--", "--kernl"},
                                                {"skills", "show", "tlie"},
                                                {"optimize", "--help"}})
    EXPECT_FALSE(cli::FindMisspelt(app, known)) << known.size();
}

}  // namespace
}  // namespace warpwright
