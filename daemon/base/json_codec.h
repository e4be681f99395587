// Values to JSON and back, by the lists of base/fields.h. Reading is strict, never throws, and reports the path of the
// first error: "cases[2].launches[0].registers: not an integer". The templates here only traverse values.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/json_position.h"

namespace warpwright::base {

template <typename T>
void WriteJson(const JsonSink& to, const T& value);
template <typename T>
void ReadJson(const JsonSource& from, T& value);

namespace codec {

template <typename T, template <typename...> class Of>
inline constexpr bool kIs = false;
template <template <typename...> class Of, typename... Args>
inline constexpr bool kIs<Of<Args...>, Of> = true;

template <typename T>
concept Text = requires(const T& v) { T::Parse(v.text()); };  // Expression
template <typename T>
concept NamedNumbers = requires(T& v) { SetField(v, std::string_view(), uint64_t{0}), Fields(v); };  // Counters
template <typename T>
concept Tagged = requires(const T* v) { TagKey(v); };
using Scalar = std::variant<int64_t, double>;
template <typename T>
inline constexpr bool kIsOrNumber = false;  // a value with fields, or the number of one that is elsewhere
template <typename T>
inline constexpr bool kIsOrNumber<std::variant<T, uint32_t>> = true;

template <typename M>
bool IsEmpty(const M& value) {
  if constexpr (requires { value.empty(); }) return value.empty();
  else if constexpr (requires { value.has_value(); }) return !value.has_value();
  else return value == M{};
}

template <typename T>
class Writer {
 public:
  Writer(const JsonSink& to, const T& value) : to_(to), value_(value) {}
  template <typename M>
  void operator()(const char* name, M T::* member) {
    WriteJson(to_.Member(name), value_.*member);
  }
  template <typename M>
  void operator()(const char* name, M T::* member, Within) {
    (*this)(name, member);
  }
  template <typename M>
  void Optional(const char* name, M T::* member) {
    (*this)(name, member);
  }
  template <typename M>
  void Optional(const char* name, M T::* member, Within) {
    (*this)(name, member);
  }
  template <typename M>
  void Sparse(const char* name, M T::* member) {
    if (!IsEmpty(value_.*member)) (*this)(name, member);
  }
  void Blob(const char* name, std::string T::* member) {
    to_.Member(name).Blob(std::as_bytes(std::span(value_.*member)));
  }
  template <typename M>
  void Inline(M T::* member) {
    Writer<M> nested(to_, value_.*member);
    Describe(nested, static_cast<const M*>(nullptr));
  }
  template <typename M>
  void Untold(M T::*) {}

 private:
  const JsonSink& to_;
  const T& value_;
};

template <typename T>
class Reader {
 public:
  Reader(const JsonSource& from, T& value) : from_(from), value_(value) {}
  template <typename M>
  void operator()(const char* name, M T::* member) {
    if (const auto at = from_.Find(name)) ReadJson(*at, value_.*member);
    else Missing(name);
  }
  template <typename M>
  void operator()(const char* name, M T::* member, Within range) {
    (*this)(name, member);
    Check(name, value_.*member, range);
  }
  template <typename M>
  void Optional(const char* name, M T::* member) {
    if (const auto at = from_.Find(name)) ReadJson(*at, value_.*member);
  }
  template <typename M>
  void Optional(const char* name, M T::* member, Within range) {
    Optional(name, member);
    if (from_.Find(name)) Check(name, value_.*member, range);
  }
  template <typename M>
  void Sparse(const char* name, M T::* member) {
    Optional(name, member);
  }
  void Blob(const char* name, std::string T::* member) {
    if (const auto at = from_.Find(name)) at->ReadBlob(value_.*member);
    else Missing(name);
  }
  template <typename M>
  void Inline(M T::* member) {
    Reader<M> nested(from_, value_.*member);
    Describe(nested, static_cast<const M*>(nullptr));
  }
  template <typename M>
  void Untold(M T::*) {}

 private:
  void Missing(const char* name) { from_.Complain("'" + std::string(name) + "' is missing"); }
  template <typename M>
  void Check(const char* name, const M& value, Within range) {
    const auto number = static_cast<double>(value);
    if (!(number >= range.low && number <= range.high)) from_.Complain("'" + std::string(name) + "' is out of range");
  }
  const JsonSource& from_;
  T& value_;
};

template <typename T>
void WriteFields(const JsonSink& to, const T& value) {
  Writer<T> writer(to, value);
  Describe(writer, static_cast<const T*>(nullptr));
}
template <typename T>
void ReadFields(const JsonSource& from, T& value) {
  Reader<T> reader(from, value);
  Describe(reader, static_cast<const T*>(nullptr));
}

template <typename... Alternatives>
void ReadTagged(const JsonSource& from, std::variant<Alternatives...>& value) {
  std::string tag;
  const char* const key = TagKey(&value);
  const auto at = from.IsObject() ? from.Find(key) : std::nullopt;
  if (!at) return from.Complain("'" + std::string(key) + "' is missing");
  at->Read(tag);
  const bool known = ((tag == Tag(static_cast<const Alternatives*>(nullptr)) &&
                       (ReadFields(from, value.template emplace<Alternatives>()), true)) ||
                      ...);
  if (!known) at->Complain("unknown '" + tag.substr(0, 40) + "'");
}

template <typename E>
void ReadName(const JsonSource& from, E& value) {
  std::string name;
  from.Read(name);
  if (const auto parsed = ParseName<E>(name)) value = *parsed;
  else from.Complain("unknown '" + name.substr(0, 40) + "'");
}

template <typename T>
void ReadItems(const JsonSource& from, T& list) {
  list.clear();
  const size_t count = from.Items();
  for (size_t i = 0; i < count && from.ok(); ++i) {
    typename T::value_type item{};
    ReadJson(from.Item(i), item);
    list.insert(list.end(), std::move(item));
  }
}

template <typename T>
void ReadMembers(const JsonSource& from, T& map) {
  map.clear();
  for (const std::string_view key : from.Keys()) {
    if constexpr (std::is_same_v<typename T::key_type, std::string>) ReadJson(*from.Find(key), map[std::string(key)]);
  }
}

}  // namespace codec

template <typename T>
void WriteJson(const JsonSink& to, const T& value) {
  if constexpr (std::is_same_v<T, bool>) to.Bool(value);
  else if constexpr (std::is_enum_v<T>) to.Text(Name(value));
  else if constexpr (std::is_unsigned_v<T>) to.Unsigned(value);
  else if constexpr (std::is_integral_v<T>) to.Integer(value);
  else if constexpr (std::is_floating_point_v<T>) to.Number(value);
  else if constexpr (std::is_same_v<T, std::string>) to.Text(value);
  else if constexpr (std::is_same_v<T, Bytes>) to.Blob({value.data(), value.size()});
  else if constexpr (codec::Text<T>) to.Text(value.text());
  else if constexpr (codec::kIs<T, std::optional>) value ? WriteJson(to, *value) : to.Null();
  else if constexpr (std::is_same_v<T, codec::Scalar>) std::visit([&](auto number) { WriteJson(to, number); }, value);
  else if constexpr (codec::kIsOrNumber<T>) {
    if (const auto* number = std::get_if<uint32_t>(&value)) to.Unsigned(*number);
    else WriteJson(to, std::get<0>(value));
  } else if constexpr (codec::Tagged<T>) {
    to.Object();
    std::visit([&](const auto& v) { to.Member(TagKey(&value)).Text(Tag(&v)), codec::WriteFields(to, v); }, value);
  } else if constexpr (codec::NamedNumbers<T>) {
    to.Object();
    for (const auto& [name, number] : Fields(value))
      if (number != 0) to.Member(name).Unsigned(number);
  } else if constexpr (codec::kIs<T, std::map>) {
    to.Object();
    for (const auto& [key, item] : value) WriteJson(to.Member(key), item);
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    to.List();
    for (const bool item : value) to.Item().Bool(item);
  } else if constexpr (codec::kIs<T, std::vector> || codec::kIs<T, std::set> || std::is_array_v<T>) {
    to.List();
    for (const auto& item : value) WriteJson(to.Item(), item);
  } else {
    to.Object();
    codec::WriteFields(to, value);
  }
}

template <typename T>
void ReadJson(const JsonSource& from, T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double> || std::is_same_v<T, std::string>)
    from.Read(value);
  else if constexpr (std::is_enum_v<T>) codec::ReadName(from, value);
  else if constexpr (std::is_unsigned_v<T>) {
    uint64_t number = 0;
    from.Read(number, std::numeric_limits<T>::max());
    value = static_cast<T>(number);
  } else if constexpr (std::is_integral_v<T>) {
    int64_t number = 0;
    from.Read(number, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    value = static_cast<T>(number);
  } else if constexpr (std::is_same_v<T, Bytes>) from.ReadBlob(value);
  else if constexpr (codec::Text<T>) {
    std::string text;
    from.Read(text);
    if (auto parsed = T::Parse(text)) value = std::move(*parsed);
    else from.Complain(parsed.error().message);
  } else if constexpr (codec::kIs<T, std::optional>) {
    if (from.IsNull()) value.reset();
    else {
      typename T::value_type present{};
      ReadJson(from, present);
      value = std::move(present);
    }
  } else if constexpr (std::is_same_v<T, codec::Scalar>) {
    if (from.IsInteger()) ReadJson(from, value.template emplace<int64_t>());
    else ReadJson(from, value.template emplace<double>());
  } else if constexpr (codec::kIsOrNumber<T>) {
    if (from.IsInteger()) ReadJson(from, value.template emplace<uint32_t>());
    else ReadJson(from, value.template emplace<0>());
  } else if constexpr (codec::Tagged<T>) codec::ReadTagged(from, value);
  else if constexpr (codec::NamedNumbers<T>) {
    for (const std::string_view key : from.Keys()) {
      uint64_t number = 0;
      const JsonSource at = *from.Find(key);
      at.Read(number, std::numeric_limits<uint64_t>::max());
      if (!SetField(value, key, number)) at.Complain("no such counter");
    }
  } else if constexpr (codec::kIs<T, std::map>) codec::ReadMembers(from, value);
  else if constexpr (codec::kIs<T, std::vector> || codec::kIs<T, std::set>) codec::ReadItems(from, value);
  else if constexpr (std::is_array_v<T>) {
    if (from.Items() != std::extent_v<T>) return from.Complain("a list of another length");
    for (size_t i = 0; i < std::extent_v<T>; ++i) ReadJson(from.Item(i), value[i]);
  } else if (from.IsObject()) codec::ReadFields(from, value);
}

// What the two functions below need from nlohmann::json, which is an incomplete type here.
nlohmann::json ToJsonBy(void (*write)(const JsonSink&, const void*), const void* value, BlobSink* blobs);
std::string EncodeJsonBy(void (*write)(const JsonSink&, const void*), const void* value, BlobSink* blobs);
Status DecodeJsonBy(void (*read)(const JsonSource&, void*), void* value, std::string_view text,
                    const JsonLimits& limits, BlobSource* blobs);
Status ReadJsonBy(void (*read)(const JsonSource&, void*), void* value, const nlohmann::json& json, BlobSource* blobs);

template <typename T>
std::string EncodeJson(const T& value, BlobSink* blobs = nullptr) {
  return EncodeJsonBy([](const JsonSink& to, const void* v) { WriteJson(to, *static_cast<const T*>(v)); }, &value,
                      blobs);
}
template <typename T>
auto ToJson(const T& value, BlobSink* blobs = nullptr) {  // nlohmann::json
  return ToJsonBy([](const JsonSink& to, const void* v) { WriteJson(to, *static_cast<const T*>(v)); }, &value, blobs);
}
// kCorrupt on failure.
template <typename T>
Result<T> DecodeJson(std::string_view text, const JsonLimits& limits = {}, BlobSource* blobs = nullptr) {
  T value{};
  WW_TRY(DecodeJsonBy([](const JsonSource& from, void* v) { ReadJson(from, *static_cast<T*>(v)); }, &value, text,
                      limits, blobs));
  return value;
}
template <typename T>
Result<T> FromJson(const nlohmann::json& json, BlobSource* blobs = nullptr) {
  T value{};
  WW_TRY(ReadJsonBy([](const JsonSource& from, void* v) { ReadJson(from, *static_cast<T*>(v)); }, &value, json, blobs));
  return value;
}

}  // namespace warpwright::base
