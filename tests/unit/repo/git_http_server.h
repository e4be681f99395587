// Smart HTTP on this machine: git http-backend with a small server in front that requires a token, as a forge does.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace warpwright {

class GitHttpServer {
 public:
  // Serves the bare repositories below `root`. Empty `token`: open to all. With a certificate and its key: https.
  GitHttpServer(std::filesystem::path root, std::string token, const std::filesystem::path& certificate = {},
                const std::filesystem::path& key = {});
  ~GitHttpServer();
  std::string Url(const std::string& path) const;  // http(s)://127.0.0.1:PORT/path
  int refused() const;                             // requests without the right token
  // Called before a request is answered, with its path and its body.
  void OnRequest(std::function<void(const std::string&, const std::string&)> hook);
  // From now on, every request gets nothing but this status.
  void AnswerOnly(int status);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright
