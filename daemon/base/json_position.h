// Positions in a JSON document that is written or read, for code that traverses values (base/json_codec.h). All that
// uses nlohmann/json is compiled once, in json_codec.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace warpwright::base {

// Receives blobs that are stored outside the JSON, which then holds their indices.
class BlobSink {
 public:
  virtual ~BlobSink() = default;
  virtual size_t Put(std::span<const std::byte> bytes) = 0;
};
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual std::optional<Bytes> Take(uint64_t number) = 0;
};

// A position in a document that is being written.
class JsonSink {
 public:
  JsonSink(nlohmann::json& at, BlobSink* blobs) : at_(&at), blobs_(blobs) {}
  void Null() const;
  void Bool(bool value) const;
  void Integer(int64_t value) const;
  void Unsigned(uint64_t value) const;
  void Number(double value) const;
  void Text(std::string_view value) const;
  void Blob(std::span<const std::byte> bytes) const;  // throws std::logic_error without a BlobSink
  void Object() const;
  void List() const;
  JsonSink Member(std::string_view key) const;
  JsonSink Item() const;  // valid until the next one

 private:
  nlohmann::json* at_;
  BlobSink* blobs_;
};

// A position in a document that is being read. It knows its path from the root, for messages.
class JsonSource {
 public:
  struct Reading {
    BlobSource* blobs = nullptr;
    std::string error;  // the first
  };
  JsonSource(const nlohmann::json& at, Reading& reading) : at_(&at), reading_(&reading) {}

  bool ok() const { return reading_->error.empty(); }
  void Complain(std::string_view what) const;
  bool IsNull() const;
  bool IsInteger() const;
  void Read(bool& value) const;
  void Read(double& value) const;
  void Read(std::string& value) const;
  void Read(int64_t& value, int64_t low, int64_t high) const;
  void Read(uint64_t& value, uint64_t high) const;
  void ReadBlob(Bytes& value) const;
  void ReadBlob(std::string& value) const;
  bool IsObject() const;  // reports an error if it is not
  size_t Items() const;   // reports an error if it is not a list
  JsonSource Item(size_t index) const;
  std::vector<std::string_view> Keys() const;  // reports an error if it is not an object
  std::optional<JsonSource> Find(std::string_view key) const;

 private:
  std::string Path() const;
  const nlohmann::json* at_;
  Reading* reading_;
  const JsonSource* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
};

}  // namespace warpwright::base
