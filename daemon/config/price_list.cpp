#include "config/price_list.h"

#include <cmath>
#include <stdexcept>

#include "config/remote_text.h"

namespace warpwright::config {
namespace embedded {
const std::map<std::string_view, std::string_view>& PriceFile();
}

namespace {

constexpr double kMaxDollars = 10'000;  // per million tokens

bool IsDate(std::string_view text) {
  if (text.size() != 10) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  return true;
}
bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view WithoutVersion(std::string_view model) {
  if (model.size() > 9 && model[model.size() - 9] == '-' && IsDigits(model.substr(model.size() - 8)))
    return model.substr(0, model.size() - 9);
  if (model.size() > 11 && model[model.size() - 11] == '-' && IsDate(model.substr(model.size() - 10)))
    return model.substr(0, model.size() - 11);
  return model;
}

PriceList::Vendor ReadVendor(const YamlNode& node, Diagnostics& diagnostics) {
  PriceList::Vendor vendor;
  YamlObject map(node, "a vendor", {"date", "source", "models"}, diagnostics);
  vendor.source = map.String("source");
  vendor.date = map.String("date");
  if (const YamlNode* date = map.Find("date"); date != nullptr && !IsDate(vendor.date))
    diagnostics.Add(*date, "'date' must be a day", "write it as \"2026-11-05\"");
  const YamlNode* models = map.Require("models");
  if (models == nullptr) return vendor;
  if (!models->IsMap()) {
    diagnostics.Add(*models, "'models' must be a map from names to prices");
    return vendor;
  }
  for (const auto& [name, price] : models->entries())
    vendor.models.emplace(name.text(), ReadTokenPrice(price, diagnostics));
  return vendor;
}

}  // namespace

TokenPrice ReadTokenPrice(const YamlNode& node, Diagnostics& diagnostics) {
  YamlObject map(node, "a price", {"input", "output", "cache_read", "cache_write"}, diagnostics);
  const auto nanodollars = [](double dollars) { return static_cast<int64_t>(std::llround(dollars * 1000)); };
  TokenPrice price;
  if (!node.IsMap()) return price;
  const double input = map.Double("input", 0, kMaxDollars);
  price.input = nanodollars(input);
  price.output = nanodollars(map.Double("output", 0, kMaxDollars));
  price.cache_read = nanodollars(map.DoubleOr("cache_read", input, 0, kMaxDollars));
  price.cache_write = nanodollars(map.DoubleOr("cache_write", input, 0, kMaxDollars));
  return price;
}

std::optional<TokenPrice> PriceList::Find(std::string_view vendor, std::string_view model) const {
  const auto at = vendors.find(vendor);
  if (at == vendors.end()) return std::nullopt;
  for (const std::string_view name : {model, WithoutVersion(model)})
    if (const auto found = at->second.models.find(name); found != at->second.models.end()) return found->second;
  return std::nullopt;
}

Result<PriceList> ParsePrices(std::string_view text, std::string path) {
  WW_ASSIGN(const YamlNode root, ParseYaml(text, std::move(path)));
  Diagnostics diagnostics;
  PriceList list;
  YamlObject map(root, "a list of prices", {"version", "vendors"}, diagnostics);
  if (root.IsMap()) {
    map.Integer("version", 1, 1);
    if (const YamlNode* vendors = map.Require("vendors"))
      for (const auto& [name, vendor] : vendors->entries())
        list.vendors.emplace(name.text(), ReadVendor(vendor, diagnostics));
  }
  WW_TRY(diagnostics.ToStatus());
  return list;
}

const PriceList& Prices() {
  static const PriceList list = [] {
    auto parsed = ParsePrices(embedded::PriceFile().at("prices.yml"), "config/prices.yml");
    if (!parsed) throw std::logic_error(parsed.error().Format());
    return std::move(*parsed);
  }();
  return list;
}

}  // namespace warpwright::config
