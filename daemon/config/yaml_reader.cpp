#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <set>
#include <streambuf>

#include "base/utf8.h"

namespace warpwright::config {

namespace {

constexpr size_t kMaxBytes = 256 << 10;
constexpr size_t kMaxDepth = 20;

// Thrown to leave the parser early; never escapes this file.
struct Refusal {
  Error error;
};

}  // namespace

struct YamlNode::Data {
  Kind kind = Kind::kNull;
  int line = 0, column = 0;
  bool quoted = false;
  std::shared_ptr<const std::string> path;
  std::string text;
  std::vector<YamlNode> items;
  std::vector<std::pair<YamlNode, YamlNode>> entries;
};

namespace {

// Builds the tree from yaml-cpp's events. Its node API would already have expanded aliases and kept only the last of
// duplicate keys.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const std::string> path) : path_(std::move(path)) {}

  const std::optional<YamlNode>& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Attach(YamlNode(NewData(YamlNode::Kind::kNull, mark)));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases (*name) are not allowed", "write the value out where it is used");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    Refuse(mark, fmt::format("anchors (&{}) are not allowed", name), "write the value out where it is used");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    if (tag != "?" && tag != "!") RefuseTag(mark, tag);
    for (unsigned char c : value)
      if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
        Refuse(mark, fmt::format("a control character (0x{:02x}) is in this text", c), "remove it");
    auto data = NewData(YamlNode::Kind::kScalar, mark);
    data->text = value;
    data->quoted = tag == "!";
    Attach(YamlNode(std::move(data)));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    std::shared_ptr<YamlNode::Data> data;
    std::optional<YamlNode> key;  // read; its value is expected next
    std::set<std::string> seen;
  };

  [[noreturn]] void Refuse(const YAML::Mark& mark, std::string message, std::string remedy) {
    throw Refusal{{.code = ErrorCode::kConfig,
                   .message = std::move(message),
                   .file = *path_,
                   .line = mark.line + 1,
                   .column = mark.column + 1,
                   .remedy = std::move(remedy)}};
  }
  [[noreturn]] void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    Refuse(mark, fmt::format("tags ({}) are not allowed", tag), "remove the tag");
  }

  std::shared_ptr<YamlNode::Data> NewData(YamlNode::Kind kind, const YAML::Mark& mark) {
    auto data = std::make_shared<YamlNode::Data>();
    data->kind = kind;
    data->line = mark.line + 1;
    data->column = mark.column + 1;
    data->path = path_;
    return data;
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && !tag.empty()) RefuseTag(mark, tag);
    if (levels_.size() >= kMaxDepth)
      Refuse(mark, fmt::format("more than {} levels of nesting", kMaxDepth), "flatten the file");
    if (!levels_.empty() && levels_.back().data->kind == YamlNode::Kind::kMap && !levels_.back().key)
      Refuse(mark, "a key must be plain text, not a list or a map", "use a name as key");
    levels_.push_back({NewData(kind, mark), std::nullopt, {}});
  }
  void Close() {
    YamlNode node(std::move(levels_.back().data));
    levels_.pop_back();
    Attach(std::move(node));
  }

  void Attach(YamlNode node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.data->kind == YamlNode::Kind::kList) {
      level.data->items.push_back(std::move(node));
    } else if (level.key) {
      level.data->entries.emplace_back(std::move(*level.key), std::move(node));
      level.key.reset();
    } else {
      CheckKey(level, node);
      level.key = std::move(node);
    }
  }
  void CheckKey(Level& level, const YamlNode& key) {
    YAML::Mark mark;
    mark.line = key.line() - 1;
    mark.column = key.column() - 1;
    if (!key.IsScalar() || key.text().empty()) Refuse(mark, "a key must be plain text", "use a name as key");
    if (key.text() == "<<") Refuse(mark, "merge keys (<<) are not allowed", "write the entries out");
    if (!level.seen.insert(key.text()).second)
      Refuse(mark, fmt::format("duplicate key '{}'", key.text()), "keep one of them");
  }

  std::shared_ptr<const std::string> path_;
  std::vector<Level> levels_;
  std::optional<YamlNode> root_;
};

Status CheckBytes(std::string_view text, const std::string& path) {
  if (text.size() > kMaxBytes)
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = fmt::format("the file has {} bytes; at most {} are read", text.size(), kMaxBytes),
                      .file = path,
                      .remedy = "make the file smaller"});
  int line = 1, column = 1;
  for (size_t i = 0; i < text.size();) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t length = base::DecodeUtf8(text, i).length;
    bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    if (length == 0 || control)
      return Fail(Error{.code = ErrorCode::kConfig,
                        .message = length == 0 ? fmt::format("byte 0x{:02x} is not valid UTF-8", c)
                                               : fmt::format("control character 0x{:02x}", c),
                        .file = path,
                        .line = line,
                        .column = column,
                        .remedy = "save the file as UTF-8 text"});
    i += length;
    ++column;
    if (c == '\n') ++line, column = 1;
  }
  return {};
}

// YAML does not indent with tabs, and yaml-cpp says so in other words.
bool IsIndentedByTab(std::string_view text, int line) {
  for (int at = 0; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const size_t first = text.find_first_not_of(' ');
  return first != std::string_view::npos && text[first] == '\t';
}

// Reads from the caller's bytes, without a copy.
struct ViewBuffer : std::streambuf {
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

bool IsPlain(const YamlNode& node) { return node.IsScalar() && !node.quoted(); }

std::string Describe(const YamlNode& node) {
  switch (node.kind()) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
    case YamlNode::Kind::kScalar: break;
  }
  std::string text = node.text().size() > 40 ? node.text().substr(0, 37) + "..." : node.text();
  return "'" + text + "'";
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

YamlNode::Kind YamlNode::kind() const { return data_->kind; }
int YamlNode::line() const { return data_->line; }
int YamlNode::column() const { return data_->column; }
const std::string& YamlNode::path() const { return *data_->path; }
bool YamlNode::quoted() const { return data_->quoted; }
const std::string& YamlNode::text() const { return data_->text; }
const std::vector<YamlNode>& YamlNode::items() const { return data_->items; }
const std::vector<std::pair<YamlNode, YamlNode>>& YamlNode::entries() const { return data_->entries; }

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, value] : data_->entries)
    if (name.text() == key) return &value;
  return nullptr;
}

Error YamlNode::ErrorHere(std::string message, std::string remedy) const {
  return {.code = ErrorCode::kConfig,
          .message = std::move(message),
          .file = path(),
          .line = line(),
          .column = column(),
          .remedy = std::move(remedy)};
}

Result<std::string> YamlNode::AsString() const {
  if (!IsScalar())
    return Fail(ErrorHere(fmt::format("expected text, found {}", Describe(*this)), "write one name or text"));
  return text();
}

Result<int64_t> YamlNode::AsInteger() const {
  int64_t value = 0;
  const char* end = text().data() + text().size();
  auto [stop, code] = std::from_chars(text().data(), end, value);
  if (!IsPlain(*this) || stop != end || code == std::errc::invalid_argument)
    return Fail(ErrorHere(fmt::format("expected an integer, found {}", Describe(*this)),
                          "write digits without quotes, such as 128"));
  if (code != std::errc{})
    return Fail(ErrorHere(fmt::format("{} does not fit into 64 bits", text()), "write a smaller number"));
  return value;
}

Result<double> YamlNode::AsDouble() const {
  double value = 0;
  const char* end = text().data() + text().size();
  auto [stop, code] = std::from_chars(text().data(), end, value);
  if (!IsPlain(*this) || stop != end || code == std::errc::invalid_argument ||
      (code == std::errc{} && !std::isfinite(value)))
    return Fail(
        ErrorHere(fmt::format("expected a number, found {}", Describe(*this)), "write it without quotes, such as 1.5"));
  if (code != std::errc{}) return Fail(ErrorHere(fmt::format("{} is out of range", text()), "write a smaller number"));
  return value;
}

Result<bool> YamlNode::AsBool() const {
  if (IsPlain(*this) && text() == "true") return true;
  if (IsPlain(*this) && text() == "false") return false;
  return Fail(ErrorHere(fmt::format("expected true or false, found {}", Describe(*this)), "write true or false"));
}

Result<std::vector<std::string>> YamlNode::AsStrings() const {
  if (!IsList())
    return Fail(ErrorHere(fmt::format("expected a list, found {}", Describe(*this)), "write it as [a, b]"));
  std::vector<std::string> strings;
  for (const YamlNode& item : items()) {
    WW_ASSIGN(strings.emplace_back(), item.AsString());
  }
  return strings;
}

Result<YamlNode> ParseYaml(std::string_view text, std::string path) {
  WW_TRY(CheckBytes(text, path));
  auto shared_path = std::make_shared<const std::string>(std::move(path));
  auto fail = [&](const YAML::Mark& mark, std::string message, std::string remedy) {
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = std::move(message),
                      .file = *shared_path,
                      .line = mark.line + 1,
                      .column = mark.column + 1,
                      .remedy = std::move(remedy)});
  };
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder builder(shared_path);
    if (!parser.HandleNextDocument(builder) || !builder.root())
      return Fail(Error{.code = ErrorCode::kConfig, .message = "the file is empty", .file = *shared_path, .line = 1});
    TreeBuilder second(shared_path);
    if (parser.HandleNextDocument(second) && second.root())
      return Fail(second.root()->ErrorHere("a second document begins here", "keep one document, without ---"));
    return *builder.root();
  } catch (const Refusal& refusal) {
    return Fail(refusal.error);
  } catch (const YAML::Exception& exception) {
    if (IsIndentedByTab(text, exception.mark.line))
      return fail(exception.mark, "a tab indents this line", "indent it with spaces: YAML knows no tabs");
    return fail(exception.mark, exception.msg, "check the YAML syntax at this place");
  } catch (const std::exception& exception) {  // yaml-cpp lets a few standard exceptions escape
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = fmt::format("cannot be read as YAML: {}", exception.what()),
                      .file = *shared_path});
  }
}

Status Diagnostics::ToStatus() const {
  if (errors_.empty()) return {};
  Error all = errors_[0];
  if (errors_.size() == 1) return Fail(std::move(all));
  if (!all.remedy.empty()) all.message += "\n  remedy: " + all.remedy;
  all.remedy.clear();
  for (size_t i = 1; i < errors_.size(); ++i) all.message += "\n" + errors_[i].Format();
  return Fail(std::move(all));
}

YamlObject::YamlObject(const YamlNode& node, std::string what, std::span<const std::string_view> keys,
                       Diagnostics& diagnostics)
    : node_(node), what_(std::move(what)), diagnostics_(diagnostics) {
  if (!node.IsMap()) {
    diagnostics.Add(node, fmt::format("expected {} (a map), found {}", what_, Describe(node)),
                    "write it as {key: value}, or as key: value in lines of their own");
    return;
  }
  for (const auto& [key, value] : node.entries()) {
    if (std::find(keys.begin(), keys.end(), key.text()) != keys.end()) continue;
    diagnostics.Add(UnknownName(key, "key", key.text(), keys));
    if (auto nearest = NearestName(key.text(), keys)) misspelt_.push_back(*std::move(nearest));
  }
}

const YamlNode* YamlObject::Require(std::string_view key) const {
  const YamlNode* found = Find(key);
  const bool misspelt = std::find(misspelt_.begin(), misspelt_.end(), key) != misspelt_.end();
  if (!found && !misspelt && node_.IsMap())
    diagnostics_.Add(node_, fmt::format("{} needs the key '{}'", what_, key), fmt::format("add '{}: ...'", key));
  return found;
}

namespace {

template <typename T>
T Ranged(const YamlNode& node, std::string_view key, Result<T> value, T fallback, T low, T high,
         Diagnostics& diagnostics) {
  std::optional<T> taken = diagnostics.Take(std::move(value));
  if (!taken) return fallback;
  if (*taken >= low && *taken <= high) return *taken;
  diagnostics.Add(node,
                  low == high ? fmt::format("'{}' is {}; it must be {}", key, *taken, low)
                              : fmt::format("'{}' is {}; it must be from {} to {}", key, *taken, low, high),
                  low == high ? fmt::format("write {}", low) : fmt::format("write a number from {} to {}", low, high));
  return fallback;
}

}  // namespace

std::string YamlObject::String(std::string_view key) const {
  const YamlNode* value = Require(key);
  std::string text = value ? diagnostics_.Take(value->AsString()).value_or("") : "";
  if (value && value->IsScalar() && text.empty())
    diagnostics_.Add(*value, fmt::format("'{}' must not be empty", key),
                     "write it, or remove the key if it is optional");
  return text;
}
std::string YamlObject::StringOr(std::string_view key, std::string fallback) const {
  return Find(key) ? String(key) : std::move(fallback);
}

int64_t YamlObject::Integer(std::string_view key, int64_t low, int64_t high) const {
  const YamlNode* value = Require(key);
  return value ? Ranged<int64_t>(*value, key, value->AsInteger(), low, low, high, diagnostics_) : low;
}
int64_t YamlObject::IntegerOr(std::string_view key, int64_t fallback, int64_t low, int64_t high) const {
  return Find(key) ? Integer(key, low, high) : fallback;
}
double YamlObject::Double(std::string_view key, double low, double high) const {
  const YamlNode* value = Require(key);
  return value ? Ranged<double>(*value, key, value->AsDouble(), low, low, high, diagnostics_) : low;
}
double YamlObject::DoubleOr(std::string_view key, double fallback, double low, double high) const {
  return Find(key) ? Double(key, low, high) : fallback;
}
bool YamlObject::BoolOr(std::string_view key, bool fallback) const {
  const YamlNode* value = Find(key);
  return value ? diagnostics_.Take(value->AsBool()).value_or(fallback) : fallback;
}
std::vector<std::string> YamlObject::StringsOr(std::string_view key, std::vector<std::string> fallback) const {
  const YamlNode* value = Find(key);
  return value ? diagnostics_.Take(value->AsStrings()).value_or(std::move(fallback)) : std::move(fallback);
}

std::optional<std::string> NearestName(std::string_view name, std::span<const std::string_view> names) {
  if (name.size() > 64) return std::nullopt;  // not a misspelling; keeps hostile keys cheap
  size_t best = std::max<size_t>(1, std::max(name.size(), size_t{3}) / 3) + 1;
  std::optional<std::string> nearest;
  for (std::string_view candidate : names) {
    size_t distance = EditDistance(name, candidate);
    if (distance < best) best = distance, nearest = std::string(candidate);
  }
  return nearest;
}

Error UnknownName(const YamlNode& node, std::string_view kind, std::string_view name,
                  std::span<const std::string_view> names) {
  std::string shown(name.substr(0, 64));
  if (auto nearest = NearestName(name, names))
    return node.ErrorHere(fmt::format("unknown {} '{}'; did you mean '{}'?", kind, shown, *nearest),
                          kind == "key" ? fmt::format("write '{}', or remove '{}'", *nearest, shown)
                                        : fmt::format("write '{}'", *nearest));
  return node.ErrorHere(fmt::format("unknown {} '{}'", kind, shown),
                        fmt::format("known here: {}", fmt::join(names, ", ")));
}

}  // namespace warpwright::config
