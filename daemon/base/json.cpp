#include "base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/ordered_json.h"

namespace warpwright::base {
namespace {

using nlohmann::json;

// Builds the document; stops at the first value beyond a limit.
template <typename Json>
class BoundedBuilder final : public nlohmann::json_sax<Json> {
 public:
  using Sax = nlohmann::json_sax<Json>;
  using typename Sax::binary_t, typename Sax::number_float_t, typename Sax::number_integer_t;
  using typename Sax::number_unsigned_t, typename Sax::string_t;

  explicit BoundedBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return Put(nullptr) != nullptr; }
  bool boolean(bool value) override { return Put(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Put(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Put(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return Put(value) != nullptr; }
  bool string(string_t& value) override {
    if (value.size() > limits_.text) return Refuse(fmt::format("a text of more than {} bytes", limits_.text));
    return Put(std::move(value)) != nullptr;
  }
  bool binary(binary_t&) override { return Refuse("binary values"); }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (name.size() > limits_.text) return Refuse(fmt::format("a key of more than {} bytes", limits_.text));
    const auto [at, fresh] =
        open_.back()->template get_ref<typename Json::object_t&>().emplace(std::move(name), nullptr);
    if (!fresh) return Refuse(fmt::format("the key '{}' twice in one object", at->first.substr(0, 40)));
    member_ = &at->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return Refuse(fmt::format("not JSON at byte {}", position));
  }

  Json& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  bool Refuse(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return false;
  }
  Json* Put(Json value) {
    if (++values_ > limits_.values) return Refuse(fmt::format("more than {} values", limits_.values)), nullptr;
    Json* at = &root_;
    if (open_.empty()) root_ = std::move(value);
    else if (open_.back()->is_object()) *(at = member_) = std::move(value);
    else at = &open_.back()->emplace_back(std::move(value));
    return at;
  }
  bool Open(Json empty) {
    if (open_.size() >= static_cast<size_t>(limits_.depth))
      return Refuse(fmt::format("more than {} levels", limits_.depth));
    Json* const at = Put(std::move(empty));
    if (at != nullptr) open_.push_back(at);
    return at != nullptr;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  // The last is the innermost: only it grows, so the addresses of those around it remain valid.
  std::vector<Json*> open_;
  Json* member_ = nullptr;
  size_t values_ = 0;
  std::string error_;
};

template <typename Json>
Result<Json> Parse(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("JSON of more than {} bytes", limits.bytes));
  BoundedBuilder<Json> builder(limits);
  if (!Json::sax_parse(text, &builder)) return Fail(ErrorCode::kCorrupt, builder.error());
  return std::move(builder.root());
}

template <typename Json>
std::string Dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<json> ParseJson(std::string_view text, const JsonLimits& limits) { return Parse<json>(text, limits); }

Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text, const JsonLimits& limits) {
  return Parse<nlohmann::ordered_json>(text, limits);
}

std::string DumpJson(const json& value, int indent) { return Dump(value, indent); }

std::string DumpOrderedJson(const nlohmann::ordered_json& value) { return Dump(value, -1); }

json NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return nullptr;
  return value > 0 ? "inf" : "-inf";
}

}  // namespace warpwright::base
