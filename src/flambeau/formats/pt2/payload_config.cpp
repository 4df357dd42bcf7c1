#include "flambeau/formats/pt2/payload_config.h"

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/json/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/json_fields.h"
#include "flambeau/formats/pt2/meta_json.h"

namespace flambeau::pt2 {

std::vector<Payload> read_payload_config(std::string_view text) {
  return read_payload_config(text, json::Limits::for_text(text.size()));
}

std::vector<Payload> read_payload_config(std::string_view text, const json::Limits& limits) {
  json::Value tree = json::parse(text, limits);
  Fields config(tree, "a table of payloads");
  MetaReader meta;
  std::vector<Payload> payloads;
  for (json::Member& member : config.required("config").as_object()) {
    with_location("entry", printable(member.first), [&] {
      Fields fields(member.second, "an entry");
      Payload payload;
      payload.name = member.first;
      payload.path = std::move(fields.required("path_name").as_string());
      payload.is_parameter = fields.required("is_param").as_bool();
      payload.is_pickled = fields.required("use_pickle").as_bool();
      json::Value* const description = fields.optional("tensor_meta");
      if (description != nullptr && !description->is_null()) payload.meta = meta.tensor(*description);
      payload.extras = fields.rest();
      payloads.push_back(std::move(payload));
    });
  }
  return payloads;
}

std::string write_payload_config(const std::vector<Payload>& payloads) {
  json::Writer out;
  MetaWriter meta(out);
  out.begin_object();
  out.key("config");
  out.begin_object();
  for (const Payload& payload : payloads) {
    out.key(payload.name);
    out.begin_object();
    out.key("path_name");
    out.string(payload.path);
    out.key("is_param");
    out.boolean(payload.is_parameter);
    out.key("use_pickle");
    out.boolean(payload.is_pickled);
    out.key("tensor_meta");
    if (payload.meta) {
      meta.tensor(*payload.meta);
    } else {
      out.null();
    }
    meta.extras(payload.extras);
    out.end_object();
  }
  out.end_object();
  out.end_object();
  return out.take();
}

}  // namespace flambeau::pt2
