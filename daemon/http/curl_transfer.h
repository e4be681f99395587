// One exchange with libcurl: its options, its callbacks, and how it ended. Part of CurlClient.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "http/client.h"

namespace warpwright::http {

struct Target {
  std::string scheme, host, port, path;
  std::string Origin() const { return scheme + "://" + host + ":" + port; }
  // For messages: without the query, which may be long, and without any part of the URL that may hold a secret.
  std::string Endpoint() const { return host + path; }
  bool IsLoopback() const;
};
// kEnvironment: not an address that is spoken to.
Result<Target> ParseTarget(const std::string& url);
// The address that `location` names from `url`; empty: none.
std::string ResolveUrl(const std::string& url, const std::string& location);

bool HasControl(std::string_view text);

struct CloseEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct CloseMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
// The multi interface keeps the connections, and lets us wait for bytes no longer than until the next deadline.
struct CurlHandles {
  std::unique_ptr<CURLM, CloseMulti> multi;
  std::unique_ptr<CURL, CloseEasy> easy;
};

// Where the environment says that certificate authorities are, as curl's own program reads it.
struct Authorities {
  std::string file, folder;
};
Authorities EnvironmentAuthorities();

Result<ClientResponse> Transfer(const CurlHandles& handles, const ClientOptions& options,
                                const Authorities& authorities, const ClientRequest& request, const Target& target);

}  // namespace warpwright::http
