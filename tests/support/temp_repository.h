// A throw-away git repository for tests, made with the git program so that libgit2 is not tested against itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/subprocess.h"

namespace warpwright {

class TempRepository {
 public:
  TempRepository() : folder_(std::move(*base::TemporaryDirectory::Create("ww-repo"))) {
    // Hundreds of them are made: in one process, and without the dozen files of a template.
    Git({"init", "-q", "-b", "main", "--template="});
    std::ofstream(path() / ".git/config", std::ios::app) << "[user]\nname = Test\nemail = test@example.org\n";
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  void Write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomically(path() / file, text));
  }
  // Adds everything and returns the new commit's id.
  std::string Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-q", "--allow-empty", "-m", message});
    std::string id = Git({"rev-parse", "HEAD"});
    id.pop_back();
    return id;
  }
  std::string Git(std::vector<std::string> arguments) {
    base::Command command;
    command.argv = {"git", "-C", path().string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.env = base::MinimalEnvironment();
    const auto done = base::Run(command);
    EXPECT_TRUE(done.has_value());
    if (!done) return {};
    EXPECT_EQ(done->exit_code, 0) << arguments[0] << ": " << done->err;
    return done->out;
  }

 private:
  base::TemporaryDirectory folder_;
};

}  // namespace warpwright
