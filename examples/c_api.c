/* Runs an exported model from C on inputs full of zeros: c_api MODEL.pt2 [SIZE]
 * SIZE is what dimensions that are not fixed get; 2 when left out. */
#include <stdio.h>
#include <stdlib.h>

#include "flambeau/c_api.h"

#define MOST_DIMS 16

static int fail(void) {
  fprintf(stderr, "c_api: %s\n", flambeau_error_message());
  return 1;
}

/* A value for an input: a tensor of zeros, or the number zero. */
static int make_input(const flambeau_leaf* leaf, int64_t size, flambeau_value* value) {
  int64_t sizes[MOST_DIMS];
  int32_t d;
  value->kind = FLAMBEAU_INT_VALUE;
  value->as.integer = 0;
  if (leaf->kind[0] != 't') return 0;
  if (leaf->dim > MOST_DIMS) return 1;
  for (d = 0; d < leaf->dim; ++d) {
    char* end;
    sizes[d] = strtoll(leaf->sizes[d], &end, 10);
    if (*end != '\0') sizes[d] = size;
  }
  value->kind = FLAMBEAU_TENSOR_VALUE;
  return flambeau_tensor_create(leaf->dtype, leaf->dim, sizes, &value->as.tensor) != FLAMBEAU_OK;
}

static int print_output(const flambeau_leaf* leaf, const flambeau_value* value) {
  flambeau_tensor_view view;
  int32_t d;
  if (value->kind != FLAMBEAU_TENSOR_VALUE) {
    printf("%s: a %s\n", leaf->name, leaf->kind);
    return 0;
  }
  if (flambeau_tensor_describe(value->as.tensor, &view) != FLAMBEAU_OK) return 1;
  printf("%s: %s[", leaf->name, flambeau_dtype_name(view.dtype));
  for (d = 0; d < view.dim; ++d) printf("%s%lld", d == 0 ? "" : ", ", (long long)view.sizes[d]);
  printf("]");
  if (view.dtype == FLAMBEAU_FLOAT32 && flambeau_tensor_element_count(value->as.tensor) > 0) {
    printf(", the first element is %g", (double)*(const float*)view.data);
  }
  printf("\n");
  return 0;
}

static int run(flambeau_program* program, int64_t size) {
  const size_t input_count = flambeau_program_input_count(program);
  const size_t output_count = flambeau_program_output_count(program);
  flambeau_value* inputs = calloc(input_count + 1, sizeof *inputs);
  flambeau_value* outputs = calloc(output_count + 1, sizeof *outputs);
  int failed = inputs == NULL || outputs == NULL;
  flambeau_leaf leaf;
  size_t i;
  for (i = 0; i < input_count && !failed; ++i) {
    failed = flambeau_program_input(program, i, &leaf) != FLAMBEAU_OK || make_input(&leaf, size, &inputs[i]);
    if (!failed) printf("takes %s\n", leaf.text);
  }
  failed = failed ||
           flambeau_program_run(program, inputs, input_count, outputs, output_count, NULL) != FLAMBEAU_OK;
  for (i = 0; i < output_count && !failed; ++i) {
    failed = flambeau_program_output(program, i, &leaf) != FLAMBEAU_OK || print_output(&leaf, &outputs[i]);
  }
  for (i = 0; i < input_count && inputs != NULL; ++i) {
    if (inputs[i].kind == FLAMBEAU_TENSOR_VALUE) flambeau_tensor_free(inputs[i].as.tensor);
  }
  for (i = 0; i < output_count && outputs != NULL; ++i) flambeau_value_clear(&outputs[i]);
  free(inputs);
  free(outputs);
  return failed ? fail() : 0;
}

int main(int argc, char** argv) {
  flambeau_program* program;
  int result;
  if (argc < 2) {
    fputs("usage: c_api MODEL.pt2 [SIZE]\n", stderr);
    return 2;
  }
  if (flambeau_program_load(argv[1], NULL, &program) != FLAMBEAU_OK) return fail();
  result = run(program, argc > 2 ? strtoll(argv[2], NULL, 10) : 2);
  flambeau_program_free(program);
  return result;
}
