#include "tests/support/github_stand_in/interface_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"

namespace warpwright {

using nlohmann::json;

namespace {

std::vector<std::string> Segments(const std::string& path) {
  std::vector<std::string> segments;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    segments.push_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return segments;
}

bool HasType(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return true;
}

class Checker {
 public:
  void Check(const json& schema, const json& value, const std::string& place);
  std::vector<std::string> wrong;

 private:
  void CheckObject(const json& schema, const json& value, const std::string& place);
  void CheckSizes(const json& schema, const json& value, const std::string& place);
  static bool Fits(const json& schema, const json& value) {
    Checker checker;
    checker.Check(schema, value, "");
    return checker.wrong.empty();
  }
};

void Checker::CheckSizes(const json& schema, const json& value, const std::string& place) {
  const auto limit = [&](const char* name, size_t size, bool most) {
    if (!schema.contains(name)) return;
    const size_t bound = schema.at(name).get<size_t>();
    if (most ? size > bound : size < bound)
      wrong.push_back(fmt::format("{} has {} of {} {}", place, size, most ? "at most" : "at least", bound));
  };
  if (value.is_string()) {
    limit("maxLength", CodePoints(value.get<std::string>()), true);
    limit("minLength", CodePoints(value.get<std::string>()), false);
  }
  if (value.is_array()) {
    limit("maxItems", value.size(), true);
    limit("minItems", value.size(), false);
  }
}

void Checker::CheckObject(const json& schema, const json& value, const std::string& place) {
  for (const json& name : schema.value("required", json::array()))
    if (!value.contains(name.get<std::string>()))
      wrong.push_back(fmt::format("{} lacks '{}'", place, name.get<std::string>()));
  if (!schema.contains("properties")) return;
  for (const auto& [name, member] : value.items()) {
    const std::string there = place + "." + name;
    if (schema.at("properties").contains(name)) Check(schema.at("properties").at(name), member, there);
    else if (!schema.contains("additionalProperties")) wrong.push_back(fmt::format("{} is not known", there));
  }
}

void Checker::Check(const json& schema, const json& value, const std::string& place) {
  if (value.is_null()) {
    if (!schema.value("nullable", false)) wrong.push_back(fmt::format("{} is null", place));
    return;
  }
  if (schema.contains("type") && schema.at("type").is_string() && !HasType(value, schema.at("type"))) {
    wrong.push_back(fmt::format("{} is no {}", place, schema.at("type").get<std::string>()));
    return;
  }
  if (schema.contains("enum")) {
    const json& allowed = schema.at("enum");
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      wrong.push_back(fmt::format("{} is {}, of {}", place, value.dump(), allowed.dump()));
  }
  CheckSizes(schema, value, place);
  if (value.is_object()) CheckObject(schema, value, place);
  if (value.is_array() && schema.contains("items"))
    for (size_t i = 0; i < value.size(); ++i) Check(schema.at("items"), value[i], fmt::format("{}[{}]", place, i));
  for (const char* name : {"oneOf", "anyOf"}) {
    if (!schema.contains(name)) continue;
    const json& choices = schema.at(name);
    if (std::none_of(choices.begin(), choices.end(), [&](const json& choice) { return Fits(choice, value); }))
      wrong.push_back(fmt::format("{} is none of the shapes that are allowed", place));
  }
  if (schema.contains("allOf"))
    for (const json& part : schema.at("allOf")) Check(part, value, place);
}

// A query parameter has no type: it is parsed as the schema's type.
json ReadParameter(const json& schema, const std::string& text) {
  if (schema.value("type", "") != "integer") return text;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? json(number) : json(text);
}

}  // namespace

struct InterfaceRules::State {
  struct Operation {
    std::string method;
    std::vector<std::string> segments;
    json rule;
  };
  std::map<std::string, Operation> operations;
};

InterfaceRules::InterfaceRules(std::unique_ptr<State> state) : state_(std::move(state)) {}
InterfaceRules::InterfaceRules(InterfaceRules&&) noexcept = default;
InterfaceRules::~InterfaceRules() = default;

Result<InterfaceRules> InterfaceRules::Load(const std::filesystem::path& file) {
  WW_ASSIGN(const std::string text, base::ReadFile(file));
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object())
    return Fail(ErrorCode::kCorrupt, file.string() + " is not a JSON object", "run extract_rules.py");
  auto state = std::make_unique<State>();
  for (const json& rule : all.at("operations")) {
    const std::string method = rule.at("method"), path = rule.at("path");
    state->operations[method + " " + path] = {method, Segments(path), rule};
  }
  return InterfaceRules(std::move(state));
}

InterfaceRules::Match InterfaceRules::Find(const std::string& method, const std::string& path) const {
  const std::vector<std::string> given = Segments(path);
  Match best;
  size_t best_parameters = given.size() + 1;
  for (const auto& [name, operation] : state_->operations) {
    if (operation.method != method || operation.segments.size() != given.size()) continue;
    Match match{name, {}};
    bool same = true;
    for (size_t i = 0; i < given.size() && same; ++i) {
      const std::string& segment = operation.segments[i];
      if (segment.starts_with('{')) match.parameters[segment.substr(1, segment.size() - 2)] = given[i];
      else same = segment == given[i];
    }
    // issues/comments/{id} before issues/{number}/...
    if (same && match.parameters.size() < best_parameters) {
      best_parameters = match.parameters.size();
      best = std::move(match);
    }
  }
  return best;
}

std::vector<std::string> InterfaceRules::CheckRequest(const std::string& operation,
                                                      const std::multimap<std::string, std::string>& query,
                                                      const json* body) const {
  const json& rule = state_->operations.at(operation).rule;
  Checker checker;
  for (const auto& [name, value] : query) {
    if (!rule.at("query").contains(name)) {
      checker.wrong.push_back(fmt::format("query parameter '{}' is not known", name));
      continue;
    }
    const json& schema = rule.at("query").at(name);
    const json read = ReadParameter(schema, value);
    checker.Check(schema, read, "query parameter '" + name + "'");
    if (name == "per_page" && read.is_number() && (read < 1 || read > 100))
      checker.wrong.push_back("per_page is not between 1 and 100");
    if (query.count(name) > 1) checker.wrong.push_back(fmt::format("query parameter '{}' is given twice", name));
  }
  if (body != nullptr && !rule.contains("body")) checker.wrong.push_back("a body where none belongs");
  if (rule.contains("body")) {
    if (body != nullptr) checker.Check(rule.at("body"), *body, "body");
    else if (rule.at("body").contains("required")) checker.wrong.push_back("no body");
  }
  return checker.wrong;
}

std::vector<std::string> InterfaceRules::CheckAnswer(const std::string& operation, int status, const json& body) const {
  const json& answers = state_->operations.at(operation).rule.at("answers");
  const std::string key = std::to_string(status);
  if (!answers.contains(key)) return {fmt::format("{} is never answered with {}", operation, status)};
  const std::set<std::string> names = answers.at(key).get<std::set<std::string>>();
  std::set<std::string> unknown;
  const auto look = [&](const json& object) {
    if (!object.is_object()) return;
    for (const auto& [name, value] : object.items())
      if (!names.contains(name)) unknown.insert(fmt::format("an answer of {} has no '{}'", operation, name));
  };
  if (body.is_array())
    for (const json& element : body) look(element);
  else look(body);
  return {unknown.begin(), unknown.end()};
}

size_t CodePoints(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace warpwright
