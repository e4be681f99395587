#include "forge/forge.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(RepositoryName, IsReadFromUrlsOfEveryKind) {
  for (const char* url : {"https://github.com/acme/kernels.git", "https://github.com/acme/kernels",
                          "https://github.com/acme/kernels/", "https://ghe.example.com:8443/acme/kernels.git",
                          "git@github.com:acme/kernels.git", "ssh://git@github.com/acme/kernels.git",
                          "ssh://git@github.com:2222/acme/kernels", "http://127.0.0.1:8080/acme/kernels.git"}) {
    const auto name = forge::RepositoryName::FromUrl(url);
    ASSERT_TRUE(name) << url;
    EXPECT_EQ(name->Full(), "acme/kernels") << url;
  }
}

TEST(RepositoryName, WhatIsNoneIsRefusedAndNotRepeated) {
  for (const char* url :
       {"/srv/kernels", "file:///srv/acme/kernels", "https://github.com", "https://github.com/acme",
        "https://github.com/acme/..", "https://github.com/a/b/c", "https://x:hunter2@github.com/acme/ker%6eels",
        "./a:b/c", "", "git@github.com:", "https:///a/b"}) {
    const auto name = forge::RepositoryName::FromUrl(url);
    ASSERT_FALSE(name) << url;
    EXPECT_EQ(name.error().Format().find("hunter2"), std::string::npos);
  }
  for (const char* text : {"a", "a/", "/b", "a/b/c", "a/..", "./b", "a b/c", "a/b?x", "a/b\n", "../b"})
    EXPECT_FALSE(forge::RepositoryName::Parse(text)) << text;
  EXPECT_TRUE(forge::RepositoryName::Parse("acme/.github"));
  EXPECT_FALSE(forge::RepositoryName::Parse("acme/" + std::string(101, 'x')));
}

}  // namespace
}  // namespace warpwright
