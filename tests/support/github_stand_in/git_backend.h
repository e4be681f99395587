// git's own CGI program (git http-backend) over bare repositories: smart HTTP like that of a server.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright {

struct GitRequest {
  std::string method, path, query;           // "/acme/kernels.git/info/refs", "service=git-upload-pack"
  std::string content_type, protocol, user;  // protocol: the header Git-Protocol
  std::string body;                          // decoded
};
struct GitAnswer {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
};
Result<GitAnswer> ServeGit(const std::filesystem::path& root, const GitRequest& request);

// A bare repository with one empty branch "main" named as HEAD, which accepts pushes over HTTP.
Status MakeBareRepository(const std::filesystem::path& path);
// Branches and their commits: "refs/heads/main" -> id.
std::map<std::string, std::string> ReadRefs(const std::filesystem::path& repository);
// Runs git in that repository; its output without the last newline, or an empty text if it failed.
std::string AskGit(const std::filesystem::path& repository, std::vector<std::string> arguments);

}  // namespace warpwright
