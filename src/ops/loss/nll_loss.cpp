#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/pointwise/promote.h"
#include "ops/runtime/faults.h"
#include "ops/runtime/native.h"

// The negative log likelihood of classes along dimension 1 (0 for one sample).
// A class that does not exist is reported (see faults.h) and counts nothing.
namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;
using OptionalTensor = std::optional<Tensor>;

struct Variant {
  DType dtype;
  uint8_t weighted;
  uint8_t windows_a;  // of the gradient in the backward kernel
  uint8_t windows_t;
  static constexpr uint8_t Variant::* kWindows[] = {&Variant::windows_a,
                                                    &Variant::windows_t};
};

WEBGPU_PARAMS(NllLossParams, (u64, ignore), (u32, count), (u32, bound),
              (u32, inner), (u32, offset_a), (u32, offset_t), (u32, offset_w),
              (u32, offset_g), (u32, stride_g), (u32, wraps), (u32, fault));

wgsl::Operand weight_operand(const Variant& v) {
  return {"w", v.dtype, v.weighted ? Mode::Read : Mode::Absent, 1, ""};
}

wgsl::KernelText describe(const char* file, const Variant& v) {
  wgsl::KernelText text;
  text.file = file;
  text.label =
      fmt::format("{}_{}{}", file, name_of(v.dtype), v.weighted ? "_w" : "");
  if (v.windows_a * v.windows_t != 1) {
    text.label += fmt::format("_w{}{}", v.windows_a, v.windows_t);
  }
  text.params = NllLossParams::wgsl();
  text.substitutions = {
      {"weight", v.weighted ? "load_w(p.offset_w + class_index)" : "1.0"},
      {"workgroup", std::to_string(kWorkgroup)}};
  return text;
}

wgsl::KernelText describe_forward(const Variant& v) {
  wgsl::KernelText text = describe("nll_loss", v);
  text.operands = {{"a", v.dtype, Mode::Read, v.windows_a, ""},
                   {"t", DType::I64, Mode::Read, v.windows_t, ""},
                   weight_operand(v),
                   {"l", DType::F32, Mode::Write, 1, ""},
                   {"u", DType::F32, Mode::Write, 1, ""},
                   {"f", DType::I32, Mode::Scatter, 1, ""}};
  return text;
}

wgsl::KernelText describe_backward(const Variant& v) {
  wgsl::KernelText text = describe("nll_loss_backward", v);
  text.operands = {{"g", DType::F32, Mode::Read, 1, ""},
                   {"t", DType::I64, Mode::Read, v.windows_t, ""},
                   weight_operand(v),
                   {"o", v.dtype, Mode::Write, v.windows_a, ""}};
  return text;
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType dtype : wgsl::kFloats) {
    for (const uint8_t weighted : {0, 1})
      all.push_back({dtype, weighted, 1, 1});
  }
  return all;
}

Family<Variant> forward_family(describe_forward, enumerate);
Family<Variant> backward_family(describe_backward, enumerate);

bool has(const OptionalTensor& tensor) {
  return tensor && tensor->defined();
}

// Target and weight as the kernels read them, and the sizes that they share.
struct Problem {
  Tensor target, weight;
  NllLossParams p;
  int64_t samples;

  Problem(const Tensor& self, const Tensor& classes,
          const OptionalTensor& weights, int64_t ignore_index) {
    target = classes.to(at::kLong).contiguous();
    const bool one = self.dim() == 1;
    p.bound = uint32_t(self.size(one ? 0 : 1));
    samples = one ? 1 : self.size(0);
    int64_t inner = 1;
    for (int64_t d = 2; d < self.dim(); ++d)
      inner *= self.size(d);
    samples *= inner;
    p.inner = uint32_t(inner);
    p.ignore = wgsl::params::words_of(uint64_t(ignore_index));
    p.offset_t = offset_of(target);
    if (has(weights)) {
      weight = weights->to(self.scalar_type()).contiguous();
      p.offset_w = offset_of(weight);
    }
    p.fault = fault_code("nll_loss");
  }
  bool weighted() const { return weight.defined(); }
};

void forward(const Tensor& self, const Tensor& classes,
             const OptionalTensor& weights, int64_t reduction,
             int64_t ignore_index, Tensor& output, Tensor& total_weight) {
  Problem problem(self, classes, weights, ignore_index);
  NllLossParams& p = problem.p;
  const Tensor a = self.contiguous();
  const auto floats = self.options().dtype(at::kFloat);
  const Tensor losses = at::empty(classes.sizes(), floats);
  const Tensor used = at::empty(classes.sizes(), floats);
  p.count = uint32_t(problem.samples);
  p.offset_a = offset_of(a);
  const Variant v{wgsl::dtype_of(self.scalar_type()), problem.weighted(),
                  windows_of(a), windows_of(problem.target)};
  c10::SmallVector<const at::TensorBase*, 5> tensors{&a, &problem.target};
  if (problem.weighted()) tensors.push_back(&problem.weight);
  tensors.push_back(&losses);
  tensors.push_back(&used);
  launch_bytes(forward_family(v), tensors, std::as_bytes(std::span(&p, 1)),
               ceil_div(p.count, kWorkgroup), /*reports=*/true);
  if (reduction == at::Reduction::None) {
    output.copy_(losses);
    total_weight.zero_();
    return;
  }
  const Tensor total = used.sum();
  const Tensor sum = losses.sum();
  total_weight.copy_(total);
  output.copy_(reduction == at::Reduction::Mean ? sum / total : sum);
}

void backward(const Tensor& grad, const Tensor& self, const Tensor& classes,
              const OptionalTensor& weights, int64_t reduction,
              int64_t ignore_index, const Tensor& total_weight, Tensor& out) {
  Problem problem(self, classes, weights, ignore_index);
  NllLossParams& p = problem.p;
  Tensor g = grad.to(at::kFloat);
  if (reduction == at::Reduction::Mean) g = g / total_weight.to(at::kFloat);
  g = g.contiguous();
  c10::SmallVector<const at::TensorBase*, 4> tensors{&g, &problem.target};
  if (problem.weighted()) tensors.push_back(&problem.weight);
  const bool direct = out.is_contiguous() && out.storage_offset() == 0 &&
                      out.scalar_type() == self.scalar_type() &&
                      std::ranges::none_of(tensors, [&](const auto* input) {
                        return same_buffer(*input, out);
                      });
  const Tensor o = direct ? out : at::empty(self.sizes(), self.options());
  tensors.push_back(&o);
  p.count = uint32_t(o.numel());
  p.offset_g = offset_of(g);
  p.stride_g = reduction == at::Reduction::None;
  const Variant v{wgsl::dtype_of(self.scalar_type()), problem.weighted(),
                  windows_of(o), windows_of(problem.target)};
  const uint64_t words = ceil_div(p.count, wgsl::lanes_of(v.dtype));
  launch_bytes(backward_family(v), tensors, std::as_bytes(std::span(&p, 1)),
               ceil_div(words, kWorkgroup));
  if (!direct) out.copy_(o);
}

using Outputs = std::tuple<Tensor&, Tensor&>;

Outputs nll_loss_forward_out(const Tensor& self, const Tensor& target,
                             const OptionalTensor& weight, int64_t reduction,
                             int64_t ignore_index, Tensor& output,
                             Tensor& total_weight) {
  forward(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

Tensor& nll_loss_backward_out(const Tensor& grad, const Tensor& self,
                              const Tensor& target,
                              const OptionalTensor& weight, int64_t reduction,
                              int64_t ignore_index, const Tensor& total_weight,
                              Tensor& out) {
  backward(grad, self, target, weight, reduction, ignore_index, total_weight,
           out);
  return out;
}

void check_2d(const Tensor& self, const Tensor& target,
              const OptionalTensor& weight) {
  TORCH_CHECK(target.dim() == 3,
              "nll_loss: expected a target of 3 dimensions (batch, height, "
              "width) for a 4-dimensional input, got ",
              target.dim());
  TORCH_CHECK(self.dim() == 4,
              "nll_loss: expected an input of 4 dimensions (batch, classes, "
              "height, width), got ",
              self.dim());
  TORCH_CHECK(!has(weight) || weight->numel() == self.size(1),
              "nll_loss: the weight must have one element for each of the ",
              self.size(1), " classes");
  TORCH_CHECK(self.size(0) == target.size(0) &&
                  self.size(2) == target.size(1) &&
                  self.size(3) == target.size(2),
              "nll_loss: the input of shape ", self.sizes(),
              " does not fit the target of shape ", target.sizes());
}

std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self,
                                              const Tensor& target,
                                              const OptionalTensor& weight,
                                              int64_t reduction,
                                              c10::SymInt ignore_index) {
  const int64_t ignore = ignore_index.expect_int();
  check_2d(self, target, weight);
  const bool whole = reduction == at::Reduction::None;
  Tensor output =
      at::empty(whole ? target.sizes() : at::IntArrayRef{}, self.options());
  Tensor total_weight = at::empty({}, self.options());
  forward(self, target, weight, reduction, ignore, output, total_weight);
  return {std::move(output), std::move(total_weight)};
}

Tensor nll_loss2d_backward(const Tensor& grad, const Tensor& self,
                           const Tensor& target, const OptionalTensor& weight,
                           int64_t reduction, c10::SymInt ignore_index,
                           const Tensor& total_weight) {
  const int64_t ignore = ignore_index.expect_int();
  check_2d(self, target, weight);
  Tensor out = at::empty(self.sizes(), self.options());
  backward(grad, self, target, weight, reduction, ignore, total_weight, out);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  // Input and weight; the rest is cast to what the kernels read.
  native<"nll_loss_forward.output", &nll_loss_forward_out,
         takes_floats_at<0, 2>>(m);
  native<"nll_loss_backward.grad_input", &nll_loss_backward_out,
         takes_floats_at<1, 3>>(m);
  native<"nll_loss2d_forward", &nll_loss2d_forward, takes_floats_at<0, 2>>(m);
  native<"nll_loss2d_backward", &nll_loss2d_backward, takes_floats_at<1, 3>>(m);
}

}  // namespace torch_webgpu::ops
