// mm, addmm (with an activation too), bmm, baddbmm, addbmm, addmv, addr, dot
// and vdot on the matrix products' kernels.
#include <ATen/core/Tensor.h>
#include <ATen/ops/addr_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "ops/kernel/dtype.h"
#include "ops/linalg/matmul.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Scalar;
using at::Tensor;

void check_dtypes(const char* name, const Tensor& a, const Tensor& b,
                  const Tensor& out) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), name,
              ": expected m1 and m2 to have the same dtype, but got: ",
              a.scalar_type(), " != ", b.scalar_type());
  TORCH_CHECK(out.scalar_type() == a.scalar_type(), name,
              ": expected out to have dtype ", a.scalar_type(), ", but got ",
              out.scalar_type());
}

void check_bias(const char* name, const Tensor& bias, const Tensor& a) {
  TORCH_CHECK(bias.scalar_type() == a.scalar_type(), name,
              ": self and the matrices must have the same dtype, but got ",
              bias.scalar_type(), " and ", a.scalar_type());
}

void check_matrices(const char* name, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, name,
              ": expected two matrices, but got ", a.dim(), "-D and ", b.dim(),
              "-D tensors");
  TORCH_CHECK(a.size(1) == b.size(0), name,
              ": mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
}

void check_batches(const char* name, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3, name,
              ": expected two batches of matrices, but got ", a.dim(),
              "-D and ", b.dim(), "-D tensors");
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), name,
              ": batch1 and batch2 shapes cannot be multiplied (", a.sizes(),
              " and ", b.sizes(), ")");
}

Tensor& mm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  check_matrices("mm", self, mat2);
  check_dtypes("mm", self, mat2, out);
  resize_out(out, {self.size(0), mat2.size(1)});
  batched_matmul(self.unsqueeze(0), mat2.unsqueeze(0), Tensor(),
                 out.unsqueeze(0), 0, 1);
  return out;
}

void activated_addmm(const char* name, const Tensor& self, const Tensor& mat1,
                     const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha, Activation activation, Tensor& out) {
  check_matrices(name, mat1, mat2);
  check_dtypes(name, mat1, mat2, out);
  check_bias(name, self, mat1);
  const std::array<int64_t, 2> sizes{mat1.size(0), mat2.size(1)};
  const Tensor bias = self.expand(sizes);
  resize_out(out, sizes);
  batched_matmul(mat1.unsqueeze(0), mat2.unsqueeze(0), bias.unsqueeze(0),
                 out.unsqueeze(0), beta, alpha, activation);
}

Tensor& addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                  const Scalar& beta, const Scalar& alpha, Tensor& out) {
  activated_addmm("addmm", self, mat1, mat2, beta, alpha, Activation::None,
                  out);
  return out;
}

Tensor& addmm_activation_out(const Tensor& self, const Tensor& mat1,
                             const Tensor& mat2, const Scalar& beta,
                             const Scalar& alpha, bool use_gelu, Tensor& out) {
  activated_addmm("_addmm_activation", self, mat1, mat2, beta, alpha,
                  use_gelu ? Activation::Gelu : Activation::Relu, out);
  return out;
}

Tensor& bmm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  check_batches("bmm", self, mat2);
  check_dtypes("bmm", self, mat2, out);
  resize_out(out, {self.size(0), self.size(1), mat2.size(2)});
  batched_matmul(self, mat2, Tensor(), out, 0, 1);
  return out;
}

Tensor& baddbmm_out(const Tensor& self, const Tensor& batch1,
                    const Tensor& batch2, const Scalar& beta,
                    const Scalar& alpha, Tensor& out) {
  check_batches("baddbmm", batch1, batch2);
  check_dtypes("baddbmm", batch1, batch2, out);
  check_bias("baddbmm", self, batch1);
  const std::array<int64_t, 3> sizes{batch1.size(0), batch1.size(1),
                                     batch2.size(2)};
  const Tensor bias = self.expand(sizes);
  resize_out(out, sizes);
  batched_matmul(batch1, batch2, bias, out, beta, alpha);
  return out;
}

// The sum over the batch is part of the inner dimension.
Tensor& addbmm_out(const Tensor& self, const Tensor& batch1,
                   const Tensor& batch2, const Scalar& beta,
                   const Scalar& alpha, Tensor& out) {
  check_batches("addbmm", batch1, batch2);
  const int64_t inner = batch1.size(0) * batch1.size(2);
  return addmm_out(self,
                   batch1.transpose(0, 1).reshape({batch1.size(1), inner}),
                   batch2.reshape({inner, batch2.size(2)}), beta, alpha, out);
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta, const Scalar& alpha) {
  Tensor out = at::empty({0}, batch1.options());
  return addbmm_out(self, batch1, batch2, beta, alpha, out);
}

Tensor& addbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2,
                const Scalar& beta, const Scalar& alpha) {
  return addbmm_out(self, batch1, batch2, beta, alpha, self);
}

Tensor& addmv_out(const Tensor& self, const Tensor& mat, const Tensor& vec,
                  const Scalar& beta, const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(mat.dim() == 2 && vec.dim() == 1 && mat.size(1) == vec.size(0),
              "addmv: a matrix of sizes ", mat.sizes(),
              " cannot be multiplied by a vector of sizes ", vec.sizes());
  check_dtypes("addmv", mat, vec, out);
  check_bias("addmv", self, mat);
  const Tensor bias = self.expand({mat.size(0)});
  resize_out(out, {mat.size(0)});
  const auto column = [](const Tensor& t) {
    return t.unsqueeze(1).unsqueeze(0);
  };
  batched_matmul(mat.unsqueeze(0), column(vec), column(bias), column(out), beta,
                 alpha);
  return out;
}

// addr is a column times a row. Torch's own composition, which serves the
// other arguments, rounds a half type's product before it adds.
bool is_product(const Tensor& self, const Tensor& vec1, const Tensor& vec2) {
  return is_native_number(self) && vec1.scalar_type() == self.scalar_type() &&
         vec2.scalar_type() == self.scalar_type() && vec1.dim() == 1 &&
         vec2.dim() == 1;
}

Tensor& addr_out(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                 const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (!is_product(self, vec1, vec2) ||
      out.scalar_type() != self.scalar_type()) {
    return at::native::math_addr_out(self, vec1, vec2, beta, alpha, out);
  }
  return addmm_out(self, vec1.unsqueeze(1), vec2.unsqueeze(0), beta, alpha,
                   out);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
            const Scalar& beta, const Scalar& alpha) {
  if (!is_product(self, vec1, vec2)) {
    return at::native::math_addr(self, vec1, vec2, beta, alpha);
  }
  Tensor out = at::empty({0}, self.options());
  return addr_out(self, vec1, vec2, beta, alpha, out);
}

Tensor inner_product(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1,
              "dot: expected two vectors, but got ", self.dim(), "-D and ",
              other.dim(), "-D tensors");
  TORCH_CHECK(self.numel() == other.numel(), "dot: the vectors have ",
              self.numel(), " and ", other.numel(), " elements");
  const Tensor out = at::empty({}, self.options());
  check_dtypes("dot", self, other, out);
  batched_matmul(self.unsqueeze(0).unsqueeze(0),
                 other.unsqueeze(1).unsqueeze(0), Tensor(), out.view({1, 1, 1}),
                 0, 1);
  return out;
}

}  // namespace

// The first factor's dtype decides: the kernels check that the others have it.
// The CPU computes float64 and complex; it also has the message for the dtypes
// that no device has (bool).
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"mm.out", &mm_out, takes_numbers_at<0>>(m);
  native<"addmm.out", &addmm_out, takes_numbers_at<1>>(m);
  native<"_addmm_activation.out", &addmm_activation_out, takes_floats_at<1>>(m);
  native<"bmm.out", &bmm_out, takes_numbers_at<0>>(m);
  native<"baddbmm.out", &baddbmm_out, takes_numbers_at<1>>(m);
  native<"addbmm.out", &addbmm_out, takes_numbers_at<1>>(m);
  native<"addbmm", &addbmm, takes_numbers_at<1>>(m);
  native<"addbmm_", &addbmm_, takes_numbers_at<1>>(m);
  native<"addmv.out", &addmv_out, takes_numbers_at<1>>(m);
  m.impl("addr", &addr);
  native<"addr.out", &addr_out, takes_all>(m);
  native<"dot", &inner_product, takes_numbers_at<0>>(m);
  native<"vdot", &inner_product, takes_numbers_at<0>>(m);
}

}  // namespace torch_webgpu::ops
