#include "base/json_codec.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpwright::base {
namespace {

using nlohmann::json;

}  // namespace

void JsonSink::Null() const { *at_ = nullptr; }
void JsonSink::Bool(bool value) const { *at_ = value; }
void JsonSink::Integer(int64_t value) const { *at_ = value; }
void JsonSink::Unsigned(uint64_t value) const { *at_ = value; }
void JsonSink::Number(double value) const { *at_ = NumberToJson(value); }
void JsonSink::Text(std::string_view value) const { *at_ = value; }
void JsonSink::Blob(std::span<const std::byte> bytes) const {
  if (blobs_ == nullptr) throw std::logic_error("a value with blobs in JSON alone");
  *at_ = blobs_->Put(bytes);
}
void JsonSink::Object() const { *at_ = json::object(); }
void JsonSink::List() const { *at_ = json::array(); }
JsonSink JsonSink::Member(std::string_view key) const { return {(*at_)[std::string(key)], blobs_}; }
JsonSink JsonSink::Item() const { return {at_->emplace_back(nullptr), blobs_}; }

std::string JsonSource::Path() const {
  if (parent_ == nullptr) return {};
  const std::string before = parent_->Path();
  if (parent_->at_->is_array()) return before + "[" + std::to_string(index_) + "]";
  return before.empty() ? std::string(key_.substr(0, 80)) : before + "." + std::string(key_.substr(0, 80));
}
void JsonSource::Complain(std::string_view what) const {
  if (!ok()) return;
  const std::string path = Path();
  reading_->error = path.empty() ? std::string(what) : path + ": " + std::string(what);
}
bool JsonSource::IsNull() const { return at_->is_null(); }
bool JsonSource::IsInteger() const { return at_->is_number_integer(); }
void JsonSource::Read(bool& value) const {
  if (at_->is_boolean()) value = at_->get<bool>();
  else Complain("neither true nor false");
}
void JsonSource::Read(double& value) const {
  if (at_->is_number()) value = at_->get<double>();
  else if (at_->is_null()) value = std::nan("");
  else if (*at_ == "inf") value = std::numeric_limits<double>::infinity();
  else if (*at_ == "-inf") value = -std::numeric_limits<double>::infinity();
  else Complain("not a number");
}
void JsonSource::Read(std::string& value) const {
  if (at_->is_string()) value = at_->get_ref<const std::string&>();
  else Complain("not text");
}
void JsonSource::Read(int64_t& value, int64_t low, int64_t high) const {
  if (!at_->is_number_integer()) return Complain("not an integer");
  const bool beyond =
      at_->is_number_unsigned() && at_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const auto number = at_->get<int64_t>();
  if (beyond || number < low || number > high) return Complain("an integer out of range");
  value = number;
}
void JsonSource::Read(uint64_t& value, uint64_t high) const {
  if (!at_->is_number_integer()) return Complain("not an integer");
  if ((!at_->is_number_unsigned() && at_->get<int64_t>() < 0) || at_->get<uint64_t>() > high)
    return Complain("an integer out of range");
  value = at_->get<uint64_t>();
}
void JsonSource::ReadBlob(Bytes& value) const {
  uint64_t number = 0;
  Read(number, std::numeric_limits<uint64_t>::max());
  if (!ok()) return;
  auto blob = reading_->blobs == nullptr ? std::nullopt : reading_->blobs->Take(number);
  if (blob) value = std::move(*blob);
  else Complain("an attachment that is not there");
}
void JsonSource::ReadBlob(std::string& value) const {
  Bytes bytes;
  ReadBlob(bytes);
  value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
bool JsonSource::IsObject() const {
  if (!at_->is_object()) Complain("not an object");
  return at_->is_object();
}
size_t JsonSource::Items() const {
  if (!at_->is_array()) return Complain("not a list"), 0;
  return at_->size();
}
JsonSource JsonSource::Item(size_t index) const {
  JsonSource item((*at_)[index], *reading_);
  item.parent_ = this;
  item.index_ = index;
  return item;
}
std::vector<std::string_view> JsonSource::Keys() const {
  std::vector<std::string_view> keys;
  if (!IsObject()) return keys;
  for (auto at = at_->begin(); at != at_->end(); ++at) keys.push_back(at.key());
  return keys;
}
std::optional<JsonSource> JsonSource::Find(std::string_view key) const {
  if (!at_->is_object()) return std::nullopt;
  const auto found = at_->find(key);
  if (found == at_->end()) return std::nullopt;
  JsonSource member(*found, *reading_);
  member.parent_ = this;
  member.key_ = found.key();
  return member;
}

json ToJsonBy(void (*write)(const JsonSink&, const void*), const void* value, BlobSink* blobs) {
  json root;
  write(JsonSink(root, blobs), value);
  return root;
}
std::string EncodeJsonBy(void (*write)(const JsonSink&, const void*), const void* value, BlobSink* blobs) {
  return DumpJson(ToJsonBy(write, value, blobs));
}
Status ReadJsonBy(void (*read)(const JsonSource&, void*), void* value, const json& document, BlobSource* blobs) {
  JsonSource::Reading reading{blobs, {}};
  read(JsonSource(document, reading), value);
  if (!reading.error.empty()) return Fail(ErrorCode::kCorrupt, std::move(reading.error));
  return {};
}
Status DecodeJsonBy(void (*read)(const JsonSource&, void*), void* value, std::string_view text,
                    const JsonLimits& limits, BlobSource* blobs) {
  WW_ASSIGN(const json document, ParseJson(text, limits));
  return ReadJsonBy(read, value, document, blobs);
}

}  // namespace warpwright::base
