// If __init__ was never called or raised, pybind11 hands a method raw memory; this raises TypeError instead.
#pragma once

#include <pybind11/pybind11.h>

namespace pits::python {

template <class T>
struct ConstructedCaster : pybind11::detail::type_caster_base<T> {
  bool load(pybind11::handle source, bool convert) {
    namespace detail = pybind11::detail;
    if (source && this->typeinfo != nullptr && PyType_IsSubtype(Py_TYPE(source.ptr()), this->typeinfo->type) != 0) {
      auto* instance = reinterpret_cast<detail::instance*>(source.ptr());
      if (!instance->get_value_and_holder().holder_constructed()) {
        throw pybind11::type_error("this object was never made: its __init__ was not called, or raised");
      }
    }
    return detail::type_caster_base<T>::load(source, convert);
  }
};

}  // namespace pits::python

// Outside of all namespaces, after the class and before its first use.
#define PITS_ONLY_CONSTRUCTED(T) \
  template <>                    \
  struct pybind11::detail::type_caster<T> : pits::python::ConstructedCaster<T> {}
