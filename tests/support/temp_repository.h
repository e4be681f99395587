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
  // Hundreds of them are made: git makes the first, and the others are copies of it.
  TempRepository() : TempRepository(Empty()) {}
  TempRepository(const TempRepository& like) : TempRepository(Unmade{}) {
    std::filesystem::copy(like.path(), path(), std::filesystem::copy_options::recursive);
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  void Write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomically(path() / file, text));
  }
  // Adds everything and returns the new commit's id.
  std::string Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-q", "--allow-empty", "-m", message});
    std::string head = FirstLine(path() / ".git/HEAD");
    return head.starts_with("ref: ") ? FirstLine(path() / ".git" / head.substr(5)) : head;
  }
  // Of a branch; empty: it does not exist. No ref is ever packed: nothing here collects garbage.
  std::string Tip(const std::string& branch) const { return FirstLine(path() / ".git/refs/heads" / branch); }
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
  struct Unmade {};
  explicit TempRepository(Unmade) : folder_(std::move(*base::TemporaryDirectory::Create("ww-repo"))) {}
  static const TempRepository& Empty() {
    static const TempRepository* const empty = [] {
      static TempRepository made{Unmade{}};
      made.Git({"init", "-q", "-b", "main", "--template="});
      std::ofstream(made.path() / ".git/config", std::ios::app)
          << "[user]\nname = Test\nemail = test@example.org\n[maintenance]\nauto = false\n[gc]\nauto = 0\n";
      return &made;
    }();
    return *empty;
  }
  static std::string FirstLine(const std::filesystem::path& file) {
    std::string line;
    std::getline(std::ifstream(file) >> std::ws, line);
    return line;
  }

  base::TemporaryDirectory folder_;
};

}  // namespace warpwright
