// Models to give to others.
#include "weir/saved_model.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "files.h"

namespace weir::python {
namespace {

using H = nb::handle;
using train::SavedModelBuilder;

// A dict of what add_meta_graph* takes: tags, signatures (serialised, by name), main_op, assets, clear_devices,
// strip_default_attrs, collections ((name, serialised CollectionDef)), saver.
train::MetaGraphOptions graph_options(GraphObject& graph, const nb::dict& given) {
  train::MetaGraphOptions options;
  options.tags = to_names(given["tags"]);
  for (auto [name, signature] : nb::cast<nb::dict>(given["signatures"])) {
    options.signatures[to_name(name)] = train::Signature::parse(view(nb::cast<nb::bytes>(signature)));
  }
  if (H main_op = given["main_op"]; !main_op.is_none()) options.main_op = graph.operation(to_name(main_op));
  for (H asset : nb::iter(given["assets"])) options.assets.push_back(to_output(graph, asset, DType::Invalid, {}));
  options.clear_devices = nb::cast<bool>(given["clear_devices"]);
  options.strip_default_attrs = nb::cast<bool>(given["strip_default_attrs"]);
  for (H row : nb::iter(given["collections"])) options.more_collections.emplace_back(to_name(row[0]), to_name(row[1]));
  if (H saver = given["saver"]; !saver.is_none()) options.saver = nb::cast<const train::Saver*>(saver);
  return options;
}

}  // namespace

void bind_saved_models(nb::module_& m) {
  nb::class_<SavedModelBuilder>(m, "SavedModelBuilder")
      .def("__init__", [](SavedModelBuilder* self,
                          const std::string& path) { outside([&] { return new (self) SavedModelBuilder(path); }); })
      .def("add_meta_graph_and_variables",
           [](SavedModelBuilder& self, H session, GraphObject& g, const nb::dict& options) {
             Session& target = session_of(session);
             build(g, {}, [&](GraphObject& graph) {
               const train::MetaGraphOptions given = graph_options(graph, options);
               outside([&] {
                 self.add_meta_graph_and_variables(target, given);
                 return 0;
               });
               return 0;
             });
           })
      .def("add_meta_graph",
           [](SavedModelBuilder& self, GraphObject& g, const nb::dict& options) {
             build(g, {}, [&](GraphObject& graph) {
               const train::MetaGraphOptions given = graph_options(graph, options);
               outside([&] {
                 self.add_meta_graph(graph, given);
                 return 0;
               });
               return 0;
             });
           })
      .def("save", [](SavedModelBuilder& self, bool as_text) { return outside([&] { return self.save(as_text); }); });
  def(m, "is_saved_model", [](const std::string& path) { return train::is_saved_model(path); });
  def(m, "read_saved_model",
      [](const std::string& path) { return to_bytes(outside([&] { return train::read_saved_model(path); })); });
  // The serialised MetaGraphDef of what was loaded into the session's graph.
  def(m, "load_saved_model", [](H session, GraphObject& g, H tags, const std::string& path, H scope) {
    Session& target = session_of(session);
    const train::LoadOptions options{.import_scope = to_name(scope)};
    const std::vector<std::string> wanted = to_names(tags);
    return build(g, {}, [&](GraphObject&) {
      return to_bytes(outside([&] { return train::load_saved_model(target, wanted, path, options).meta_graph; }));
    });
  });
}

}  // namespace weir::python
