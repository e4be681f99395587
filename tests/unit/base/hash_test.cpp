#include "base/hash.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(Sha256, KnownAnswers) {  // FIPS 180-4 examples
  EXPECT_EQ(base::Sha256(std::string_view("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(base::Sha256(std::string_view("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(base::Sha256(std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Hasher, KeepsFieldsApart) {
  const auto hash = [](std::initializer_list<std::string_view> fields) {
    base::Hasher hasher;
    for (const auto field : fields) hasher.Add(field);
    return hasher.Finish();
  };
  EXPECT_EQ(hash({"a", "b"}), hash({"a", "b"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({"ab"}), hash({"ab", ""}));
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
}

}  // namespace
}  // namespace warpwright
