// A number for each element of an output: of all of them, or of a sample. Outputs have hundreds of millions of
// elements, of which the form may be evaluated in a few thousand: those alone are kept, with their indices, and of the
// others NaN is known.
//
// A sample is looked up by bisection. Whoever walks over all elements of an output takes it in blocks (Fill), or only
// what is known (ForEach).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/uninitialized.h"

namespace warpwright::judge {

class ElementValues {
 public:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  ElementValues() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a vector is the values of all elements
  ElementValues(base::UninitializedVector<double> all) : values_(std::move(all)), count_(values_.size()) {}
  // `indices` ascend, and `values` are parallel to them.
  static ElementValues Sampled(size_t count, std::vector<int64_t> indices, base::UninitializedVector<double> values) {
    ElementValues sampled(std::move(values));
    sampled.count_ = count;
    sampled.indices_ = std::move(indices);
    sampled.sampled_ = true;
    return sampled;
  }

  size_t size() const { return count_; }  // elements of the output
  bool empty() const { return count_ == 0; }
  bool sampled() const { return sampled_; }
  // What is kept, of a sample parallel to indices().
  std::span<const double> stored() const { return values_; }
  std::span<const int64_t> indices() const { return indices_; }

  double operator[](size_t i) const {
    if (!sampled_) return values_[i];
    const auto found = std::lower_bound(indices_.begin(), indices_.end(), static_cast<int64_t>(i));
    return found == indices_.end() || *found != static_cast<int64_t>(i)
               ? kUnknown
               : values_[static_cast<size_t>(found - indices_.begin())];
  }
  // Those from `first` on.
  void Fill(size_t first, std::span<double> out) const {
    if (!sampled_) {
      std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
      return;
    }
    std::fill(out.begin(), out.end(), kUnknown);
    const auto begin = std::lower_bound(indices_.begin(), indices_.end(), static_cast<int64_t>(first));
    for (auto i = begin; i != indices_.end() && *i < static_cast<int64_t>(first + out.size()); ++i)
      out[static_cast<size_t>(*i) - first] = values_[static_cast<size_t>(i - indices_.begin())];
  }
  // visit(index) for each element of which something is kept.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < values_.size(); ++i) visit(sampled_ ? static_cast<size_t>(indices_[i]) : i);
  }
  // Other elements of a sample, or the same ones anew.
  void Add(const std::vector<std::pair<int64_t, double>>& more) {
    for (const auto& [index, value] : more) {
      const auto at = std::lower_bound(indices_.begin(), indices_.end(), index);
      const auto place = values_.begin() + (at - indices_.begin());
      if (at != indices_.end() && *at == index) {
        *place = value;
      } else {
        values_.insert(place, value);
        indices_.insert(at, index);
      }
    }
  }

  // Of all elements.
  void assign(size_t count, double value) { *this = base::UninitializedVector<double>(count, value); }
  template <std::input_iterator Iterator>
  void assign(Iterator begin, Iterator end) {
    *this = base::UninitializedVector<double>(begin, end);
  }
  void reserve(size_t count) { values_.reserve(count); }
  void push_back(double value) { values_.push_back(value), ++count_; }
  void Set(size_t i, double value) { values_[i] = value; }
  void clear() { *this = ElementValues(); }

 private:
  base::UninitializedVector<double> values_;
  std::vector<int64_t> indices_;
  size_t count_ = 0;
  bool sampled_ = false;
};

}  // namespace warpwright::judge
