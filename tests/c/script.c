/* A TorchScript module used from C: loaded, listed, run, changed, saved, and every kind of failure. */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flambeau/c_api.h"

static int failures = 0;

static void expect(int condition, const char* what, int line) {
  if (condition) return;
  printf("line %d: %s (%s)\n", line, what, flambeau_error_message());
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define EXPECT_OK(call) expect((call) == FLAMBEAU_OK, #call, __LINE__)
#define EXPECT_FAILS(call, status, text) \
  expect((call) == (status) && strstr(flambeau_error_message(), (text)) != NULL, #call, __LINE__)

static flambeau_value of_int(int64_t number) {
  flambeau_value value;
  memset(&value, 0, sizeof value);
  value.kind = FLAMBEAU_INT_VALUE;
  value.as.integer = number;
  return value;
}

static flambeau_value of_text(const char* text) {
  flambeau_value value;
  memset(&value, 0, sizeof value);
  value.kind = FLAMBEAU_STRING_VALUE;
  value.as.text = text;
  return value;
}

static flambeau_value of_items(flambeau_kind kind, const flambeau_items* items) {
  flambeau_value value;
  memset(&value, 0, sizeof value);
  value.kind = kind;
  value.as.items = items;
  return value;
}

static void look(const flambeau_script* script) {
  flambeau_method method;
  flambeau_attribute attribute;
  flambeau_script* part = NULL;
  char* text = NULL;
  size_t i;
  int found = 0;
  EXPECT_OK(flambeau_script_method(script, 0, &method));
  EXPECT(strcmp(method.name, "forward") == 0);
  EXPECT(strcmp(method.signature, "forward(Tensor x, float? scale=None) -> (Tensor, int)") == 0);
  EXPECT_FAILS(flambeau_script_method(script, 99, &method), FLAMBEAU_INVALID_ARGUMENT,
               "there is no method 99");
  for (i = 0; i < flambeau_script_attribute_count(script); ++i) {
    EXPECT_OK(flambeau_script_attribute(script, i, &attribute));
    if (strcmp(attribute.name, "names") == 0) found = strcmp(attribute.type, "List[str]") == 0;
  }
  EXPECT(found);
  EXPECT_OK(flambeau_script_submodule(script, "norm", &part));
  EXPECT(flambeau_script_method_count(part) == 2);
  flambeau_script_free(part);
  EXPECT_OK(flambeau_script_code(script, "forward", &text));
  EXPECT(strstr(text, "def forward(self,") != NULL);
  flambeau_text_free(text);
}

static void run(flambeau_script* script) {
  const int64_t sizes[] = {1, 2};
  const char* names[] = {NULL, "scale"};
  flambeau_value arguments[2];
  flambeau_value result;
  flambeau_run_options options;
  flambeau_cancel* cancel = NULL;
  memset(&result, 0, sizeof result);
  memset(&options, 0, sizeof options);
  memset(arguments, 0, sizeof arguments);
  arguments[0].kind = FLAMBEAU_TENSOR_VALUE;
  EXPECT_OK(flambeau_tensor_create(FLAMBEAU_FLOAT32, 2, sizes, &arguments[0].as.tensor));
  arguments[1].kind = FLAMBEAU_FLOAT_VALUE;
  arguments[1].as.number = 2;
  EXPECT_OK(flambeau_script_train(script, 0));
  EXPECT_OK(flambeau_script_run(script, "forward", arguments, names, 2, NULL, &result));
  EXPECT(result.kind == FLAMBEAU_TUPLE_VALUE && result.as.items->count == 2);
  EXPECT(result.as.items->items[0].kind == FLAMBEAU_TENSOR_VALUE);
  EXPECT(flambeau_tensor_element_count(result.as.items->items[0].as.tensor) == 3);
  EXPECT(result.as.items->items[1].as.integer == 10);
  flambeau_value_clear(&result);
  EXPECT(result.kind == FLAMBEAU_NONE);

  EXPECT_FAILS(flambeau_script_run(script, "forward", NULL, NULL, 0, NULL, &result),
               FLAMBEAU_INVALID_ARGUMENT, "missing value for argument 'x'");
  EXPECT_FAILS(flambeau_script_run(script, "forwrd", NULL, NULL, 0, NULL, &result), FLAMBEAU_NOT_FOUND,
               "did you mean 'forward'");
  options.most_steps = 1;
  EXPECT_FAILS(flambeau_script_run(script, "forward", arguments, NULL, 1, &options, &result), FLAMBEAU_LIMIT,
               "more than 1 steps");
  EXPECT_OK(flambeau_cancel_create(&cancel));
  flambeau_cancel_set(cancel, 1);
  options.most_steps = 0;
  options.cancel = cancel;
  EXPECT(flambeau_script_run(script, "forward", arguments, NULL, 1, &options, &result) != FLAMBEAU_INTERNAL);
  flambeau_value_clear(&result);
  flambeau_cancel_free(cancel);
  arguments[1].kind = (flambeau_kind)77;
  EXPECT_FAILS(flambeau_script_run(script, "forward", arguments, NULL, 2, NULL, &result),
               FLAMBEAU_INVALID_ARGUMENT, "argument 1 is of the unknown kind 77");
  flambeau_tensor_free(arguments[0].as.tensor);
}

static void change(flambeau_script* script, const char* folder) {
  flambeau_value names[2];
  flambeau_items items;
  flambeau_value value;
  flambeau_extra_file file;
  flambeau_script* again = NULL;
  char path[4096];
  char* text = NULL;
  items.items = names;
  items.count = 2;
  names[0] = of_text("x");
  names[1] = of_text("y");
  value = of_items(FLAMBEAU_LIST_VALUE, &items);
  EXPECT_OK(flambeau_script_set(script, "names", &value));
  names[1] = of_int(1);
  EXPECT_FAILS(flambeau_script_set(script, "names", &value), FLAMBEAU_INVALID_ARGUMENT,
               "is of type List[str]");
  file.name = "notes.txt";
  file.bytes = "hello";
  file.size = 5;
  snprintf(path, sizeof path, "%s/saved_by_c.pt", folder);
  EXPECT_OK(flambeau_script_save(script, path, &file, 1));
  EXPECT_OK(flambeau_script_load(path, NULL, &again));
  EXPECT_OK(flambeau_script_get(again, "names", &value));
  EXPECT(value.kind == FLAMBEAU_LIST_VALUE && value.as.items->count == 2);
  EXPECT_OK(flambeau_value_to_text(&value, &text));
  EXPECT(strcmp(text, "[\"x\", \"y\"]") == 0);
  flambeau_text_free(text);
  flambeau_value_clear(&value);
  EXPECT_OK(flambeau_script_extra_file(again, "notes.txt", &file));
  EXPECT(file.size == 5 && memcmp(file.bytes, "hello", 5) == 0);
  EXPECT_OK(flambeau_script_to(again, FLAMBEAU_FLOAT64));
  EXPECT_FAILS(flambeau_script_to(again, FLAMBEAU_INT8), FLAMBEAU_INVALID_ARGUMENT, "floating-point");
  flambeau_script_free(again);
  remove(path);
}

static void dicts_and_numbers(void) {
  flambeau_value pairs[4];
  flambeau_items items;
  flambeau_value value;
  const double parts[] = {1, -2};
  char* text = NULL;
  items.items = pairs;
  items.count = 4;
  pairs[0] = of_text("a");
  pairs[1] = of_int(1);
  pairs[2] = of_text("b");
  pairs[3] = of_int(2);
  value = of_items(FLAMBEAU_DICT_VALUE, &items);
  EXPECT_OK(flambeau_value_to_text(&value, &text));
  EXPECT(strcmp(text, "{\"a\": 1, \"b\": 2}") == 0);
  flambeau_text_free(text);
  items.count = 3;
  EXPECT_FAILS(flambeau_value_to_text(&value, &text), FLAMBEAU_INVALID_ARGUMENT, "a key that has no value");
  memset(&value, 0, sizeof value);
  value.kind = FLAMBEAU_COMPLEX_VALUE;
  value.as.parts = parts;
  EXPECT_OK(flambeau_value_to_text(&value, &text));
  flambeau_text_free(text);
}

int main(int count, char** arguments) {
  flambeau_script* script = NULL;
  char path[4096];
  if (count != 3) return 2;
  snprintf(path, sizeof path, "%s/counter.pt", arguments[1]);
  EXPECT_OK(flambeau_script_load(path, NULL, &script));
  if (script == NULL) return 1;
  look(script);
  run(script);
  change(script, arguments[2]);
  dicts_and_numbers();
  flambeau_script_free(script);
  flambeau_script_free(NULL);
  EXPECT_FAILS(flambeau_script_load("/nosuch.pt", NULL, &script), FLAMBEAU_NOT_FOUND, "/nosuch.pt");
  EXPECT(flambeau_script_load_bytes("junk", 4, NULL, &script) != FLAMBEAU_OK);
  EXPECT(flambeau_script_method_count(NULL) == 0);
  if (failures == 0) puts("all is well");
  return failures == 0 ? 0 : 1;
}
