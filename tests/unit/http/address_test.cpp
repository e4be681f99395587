#include "http/address.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

struct AddressRow {
  const char* text;
  const char* host;  // null: refused
  int port;
};
TEST(ParseHostPort, TellsHostAndPort) {
  for (const AddressRow& row : {AddressRow{"127.0.0.1:8421", "127.0.0.1", 8421},
                                {"localhost:0", "localhost", 0},
                                {"[::1]:80", "::1", 80},
                                {"0.0.0.0:65535", "0.0.0.0", 65535},
                                {"", nullptr, 0},
                                {"127.0.0.1", nullptr, 0},
                                {"127.0.0.1:", nullptr, 0},
                                {":80", nullptr, 0},
                                {"::1:80", nullptr, 0},
                                {"h:65536", nullptr, 0},
                                {"h:-1", nullptr, 0},
                                {"h:8x", nullptr, 0}}) {
    const auto parsed = http::ParseHostPort(row.text);
    ASSERT_EQ(parsed.has_value(), row.host != nullptr) << row.text;
    if (!parsed) {
      EXPECT_EQ(parsed.error().code, ErrorCode::kConfig);
      continue;
    }
    EXPECT_EQ(parsed->host, row.host);
    EXPECT_EQ(parsed->port, row.port);
  }
}

}  // namespace
}  // namespace warpwright
