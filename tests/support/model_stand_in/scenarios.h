// What a model of the stand-in does, by its name: one of the names below, or "status-NNN", each also with "-once" at
// its end, which is over with the first request.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpwright {

enum class Vendor { kAnthropic, kOpenAiChat, kOpenAiResponses };

// How the bytes of an answer go out.
enum class Delivery { kWhole, kSlow, kStalled, kCut, kSilent };

enum class Stop { kEnd, kMaxTokens, kRefusal };

struct Scenario {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string error_type, error_code, error_message;  // of a status that is no success
  bool error_in_stream = false;
  std::vector<std::string> pieces;  // of the text; concatenated, the answer
  Stop stop = Stop::kEnd;
  Delivery delivery = Delivery::kWhole;
  bool broken_json = false;  // one event is not JSON
  int64_t huge_bytes = 0;    // so much text instead of the pieces
};

// `structured`: the request asks for JSON. `number`: how often this model was asked before.
Scenario ScenarioOf(Vendor vendor, const std::string& model, bool structured, int number);

// The events of a streamed answer, ready to be sent; and the whole answer of a request that is not streamed.
std::vector<std::string> EncodeEvents(Vendor vendor, const Scenario& scenario, const std::string& model,
                                      const std::string& tool);
std::string EncodeWhole(Vendor vendor, const Scenario& scenario, const std::string& model, const std::string& tool);
std::string EncodeError(Vendor vendor, const Scenario& scenario);

inline constexpr const char* kStructuredAnswer = R"({"method":"tile","factor":4,"why":"β fits"})";

}  // namespace warpwright
