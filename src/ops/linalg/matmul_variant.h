// What the matrix products' kernels are made from; see matmul_choose.cpp for
// the choice and matmul_text.cpp for the text.
#pragma once

#include <ATen/core/Tensor.h>

#include "hal/kernel.h"
#include "ops/kernel/dtype.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/kernel/profile.h"

namespace torch_webgpu::ops::matmul {

WEBGPU_PARAMS(Params, (u64, value_alpha), (u64, value_beta), (f32, alpha),
              (f32, beta), (u32, m), (u32, n), (u32, k), (u32, parts),
              (u32, part_k), (u32, tiles), (u32, tiles_m), (u32, tiles_n),
              (u32, offset_a), (u32, batch_a), (u32, row_a), (u32, col_a),
              (u32, offset_b), (u32, batch_b), (u32, row_b), (u32, col_b),
              (u32, offset_c), (u32, batch_c), (u32, row_c), (u32, col_c),
              (u32, offset_o), (u32, batch_o), (u32, row_o), (u32, col_o));

enum class Plan : uint8_t {
  Tile,      // workgroup memory: GPUs
  Subgroup,  // broadcasts: CPUs
  Vector,    // one of the operands is a vector
  Integer,
  Parts,  // adds what the parts of a long sum gave
};

enum class Bias : uint8_t { None, Own, InPlace };

// What lies side by side in memory: along the sum, or along the result.
enum class Order : uint8_t { Inner, Outer };

struct Variant {
  Plan plan;
  wgsl::DType dtype;
  Bias bias;
  uint8_t activation;  // Activation of matmul.h
  uint8_t atomic;      // elements of out share words between threads
  uint8_t partial;     // out is float32, and not yet the result
  Order order_a, order_b;
  uint8_t rows;   // of a tile; of a thread for Plan::Vector
  uint8_t lanes;  // of a subgroup, for kernels that use it
  // Quads are loaded, and stored (with the bias) to out.
  uint8_t wide_a, wide_b, wide_o;
  uint8_t windows_a, windows_b, windows_c, windows_o;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_b, &Variant::windows_c,
      &Variant::windows_o};
};

const hal::Kernel& kernel_of(const Variant&);

// How a workgroup of Plan::Vector divides its work: teams of threads, of which
// each has its own rows.
struct Teams {
  explicit Teams(const Variant&);
  uint32_t threads, teams, parts;
};

// A matrix or a stack of them, as a kernel's parameters see it.
struct View {
  explicit View(const at::Tensor& t)
      : offset(offset_of(t)),
        batch(uint32_t(t.stride(0))),
        row(uint32_t(t.stride(1))),
        col(uint32_t(t.stride(2))) {}
  View() = default;
  void transpose() { std::swap(row, col); }
  // Elements along columns (rows), `count` of them, are whole quads.
  bool quads_in_rows(uint32_t count) const {
    return col == 1 && (offset | batch | row | count) % 4 == 0;
  }
  bool quads_in_cols(uint32_t count) const {
    return row == 1 && (offset | batch | col | count) % 4 == 0;
  }
  uint32_t offset = 0, batch = 0, row = 0, col = 0;
};

// What is multiplied, in the order that the kernel shall see.
struct Problem {
  Problem(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
          const at::Tensor& out);
  // (a @ b).t() is b.t() @ a.t()
  void transpose();
  // The loads in this order are of whole quads.
  bool wide_a(Order order) const {
    return order == Order::Outer ? va.quads_in_cols(m) : va.quads_in_rows(k);
  }
  bool wide_b(Order order) const {
    return order == Order::Outer ? vb.quads_in_rows(n) : vb.quads_in_cols(k);
  }

  const at::Tensor *first, *second;
  View va, vb, vc, vo;
  uint32_t m, n, k, batch;
  bool biased;
  // A long sum may be made in parts of part_k steps.
  uint32_t parts = 1, part_k = 0;
};

// How a product of matrices is cut.
struct Tiling {
  uint8_t rows = 0;     // of a tile
  bool turned = false;  // the product is computed transposed
  uint32_t parts = 1;   // of the sum
};

// Everything about a kernel that is a choice, except bias and windows; may
// transpose the problem and divide its sum. Plan::Parts is never chosen: it
// follows when the sum was divided. `tiling` is one of tilings(), or null for
// the one that the profile suggests.
Variant choose(const Profile&, Problem&, wgsl::DType,
               const Tiling* tiling = nullptr);

// The ways of cutting that are worth a measurement; none where there is nothing
// to cut.
std::vector<Tiling> tilings(const Profile&, const Problem&, wgsl::DType);

}  // namespace torch_webgpu::ops::matmul
