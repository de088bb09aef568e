#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <array>
#include <tuple>

#include "ops/runtime/fallback.h"

// Torch sends an out-of-tree device's convolutions to operators that no other
// backend has, so the boxed fallback cannot serve them: they are renamed here.
namespace torch_webgpu::ops {
namespace {

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding,
                       at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups) {
  return cpu_call("aten::convolution", "",
                  {input, weight, bias, stride, padding, dilation, transposed,
                   output_padding, groups})
      .at(0)
      .toTensor();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad_output, const at::Tensor& input,
    const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
    int64_t groups, std::array<bool, 3> output_mask) {
  const std::array<int64_t, 1> bias_sizes = {grad_output.size(1)};
  const torch::jit::Stack results =
      cpu_call("aten::convolution_backward", "",
               {grad_output, input, weight, at::IntArrayRef(bias_sizes), stride,
                padding, dilation, transposed, output_padding, groups,
                std::vector<bool>(output_mask.begin(), output_mask.end())});
  return {results.at(0).toTensor(), results.at(1).toTensor(),
          results.at(2).toTensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
}

}  // namespace torch_webgpu::ops
