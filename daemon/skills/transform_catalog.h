// The built-in transformations that method cards may name, with their parameters. They live in rewrite/, which runs in
// the worker process because it parses untrusted source; `warpwright` knows them only from the cards that it was built
// with. A test compares these with the worker's own list, in both directions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwright::skills {

struct TransformSignature {
  struct Parameter {
    std::string name;
    std::vector<std::string> values;
  };
  std::string id;
  std::vector<Parameter> parameters;
};

const std::vector<TransformSignature>& TransformCatalog();
const TransformSignature* FindTransformSignature(std::string_view id);

}  // namespace warpwright::skills
