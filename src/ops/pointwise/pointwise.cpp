// Which kernel of the pointwise family serves a call, and its launch.
#include "ops/pointwise/pointwise.h"

#include <ATen/ops/empty.h>
#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ops/kernel/autotune.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/profile.h"
#include "ops/pointwise/pointwise_kernel.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

uint32_t to_u32(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= std::numeric_limits<uint32_t>::max(),
              "webgpu kernels index up to 2^32 - 1 elements, got ", value);
  return uint32_t(value);
}

bool same_view(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && a.element_size() == b.element_size();
}

constexpr wgsl::params::u32 PointwiseParams::* kOffsets[] = {
    &PointwiseParams::offset_a, &PointwiseParams::offset_b,
    &PointwiseParams::offset_c};
constexpr wgsl::params::u64 PointwiseParams::* kValues[] = {
    &PointwiseParams::value_a, &PointwiseParams::value_b,
    &PointwiseParams::value_c};
constexpr wgsl::params::u32x8 PointwiseParams::* kStrides[] = {
    &PointwiseParams::at_a, &PointwiseParams::at_b, &PointwiseParams::at_c};
constexpr wgsl::params::u64 PointwiseParams::* kScalars[] = {
    &PointwiseParams::s0, &PointwiseParams::s1, &PointwiseParams::s2,
    &PointwiseParams::s3};

// One call: what is launched for it, or how it is divided.
class Plan {
 public:
  Plan(OpId id, DType dtype, std::span<const Input> inputs,
       const at::Tensor& out, std::initializer_list<c10::Scalar> scalars)
      : op_(pointwise_op(id)),
        dtype_(dtype),
        sources_(inputs.begin(), inputs.end()),
        out_(out),
        scalars_(scalars) {
    const auto kernel = uint8_t(pointwise_kernel_dtype(op_, dtype));
    variant_.op = id;
    variant_.dtype = variant_.in_dtype = kernel;
  }

  // Gives inputs that share the output's buffer memory of their own, unless
  // they are the very same view, and binds all.
  void bind();
  // The dimension to halve, when one launch cannot do it all.
  std::optional<int64_t> dim_to_halve();
  // Chooses a kernel; false when only chunks may be written and none can.
  bool choose(bool only_chunks);
  void launch();
  std::span<const Input> inputs() const { return sources_; }

 private:
  bool is_bound(size_t i) const { return !sources_[i].is_scalar(); }
  bool all_dense() const;
  bool choose_chunks();
  void choose_rows();
  // What the rounds of all threads together have to do.
  uint64_t items() const;
  void tune();
  void dispatch();
  uint32_t bind_tensor(const at::Tensor& view);
  void set_walk();

  const PointwiseOp& op_;
  DType dtype_;
  c10::SmallVector<Input, kMaxPointwiseInputs> sources_;
  at::Tensor out_;
  std::initializer_list<c10::Scalar> scalars_;
  PointwiseVariant variant_{};
  PointwiseParams params_;
  c10::SmallVector<const at::TensorBase*, kMaxPointwiseInputs + 1> bound_;
  const at::Tensor* too_wide_ = nullptr;  // a view above the binding limit
  Geometry geometry_;  // of the output and the bound inputs, in this order
};

uint32_t Plan::bind_tensor(const at::Tensor& view) {
  if (windows_of(view) > 1) too_wide_ = &view;
  bound_.push_back(&view);
  return offset_of(view);
}

void Plan::bind() {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].is_scalar()) {
      variant_.modes[i] = Mode::Scalar;
      params_.*kValues[i] = encode(sources_[i].scalar, dtype_);
      continue;
    }
    const at::Tensor& tensor = sources_[i].tensor;
    if (op_.casts) {
      variant_.in_dtype = uint8_t(wgsl::dtype_of(tensor.scalar_type()));
    }
    if (same_buffer(tensor, out_)) {
      // The first input may be the output itself, the second only with it.
      if (same_view(tensor, out_) && !op_.casts && op_.mask != int(i) &&
          (i == 0 || (op_.inputs == 2 && variant_.modes[0] == Mode::Shared))) {
        variant_.modes[i] = Mode::Shared;
        continue;
      }
      const at::Tensor copy = at::empty(tensor.sizes(), tensor.options());
      copy_elements(tensor, copy);
      sources_[i].tensor = copy;
    }
    variant_.modes[i] = Mode::Read;
    params_.*kOffsets[i] = bind_tensor(sources_[i].tensor);
  }
  params_.offset_o = bind_tensor(out_);
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (variant_.modes[i] == Mode::Shared) {
      params_.*kOffsets[i] = params_.offset_o;
    }
  }
}

std::optional<int64_t> Plan::dim_to_halve() {
  if (too_wide_) return widest_dim(too_wide_->expand(out_.sizes()));
  if (all_dense()) return std::nullopt;
  c10::SmallVector<at::Tensor, 4> views{out_};
  for (const Input& source : sources_) {
    if (!source.is_scalar())
      views.push_back(source.tensor.expand(out_.sizes()));
  }
  if (make_geometry(views, geometry_)) return std::nullopt;
  return first_dim(out_);
}

// True when walking the output in memory order is walking each input by one.
bool Plan::all_dense() const {
  if (!out_.is_non_overlapping_and_dense()) return false;
  const bool contiguous = out_.is_contiguous();
  return std::ranges::all_of(sources_, [&](const Input& input) {
    return input.is_scalar() ||
           (input.tensor.sizes() == out_.sizes() &&
            (contiguous ? input.tensor.is_contiguous()
                        : input.tensor.strides() == out_.strides()));
  });
}

bool Plan::choose_chunks() {
  const DType in = static_cast<DType>(variant_.in_dtype);
  const DType kernel = static_cast<DType>(variant_.dtype);
  const DType to = pointwise_output(op_, kernel);
  if (is_heavy(variant_.op, wgsl::compute_of(kernel))) return false;
  const uint32_t size = chunk_size(op_, in, to);
  const bool walked = geometry_.rank > 0;
  if (walked && geometry_.sizes[0] % size != 0) return false;
  // Whether an operand can be moved in units: where it begins, and where its
  // other dimensions lead.
  const auto in_units = [&](DType dtype, uint32_t offset, size_t view) {
    const auto unit = int64_t(wgsl::unit_of(dtype));
    if (offset % unit != 0) return false;
    for (int d = 1; walked && d < geometry_.rank; ++d) {
      if (geometry_.strides[view][d] % unit != 0) return false;
    }
    return true;
  };
  // The walk leads an operand to the place of e itself.
  const auto like_index = [&](size_t view) {
    int64_t dense = 1;
    for (int d = 0; d < geometry_.rank; ++d) {
      if (geometry_.strides[view][d] != dense) return false;
      dense *= geometry_.sizes[d];
    }
    return true;
  };
  if (walked && geometry_.strides[0][0] != 1) return false;
  if (!in_units(to, params_.offset_o, 0)) return false;
  variant_.access_o = !walked || like_index(0) ? Access::Dense : Access::Walked;
  for (size_t i = 0, view = 1; i < sources_.size(); ++i) {
    if (!is_bound(i)) continue;
    const DType dtype = op_.mask == int(i) ? DType::Bool : in;
    Access& access = variant_.access[i];
    const int64_t inner = walked ? geometry_.strides[view][0] : 1;
    if (inner == 1 && in_units(dtype, params_.*kOffsets[i], view)) {
      access = !walked || like_index(view) ? Access::Dense : Access::Walked;
    } else if (walked) {
      access = inner == 0 ? Access::Splat : Access::Gather;
    } else {
      return false;
    }
    ++view;
  }
  variant_.form = Form::Chunk;
  return true;
}

// Goes down the rows of a matrix where that reads less: the same row of an
// input for all, or one element for each.
void Plan::choose_rows() {
  const auto still = [&](size_t view) {
    return geometry_.strides[view][0] == 1 && geometry_.strides[view][1] == 0;
  };
  if (geometry_.rank != 2) return;
  bool gains = false;
  for (size_t view = 1; view < bound_.size(); ++view)
    gains = gains || still(view) || geometry_.strides[view][0] == 0;
  if (!gains) return;
  variant_.form = Form::Rows;
  variant_.access_o = Access::Walked;
  for (size_t i = 0, view = 1; i < sources_.size(); ++i) {
    if (!is_bound(i)) continue;
    Access& access = variant_.access[i];
    if (access == Access::Dense) access = Access::Walked;
    if (access == Access::Walked && still(view)) access = Access::Still;
    ++view;
  }
}

bool Plan::choose(bool only_chunks) {
  const Profile& adapter = profile();
  variant_.workgroup = adapter.workgroup;
  params_.count = to_u32(out_.numel());
  if (!choose_chunks()) {
    if (only_chunks) return false;
    variant_.form = Form::Element;
    variant_.access_o = Access::Dense;
    variant_.access.fill(geometry_.rank > 0 ? Access::Walked : Access::Dense);
  } else {
    choose_rows();
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!is_bound(i)) variant_.access[i] = Access::Dense;
  }
  for (size_t i = sources_.size(); i < kMaxPointwiseInputs; ++i)
    variant_.access[i] = Access::Dense;
  const bool walks = variant_.access_o != Access::Dense ||
                     std::ranges::any_of(variant_.access, [](Access access) {
                       return access != Access::Dense;
                     });
  if (walks) set_walk();
  params_.share = adapter.rounds(items());
  return true;
}

void Plan::set_walk() {
  variant_.rank = uint8_t(geometry_.rank);
  const auto set = [&](wgsl::params::u32x8& to, size_t view) {
    for (int d = 0; d < geometry_.rank; ++d)
      to[d] = to_u32(geometry_.strides[view][d]);
  };
  for (int d = 0; d < geometry_.rank; ++d)
    params_.at.add(to_u32(geometry_.sizes[d]));
  params_.at_x[0] = 1;
  set(params_.at_o, 0);
  for (size_t i = 0, view = 1; i < sources_.size(); ++i) {
    if (is_bound(i)) set(params_.*kStrides[i], view++);
  }
}

void Plan::launch() {
  for (size_t i = 0; i < scalars_.size(); ++i) {
    params_.*kScalars[i] = encode(scalars_.begin()[i], dtype_);
  }
  if (autotuning()) tune();
  dispatch();
}

uint64_t Plan::items() const {
  const DType to = pointwise_output(op_, static_cast<DType>(variant_.dtype));
  if (variant_.form != Form::Element) {
    const DType in = static_cast<DType>(variant_.in_dtype);
    return ceil_div(params_.count, chunk_size(op_, in, to));
  }
  const uint32_t lanes = wgsl::lanes_of(to);
  return ceil_div(params_.offset_o % lanes + uint64_t(params_.count), lanes);
}

void Plan::dispatch() {
  uint64_t threads = ceil_div(items(), uint64_t(params_.share));
  if (variant_.form == Form::Rows) {
    const uint64_t rows = params_.at.sizes[1];
    threads = items() / rows * ceil_div(rows, uint64_t(params_.share));
  }
  launch_bytes(pointwise_family()(variant_), bound_,
               std::as_bytes(std::span(&params_, 1)),
               ceil_div(threads, uint64_t(variant_.workgroup)));
}

// Threads of a workgroup and rounds of its loop, by measurement.
void Plan::tune() {
  struct Candidate {
    uint16_t workgroup;
    uint32_t share;
  };
  static constexpr Candidate kCandidates[] = {{64, 1},  {64, 4},  {64, 16},
                                              {64, 64}, {128, 1}, {128, 4},
                                              {256, 1}, {256, 4}, {256, 16}};
  static const auto kNames = [] {
    std::vector<std::string> names;
    for (const Candidate& c : kCandidates)
      names.push_back(fmt::format("{}x{}", c.workgroup, c.share));
    return names;
  }();
  constexpr uint64_t kWorthIt = 1 << 16;
  if (items() < kWorthIt) return;
  const std::string shape =
      fmt::format("{} {} from {}, form {}, rank {}, {}", op_.name,
                  variant_.dtype, variant_.in_dtype, uint8_t(variant_.form),
                  variant_.rank, size_class(items()));
  const auto use = [&](const Candidate& candidate) {
    variant_.workgroup = candidate.workgroup;
    params_.share = candidate.share;
  };
  // What is computed in place cannot be computed twice.
  const bool in_place = std::ranges::count(variant_.modes, Mode::Shared) > 0;
  const size_t best =
      in_place ? tuned_before("pointwise", shape, kNames, std::size(kNames))
               : tuned("pointwise", shape, kNames, [&](size_t i) {
                   use(kCandidates[i]);
                   dispatch();
                 });
  if (best < std::size(kCandidates)) use(kCandidates[best]);
}

bool run(OpId id, DType dtype, std::span<const Input> inputs,
         const at::Tensor& out, std::initializer_list<c10::Scalar> scalars,
         bool only_chunks) {
  Plan plan(id, dtype, inputs, out, scalars);
  plan.bind();
  if (const auto dim = plan.dim_to_halve()) {
    // A part that only another kernel can write is not ours either.
    if (only_chunks) return false;
    for (const Half& half : halves(plan.inputs(), out, *dim))
      pointwise(id, dtype, half.inputs, half.out, scalars);
    return true;
  }
  if (!plan.choose(only_chunks)) return false;
  plan.launch();
  return true;
}

}  // namespace

bool pointwise_in_chunks(OpId id, DType dtype, std::span<const Input> inputs,
                         const at::Tensor& out,
                         std::initializer_list<c10::Scalar> scalars) {
  return run(id, dtype, inputs, out, scalars, /*only_chunks=*/true);
}

void pointwise(OpId id, DType dtype, std::span<const Input> inputs,
               const at::Tensor& out,
               std::initializer_list<c10::Scalar> scalars) {
  if (out.numel() == 0) return;
  const PointwiseOp& op = pointwise_op(id);
  TORCH_INTERNAL_ASSERT(inputs.size() == op.inputs &&
                        scalars.size() == op.scalars);
  if (out.is_non_overlapping_and_dense()) {
    run(id, dtype, inputs, out, scalars, /*only_chunks=*/false);
    return;
  }
  if (pointwise_in_chunks(id, dtype, inputs, out, scalars)) return;
  // Elements that share words with others are only written by the copy.
  const at::Tensor dense = at::empty(out.sizes(), out.options());
  pointwise(id, dtype, inputs, dense, scalars);
  copy_elements(dense, out);
}

}  // namespace torch_webgpu::ops
