#pragma once

#include <ATen/core/DimVector.h>
#include <ATen/core/Tensor.h>

// The two kernels behind every operator that takes an index tensor: elements
// read by way of an index, and elements written by way of one.
//
// An index outside of its dimension is reported (see faults.h); reading there
// gives zero, writing there does nothing.
namespace torch_webgpu::ops {

enum class IndexKind : uint8_t {
  None,    // no index tensor: the walk's strides are all (they may be < 0)
  Long,    // int64
  Int,     // int32
  Offset,  // int32, an offset in elements that join_indices made
};

// A walk over `sizes`. At each point, the index tensor gives a place along a
// dimension of `bound` elements, `stride` apart; the walk's own strides give
// the rest of the element's address.
struct Indexing {
  at::DimVector sizes;
  at::DimVector self_strides;
  int64_t self_offset = 0;
  at::Tensor index;
  at::DimVector index_strides;
  int64_t index_offset = 0;
  IndexKind kind = IndexKind::None;
  int64_t bound = 0;
  int64_t stride = 0;
  const char* op = "";  // the name in a report
  bool wraps = false;   // negative indices count from the end
  // The walk's dimensions that the index stands for: elements that differ
  // elsewhere never meet in one place.
  int64_t indexed_begin = 0, indexed_end = 0;
  // Writes to this place along the dimension are dropped; -1 for none.
  int64_t skip = -1;
};

enum class Combine : uint8_t { Assign, Add, Multiply, Minimum, Maximum };

// The walk of gather and scatter: index has self's dimensions and the walk is
// over index's sizes.
Indexing along_dim(const char* op, const at::Tensor& self, int64_t dim,
                   const at::Tensor& index);

// The walk of index_select and index_add: index has one dimension (or none),
// the walk is over self's sizes with index's size at dim.
Indexing along_dim_rows(const char* op, const at::Tensor& self, int64_t dim,
                        const at::Tensor& index);

// Several index tensors of one shape as one of kind Offset: each gives a place
// along the dimension of `bounds[i]` elements, `strides[i]` apart; negative
// ones count from the end.
at::Tensor join_indices(const char* op, at::TensorList indices,
                        at::IntArrayRef bounds, at::IntArrayRef strides);

// out = the elements of self. `out` has the walk's sizes, is dense (in any
// order of dimensions), of self's dtype, and of any dtype that is stored in 1,
// 2, 4, 8 or 16 bytes.
void indexed_read(const at::Tensor& self, const Indexing&,
                  const at::Tensor& out);

// Combines `values`, which expand to the walk's sizes and have self's dtype,
// into the elements of self. Assign takes the dtypes of indexed_read; the
// others those of kernels. Where assigned elements meet, one of them stays;
// under torch.use_deterministic_algorithms() it is the last, and all is done in
// order.
void indexed_write(const at::Tensor& self, const Indexing&,
                   const at::Tensor& values, Combine);

}  // namespace torch_webgpu::ops
