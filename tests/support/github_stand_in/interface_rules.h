// Requests held against what GitHub's OpenAPI description says of them (rules.json, made by extract_rules.py).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright {

class InterfaceRules {
 public:
  static Result<InterfaceRules> Load(const std::filesystem::path& file);
  InterfaceRules(InterfaceRules&&) noexcept;
  ~InterfaceRules();

  struct Match {
    std::string operation;                          // "POST /repos/{owner}/{repo}/pulls"; empty: nothing that is known
    std::map<std::string, std::string> parameters;  // of the path: {"owner", "acme"}; decoded
  };
  Match Find(const std::string& method, const std::string& path) const;
  // What the description does not allow, one sentence each. `body` is null where there is none.
  std::vector<std::string> CheckRequest(const std::string& operation,
                                        const std::multimap<std::string, std::string>& query,
                                        const nlohmann::json* body) const;
  // The same of our own answers: names at the first level that no such answer has.
  std::vector<std::string> CheckAnswer(const std::string& operation, int status, const nlohmann::json& body) const;

 private:
  struct State;
  explicit InterfaceRules(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Code points of UTF-8.
size_t CodePoints(const std::string& text);

}  // namespace warpwright
