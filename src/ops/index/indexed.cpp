#include "ops/index/indexed.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ops/index/index_walk.h"
#include "ops/index/indexed_kernel.h"
#include "ops/kernel/each.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/profile.h"
#include "ops/runtime/faults.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

constexpr IndexKind kIndexKinds[] = {IndexKind::Long, IndexKind::Int,
                                     IndexKind::Offset};

// Elements that are only moved are moved as integers of their size.
DType carrier_of(size_t bytes) {
  return bytes == 1   ? DType::U8
         : bytes == 2 ? DType::I16
         : bytes == 4 ? DType::I32
                      : DType::I64;
}

struct ReadVariant {
  uint16_t workgroup;
  uint16_t rank;  // of the walk; 0: the parameters know it
  uint8_t dtype, kind;
  uint8_t rows;  // of 16-byte units, whatever the dtype
  uint8_t windows_a, windows_i, windows_o;
  static constexpr uint8_t ReadVariant::* kWindows[] = {
      &ReadVariant::windows_a, &ReadVariant::windows_i,
      &ReadVariant::windows_o};
};

wgsl::KernelText describe_read(const ReadVariant& v) {
  const auto dtype = static_cast<DType>(v.dtype);
  const auto kind = static_cast<IndexKind>(v.kind);
  wgsl::KernelText text;
  text.label =
      fmt::format("indexed_{}_{}_by_{}_r{}_x{}_w{}{}{}",
                  v.rows ? "rows" : "read", wgsl::name_of(dtype), name_of(kind),
                  v.rank, v.workgroup, v.windows_a, v.windows_i, v.windows_o);
  text.operands = {{"a", dtype, Mode::Read, v.windows_a, "",
                    v.rows ? wgsl::Width::Quad : wgsl::Width::Element},
                   index_operand(kind, v.windows_i),
                   each_operand(dtype, v.windows_o),
                   fault_operand(kind)};
  text.walks = {{"at", {"a", "i"}, v.rank}};
  text.compute = wgsl::compute_of(dtype);
  text.params = IndexedParams::wgsl();
  const std::string place = place_text(kind);
  if (v.rows) {
    text.file = "indexed_rows";
    text.substitutions = {{"place", place},
                          {"workgroup", std::to_string(v.workgroup)}};
  } else {
    make_each(
        text,
        wgsl::substitute(wgsl::embedded("indexed_read"), {{"place", place}}),
        v.workgroup);
  }
  return text;
}

std::vector<ReadVariant> enumerate_reads() {
  std::vector<ReadVariant> all;
  const auto list = [&](DType dtype, bool rows) {
    for (const IndexKind kind : {IndexKind::None, IndexKind::Long,
                                 IndexKind::Int, IndexKind::Offset}) {
      for (const uint16_t rank : {0, 2}) {
        if (rows && rank > 0) continue;
        all.push_back({64, rank, uint8_t(dtype), uint8_t(kind), rows, 1, 1, 1});
      }
    }
  };
  for (const size_t bytes : {1, 2, 4, 8})
    list(carrier_of(bytes), false);
  list(DType::I32, true);
  return all;
}

// Other ranks only repeat a line.
ReadVariant listed_read(ReadVariant v) {
  if (v.rank > 0) v.rank = 2;
  return v;
}

Family<ReadVariant> reads(describe_read, enumerate_reads, listed_read);

// What a thread of a write does with its element.
enum class Step : uint8_t {
  Store,    // it does not matter which of several stays
  Update,   // compare and exchange on the element's word
  Add64,    // two words, with a carry
  Ordered,  // one thread for all elements that may meet
  // Assignment of 64 bits where elements may meet: each claims the place by
  // its number, the one whose number stayed is marked, only it stores.
  Claim,
  Check,
  Marked,
};

struct WriteVariant {
  uint8_t dtype, kind, combine, step;
  uint8_t windows_v, windows_i, windows_m, windows_o;
  static constexpr uint8_t WriteVariant::* kWindows[] = {
      &WriteVariant::windows_v, &WriteVariant::windows_i,
      &WriteVariant::windows_m, &WriteVariant::windows_o};
};

wgsl::KernelText describe_write(const WriteVariant& v) {
  constexpr const char* kCombine[] = {"assign", "add", "mul", "min", "max"};
  constexpr const char* kSteps[] = {"store", "update", "add64", "ordered",
                                    "claim", "check",  "marked"};
  const auto dtype = static_cast<DType>(v.dtype);
  const auto kind = static_cast<IndexKind>(v.kind);
  const auto step = static_cast<Step>(v.step);
  wgsl::KernelText text;
  text.file = "indexed_write";
  text.label =
      fmt::format("indexed_write_{}_{}_{}_by_{}_w{}{}{}{}", kCombine[v.combine],
                  kSteps[v.step], wgsl::name_of(dtype), name_of(kind),
                  v.windows_v, v.windows_i, v.windows_m, v.windows_o);
  Mode values = Mode::Read, marks = Mode::Absent, out = Mode::Write;
  std::string action;
  switch (step) {
    case Step::Store:
      action = "store_o(at, load_v(from_v));";
      break;
    case Step::Update:
      action =
          fmt::format("update_{}(at, load_v(from_v));", wgsl::name_of(dtype));
      out = Mode::Scatter;
      break;
    case Step::Add64:
      action = "add_i64(at, load_v(from_v));";
      out = Mode::Scatter;
      break;
    case Step::Ordered:
      action = "store_o(at, combined(load_o(at), load_v(from_v)));";
      break;
    case Step::Claim:
      action = "write_o(2u * at, e);";
      values = Mode::Absent;
      out = Mode::Scatter;
      break;
    case Step::Check:
      action = "write_m(e, select(0u, 1u, read_o(2u * at) == e));";
      values = Mode::Absent;
      marks = Mode::Write;
      out = Mode::Read;
      break;
    case Step::Marked:
      action = "if read_m(e) != 0u {\n    store_o(at, load_v(from_v));\n  }";
      marks = Mode::Read;
      break;
  }
  text.operands = {{"v", dtype, values, v.windows_v, ""},
                   index_operand(kind, v.windows_i),
                   {"m", DType::I32, marks, v.windows_m, ""},
                   {"o", dtype, out, v.windows_o, ""},
                   fault_operand(kind)};
  text.compute = wgsl::compute_of(dtype);
  text.walks = {{"at", {"o", "v", "i"}}};
  text.substitutions = {
      {"combine", v.combine == uint8_t(Combine::Assign)
                      ? "value"
                      : fmt::format("t_{}(old, value)", kCombine[v.combine])},
      {"place", place_text(kind)},
      {"step", action},
      {"workgroup", std::to_string(kWorkgroup)}};
  text.params = IndexedParams::wgsl();
  return text;
}

std::vector<WriteVariant> enumerate_writes() {
  std::vector<WriteVariant> all;
  const auto add = [&](DType dtype, Combine combine, Step step) {
    for (const IndexKind kind : kIndexKinds) {
      all.push_back({uint8_t(dtype), uint8_t(kind), uint8_t(combine),
                     uint8_t(step), 1, 1, 1, 1});
    }
  };
  add(DType::I32, Combine::Assign, Step::Store);
  add(DType::I64, Combine::Assign, Step::Store);
  add(DType::U8, Combine::Assign, Step::Update);
  add(DType::I16, Combine::Assign, Step::Update);
  for (const Step step : {Step::Claim, Step::Check, Step::Marked}) {
    add(DType::I64, Combine::Assign, step);
  }
  for (const Combine combine :
       {Combine::Add, Combine::Multiply, Combine::Minimum, Combine::Maximum}) {
    for (const DType dtype : {DType::F32, DType::I32, DType::I16, DType::I8,
                              DType::U8, DType::Bool}) {
      add(dtype, combine, Step::Update);
    }
    add(DType::I64, combine,
        combine == Combine::Add ? Step::Add64 : Step::Ordered);
  }
  return all;
}

Family<WriteVariant> writes(describe_write, enumerate_writes);

void set_index(IndexedParams& p, const Indexing& indexing) {
  if (indexing.kind != IndexKind::None) {
    p.offset_i = uint32_t(indexing.index_offset - origin_of(indexing.index));
  }
  p.bound = uint32_t(indexing.bound);
  p.stride = uint32_t(indexing.stride);
  p.skip = uint32_t(indexing.skip);
  p.wraps = indexing.wraps;
  p.fault = fault_code(indexing.op);
}

void launch_write(const at::Tensor& self, const Indexing& indexing,
                  const at::Tensor& values, const at::Tensor& marks,
                  const IndexedParams& p, WriteVariant v, Step step) {
  v.step = uint8_t(step);
  v.windows_i = windows_of(indexing.index);
  v.windows_o = windows_of(self);
  const bool has_values = step != Step::Claim && step != Step::Check;
  const bool has_marks = step == Step::Check || step == Step::Marked;
  v.windows_v = has_values ? windows_of(values) : 1;
  v.windows_m = has_marks ? windows_of(marks) : 1;
  c10::SmallVector<const at::TensorBase*, 4> tensors;
  if (has_values) tensors.push_back(&values);
  tensors.push_back(&indexing.index);
  if (has_marks) tensors.push_back(&marks);
  tensors.push_back(&self);
  launch_bytes(writes(v), {tensors.data(), tensors.size()},
               std::as_bytes(std::span(&p, 1)), ceil_div(p.count, kWorkgroup),
               reports(indexing.kind));
}

// Counts in units of `per` elements and in rows of these from now on, if
// everything is made of them: rows that stand together, at multiples of it.
bool count_in_rows(IndexedParams& p, uint32_t per) {
  const bool rows = p.at.rank > 0 && p.at_a[0] == 1 && p.at_i[0] == 0;
  if (!rows || p.at.sizes[0] % per != 0 || p.offset_a % per != 0 ||
      p.offset_o % per != 0 || p.stride % per != 0) {
    return false;
  }
  for (uint32_t d = 1; d < p.at.rank; ++d) {
    const bool backwards = int32_t(p.at_a[d]) < 0;
    if (backwards || p.at_a[d] % per != 0) return false;
  }
  wgsl::params::Walk at;
  for (uint32_t d = 1; d < p.at.rank; ++d) {
    at.add(p.at.sizes[d]);
    p.at_a[d - 1] = p.at_a[d] / per;
    p.at_i[d - 1] = p.at_i[d];
  }
  p.units = p.at.sizes[0] / per;
  p.count /= p.at.sizes[0];
  p.at_a[at.rank] = p.at_i[at.rank] = 0;
  p.at = at;
  p.offset_a /= per;
  p.offset_o /= per;
  p.stride /= per;
  return true;
}

// How the rows are divided; the number of workgroups.
uint64_t divide_rows(IndexedParams& p) {
  const Profile& adapter = profile();
  // A thread of a CPU has many units, neighbours on a GPU have one each.
  const bool cpu = adapter.kind == Profile::Kind::Cpu;
  const uint32_t lanes =
      std::clamp<uint32_t>(std::bit_ceil(p.units), 1, cpu ? 8 : 64);
  p.lanes = uint32_t(std::bit_width(lanes)) - 1;
  const uint64_t enough =
      uint64_t(adapter.enough_workgroups) * adapter.workgroup / lanes;
  p.parts = uint32_t(std::clamp<uint64_t>(
      enough / p.count, 1, std::max<uint32_t>(p.units / lanes, 1)));
  p.each = uint32_t(ceil_div(p.units, p.parts));
  return ceil_div(uint64_t(p.count) * p.parts, adapter.workgroup / lanes);
}

// The step for an assignment or combination of one dtype. `alone` is true when
// no other thread has an element for the same place.
Step step_of(DType dtype, Combine combine, bool one_value, bool alone) {
  if (combine == Combine::Assign) {
    if (wgsl::lanes_of(dtype) > 1) return Step::Update;
    return dtype == DType::I64 && !one_value && !alone ? Step::Marked
                                                       : Step::Store;
  }
  if (dtype != DType::I64) return Step::Update;
  return combine == Combine::Add ? Step::Add64 : Step::Ordered;
}

}  // namespace

Indexing along_dim(const char* op, const at::Tensor& self, int64_t dim,
                   const at::Tensor& index) {
  Indexing result;
  result.op = op;
  result.sizes.assign(index.sizes().begin(), index.sizes().end());
  result.self_strides = strides_of(self);
  result.self_offset = self.storage_offset();
  result.index = index;
  result.index_strides = strides_of(index);
  result.index_offset = index.storage_offset();
  result.kind = kind_of(index);
  result.bound = self.size(dim);
  result.stride = self.stride(dim);
  result.self_strides[dim] = 0;
  result.indexed_begin = dim;
  result.indexed_end = dim + 1;
  return result;
}

Indexing along_dim_rows(const char* op, const at::Tensor& self, int64_t dim,
                        const at::Tensor& index) {
  Indexing result;
  result.op = op;
  result.sizes.assign(self.sizes().begin(), self.sizes().end());
  result.sizes[dim] = index.numel();
  result.self_strides = strides_of(self);
  result.self_offset = self.storage_offset();
  result.index = index;
  result.index_strides.resize(self.dim(), 0);
  result.index_strides[dim] = index.dim() == 0 ? 0 : index.stride(0);
  result.index_offset = index.storage_offset();
  result.kind = kind_of(index);
  result.bound = self.size(dim);
  result.stride = self.stride(dim);
  result.self_strides[dim] = 0;
  result.indexed_begin = dim;
  result.indexed_end = dim + 1;
  return result;
}

void indexed_read(const at::Tensor& self, const Indexing& indexing,
                  const at::Tensor& out) {
  if (out.numel() == 0) return;
  const bool pairs = out.element_size() == 16;
  Indexing walk = in_memory_order(indexing, out);
  if (pairs) walk = in_pairs(std::move(walk));
  IndexedParams p;
  if (!set_walk(p.at, walk.sizes,
                {{walk.self_strides, p.at_a}, {walk.index_strides, p.at_i}})) {
    // Slices of the outermost dimension in memory, which are dense.
    const int64_t d = outermost(out);
    for (int64_t i = 0; i < out.size(d); ++i) {
      indexed_read(self, slice(indexing, d, i), out.select(d, i));
    }
    return;
  }
  set_index(p, walk);
  p.offset_a = uint32_t(walk.self_offset - origin_of(self) * (pairs ? 2 : 1));
  const bool indexed = walk.kind != IndexKind::None;
  ReadVariant v{profile().workgroup,
                uint16_t(p.at.rank <= 4 ? p.at.rank : 0),
                uint8_t(carrier_of(out.element_size())),
                uint8_t(walk.kind),
                0,
                windows_of(self),
                indexed ? windows_of(walk.index) : uint8_t(1),
                windows_of(out)};
  uint64_t groups =
      set_each(p, offset_of(out) * (pairs ? 2 : 1), uint32_t(count_of(walk)));
  if (count_in_rows(p, 16 / uint32_t(pairs ? 8 : out.element_size()))) {
    v.rows = 1;
    v.rank = 0;  // one walk for a whole row
    v.dtype = uint8_t(DType::I32);
    groups = divide_rows(p);
  }
  c10::SmallVector<const at::TensorBase*, 3> tensors{&self};
  if (indexed) tensors.push_back(&walk.index);
  tensors.push_back(&out);
  launch_bytes(reads(v), tensors, std::as_bytes(std::span(&p, 1)), groups,
               reports(walk.kind));
}

void indexed_write(const at::Tensor& self, const Indexing& indexing,
                   const at::Tensor& values, Combine combine) {
  if (count_of(indexing) == 0) return;
  at::Tensor source = values.expand(indexing.sizes);
  if (same_buffer(source, self)) {
    source = source.clone(at::MemoryFormat::Contiguous);
  }
  const bool pairs = self.element_size() == 16;
  Indexing walk = pairs ? in_pairs(indexing) : indexing;
  if (same_buffer(walk.index, self)) {
    const auto whole = int64_t(walk.index.storage().nbytes() /
                               size_t(walk.index.element_size()));
    const at::Tensor copy = at::empty({whole}, walk.index.options());
    copy.copy_(walk.index.as_strided(copy.sizes(), {1}, 0));
    walk.index = copy;
  }
  at::DimVector strides = strides_of(source);
  if (pairs) {
    for (auto& stride : strides)
      stride *= 2;
    strides.push_back(1);
  }
  const DType dtype = combine == Combine::Assign
                          ? carrier_of(self.element_size())
                          : wgsl::dtype_of(self.scalar_type());
  // In order, the last of several assignments stays and sums are rounded alike
  // every time, at the price of one thread for all that may meet.
  const bool asked = at::globalContext().deterministicAlgorithms();
  const Step step =
      step_of(dtype, combine, values.numel() == 1 && !pairs, asked);
  const bool ordered = asked || step == Step::Ordered;
  if (ordered) index_last(walk, strides);
  IndexedParams p;
  if (!set_walk(p.at, walk.sizes,
                {{walk.self_strides, p.at_o},
                 {strides, p.at_v},
                 {walk.index_strides, p.at_i}})) {
    for (int64_t i = 0; i < indexing.sizes[0]; ++i) {
      indexed_write(self, slice(indexing, 0, i), source.select(0, i), combine);
    }
    return;
  }
  set_index(p, walk);
  p.offset_o = uint32_t(walk.self_offset - origin_of(self) * (pairs ? 2 : 1));
  p.offset_v = offset_of(source) * (pairs ? 2 : 1);
  p.inner = 1;
  if (ordered) {
    for (int64_t d = walk.indexed_begin; d < walk.indexed_end; ++d) {
      p.inner *= uint32_t(indexing.sizes[d]);
    }
  }
  p.count = uint32_t(count_of(walk) / p.inner);
  const WriteVariant v{
      uint8_t(dtype), uint8_t(walk.kind), uint8_t(combine), 0, 1, 1, 1, 1};
  at::Tensor marks;
  if (step == Step::Marked) {
    marks = at::empty({count_of(walk)}, self.options().dtype(at::kInt));
    launch_write(self, walk, source, marks, p, v, Step::Claim);
    launch_write(self, walk, source, marks, p, v, Step::Check);
  }
  launch_write(self, walk, source, marks, p, v, step);
}

}  // namespace torch_webgpu::ops
