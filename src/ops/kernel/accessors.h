#pragma once

#include <string>
#include <vector>

#include "ops/kernel/linker.h"
#include "ops/kernel/operand.h"

namespace torch_webgpu::wgsl {

// Gives the linker the accessors of `operand` (see operand.h); `chunk` is the
// kernel's elements of a chunk, for Width::Chunk.
void add_accessors(Linker&, const Operand& operand, uint32_t chunk);

// The element type of the operand's binding.
std::string binding_type(const Operand&);

// A walk over the elements of several strided operands; see
// KernelText::walks.
struct WalkText {
  std::string name;
  std::vector<std::string> operands;
  uint32_t rank = 0;  // known dimensions; 0: as many as p.at.rank says
};
void add_walk(Linker&, const WalkText&);

}  // namespace torch_webgpu::wgsl
