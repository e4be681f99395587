#include "skills/transform_catalog.h"

#include <algorithm>
#include <map>

#include "config/yaml_reader.h"

namespace warpwright::skills::embedded {
const std::map<std::string_view, std::string_view>& SkillFiles();
}

namespace warpwright::skills {
namespace {

// The entry that `is_it` accepts, or a new one at the end.
template <typename T, typename Predicate>
T& FindOrAdd(std::vector<T>& entries, const Predicate& is_it) {
  const auto found = std::find_if(entries.begin(), entries.end(), is_it);
  return found == entries.end() ? entries.emplace_back() : *found;
}

// Several cards may name one transformation, each with the parameters that suit it: the signature is their union.
void AddCard(const config::YamlNode& card, std::vector<TransformSignature>& catalog) {
  const config::YamlNode* transform = card.Find("transform");
  if (transform == nullptr) return;
  const std::string id = transform->text();
  auto& signature = FindOrAdd(catalog, [&](const TransformSignature& s) { return s.id == id; });
  signature.id = id;
  const config::YamlNode* parameters = card.Find("parameters");
  if (parameters == nullptr) return;
  for (const config::YamlNode& item : parameters->items()) {
    const config::YamlNode *name = item.Find("name"), *values = item.Find("values");
    if (name == nullptr || values == nullptr) continue;  // the card's reader reports it
    auto& parameter = FindOrAdd(signature.parameters, [&](const auto& p) { return p.name == name->text(); });
    parameter.name = name->text();
    for (const config::YamlNode& value : values->items())
      if (std::find(parameter.values.begin(), parameter.values.end(), value.text()) == parameter.values.end())
        parameter.values.push_back(value.text());
  }
}

std::vector<TransformSignature> ReadCatalog() {
  std::vector<TransformSignature> catalog;
  for (const auto& [name, text] : embedded::SkillFiles()) {
    if (text.find("\ntransform:") == text.npos) continue;  // most cards: not worth parsing twice
    if (const auto card = config::ParseYaml(text, std::string(name))) AddCard(*card, catalog);
  }
  return catalog;
}

}  // namespace

const std::vector<TransformSignature>& TransformCatalog() {
  static const std::vector<TransformSignature> catalog = ReadCatalog();
  return catalog;
}

const TransformSignature* FindTransformSignature(std::string_view id) {
  for (const TransformSignature& signature : TransformCatalog())
    if (signature.id == id) return &signature;
  return nullptr;
}

}  // namespace warpwright::skills
