// What makes a list of fields (base/fields.h) trustworthy: it names every member of its type once, and a value whose
// fields all differ from their defaults survives the round trip through JSON.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/json_codec.h"
#include "core/counters.h"

namespace warpwright::testing {

// The number of members of an aggregate: that many pairs of braces initialize it.
#define WW_BRACES_4 \
  {}, {}, {}, {}
#define WW_BRACES_20 WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4
#define WW_TRY_COUNT(n, ...)                            \
  if constexpr (requires { T{__VA_ARGS__}; }) return n; \
  else
template <typename T>
constexpr int Members() {
  WW_TRY_COUNT(40, WW_BRACES_20, WW_BRACES_20)
  WW_TRY_COUNT(39, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(38, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(37, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(36, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(35, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(34, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(33, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(32, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(31, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(30, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(29, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(28, WW_BRACES_20, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(27, WW_BRACES_20, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(26, WW_BRACES_20, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(25, WW_BRACES_20, WW_BRACES_4, {})
  WW_TRY_COUNT(24, WW_BRACES_20, {}, {}, {}, {})
  WW_TRY_COUNT(23, WW_BRACES_20, {}, {}, {})
  WW_TRY_COUNT(22, WW_BRACES_20, {}, {})
  WW_TRY_COUNT(21, WW_BRACES_20, {})
  WW_TRY_COUNT(20, WW_BRACES_20)
  WW_TRY_COUNT(19, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(18, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(17, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(16, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(15, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(14, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(13, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(12, WW_BRACES_4, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(11, WW_BRACES_4, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(10, WW_BRACES_4, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(9, WW_BRACES_4, WW_BRACES_4, {})
  WW_TRY_COUNT(8, WW_BRACES_4, WW_BRACES_4)
  WW_TRY_COUNT(7, WW_BRACES_4, {}, {}, {})
  WW_TRY_COUNT(6, WW_BRACES_4, {}, {})
  WW_TRY_COUNT(5, WW_BRACES_4, {})
  WW_TRY_COUNT(4, WW_BRACES_4)
  WW_TRY_COUNT(3, {}, {}, {})
  WW_TRY_COUNT(2, {}, {})
  return 1;
}
#undef WW_TRY_COUNT
#undef WW_BRACES_20
#undef WW_BRACES_4

// The members that a list names.
template <typename T>
struct Named {
  const T value{};
  std::set<const void*> members;
  int count = 0;

  template <typename M>
  void See(M T::* member) {
    members.insert(&(value.*member)), ++count;
  }
  template <typename M, typename... Rest>
  void operator()(const char*, M T::* member, Rest...) {
    See(member);
  }
  template <typename M, typename... Rest>
  void Optional(const char*, M T::* member, Rest...) {
    See(member);
  }
  template <typename M>
  void Sparse(const char*, M T::* member) {
    See(member);
  }
  template <typename M>
  void Blob(const char*, M T::* member) {
    See(member);
  }
  template <typename M>
  void Inline(M T::* member) {
    See(member);
  }
  template <typename M>
  void Untold(M T::* member) {
    See(member);
  }
};

// Sets every field to a distinct value that is not the default.
class Filler {
 public:
  template <typename T>
  void Fill(T& value) {
    ++next_;
    if constexpr (std::is_same_v<T, bool>) value = !value;
    else if constexpr (std::is_enum_v<T>) value = value == Last(T{}) ? T{} : Last(T{});
    else if constexpr (std::is_integral_v<T>) value = static_cast<T>(next_);
    else if constexpr (std::is_floating_point_v<T>) value = next_ + 0.1;
    else if constexpr (std::is_same_v<T, std::string>) value = "text \xc3\xb6 " + std::to_string(next_);
    else if constexpr (std::is_same_v<T, base::Bytes>)
      value = std::vector<std::byte>(static_cast<size_t>(next_ % 7 + 1), std::byte{0xff});
    else if constexpr (base::codec::Text<T>)
      value = T::Parse(std::to_string(1000 + next_)).value();  // an expression, and hexadecimal
    else if constexpr (base::codec::kIs<T, std::optional>) Fill(value.emplace());
    else if constexpr (std::is_same_v<T, base::codec::Scalar>) value = 1.0;
    else if constexpr (base::codec::kIsOrNumber<T>) Fill(value.template emplace<0>());
    else if constexpr (base::codec::Tagged<T>) Fill(value.template emplace<std::variant_size_v<T> - 1>());
    else if constexpr (base::codec::NamedNumbers<T>) {
      for (const auto& [name, number] : Fields(value))
        SetField(value, name, ~uint64_t{0} - static_cast<uint64_t>(++next_));
    } else if constexpr (base::codec::kIs<T, std::map>) Fill(value["key " + std::to_string(next_)]);
    else if constexpr (std::is_same_v<T, std::vector<bool>>) value = {true, false};
    else if constexpr (base::codec::kIs<T, std::vector> || base::codec::kIs<T, std::set>) {
      for (int i = 0; i < 2; ++i) {
        typename T::value_type item{};
        Fill(item);
        value.insert(value.end(), std::move(item));
      }
    } else if constexpr (std::is_array_v<T>) {
      for (auto& item : value) Fill(item);
    } else {
      FieldFiller<T> fields{*this, value};
      Describe(fields, static_cast<const T*>(nullptr));
    }
  }

 private:
  template <typename T>
  struct FieldFiller {
    Filler& filler;
    T& value;
    template <typename M, typename... Rest>
    void operator()(const char*, M T::* member, Rest...) {
      filler.Fill(value.*member);
    }
    template <typename M, typename... Rest>
    void Optional(const char*, M T::* member, Rest...) {
      filler.Fill(value.*member);
    }
    template <typename M>
    void Sparse(const char*, M T::* member) {
      filler.Fill(value.*member);
    }
    template <typename M>
    void Blob(const char*, M T::* member) {
      filler.Fill(value.*member);
    }
    template <typename M>
    void Inline(M T::* member) {
      filler.Fill(value.*member);
    }
    template <typename M>
    void Untold(M T::*) {}
  };
  int next_ = 0;
};

// Stores blobs in a list.
struct Blobs : base::BlobSink, base::BlobSource {
  size_t Put(std::span<const std::byte> bytes) override {
    all.emplace_back(bytes.begin(), bytes.end());
    return all.size() - 1;
  }
  std::optional<base::Bytes> Take(uint64_t number) override {
    if (number >= all.size()) return std::nullopt;
    return base::Bytes(std::vector<std::byte>(all[number]));
  }
  std::vector<std::vector<std::byte>> all;
};

template <typename T>
void ExpectComesBack(const T& value) {
  Blobs sent, again;
  const std::string text = base::EncodeJson(value, &sent);
  const auto back = base::DecodeJson<T>(text, {}, &sent);
  ASSERT_TRUE(back) << back.error().message << "\n" << text;
  EXPECT_EQ(base::EncodeJson(*back, &again), text);
  EXPECT_EQ(again.all, sent.all);
}

template <typename T>
void ExpectDescribed() {
  SCOPED_TRACE(__PRETTY_FUNCTION__);
  Named<T> named;
  Describe(named, static_cast<const T*>(nullptr));
  EXPECT_EQ(named.count, Members<T>()) << "a member is not in the list, or twice";
  EXPECT_EQ(named.members.size(), static_cast<size_t>(named.count)) << "a member is twice in the list";
  T full{};
  Filler().Fill(full);
  ExpectComesBack(full);
  ExpectComesBack(T{});
}

// A list of types. Not a typed test suite: its names repeat the list for each type, which takes the compiler longer
// than all the rest.
template <typename... T>
struct TypeList {
  static void ExpectAllDescribed() { (ExpectDescribed<T>(), ...); }
};

}  // namespace warpwright::testing
