#pragma once

#include <c10/core/Allocator.h>

namespace torch_webgpu::binding {

c10::Allocator* host_allocator();

// Whether host_allocator() handed out the live block that `data` points into.
bool is_pinned(const void* data);

}  // namespace torch_webgpu::binding
