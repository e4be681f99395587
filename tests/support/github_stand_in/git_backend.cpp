#include "tests/support/github_stand_in/git_backend.h"

#include <charconv>
#include <sstream>

#include "base/subprocess.h"

namespace warpwright {

namespace fs = std::filesystem;

Result<GitAnswer> ServeGit(const fs::path& root, const GitRequest& request) {
  base::Command command;
  command.argv = {"git", "http-backend"};
  command.env = base::MinimalEnvironment();
  command.env["GIT_PROJECT_ROOT"] = root.string();
  command.env["GIT_HTTP_EXPORT_ALL"] = "1";
  command.env["PATH_INFO"] = request.path;
  command.env["REQUEST_METHOD"] = request.method;
  command.env["QUERY_STRING"] = request.query;
  command.env["CONTENT_TYPE"] = request.content_type;
  command.env["CONTENT_LENGTH"] = std::to_string(request.body.size());
  command.env["REMOTE_ADDR"] = "127.0.0.1";
  if (!request.user.empty()) command.env["REMOTE_USER"] = request.user;
  if (!request.protocol.empty()) command.env["GIT_PROTOCOL"] = request.protocol;
  command.input = request.body;
  command.output_limit_bytes = 256u << 20;
  WW_ASSIGN(const base::Completed done, base::Run(command));
  const size_t end = done.out.find("\r\n\r\n");
  if (end == std::string::npos) return Fail(ErrorCode::kIo, "git http-backend: " + done.err);

  GitAnswer answer;
  answer.body = done.out.substr(end + 4);
  std::istringstream lines(done.out.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon), value = line.substr(colon + 2);
    if (name == "Status") std::from_chars(value.data(), value.data() + value.size(), answer.status);
    else answer.headers[name] = value;
  }
  return answer;
}

std::string AskGit(const fs::path& repository, std::vector<std::string> arguments) {
  base::Command command;
  command.argv = {"git", "-C", repository.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env = base::MinimalEnvironment();
  const auto done = base::Run(command);
  if (!done || done->exit_code != 0) return {};
  std::string text = done->out;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Status MakeBareRepository(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  AskGit(path, {"init", "-q", "--bare", "-b", "main", "."});
  AskGit(path, {"config", "http.receivepack", "true"});
  if (AskGit(path, {"config", "http.receivepack"}) != "true")
    return Fail(ErrorCode::kEnvironment, "cannot make a repository in " + path.string(), "install git");
  return {};
}

std::map<std::string, std::string> ReadRefs(const fs::path& repository) {
  std::map<std::string, std::string> refs;
  std::istringstream lines(AskGit(repository, {"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"}));
  for (std::string line; std::getline(lines, line);)
    if (const size_t space = line.find(' '); space != std::string::npos)
      refs[line.substr(0, space)] = line.substr(space + 1);
  return refs;
}

}  // namespace warpwright
