// Tensors made to fit each other: broadcast_tensors, meshgrid, cartesian products.
#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Infos<N> broadcast_tensors_shape(std::span<const Info<N>> tensors) {
  Infos<N> views;
  if (tensors.empty()) return views;
  ShortList<N> sizes = tensors[0].sizes;
  for (const Info<N>& tensor : tensors) sizes = broadcast(tensor.sizes, sizes);
  for (const Info<N>& tensor : tensors) views.push_back(expand_info(tensor, sizes.span()));
  return views;
}

template <typename N>
Infos<N> meshgrid_info(std::span<const Info<N>> tensors, std::string_view indexing) {
  if (tensors.empty()) fail_view("meshgrid expects a non-empty TensorList");
  const bool is_xy = indexing == "xy";
  if (!is_xy && indexing != "ij") {
    fail_view(
        fmt::format("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {}", indexing));
  }
  const size_t rank = tensors.size();
  const auto place = [&](size_t i) { return is_xy && rank >= 2 && i < 2 ? 1 - i : i; };
  ShortList<N> sizes(rank, N(1));
  for (size_t i = 0; i < rank; ++i) {
    if (tensors[i].dtype != tensors[0].dtype) {
      fail_view("meshgrid expects all tensors to have the same dtype");
    }
    if (tensors[i].dim() > 1) {
      fail_view(
          fmt::format("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got one of sizes {}",
                      sizes_text(tensors[i].sizes)));
    }
    sizes[place(i)] = tensors[i].element_count();
  }
  Infos<N> views;
  for (size_t i = 0; i < rank; ++i) {
    ShortList<N> shape(rank, N(1));
    shape[place(i)] = tensors[i].element_count();
    views.push_back(expand_info(view_info(tensors[i], shape.span()), sizes.span()));
  }
  return views;
}

template <typename N>
Infos<N> meshgrid_shape(std::span<const Info<N>> tensors) {
  return meshgrid_info(tensors, "ij");
}

template <typename N>
Infos<N> meshgrid_indexing_shape(std::span<const Info<N>> tensors, std::string_view indexing) {
  return meshgrid_info(tensors, indexing);
}

TensorList views_of(std::span<const Tensor> tensors, const Infos<Size>& infos) {
  TensorList views;
  for (size_t i = 0; i < tensors.size(); ++i) views.push_back(viewed(tensors[i], infos[i]));
  return views;
}

Infos<Size> infos_of(std::span<const Tensor> tensors) {
  Infos<Size> infos;
  for (const Tensor& tensor : tensors) infos.push_back(info_of(tensor));
  return infos;
}

TensorList broadcast_tensors(std::span<const Tensor> tensors) {
  return views_of(tensors, broadcast_tensors_shape(std::span<const Info<Size>>(infos_of(tensors))));
}

TensorList meshgrid_indexing(std::span<const Tensor> tensors, std::string_view indexing) {
  return views_of(tensors, meshgrid_info(std::span<const Info<Size>>(infos_of(tensors)), indexing));
}

TensorList meshgrid(std::span<const Tensor> tensors) { return meshgrid_indexing(tensors, "ij"); }

Tensor cartesian_prod(Context& context, std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (rank_of(tensor) != 1) {
      fail_view(fmt::format("Expect a 1D vector, but got shape {}", sizes_text(tensor.sizes())));
    }
  }
  if (tensors.size() == 1) return tensors[0];
  TensorList columns;
  for (const Tensor& grid : call<TensorList>(context, "aten::meshgrid", tensors)) {
    columns.push_back(call(context, "aten::flatten.using_ints", grid));
  }
  return call(context, "aten::stack", columns, int64_t{1});
}

// ---- as other operators

TensorList broadcast_tensors_parts(Context& c, std::span<const Tensor> tensors) {
  SymIntList sizes;
  for (const Tensor& tensor : tensors) {
    const SymIntList own = sizes_of(tensor);
    while (sizes.size() < own.size()) sizes = inserted(sizes, 0, 1);
    for (size_t i = 0; i < own.size(); ++i) {
      SymInt& size = sizes[sizes.size() - own.size() + i];
      if (size == SymInt(1)) size = own[i];
    }
  }
  TensorList results;
  for (const Tensor& tensor : tensors)
    results.push_back(sizes_of(tensor) == sizes ? tensor : call(c, "aten::expand", tensor, sizes));
  return results;
}

TensorList meshgrid_indexing_parts(Context& c, std::span<const Tensor> given, std::string_view indexing) {
  TensorList tensors(given.begin(), given.end());
  const bool is_swapped = indexing == "xy" && tensors.size() > 1;
  if (is_swapped) std::swap(tensors[0], tensors[1]);
  SymIntList shape;
  for (const Tensor& tensor : tensors) shape.push_back(count_of(tensor));
  TensorList grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Dims view(tensors.size(), 1);
    view[i] = -1;
    grids.push_back(call(c, "aten::expand", call(c, "aten::view", tensors[i], view), shape));
  }
  if (!is_swapped) return grids;
  for (Tensor& grid : grids) grid = call(c, "aten::transpose.int", grid, 0, 1);
  std::swap(grids[0], grids[1]);
  return grids;
}
TensorList meshgrid_parts(Context& c, std::span<const Tensor> tensors) {
  return meshgrid_indexing_parts(c, tensors, "ij");
}

}  // namespace

void define_grid(Library& library) {
  library.define("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]")
      .shape<broadcast_tensors_shape<Size>, broadcast_tensors_shape<SymInt>>()
      .function<broadcast_tensors>()
      .composite<broadcast_tensors_parts>();
  library.define("aten::meshgrid(Tensor[] tensors) -> Tensor[]")
      .shape<meshgrid_shape<Size>, meshgrid_shape<SymInt>>()
      .function<meshgrid>()
      .composite<meshgrid_parts>();
  library.define("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")
      .shape<meshgrid_indexing_shape<Size>, meshgrid_indexing_shape<SymInt>>()
      .function<meshgrid_indexing>()
      .composite<meshgrid_indexing_parts>();
  library.define("aten::cartesian_prod(Tensor[] tensors) -> Tensor").composite<cartesian_prod>();
}

}  // namespace flambeau::ops
