// Typed, total access to JSON that anybody may have written. The first mistake is kept and everything after it yields
// defaults, so that decoders are straight lines with one check at the end.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright {

inline std::string DumpJson(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
// Not-a-number and infinities have no JSON form; null and two strings stand for them.
inline nlohmann::json NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return nullptr;
  return value > 0 ? "inf" : "-inf";
}

class JsonReader {
 public:
  static constexpr size_t kMaxItems = 1 << 20;

  const std::string& error() const { return error_; }
  Status status() const {
    if (error_.empty()) return {};
    return Fail(ErrorCode::kCorrupt, error_);
  }
  void Complain(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  // Missing keys give the fallback; values of another type are mistakes.
  std::string Text(const nlohmann::json& json, const char* key) {
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return {};
    if (!value->is_string()) return Wrong(key, "text"), std::string();
    return value->get<std::string>();
  }
  bool Bool(const nlohmann::json& json, const char* key) {
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return Wrong(key, "true or false"), false;
    return value->get<bool>();
  }
  double Number(const nlohmann::json& json, const char* key) {
    const nlohmann::json* value = Get(json, key);
    return value == nullptr ? 0 : NumberOf(*value, key);
  }
  template <typename T>
  T Integer(const nlohmann::json& json, const char* key) {
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return 0;
    const bool fits = value->is_number_unsigned()
                          ? value->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                          : value->is_number_integer() &&
                                value->get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min());
    if (!fits) return Wrong(key, "an integer in range"), T{0};
    return value->get<T>();
  }
  std::vector<std::string> Texts(const nlohmann::json& json, const char* key) {
    std::vector<std::string> texts;
    for (const nlohmann::json& item : Items(json, key)) {
      if (!item.is_string()) return Wrong(key, "a list of text"), texts;
      texts.push_back(item.get<std::string>());
    }
    return texts;
  }
  std::map<std::string, std::string> TextMap(const nlohmann::json& json, const char* key) {
    std::map<std::string, std::string> map;
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return map;
    if (!value->is_object()) return Wrong(key, "an object"), map;
    for (const auto& [name, item] : value->items()) {
      if (!item.is_string()) return Wrong(key, "text values"), map;
      map[name] = item.get<std::string>();
    }
    return map;
  }
  std::map<std::string, double> NumberMap(const nlohmann::json& json, const char* key) {
    std::map<std::string, double> map;
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return map;
    if (!value->is_object()) return Wrong(key, "an object"), map;
    for (const auto& [name, item] : value->items()) map[name] = NumberOf(item, key);
    return map;
  }
  const nlohmann::json& Items(const nlohmann::json& json, const char* key) {
    static const nlohmann::json empty = nlohmann::json::array();
    const nlohmann::json* value = Get(json, key);
    if (value == nullptr) return empty;
    if (!value->is_array() || value->size() > kMaxItems) return Wrong(key, "a list"), empty;
    return *value;
  }
  const nlohmann::json* Get(const nlohmann::json& json, const char* key) {
    if (!json.is_object()) return Complain(fmt::format("expected an object with '{}'", key)), nullptr;
    const auto found = json.find(key);
    return found == json.end() ? nullptr : &*found;
  }

 private:
  void Wrong(const char* key, const char* expected) { Complain(fmt::format("'{}' is not {}", key, expected)); }
  double NumberOf(const nlohmann::json& value, const char* key) {
    if (value.is_number()) return value.get<double>();
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    return Wrong(key, "a number"), 0.0;
  }

  std::string error_;
};

}  // namespace warpwright
