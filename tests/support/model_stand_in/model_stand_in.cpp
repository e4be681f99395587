#include "tests/support/model_stand_in/model_stand_in.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/model_stand_in/scenarios.h"

namespace warpwright {
namespace {

using nlohmann::json;

Vendor VendorOf(const std::string& path) {
  if (path == "/v1/messages") return Vendor::kAnthropic;
  return path == "/v1/responses" ? Vendor::kOpenAiResponses : Vendor::kOpenAiChat;
}

// Anthropic takes a key either way: its documentation names x-api-key, and its client sends a bearer token. Azure,
// which speaks OpenAI's protocols, takes api-key.
bool IsAuthorized(Vendor vendor, const httplib::Request& request) {
  return request.get_header_value("Authorization") == std::string("Bearer ") + ModelStandIn::kKey ||
         request.get_header_value(vendor == Vendor::kAnthropic ? "x-api-key" : "api-key") == ModelStandIn::kKey;
}

// What the vendor would answer with 400; empty: nothing.
std::string ComplaintOf(Vendor vendor, const httplib::Request& request, const json& body) {
  const auto needs = [&](const char* key) { return !body.contains(key); };
  if (!body.is_object() || needs("model") || !body["model"].is_string()) return "model: field required";
  if (vendor == Vendor::kAnthropic) {
    if (!request.has_header("anthropic-version")) return "anthropic-version: header is required";
    if (needs("max_tokens") || needs("messages")) return "max_tokens, messages: fields required";
    for (const json& message : body["messages"])
      if (message["content"].empty()) return "messages: text content blocks must be non-empty";
    if (body.contains("tools") && body["tools"][0]["input_schema"].value("type", "") != "object")
      return "tools.0.input_schema.type: field required";
    return {};
  }
  if (body.contains("max_tokens") && body.contains("max_completion_tokens"))
    return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
  const json& format = vendor == Vendor::kOpenAiChat
                           ? body.value("response_format", json::object()).value("json_schema", json())
                           : body.value("text", json::object()).value("format", json());
  // Strict schemas name all properties, and have no bounds.
  if (format.is_object() && format.value("strict", false)) {
    const json& schema = format["schema"];
    if (schema.value("additionalProperties", true) || schema["required"].size() != schema["properties"].size())
      return "Invalid schema for response_format";
    if (schema.dump().find("\"minimum\"") != std::string::npos) return "'minimum' is not permitted";
  }
  return vendor == Vendor::kOpenAiChat && needs("messages") ? "messages: required" : "";
}

// The name of the tool that must be called; for the others a schema without a tool's name.
struct Shape {
  bool structured = false;
  std::string tool;
};
Shape ShapeOf(Vendor vendor, const json& body) {
  if (vendor == Vendor::kAnthropic) {
    if (!body.contains("tools")) return {};
    return {true, body["tools"][0].value("name", "")};
  }
  const char* key = vendor == Vendor::kOpenAiChat ? "response_format" : "text";
  return {body.contains(key), ""};
}

}  // namespace

struct ModelStandIn::State {
  httplib::Server server;
  std::thread thread;
  int port = 0;
  std::atomic<bool> stopping{false};
  mutable std::mutex mutex;
  std::vector<ModelRequest> requests;
  std::map<std::string, int> asked;

  // Sends nothing; ends by itself, since cpp-httplib does not say that the other side has gone.
  void Hold() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!stopping && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void Handle(const httplib::Request& request, httplib::Response& response);
  void Stream(std::vector<std::string> events, Delivery delivery, httplib::Response& response) const;
};

void ModelStandIn::State::Stream(std::vector<std::string> events, Delivery delivery,
                                 httplib::Response& response) const {
  response.set_chunked_content_provider("text/event-stream",
                                        [this, events = std::move(events), delivery](size_t, httplib::DataSink& sink) {
                                          const size_t half = events.size() / 2;
                                          for (size_t i = 0; i < events.size(); ++i) {
                                            if (i == half && delivery == Delivery::kCut) return false;
                                            if (i == half && delivery == Delivery::kStalled) return Hold(), false;
                                            if (delivery == Delivery::kSlow)
                                              std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                            if (!sink.write(events[i].data(), events[i].size())) return false;
                                          }
                                          sink.done();
                                          return true;
                                        });
}

void ModelStandIn::State::Handle(const httplib::Request& request, httplib::Response& response) {
  const Vendor vendor = VendorOf(request.path);
  const json body = json::parse(request.body, nullptr, false);
  const auto fail = [&](int status, const char* type, std::string message) {
    Scenario wrong{.status = status, .error_type = type, .error_message = std::move(message)};
    response.status = status;
    response.set_content(EncodeError(vendor, wrong), "application/json");
  };
  ModelRequest entry{request.path,
                     body.is_object() ? body.value("model", "") : "",
                     request.body,
                     IsAuthorized(vendor, request),
                     request.target,
                     request.get_header_value("Authorization"),
                     request.get_header_value("api-key")};
  int number = 0;
  {
    const std::lock_guard lock(mutex);
    number = asked[entry.model]++;
    requests.push_back(entry);
  }
  response.set_header(vendor == Vendor::kAnthropic ? "request-id" : "x-request-id", "req_" + std::to_string(number));
  if (!entry.authorized) return fail(401, "authentication_error", "invalid x-api-key");
  if (std::string complaint = ComplaintOf(vendor, request, body); !complaint.empty())
    return fail(400, "invalid_request_error", std::move(complaint));
  const Shape shape = ShapeOf(vendor, body);
  const Scenario scenario = ScenarioOf(vendor, entry.model, shape.structured, number);
  if (scenario.delivery == Delivery::kSilent) return Hold();
  for (const auto& [name, value] : scenario.headers) response.set_header(name.c_str(), value);
  response.status = scenario.status;
  if (scenario.status != 200) return response.set_content(EncodeError(vendor, scenario), "application/json");
  if (body.value("stream", false))
    return Stream(EncodeEvents(vendor, scenario, entry.model, shape.tool), scenario.delivery, response);
  response.set_content(EncodeWhole(vendor, scenario, entry.model, shape.tool), "application/json");
}

ModelStandIn::ModelStandIn(int port) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.server.new_task_queue = [] { return new httplib::ThreadPool(16); };
  s.server.set_tcp_nodelay(true);  // else each chunk of a stream waits for the acknowledgement of the one before
  s.server.set_keep_alive_max_count(1);
  for (const char* path : {"/v1/messages", "/v1/chat/completions", "/v1/responses"})
    s.server.Post(path,
                  [&s](const httplib::Request& request, httplib::Response& response) { s.Handle(request, response); });
  if (port == 0) s.port = s.server.bind_to_any_port("127.0.0.1");
  else if (s.server.bind_to_port("127.0.0.1", port)) s.port = port;
  if (s.port <= 0) throw std::runtime_error("the stand-in cannot listen");
  s.thread = std::thread([&s] { s.server.listen_after_bind(); });
}

ModelStandIn::~ModelStandIn() {
  state_->stopping = true;
  while (!state_->server.is_running()) std::this_thread::yield();  // stop() before that is forgotten
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

int ModelStandIn::port() const { return state_->port; }
std::string ModelStandIn::Url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + path;
}
std::vector<ModelRequest> ModelStandIn::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}
void ModelStandIn::Wait() { state_->thread.join(); }

}  // namespace warpwright
