// JSON of the values that travel in frames. Included only by .cpp files: nlohmann/json is slow to compile. Decoding throws
// nlohmann::json::exception or DecodeError; codec.h turns both into Errors.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "core/evaluator.h"

namespace nlohmann {
template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    if (value)
      j = *value;
    else
      j = nullptr;
  }
  static void from_json(const json& j, std::optional<T>& value) {
    if (j.is_null())
      value.reset();
    else
      value = j.get<T>();
  }
};
}  // namespace nlohmann

namespace warpwright {

struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void to_json(nlohmann::json& j, const Error& v);
void from_json(const nlohmann::json& j, Error& v);
void to_json(nlohmann::json& j, const KernelSpec& v);      // without cases
void from_json(const nlohmann::json& j, KernelSpec& v);
void to_json(nlohmann::json& j, const Inspection& v);
void from_json(const nlohmann::json& j, Inspection& v);
void to_json(nlohmann::json& j, const LaunchReport& v);
void from_json(const nlohmann::json& j, LaunchReport& v);
void to_json(nlohmann::json& j, const Fault& v);
void from_json(const nlohmann::json& j, Fault& v);
void to_json(nlohmann::json& j, const Refused& v);
void from_json(const nlohmann::json& j, Refused& v);
void to_json(nlohmann::json& j, const ExecuteOptions& v);
void from_json(const nlohmann::json& j, ExecuteOptions& v);
void to_json(nlohmann::json& j, const TimingOptions& v);
void from_json(const nlohmann::json& j, TimingOptions& v);
void to_json(nlohmann::json& j, const TimedDrift& v);
void from_json(const nlohmann::json& j, TimedDrift& v);
void to_json(nlohmann::json& j, const TimedPair& v);
void from_json(const nlohmann::json& j, TimedPair& v);
void to_json(nlohmann::json& j, const GuardViolation& v);
void from_json(const nlohmann::json& j, GuardViolation& v);
nlohmann::json ScalarsToJson(const std::map<std::string, ScalarValue>& scalars);
std::map<std::string, ScalarValue> ScalarsFromJson(const nlohmann::json& j);

}  // namespace warpwright
