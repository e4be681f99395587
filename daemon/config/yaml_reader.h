// Strict YAML for files that users write: the manifest, chips, skills. A text becomes an immutable tree in which every
// node knows its location, so that each error names file, line and column. Refused, because they make a file mean
// something other than what its reader sees: anchors, aliases, tags, merge keys, duplicate keys, several documents,
// control characters, more than 20 levels, more than 256 KiB. Own layer on top of yaml-cpp, which parses: its nodes
// have no allowed keys and no types, and it accepts most of the above.
//
// Maps are read through YamlObject, which knows the keys that a map may have. Errors are collected in a Diagnostics, so
// that a user sees all of them together:
//
//   WW_ASSIGN(YamlNode root, ParseYaml(text, path));
//   Diagnostics diagnostics;
//   YamlObject map(root, "a method", {"id", "intent", "order"}, diagnostics);
//   method.id = map.String("id");                       // missing or not text: noted, returns ""
//   method.order = map.IntegerOr("order", 0, 0, 100);   // missing: 0
//   if (const YamlNode* node = map.Find("intent")) ...
//   WW_TRY(diagnostics.ToStatus());
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpwright::config {

class YamlNode {
 public:
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind() const;
  bool IsNull() const { return kind() == Kind::kNull; }
  bool IsScalar() const { return kind() == Kind::kScalar; }
  bool IsList() const { return kind() == Kind::kList; }
  bool IsMap() const { return kind() == Kind::kMap; }
  int line() const;
  int column() const;
  const std::string& path() const;  // of the file
  bool quoted() const;              // a quoted scalar, or a block scalar

  const std::string& text() const;             // of a scalar; else ""
  const std::vector<YamlNode>& items() const;  // of a list; else empty
  // Of a map, in the order of the file; else empty. The key is a node too: its location is that of the entry.
  const std::vector<std::pair<YamlNode, YamlNode>>& entries() const;
  const YamlNode* Find(std::string_view key) const;  // in a map

  // Errors name the location. Numbers are plain scalars: 10, -3; AsDouble also accepts 1.5 and 2e-3. Infinities are
  // refused.
  Result<std::string> AsString() const;
  Result<int64_t> AsInteger() const;
  Result<double> AsDouble() const;
  Result<bool> AsBool() const;                         // true, false
  Result<std::vector<std::string>> AsStrings() const;  // a list of scalars

  Error ErrorHere(std::string message, std::string remedy = {}) const;  // kConfig at this node

  struct Data;
  explicit YamlNode(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const Data> data_;  // immutable, so sharing is safe
};

// `path` is used in messages only.
Result<YamlNode> ParseYaml(std::string_view text, std::string path);

// The errors of one file, in the order found.
class Diagnostics {
 public:
  void Add(Error error) { errors_.push_back(std::move(error)); }
  void Add(const YamlNode& node, std::string message, std::string remedy = {}) {
    Add(node.ErrorHere(std::move(message), std::move(remedy)));
  }
  // The value; on failure nothing, and the error is noted.
  template <typename T>
  std::optional<T> Take(Result<T> result) {
    if (result) return std::move(*result);
    Add(std::move(result).error());
    return std::nullopt;
  }
  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  const std::vector<Error>& errors() const { return errors_; }
  // The first error, with the others as further lines of its message, so that Format() shows them all.
  Status ToStatus() const;

 private:
  std::vector<Error> errors_;
};

// A map with a known set of keys. The constructor notes every unknown key with the nearest known one, and a node that
// is not a map.
class YamlObject {
 public:
  // `what` names the thing in messages: "a kernel". `diagnostics` must outlive this object.
  YamlObject(const YamlNode& node, std::string what, std::span<const std::string_view> keys, Diagnostics& diagnostics);
  YamlObject(const YamlNode& node, std::string what, std::initializer_list<std::string_view> keys,
             Diagnostics& diagnostics)
      : YamlObject(node, std::move(what), std::span(keys.begin(), keys.size()), diagnostics) {}

  const YamlNode& node() const { return node_; }
  const YamlNode* Find(std::string_view key) const { return node_.Find(key); }
  const YamlNode* Require(std::string_view key) const;  // nullptr: missing, and noted

  std::string String(std::string_view key) const;  // required
  std::string StringOr(std::string_view key, std::string fallback) const;
  int64_t Integer(std::string_view key, int64_t low, int64_t high) const;
  int64_t IntegerOr(std::string_view key, int64_t fallback, int64_t low, int64_t high) const;
  double Double(std::string_view key, double low, double high) const;
  double DoubleOr(std::string_view key, double fallback, double low, double high) const;
  bool BoolOr(std::string_view key, bool fallback) const;
  std::vector<std::string> StringsOr(std::string_view key, std::vector<std::string> fallback) const;

 private:
  YamlNode node_;
  std::string what_;
  std::vector<std::string> misspelt_;  // keys that stand there otherwise, and were noted
  Diagnostics& diagnostics_;
};

// The nearest of `names` by edit distance, or none if no name is close.
std::optional<std::string> NearestName(std::string_view name, std::span<const std::string_view> names);
// "unknown key 'shpe'; did you mean 'shape'?" and, as the remedy, the list of known names.
Error UnknownName(const YamlNode& node, std::string_view kind, std::string_view name,
                  std::span<const std::string_view> names);

}  // namespace warpwright::config
