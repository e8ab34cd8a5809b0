// Files: checkpoints, savers, summaries and event files, records.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "files.h"
#include "weir/checkpoint.h"
#include "weir/graph_html.h"
#include "weir/records.h"
#include "weir/saver.h"
#include "weir/summary.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

std::optional<int64_t> to_step(H step) {
  if (step.is_none()) return std::nullopt;
  nb::object whole = nb::steal(PyNumber_Long(step.ptr()));  // TensorFlow calls int()
  if (!whole.is_valid()) throw nb::python_error();
  return to_int64(whole, "global_step");
}

void bind_checkpoints(nb::module_& m) {
  using train::CheckpointReader;
  nb::class_<CheckpointReader>(m, "CheckpointReader")
      .def("__init__",
           [](CheckpointReader* self, const std::string& path) {
             new (self) CheckpointReader(outside([&] { return CheckpointReader(path); }));
           })
      .def("has_tensor", [](const CheckpointReader& r, std::string_view name) { return r.has_tensor(name); })
      .def("get_tensor", [](const CheckpointReader& r,
                            const std::string& name) { return to_numpy(outside([&] { return r.get_tensor(name); })); })
      .def("tensors",
           [](const CheckpointReader& r) {
             nb::list rows;
             for (const train::CheckpointTensor& t : r.tensors()) {
               rows.append(nb::make_tuple(readable(t.name), from_dtype(t.dtype), from_shape(t.shape)));
             }
             return rows;
           })
      .def("debug_string", [](const CheckpointReader& r) { return to_bytes(r.debug_string()); });

  auto state = [](const train::CheckpointState& s) {
    return nb::make_tuple(s.model_checkpoint_path, s.all_model_checkpoint_paths, s.all_model_checkpoint_timestamps,
                          s.last_preserved_timestamp);
  };
  def(m, "get_checkpoint_state", [state](const std::string& directory, const std::string& file) -> nb::object {
    auto found = outside([&] { return train::get_checkpoint_state(directory, file); });
    return found ? nb::object(state(*found)) : nb::none();
  });
  def(m, "update_checkpoint_state",
      [](const std::string& directory, const std::string& path, H all, H times, H preserved, bool relative,
         const std::string& file) {
        train::CheckpointState s{.model_checkpoint_path = path, .all_model_checkpoint_paths = to_names(all)};
        if (!times.is_none()) {
          for (H time : nb::iter(times)) {
            s.all_model_checkpoint_timestamps.push_back(to_double(time, "all_model_checkpoint_timestamps"));
          }
        }
        if (!preserved.is_none()) s.last_preserved_timestamp = to_double(preserved, "last_preserved_timestamp");
        outside([&] {
          train::update_checkpoint_state(directory, s, {relative, file});
          return 0;
        });
      });
  def(m, "latest_checkpoint", [](const std::string& directory, const std::string& file) {
    return outside([&] { return train::latest_checkpoint(directory, file); });
  });
  def(m, "checkpoint_exists",
      [](const std::string& path) { return outside([&] { return train::checkpoint_exists(path); }); });
  def(m, "checkpoint_mtimes", [](const std::vector<std::string>& paths) {
    return outside([&] { return train::get_checkpoint_mtimes(paths); });
  });
  def(m, "remove_checkpoint", [](const std::string& path, const std::string& suffix) {
    outside([&] {
      train::remove_checkpoint(path, suffix);
      return 0;
    });
  });
}

// What a Saver is made with, by name. Options that the dictionary leaves out are the C++ API's.
train::SaverOptions saver_options(nb::dict given) {
  train::SaverOptions options;
  auto read = [&](const char* name, auto set) {
    if (given.contains(name)) set(nb::object(given[name]));
  };
  read("var_list", [&](H items) {
    if (items.is_none()) return;
    options.var_list.emplace();
    for (H item : nb::iter(items)) {
      const Variable* variable = variable_of(item[1]);
      if (!variable) raise(PyExc_TypeError, "Variable to save is not a Variable: " + text_of(item[1]));
      options.var_list->emplace_back(to_name(item[0]), *variable);
    }
  });
  read("reshape", [&](H value) { options.reshape = to_bool(value); });
  read("sharded", [&](H value) { options.sharded = to_bool(value); });
  read("max_to_keep", [&](H value) { options.max_to_keep = value.is_none() ? 0 : to_int(value, "max_to_keep"); });
  read("keep_checkpoint_every_n_hours",
       [&](H value) { options.keep_checkpoint_every_n_hours = to_double(value, "keep_checkpoint_every_n_hours"); });
  read("name", [&](H value) { options.name = to_name(value); });
  read("allow_empty", [&](H value) { options.allow_empty = to_bool(value); });
  read("write_version",
       [&](H value) { options.write_version = static_cast<train::SaverDef::Version>(to_int(value, "write_version")); });
  read("pad_step_number", [&](H value) { options.pad_step_number = to_bool(value); });
  read("save_relative_paths", [&](H value) { options.save_relative_paths = to_bool(value); });
  read("filename", [&](H value) { options.filename = to_name(value); });
  return options;
}

train::ExportMetaGraphOptions export_options(H saver_def, H collections, H more) {
  train::ExportMetaGraphOptions options;
  if (!saver_def.is_none()) options.saver_def = train::SaverDef::parse(view(nb::cast<nb::bytes>(saver_def)));
  if (!collections.is_none()) options.collection_list = to_names(collections);
  for (H row : nb::iter(more)) options.more_collections.emplace_back(to_name(row[0]), to_name(row[1]));
  return options;
}

void bind_savers(nb::module_& m) {
  using train::Saver;
  nb::class_<Saver>(m, "Saver")
      .def(
          "save",
          [](Saver& s, H session, const std::string& path, H step, const std::string& file, const std::string& suffix,
             bool meta_graph, bool write_state, bool strip_default_attrs) {
            Session& target = session_of(session);
            train::SaveOptions options{.global_step = to_step(step),
                                       .latest_filename = file,
                                       .meta_graph_suffix = suffix,
                                       .write_meta_graph = meta_graph,
                                       .write_state = write_state,
                                       .strip_default_attrs = strip_default_attrs};
            return outside([&] { return s.save(target, path, options); });
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
      .def("restore",
           [](Saver& s, H session, const std::string& path) {
             Session& target = session_of(session);
             outside([&] {
               s.restore(target, path);
               return 0;
             });
           })
      .def("saver_def", [](const Saver& s) { return to_bytes(s.as_saver_def().serialize()); })
      .def_prop_ro("empty", &Saver::empty)
      // These wait for a thread that saves, which may need the interpreter.
      .def_prop_ro("last_checkpoints", &Saver::last_checkpoints, nb::call_guard<nb::gil_scoped_release>())
      .def("set_last_checkpoints", &Saver::set_last_checkpoints, nb::call_guard<nb::gil_scoped_release>())
      .def("set_last_checkpoints_with_time", &Saver::set_last_checkpoints_with_time,
           nb::call_guard<nb::gil_scoped_release>())
      .def("recover_last_checkpoints", &Saver::recover_last_checkpoints, nb::call_guard<nb::gil_scoped_release>());
  const train::SaverOptions saver;
  m.def(
      "make_saver",
      [](G g, nb::kwargs options) {
        return build(g, {}, [&](G graph) { return Saver(graph, saver_options(options)); });
      },
      named("graph"), nb::arg("options"));
  m.attr("saver_defaults") = [&] {
    nb::dict defaults;
    defaults["reshape"] = saver.reshape;
    defaults["sharded"] = saver.sharded;
    defaults["max_to_keep"] = saver.max_to_keep;
    defaults["keep_checkpoint_every_n_hours"] = saver.keep_checkpoint_every_n_hours;
    defaults["allow_empty"] = saver.allow_empty;
    defaults["write_version"] = static_cast<int>(saver.write_version);
    defaults["pad_step_number"] = saver.pad_step_number;
    defaults["save_relative_paths"] = saver.save_relative_paths;
    return defaults;
  }();
  def(m, "saver_from_def", [](G g, nb::bytes saver_def, nb::dict options) {
    return build(g, {}, [&](G graph) {
      return Saver::from_def(graph, train::SaverDef::parse(view(saver_def)), saver_options(options));
    });
  });
  def(m, "export_meta_graph",
      [](G g, H saver_def, H collections, H more, bool clear_devices, bool clear_savers, bool strip_default_attrs) {
        return build(g, {}, [&](G graph) {
          train::ExportMetaGraphOptions options = export_options(saver_def, collections, more);
          options.clear_devices = clear_devices;
          options.clear_extraneous_savers = clear_savers;
          options.strip_default_attrs = strip_default_attrs;
          return to_bytes(train::export_meta_graph(graph, options));
        });
      });
  def(m, "complete_meta_graph", [](nb::bytes meta_graph, bool strip_default_attrs, bool clear_savers) {
    return to_bytes(
        outside([&] { return train::complete_meta_graph(view(meta_graph), strip_default_attrs, clear_savers); }));
  });
  def(m, "write_meta_graph", [](const std::string& path, nb::bytes meta_graph, bool as_text) {
    outside([&] {
      train::write_meta_graph(path, view(meta_graph), as_text);
      return 0;
    });
  });
  def(m, "read_meta_graph",
      [](const std::string& path) { return to_bytes(outside([&] { return train::read_meta_graph(path); })); });
  def(m, "import_meta_graph",
      [](G g, nb::bytes meta_graph, H scope, bool clear_devices, nb::dict input_map) -> nb::object {
        return build(g, {}, [&](G graph) -> nb::object {
          train::ImportMetaGraphOptions options{.import_scope = to_name(scope), .clear_devices = clear_devices};
          for (auto [key, value] : input_map) {
            options.input_map.emplace_back(to_name(key), to_output(graph, value, DType::Invalid, {}));
          }
          std::optional<Saver> found = train::import_meta_graph(graph, view(meta_graph), options);
          return found ? nb::cast(std::move(*found)) : nb::none();
        });
      });
}

summary::Options summary_options(H collections, H family) {
  summary::Options options{.family = to_name(family)};
  if (!collections.is_none()) options.collections = to_names(collections);
  return options;
}

summary::v0::Options old_options(H collections, H name) {
  summary::v0::Options options{.name = to_name(name)};
  if (!collections.is_none()) options.collections = to_names(collections);
  return options;
}

summary::ImageOptions image_options(int64_t max_outputs, H collections, H family) {
  summary::ImageOptions options{.max_outputs = max_outputs, .family = to_name(family)};
  if (!collections.is_none()) options.collections = to_names(collections);
  return options;
}

// Summaries of one value: a name (or, in TensorFlow 0.x, tags as a tensor) and the value.
template <Output (*function)(std::string_view, const In&, const summary::Options&)>
void def_summary(nb::module_& m, const char* name) {
  def(m, name, [](G g, const std::string& tag, H value, H collections, H family) {
    return build(g, {value}, [&](G graph) {
      return wrap(function(tag, first_in(graph, value, "values"), summary_options(collections, family)));
    });
  });
}
template <Output (*function)(const In&, const In&, const summary::v0::Options&)>
void def_old_summary(nb::module_& m, const char* name) {
  def(m, name, [](G g, H tags, H values, H collections, H node) {
    return build(g, {values, tags}, [&](G graph) {
      return wrap(function(to_in(graph, tags), first_in(graph, values, "values"), old_options(collections, node)));
    });
  });
}

void bind_summaries(nb::module_& m) {
  def_summary<&summary::scalar>(m, "scalar_summary");
  def_summary<&summary::histogram>(m, "histogram_summary");
  def_summary<&summary::text>(m, "text_summary");
  def_old_summary<&summary::v0::scalar_summary>(m, "old_scalar_summary");
  def_old_summary<&summary::v0::histogram_summary>(m, "old_histogram_summary");
  def(m, "image_summary", [](G g, const std::string& name, H images, int64_t max_outputs, H collections, H family) {
    return build(g, {images}, [&](G graph) {
      return wrap(
          summary::image(name, first_in(graph, images, "tensor"), image_options(max_outputs, collections, family)));
    });
  });
  def(m, "old_image_summary", [](G g, H tag, H images, int64_t max_images, H collections, H name) {
    return build(g, {images}, [&](G graph) {
      return wrap(summary::v0::image_summary(to_in(graph, tag), first_in(graph, images, "tensor"), max_images,
                                             old_options(collections, name)));
    });
  });
  def(m, "audio_summary",
      [](G g, const std::string& name, H audio, H rate, int64_t max_outputs, H collections, H family) {
        return build(g, {audio}, [&](G graph) {
          return wrap(summary::audio(name, first_in(graph, audio, "tensor"), to_in(graph, rate),
                                     image_options(max_outputs, collections, family)));
        });
      });
  def(m, "tensor_summary", [](G g, const std::string& name, H value, nb::bytes metadata, H collections, H family) {
    return build(g, {value}, [&](G graph) {
      summary::TensorOptions options{.metadata = std::string(view(metadata)), .family = to_name(family)};
      if (!collections.is_none()) options.collections = to_names(collections);
      return wrap(summary::tensor(name, first_in(graph, value, "tensor"), options));
    });
  });
  auto merge_options = [](H collections, H name) {
    return summary::MergeOptions{.name = to_name(name), .collections = to_names(collections)};
  };
  def(m, "merge_summary", [merge_options](G g, H inputs, H collections, H name) {
    return build(g, {inputs}, [&](G graph) {
      return wrap(summary::merge(to_outputs(graph, inputs), merge_options(collections, name)));
    });
  });

  using summary::FileWriter;
  nb::class_<FileWriter>(m, "FileWriter")
      .def(
          "__init__",
          [](FileWriter* self, const std::string& logdir, int max_queue, double flush_secs, const std::string& suffix) {
            summary::FileWriterOptions options{
                .max_queue = max_queue,
                .flush_every = std::chrono::milliseconds(static_cast<int64_t>(flush_secs * 1000)),
                .filename_suffix = suffix};
            outside([&] { return new (self) FileWriter(logdir, options); });
          })
      .def(
          "add_summary",
          [](FileWriter& w, nb::bytes s, H step) {
            outside([&, n = to_step(step)] {
              w.add_summary(view(s), n);
              return 0;
            });
          },
          nb::arg(), nb::arg().none())
      .def(
          "add_graph_def",
          [](FileWriter& w, nb::bytes s, H step) {
            outside([&, n = to_step(step)] {
              w.add_graph_def(view(s), n);
              return 0;
            });
          },
          nb::arg(), nb::arg().none())
      .def(
          "add_meta_graph",
          [](FileWriter& w, nb::bytes s, H step) {
            outside([&, n = to_step(step)] {
              w.add_meta_graph(view(s), n);
              return 0;
            });
          },
          nb::arg(), nb::arg().none())
      .def(
          "add_session_log",
          [](FileWriter& w, int status, H step, const std::string& path) {
            outside([&, n = to_step(step)] {
              w.add_session_log(static_cast<summary::SessionStatus>(status), n, path);
              return 0;
            });
          },
          nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "add_run_metadata",
          [](FileWriter& w, nb::bytes s, const std::string& tag, H step) {
            outside([&, n = to_step(step)] {
              w.add_run_metadata(view(s), tag, n);
              return 0;
            });
          },
          nb::arg(), nb::arg(), nb::arg().none())
      .def("add_event",
           [](FileWriter& w, nb::bytes s) {
             outside([&] {
               w.add_event(view(s));
               return 0;
             });
           })
      .def("flush",
           [](FileWriter& w) {
             outside([&] {
               w.flush();
               return 0;
             });
           })
      .def("close",
           [](FileWriter& w) {
             outside([&] {
               w.close();
               return 0;
             });
           })
      .def("reopen",
           [](FileWriter& w) {
             outside([&] {
               w.reopen();
               return 0;
             });
           })
      .def_prop_ro("closed", &FileWriter::closed)
      .def_prop_ro("logdir", [](const FileWriter& w) { return w.logdir(); })
      .def_prop_ro("path", &FileWriter::path);
}

void bind_records(nb::module_& m) {
  nb::class_<RecordWriter>(m, "RecordWriter")
      .def("__init__",
           [](RecordWriter* self, const std::string& path, int compression, int level, int window_bits,
              int memory_level, int strategy) {
             const RecordWriterOptions options{.compression = static_cast<Compression>(compression),
                                               .compression_level = level,
                                               .window_bits = window_bits,
                                               .memory_level = memory_level,
                                               .compression_strategy = strategy};
             new (self) RecordWriter(outside([&] { return RecordWriter(path, options); }));
           })
      .def("write",
           [](RecordWriter& w, nb::bytes record) {
             outside([&] {
               w.write(view(record));
               return 0;
             });
           })
      .def("flush",
           [](RecordWriter& w) {
             outside([&] {
               w.flush();
               return 0;
             });
           })
      .def("close", [](RecordWriter& w) {
        outside([&] {
          w.close();
          return 0;
        });
      });
  nb::class_<RecordReader>(m, "RecordReader")
      .def("__init__",
           [](RecordReader* self, const std::string& path, int compression) {
             new (self)
                 RecordReader(outside([&] { return RecordReader(path, static_cast<Compression>(compression)); }));
           })
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", [](RecordReader& r) {
        std::string record;
        if (!outside([&] { return r.next(record); })) throw nb::stop_iteration();
        return to_bytes(record);
      });
}

void bind_graph_pages(nb::module_& m) {
  def(m, "graph_html", [](nb::bytes graph_def, const std::string& title) {
    return outside([&] { return graph_html(view(graph_def), {.title = title}); });
  });
  def(m, "read_graph_def",
      [](const std::string& path) { return to_bytes(outside([&] { return read_graph_def(path); })); });
  def(m, "write_graph_html", [](const std::string& path, const std::string& html) {
    outside([&] {
      write_graph_html(path, html);
      return 0;
    });
  });
}

}  // namespace

void bind_io(nb::module_& m) {
  bind_checkpoints(m);
  bind_savers(m);
  bind_summaries(m);
  bind_records(m);
  bind_graph_pages(m);
}

}  // namespace weir::python
