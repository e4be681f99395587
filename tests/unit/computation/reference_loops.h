// The samples of tests/support/computation_samples.h as a programmer writes them, in any floating-point type.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/unit/computation/sample_arguments.h"

namespace warpwright::testing {

template <typename T>
class ReferenceLoops {
 public:
  ReferenceLoops(const Sample& sample, const SampleArguments& arguments) : sample_(sample), arguments_(arguments) {}

  // The output's elements; NaN where none is written.
  std::vector<double> Run() const {
    static const std::map<std::string, std::vector<double> (ReferenceLoops::*)() const> all = {
        {"gelu", &ReferenceLoops::Gelu},
        {"matmul with bias", &ReferenceLoops::Matmul},
        {"softmax", &ReferenceLoops::Softmax},
        {"layer norm", &ReferenceLoops::LayerNorm},
        {"convolution", &ReferenceLoops::Convolution},
        {"max pool", &ReferenceLoops::MaxPool},
        {"causal softmax", &ReferenceLoops::CausalSoftmax},
        {"cumulative sum", &ReferenceLoops::CumulativeSum},
        {"embedding", &ReferenceLoops::Embedding},
        {"argmax", &ReferenceLoops::ArgMax},
        {"histogram", &ReferenceLoops::Histogram},
        {"piecewise", &ReferenceLoops::Piecewise},
        {"transposition", &ReferenceLoops::Transposition},
        {"stencil", &ReferenceLoops::Stencil},
        {"attention", &ReferenceLoops::Attention},
        {"transposed convolution", &ReferenceLoops::TransposedConvolution},
        {"in-place scale", &ReferenceLoops::InPlaceScale},
        {"group norm", &ReferenceLoops::GroupNorm}};
    return (this->*all.at(sample_.name))();
  }

 private:
  int64_t Size(const char* name) const { return sample_.sizes.at(name); }
  T At(const char* name, int64_t index) const {
    return static_cast<T>(arguments_.real.at(name).at(static_cast<size_t>(index)));
  }
  int64_t Whole(const char* name, int64_t index) const {
    return arguments_.whole.at(name).at(static_cast<size_t>(index));
  }

  std::vector<double> Gelu() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("N"); ++i) {
      const T x = At("x", i);
      out.push_back(T(0.5) * x * (1 + std::erf(x * T(0.70710678))));
    }
    return out;
  }
  std::vector<double> Matmul() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("M"); ++i) {
      for (int64_t j = 0; j < Size("N"); ++j) {
        T sum = At("bias", j);
        for (int64_t k = Size("K"); k-- > 0;) sum += At("a", i * Size("K") + k) * At("b", k * Size("N") + j);
        out.push_back(sum);
      }
    }
    return out;
  }
  // softmax(values[first, first + count))
  std::vector<double> RowSoftmax(const std::vector<T>& row) const {
    const T most = *std::max_element(row.begin(), row.end());
    T sum = 0;
    for (const T x : row) sum += std::exp(x - most);
    std::vector<double> out;
    for (const T x : row) out.push_back(std::exp(x - most) / sum);
    return out;
  }
  std::vector<double> Softmax() const {
    std::vector<double> out;
    const int64_t c = Size("C");
    for (int64_t i = 0; i < Size("N"); ++i) {
      std::vector<T> row;
      for (int64_t j = 0; j < c; ++j) row.push_back(At("inp", i * c + j));
      for (const double value : RowSoftmax(row)) out.push_back(value);
    }
    return out;
  }
  std::vector<double> LayerNorm() const {
    std::vector<double> out;
    const int64_t c = Size("C");
    for (int64_t i = 0; i < Size("N"); ++i) {
      T sum = 0, squares = 0;
      for (int64_t j = 0; j < c; ++j) sum += At("x", i * c + j);
      const T mean = sum / static_cast<T>(c);
      for (int64_t j = 0; j < c; ++j) squares += (At("x", i * c + j) - mean) * (At("x", i * c + j) - mean);
      const T scale = 1 / std::sqrt(squares / static_cast<T>(c) + static_cast<T>(sample_.scalars.at("eps")));
      for (int64_t j = 0; j < c; ++j)
        out.push_back((At("x", i * c + j) - mean) * scale * At("gamma", j) + At("beta", j));
    }
    return out;
  }
  std::vector<double> Convolution() const {
    std::vector<double> out;
    const int64_t h = Size("H"), w = Size("W"), channels = Size("I");
    for (int64_t b = 0; b < Size("B"); ++b)
      for (int64_t o = 0; o < Size("O"); ++o)
        for (int64_t y = 0; y < (h - 3) / 2 + 1; ++y)
          for (int64_t x = 0; x < (w - 3) / 2 + 1; ++x) {
            T sum = 0;
            for (int64_t i = 0; i < channels; ++i)
              for (int64_t u = 0; u < 3; ++u)
                for (int64_t v = 0; v < 3; ++v) {
                  const int64_t row = 2 * y + 2 * u - 1, column = 2 * x + 2 * v - 1;
                  if (row < 0 || row >= h || column < 0 || column >= w) continue;
                  sum += At("inp", ((b * channels + i) * h + row) * w + column) *
                         At("weight", ((o * channels + i) * 3 + u) * 3 + v);
                }
            out.push_back(sum);
          }
    return out;
  }
  std::vector<double> MaxPool() const {
    std::vector<double> out;
    const int64_t h = Size("H"), w = Size("W");
    for (int64_t b = 0; b < Size("B"); ++b)
      for (int64_t y = 0; y < h / 2; ++y)
        for (int64_t x = 0; x < w / 2; ++x) {
          T most = -INFINITY;
          for (int64_t row = std::max<int64_t>(2 * y - 1, 0); row <= std::min(2 * y + 1, h - 1); ++row)
            for (int64_t column = std::max<int64_t>(2 * x - 1, 0); column <= std::min(2 * x + 1, w - 1); ++column)
              most = std::max(most, At("inp", (b * h + row) * w + column));
          out.push_back(most);
        }
    return out;
  }
  std::vector<double> CausalSoftmax() const {
    std::vector<double> out;
    const int64_t n = Size("N");
    for (int64_t i = 0; i < n; ++i) {
      std::vector<T> row;
      for (int64_t j = 0; j <= i; ++j) row.push_back(At("s", i * n + j));
      for (const double value : RowSoftmax(row)) out.push_back(value);
      out.resize(static_cast<size_t>((i + 1) * n));
    }
    return out;
  }
  std::vector<double> CumulativeSum() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("N"); ++i) {
      T sum = 0;
      for (int64_t j = 0; j < Size("C"); ++j) out.push_back(sum += At("x", i * Size("C") + j));
    }
    return out;
  }
  std::vector<double> Embedding() const {
    std::vector<double> out;
    for (int64_t t = 0; t < Size("T"); ++t)
      for (int64_t d = 0; d < Size("D"); ++d) out.push_back(At("table", Whole("idx", t) * Size("D") + d));
    return out;
  }
  std::vector<double> ArgMax() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("N"); ++i) {
      int64_t best = 0;
      for (int64_t j = 1; j < Size("C"); ++j)
        if (At("x", i * Size("C") + j) > At("x", i * Size("C") + best)) best = j;
      out.push_back(static_cast<double>(best));
    }
    return out;
  }
  std::vector<double> Histogram() const {
    std::vector<double> out(static_cast<size_t>(Size("B")));
    for (int64_t i = 0; i < Size("N"); ++i) ++out[static_cast<size_t>(Whole("idx", i))];
    return out;
  }
  std::vector<double> Piecewise() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("N"); ++i) out.push_back(i < Size("K") ? At("x", i) : 2 * At("x", i));
    return out;
  }
  std::vector<double> Transposition() const {
    std::vector<double> out;
    for (int64_t j = 0; j < Size("C"); ++j)
      for (int64_t i = 0; i < Size("N"); ++i) out.push_back(At("x", i * Size("C") + j));
    return out;
  }
  std::vector<double> Stencil() const {
    std::vector<double> out;
    const int64_t h = Size("H"), w = Size("W");
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const bool inside = y > 0 && y < h - 1 && x > 0 && x < w - 1;
        out.push_back(inside ? T(0.25) * (At("x", y * w + x - 1) + At("x", y * w + x + 1) + At("x", (y - 1) * w + x) +
                                          At("x", (y + 1) * w + x))
                             : std::nan(""));
      }
    return out;
  }
  std::vector<double> Attention() const {
    const int64_t n = Size("N"), d = Size("D");
    std::vector<double> out;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<T> scores(static_cast<size_t>(n));
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t k = 0; k < d; ++k) scores[static_cast<size_t>(j)] += At("q", i * d + k) * At("k", j * d + k);
        scores[static_cast<size_t>(j)] *= static_cast<T>(sample_.scalars.at("scale"));
      }
      const auto weights = RowSoftmax(scores);
      for (int64_t k = 0; k < d; ++k) {
        T sum = 0;
        for (int64_t j = 0; j < n; ++j) sum += static_cast<T>(weights[static_cast<size_t>(j)]) * At("v", j * d + k);
        out.push_back(sum);
      }
    }
    return out;
  }
  std::vector<double> TransposedConvolution() const {
    std::vector<double> out(static_cast<size_t>(2 * Size("W") + 1));
    for (int64_t x = 0; x < Size("W"); ++x)
      for (int64_t u = 0; u < 3; ++u) {
        double& sum = out[static_cast<size_t>(2 * x + u)];
        sum = static_cast<T>(static_cast<T>(sum) + At("x", x) * At("w", u));
      }
    return out;
  }
  std::vector<double> InPlaceScale() const {
    std::vector<double> out;
    for (int64_t i = 0; i < Size("N"); ++i) {
      const T scaled = At("x", i) * static_cast<T>(sample_.scalars.at("alpha"));
      out.push_back(Whole("mask", i) != 0 ? core::HalfToFloat(core::DoubleToHalf(scaled)) : 0);
    }
    return out;
  }
  std::vector<double> GroupNorm() const {
    const int64_t channels = Size("G") * Size("S"), length = Size("L"), group = Size("S") * length;
    std::vector<double> out;
    for (int64_t b = 0; b < Size("B"); ++b)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t l = 0; l < length; ++l) {
          T squares = 0;
          const int64_t first = b * channels * length + c / Size("S") * group;
          for (int64_t k = 0; k < group; ++k) squares += At("x", first + k) * At("x", first + k);
          out.push_back(At("x", (b * channels + c) * length + l) / std::sqrt(squares / static_cast<T>(group)));
        }
    return out;
  }

  const Sample& sample_;
  const SampleArguments& arguments_;
};

}  // namespace warpwright::testing
