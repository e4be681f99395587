#include "tests/unit/repo/git_http_server.h"

#include <httplib.h>

#include <atomic>
#include <thread>

#include "base/subprocess.h"

namespace warpwright {

struct GitHttpServer::State {
  std::filesystem::path root;
  std::string token;
  std::unique_ptr<httplib::Server> server;
  bool tls = false;
  std::thread thread;
  int port = 0;
  std::atomic<int> refused{0}, only{0};
  std::function<void(const std::string&, const std::string&)> hook;

  void Serve(const httplib::Request& request, httplib::Response& response, const std::string& body) {
    if (hook) hook(request.path, body);
    if (only != 0) {
      response.status = only;
      if (only == 301)
        response.set_header("Location", "http://localhost:1/elsewhere.git/info/refs?service=git-upload-pack");
      return;
    }
    const auto wanted = httplib::make_basic_authentication_header("x-access-token", token);
    if (!token.empty() && request.get_header_value("Authorization") != wanted.second) {
      ++refused;
      response.status = 401;
      response.set_header("WWW-Authenticate", "Basic realm=\"git\"");
      return;
    }
    base::Command command;
    command.argv = {"git", "http-backend"};
    command.env = base::MinimalEnvironment();
    const size_t query = request.target.find('?');
    command.env.insert({{"GIT_PROJECT_ROOT", root.string()},
                        {"GIT_HTTP_EXPORT_ALL", "1"},
                        {"PATH_INFO", request.path},
                        {"QUERY_STRING", query == std::string::npos ? "" : request.target.substr(query + 1)},
                        {"REQUEST_METHOD", request.method},
                        {"REMOTE_USER", "warpwright"},
                        {"CONTENT_TYPE", request.get_header_value("Content-Type")},
                        {"HTTP_CONTENT_ENCODING", request.get_header_value("Content-Encoding")},
                        {"CONTENT_LENGTH", std::to_string(body.size())}});
    command.input = body;
    const auto done = base::Run(command);
    if (!done) {
      response.status = 500;
      return;
    }
    const size_t end = done->out.find("\r\n\r\n");
    std::string type = "text/plain";
    for (size_t at = 0; at < end && end != std::string::npos;) {
      const size_t next = done->out.find("\r\n", at);
      const std::string line = done->out.substr(at, next - at);
      const size_t colon = line.find(": ");
      if (line.starts_with("Status: ")) response.status = std::stoi(line.substr(8));
      else if (line.starts_with("Content-Type: ")) type = line.substr(14);
      else if (colon != std::string::npos) response.set_header(line.substr(0, colon), line.substr(colon + 2));
      at = next + 2;
    }
    response.set_content(end == std::string::npos ? done->out : done->out.substr(end + 4), type);
  }
};

GitHttpServer::GitHttpServer(std::filesystem::path root, std::string token, const std::filesystem::path& certificate,
                             const std::filesystem::path& key)
    : state_(std::make_unique<State>()) {
  state_->tls = !certificate.empty();
  if (state_->tls) state_->server = std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str());
  else state_->server = std::make_unique<httplib::Server>();
  state_->root = std::move(root);
  state_->token = std::move(token);
  state_->server->Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
    state_->Serve(request, response, {});
  });
  state_->server->Post(
      ".*", [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
        std::string body;
        reader([&](const char* data, size_t size) {
          body.append(data, size);
          return true;
        });
        state_->Serve(request, response, body);
      });
  state_->port = state_->server->bind_to_any_port("127.0.0.1");
  state_->thread = std::thread([this] { state_->server->listen_after_bind(); });
}

GitHttpServer::~GitHttpServer() {
  state_->server->stop();
  state_->thread.join();
}

std::string GitHttpServer::Url(const std::string& path) const {
  return (state_->tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(state_->port) + "/" + path;
}
int GitHttpServer::refused() const { return state_->refused; }
void GitHttpServer::OnRequest(std::function<void(const std::string&, const std::string&)> hook) {
  state_->hook = std::move(hook);
}
void GitHttpServer::AnswerOnly(int status) { state_->only = status; }

}  // namespace warpwright
