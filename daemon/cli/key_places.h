// Where a YAML file sets its keys, for messages about values that only the commands can judge.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "config/yaml_reader.h"

namespace warpwright::cli {

class Places {
 public:
  static Result<Places> Read(const std::filesystem::path& path, std::string name) {
    WW_ASSIGN(const std::string text, base::ReadFile(path, 256 << 10));
    WW_ASSIGN(config::YamlNode root, config::ParseYaml(text, name));
    return Places(std::move(root), std::move(name));
  }
  // "limits.max_rounds" -> 11; 0 if the file does not set it.
  int LineOf(std::string_view key) const {
    const config::YamlNode* node = &root_;
    for (size_t begin = 0; begin <= key.size();) {
      const size_t end = std::min(key.find('.', begin), key.size());
      node = node->Find(key.substr(begin, end - begin));
      if (node == nullptr) return 0;
      begin = end + 1;
    }
    return node->line();
  }
  // "config.yml:11"; empty if the file does not set it.
  std::string Of(std::string_view key) const {
    const int line = LineOf(key);
    return line == 0 ? std::string() : name_ + ":" + std::to_string(line);
  }

 private:
  Places(config::YamlNode root, std::string name) : root_(std::move(root)), name_(std::move(name)) {}
  config::YamlNode root_;
  std::string name_;
};

}  // namespace warpwright::cli
