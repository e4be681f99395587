// A request and its response, as values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpwright::http {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method, path;  // method: GET for a HEAD; path: decoded, without the query
  HttpHeaders headers;
  std::string_view body;  // empty during `admit`
  size_t content_length = 0;

  // The first header of this name, ignoring case; nullopt if there is none.
  std::optional<std::string_view> Header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  HttpHeaders headers;
};
// {"error": reason}: reasons are our own constants, never a part of the request.
HttpResponse ErrorResponse(int status, std::string_view reason);

// The body length that the head announces, or why the request is refused unread: bodies without a length, chunked or
// compressed ones, and those of more than `limit` bytes.
struct BodyLength {
  size_t bytes = 0;
  std::optional<HttpResponse> refusal;
};
BodyLength AnnouncedLength(const HttpRequest& head, size_t limit);

}  // namespace warpwright::http
