// A server on loopback that speaks the protocols of model providers: Anthropic Messages, OpenAI chat completions and
// responses, streamed and whole. What it answers follows from the name of the model that is asked for (scenarios.h), so
// that a test, and a vendor's own client, choose it alike. Requests are held against what the vendors ask of clients.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace warpwright {

struct ModelRequest {
  std::string path, model, body;
  bool authorized = false;
  std::string target, authorization, api_key;  // with its query; headers: of OpenAI's and Azure's own
};

class ModelStandIn {
 public:
  explicit ModelStandIn(int port = 0);  // 0: a free one
  ~ModelStandIn();

  static constexpr const char* kKey = "sk-stand-in-0123456789";
  int port() const;
  std::string Url(const std::string& path = {}) const;
  std::vector<ModelRequest> requests() const;
  void Wait();  // until the server ends

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright
