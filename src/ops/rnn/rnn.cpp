#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

// The cells of nn.LSTM and nn.GRU. Torch sends a device that is not the CPU to
// these fused operators; they are composed of the device's own kernels.
namespace torch_webgpu::ops {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor with_bias(const at::Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// The derivative of a sigmoid by its result.
at::Tensor sigmoid_slope(const at::Tensor& y) {
  return y * (1 - y);
}

at::Tensor tanh_slope(const at::Tensor& y) {
  return 1 - y * y;
}

at::Tensor bias_gradient(const at::Tensor& grad_gates, bool has_bias) {
  return has_bias ? grad_gates.sum(at::IntArrayRef{0}, /*keepdim=*/false)
                  : at::Tensor();
}

// The workspace keeps the four activated gates, in the order of the weights:
// input, forget, cell, output.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& cx, const OptionalTensor& input_bias,
    const OptionalTensor& hidden_bias) {
  const at::Tensor gates =
      with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias);
  const std::vector<at::Tensor> parts = gates.chunk(4, 1);
  const at::Tensor in = at::sigmoid(parts[0]);
  const at::Tensor forget = at::sigmoid(parts[1]);
  const at::Tensor cell = at::tanh(parts[2]);
  const at::Tensor out = at::sigmoid(parts[3]);
  at::Tensor cy = forget * cx + in * cell;
  at::Tensor hy = out * at::tanh(cy);
  return {std::move(hy), std::move(cy), at::cat({in, forget, cell, out}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const OptionalTensor& grad_hy, const OptionalTensor& grad_cy,
    const at::Tensor& cx, const at::Tensor& cy, const at::Tensor& workspace,
    bool has_bias) {
  const bool has_hy = grad_hy && grad_hy->defined();
  const bool has_cy = grad_cy && grad_cy->defined();
  if (!has_hy && !has_cy) return {};
  const std::vector<at::Tensor> parts = workspace.chunk(4, 1);
  const at::Tensor &in = parts[0], &forget = parts[1], &cell = parts[2],
                   &out = parts[3];
  const at::Tensor tanh_cy = at::tanh(cy);
  at::Tensor grad_cell_state = has_cy ? *grad_cy : at::zeros_like(cy);
  at::Tensor grad_out = at::zeros_like(out);
  if (has_hy) {
    grad_cell_state = grad_cell_state + *grad_hy * out * tanh_slope(tanh_cy);
    grad_out = *grad_hy * tanh_cy * sigmoid_slope(out);
  }
  at::Tensor grad_gates =
      at::cat({grad_cell_state * cell * sigmoid_slope(in),
               grad_cell_state * cx * sigmoid_slope(forget),
               grad_cell_state * in * tanh_slope(cell), grad_out},
              1);
  at::Tensor grad_bias = bias_gradient(grad_gates, has_bias);
  return {std::move(grad_gates), grad_cell_state * forget,
          std::move(grad_bias)};
}

// The workspace keeps reset, update, new, the old state and the hidden part of
// the new gate.
std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates,
                                            const at::Tensor& hx,
                                            const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias) {
  const auto input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = at::sigmoid(input[0] + hidden[0]);
  const at::Tensor update = at::sigmoid(input[1] + hidden[1]);
  const at::Tensor fresh = at::tanh(input[2] + reset * hidden[2]);
  at::Tensor hy = fresh + update * (hx - fresh);
  return {std::move(hy), at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                  bool has_bias) {
  const std::vector<at::Tensor> parts = workspace.chunk(5, 1);
  const at::Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2],
                   &hx = parts[3], &hidden_fresh = parts[4];
  const at::Tensor grad_update = grad_hy * (hx - fresh) * sigmoid_slope(update);
  const at::Tensor grad_fresh = grad_hy * (1 - update) * tanh_slope(fresh);
  const at::Tensor grad_reset =
      grad_fresh * hidden_fresh * sigmoid_slope(reset);
  at::Tensor grad_input = at::cat({grad_reset, grad_update, grad_fresh}, 1);
  at::Tensor grad_hidden =
      at::cat({grad_reset, grad_update, grad_fresh * reset}, 1);
  at::Tensor grad_input_bias = bias_gradient(grad_input, has_bias);
  at::Tensor grad_hidden_bias = bias_gradient(grad_hidden, has_bias);
  return {std::move(grad_input), std::move(grad_hidden), grad_hy * update,
          std::move(grad_input_bias), std::move(grad_hidden_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace torch_webgpu::ops
