// The built-in transformations that method cards may name, with their parameters. They live in rewrite/, which runs in
// the worker process because it parses untrusted source; the daemon knows their signatures only. A test holds both
// lists together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace warpwright {

struct TransformSignature {
  struct Parameter {
    std::string_view name;
    std::vector<std::string_view> values;
  };
  std::string_view id;
  std::vector<Parameter> parameters;
};

const std::vector<TransformSignature>& TransformCatalog();
const TransformSignature* FindTransformSignature(std::string_view id);

}  // namespace warpwright
