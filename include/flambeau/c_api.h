/* Flambeau for C and everything that can call C: tensors, programs, TorchScript modules.
 *
 *   flambeau_program* program;
 *   if (flambeau_program_load("model.pt2", NULL, &program) != FLAMBEAU_OK) puts(flambeau_error_message());
 *
 * Functions that can fail give a status; what went wrong is then told by flambeau_error_message() in the same
 * thread. What a function writes through a pointer to a handle is the caller's, to be freed with the function
 * of that name; on failure nothing is written. A program may be run by several threads at once; a tensor may
 * be read by several. NULL may be freed. */
#ifndef FLAMBEAU_C_API_H_
#define FLAMBEAU_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors */
typedef enum flambeau_status {
  FLAMBEAU_OK = 0,
  FLAMBEAU_INVALID_ARGUMENT = 1, /* the caller asked for something that makes no sense */
  FLAMBEAU_CORRUPT = 2,          /* the file contradicts its own format */
  FLAMBEAU_UNSUPPORTED = 3,      /* well-formed, but beyond what Flambeau does */
  FLAMBEAU_UNSAFE = 4,           /* well-formed, but refused for safety */
  FLAMBEAU_NOT_FOUND = 5,        /* no such file, record, tensor */
  FLAMBEAU_IO = 6,               /* the operating system said no */
  FLAMBEAU_LIMIT = 7,            /* a bound of memory, time, steps or depth was reached */
  FLAMBEAU_CANCELLED = 8,        /* the caller asked to stop */
  FLAMBEAU_INTERNAL = 9          /* a bug of Flambeau's */
} flambeau_status;

/* The whole text of this thread's last failure, and what to do about it; "" when there was none. They live
 * until the thread's next failure. */
const char* flambeau_error_message(void);
const char* flambeau_error_remedy(void);

/* ---- tensors */
/* Element types, by PyTorch's own numbers. */
typedef enum flambeau_dtype {
  FLAMBEAU_UINT8 = 0,
  FLAMBEAU_INT8 = 1,
  FLAMBEAU_INT16 = 2,
  FLAMBEAU_INT32 = 3,
  FLAMBEAU_INT64 = 4,
  FLAMBEAU_FLOAT16 = 5,
  FLAMBEAU_FLOAT32 = 6,
  FLAMBEAU_FLOAT64 = 7,
  FLAMBEAU_COMPLEX32 = 8,
  FLAMBEAU_COMPLEX64 = 9,
  FLAMBEAU_COMPLEX128 = 10,
  FLAMBEAU_BOOL = 11,
  FLAMBEAU_BFLOAT16 = 15,
  FLAMBEAU_FLOAT8_E5M2 = 23,
  FLAMBEAU_FLOAT8_E4M3FN = 24,
  FLAMBEAU_FLOAT8_E5M2FNUZ = 25,
  FLAMBEAU_FLOAT8_E4M3FNUZ = 26,
  FLAMBEAU_UINT16 = 27,
  FLAMBEAU_UINT32 = 28,
  FLAMBEAU_UINT64 = 29
} flambeau_dtype;

/* "float32"; NULL for a number that is no type. */
const char* flambeau_dtype_name(int32_t dtype);
/* Bytes of an element; 0 for a number that is no type. */
size_t flambeau_dtype_size(int32_t dtype);

typedef struct flambeau_tensor flambeau_tensor;

/* What a tensor is and where its elements are. */
typedef struct flambeau_tensor_view {
  int32_t dtype;
  int32_t dim;
  const int64_t* sizes;   /* dim of them; may be NULL when dim is 0 */
  const int64_t* strides; /* in elements, none negative; NULL: row-major */
  void* data;             /* the first element, aligned for its type */
} flambeau_tensor_view;

/* A row-major tensor of its own, full of zeros. */
flambeau_status flambeau_tensor_create(int32_t dtype, int32_t dim, const int64_t* sizes,
                                       flambeau_tensor** tensor);
/* A tensor in memory of the caller's, which must stay until `release` is called with `user`; NULL: until
 * whatever uses the tensor is gone. */
flambeau_status flambeau_tensor_borrow(const flambeau_tensor_view* view, void (*release)(void* user),
                                       void* user, flambeau_tensor** tensor);
/* The pointers in `view` are good until the tensor is freed. */
flambeau_status flambeau_tensor_describe(const flambeau_tensor* tensor, flambeau_tensor_view* view);
/* The number of elements; 0 for NULL. */
int64_t flambeau_tensor_element_count(const flambeau_tensor* tensor);
/* Copies the elements in row-major order to memory of the caller's, which must have room for all of them:
 * `size` is in bytes. */
flambeau_status flambeau_tensor_copy_to(const flambeau_tensor* tensor, void* to, size_t size);
void flambeau_tensor_free(flambeau_tensor* tensor);

/* ---- values */
typedef enum flambeau_kind {
  FLAMBEAU_NONE = 0,
  FLAMBEAU_TENSOR_VALUE = 1,
  FLAMBEAU_INT_VALUE = 2,
  FLAMBEAU_FLOAT_VALUE = 3,
  FLAMBEAU_BOOL_VALUE = 4,
  FLAMBEAU_STRING_VALUE = 5,
  /* Of TorchScript alone. */
  FLAMBEAU_LIST_VALUE = 6,
  FLAMBEAU_TUPLE_VALUE = 7,
  FLAMBEAU_DICT_VALUE = 8,   /* its items are key, value, key, value, ... */
  FLAMBEAU_OBJECT_VALUE = 9, /* anything else: it can be given back, and to_text tells what it is */
  FLAMBEAU_COMPLEX_VALUE = 10
} flambeau_kind;

typedef struct flambeau_object flambeau_object;
typedef struct flambeau_items {
  struct flambeau_value* items;
  size_t count;
} flambeau_items;

/* What a program takes or gives. */
typedef struct flambeau_value {
  flambeau_kind kind;
  union {
    flambeau_tensor* tensor;
    int64_t integer;
    double number;
    int32_t flag;
    const char* text;
    const flambeau_items* items; /* of a list, tuple or dict */
    flambeau_object* object;
    const double* parts; /* of a complex number: two */
  } as;
} flambeau_value;

/* Frees what a result holds, and makes it None. Not for values the caller made. */
void flambeau_value_clear(flambeau_value* value);

/* ---- programs */
typedef struct flambeau_program flambeau_program;

/* What is 0 or NULL has its default. */
typedef struct flambeau_load_options {
  const char* model; /* which one of a package with several */
  int32_t threads;   /* 0: as many as the machine has cores */
  int32_t interpret; /* 1: no planning ahead */
  int32_t
      ignore_guards; /* 1: load it although conditions on its inputs cannot be read, and so not be checked */
} flambeau_load_options;

/* A way to end runs that another thread is in: they fail with FLAMBEAU_CANCELLED. It must outlive them. */
typedef struct flambeau_cancel flambeau_cancel;
flambeau_status flambeau_cancel_create(flambeau_cancel** cancel);
/* From any thread, also from a signal handler; 0 takes it back. */
void flambeau_cancel_set(flambeau_cancel* cancel, int32_t is_set);
void flambeau_cancel_free(flambeau_cancel* cancel);

typedef struct flambeau_run_options {
  uint64_t most_steps; /* calls of operators */
  uint64_t most_bytes; /* of memory, held at any moment */
  double most_seconds;
  const flambeau_cancel* cancel; /* how another thread ends the run */
} flambeau_run_options;

/* One input or output. The texts live as long as the program. */
typedef struct flambeau_leaf {
  const char* name; /* what the program calls it: "x" */
  const char* path; /* how the model's author reaches it: "args[0]", "kwargs['mask']" */
  const char* kind; /* "tensor", "int", "float", "bool", "str" or "None" */
  int32_t dtype;    /* of a tensor */
  int32_t dim;
  const char* const* sizes; /* of a tensor: "4", or the text of what is not fixed, "s77" */
  const char* range;        /* of the symbols in sizes: "2 <= s77 <= 9" */
  const char* text;         /* all of it: "x: float32[s77, 4], 2 <= s77 <= 9" */
} flambeau_leaf;

/* Opens a .pt2. `options` may be NULL. */
flambeau_status flambeau_program_load(const char* path, const flambeau_load_options* options,
                                      flambeau_program** program);
/* The same with a file in memory, which is copied. */
flambeau_status flambeau_program_load_bytes(const void* bytes, size_t size,
                                            const flambeau_load_options* options, flambeau_program** program);
void flambeau_program_free(flambeau_program* program);

/* Compiled models: makes the program of a .pt2 one that PyTorch loads, a .pt2 or, where the name ends in
 * ".so", a library. `library_only`: 1 leaves the exported program out of the .pt2. No compiler is needed. */
flambeau_status flambeau_aot_compile(const char* program, const char* path, int32_t library_only);
/* Opens such a model as the program that it is. The device is "cpu". `options` may be NULL. */
flambeau_status flambeau_aot_load(const char* path, const char* device, const flambeau_load_options* options,
                                  flambeau_program** program);

size_t flambeau_program_input_count(const flambeau_program* program);
size_t flambeau_program_output_count(const flambeau_program* program);
flambeau_status flambeau_program_input(const flambeau_program* program, size_t index, flambeau_leaf* leaf);
flambeau_status flambeau_program_output(const flambeau_program* program, size_t index, flambeau_leaf* leaf);

/* Runs it: as many inputs and outputs as the counts say, in that order. Each output is the caller's, to be
 * cleared. `options` may be NULL. */
flambeau_status flambeau_program_run(flambeau_program* program, const flambeau_value* inputs,
                                     size_t input_count, flambeau_value* outputs, size_t output_count,
                                     const flambeau_run_options* options);

/* ---- TorchScript */
/* A module of torch.jit.save, or one inside of it. Several threads may use one at once. */
typedef struct flambeau_script flambeau_script;

typedef struct flambeau_script_options {
  int32_t threads;     /* 0: as many as the machine has cores */
  int32_t is_inert;    /* 1: nothing of the file runs; objects with a __setstate__ cannot be used then */
  uint64_t most_steps; /* of what runs while it is loaded; 0: a hundred million */
} flambeau_script_options;

typedef struct flambeau_method {
  const char* name;
  const char* signature; /* "forward(Tensor x, float scale=1.) -> Tensor" */
} flambeau_method;
typedef struct flambeau_attribute {
  const char* name;
  const char* type;  /* "Optional[Tensor]" */
  int32_t slot_kind; /* 0: attribute, 1: parameter, 2: buffer, 3: module */
} flambeau_attribute;
/* A file beside the model. */
typedef struct flambeau_extra_file {
  const char* name;
  const void* bytes;
  size_t size;
} flambeau_extra_file;

/* `options` may be NULL. */
flambeau_status flambeau_script_load(const char* path, const flambeau_script_options* options,
                                     flambeau_script** script);
/* The same with a file in memory, which is copied. */
flambeau_status flambeau_script_load_bytes(const void* bytes, size_t size,
                                           const flambeau_script_options* options, flambeau_script** script);
void flambeau_script_free(flambeau_script* script);
/* "layer1.0". */
flambeau_status flambeau_script_submodule(const flambeau_script* script, const char* path,
                                          flambeau_script** part);

/* The texts live as long as the handle. */
size_t flambeau_script_method_count(const flambeau_script* script);
flambeau_status flambeau_script_method(const flambeau_script* script, size_t index, flambeau_method* method);
size_t flambeau_script_attribute_count(const flambeau_script* script);
flambeau_status flambeau_script_attribute(const flambeau_script* script, size_t index,
                                          flambeau_attribute* attribute);

/* The value of an attribute, which is the caller's, to be cleared; and a new one. */
flambeau_status flambeau_script_get(const flambeau_script* script, const char* name, flambeau_value* value);
flambeau_status flambeau_script_set(flambeau_script* script, const char* name, const flambeau_value* value);
/* Of the module and all below: 1 for training, 0 for evaluation. */
flambeau_status flambeau_script_train(flambeau_script* script, int32_t is_training);
/* Floating-point parameters and buffers to another element type. */
flambeau_status flambeau_script_to(flambeau_script* script, int32_t dtype);

/* Calls a method. `names` may be NULL; otherwise as many as arguments: the name of each, NULL for those given
 * by position. The result is the caller's, to be cleared. The text of a failure has every call that led to
 * it. */
flambeau_status flambeau_script_run(const flambeau_script* script, const char* method,
                                    const flambeau_value* arguments, const char* const* names,
                                    size_t argument_count, const flambeau_run_options* options,
                                    flambeau_value* result);

/* The code of a method, or of the whole class where it is NULL; to be freed with flambeau_text_free. */
flambeau_status flambeau_script_code(const flambeau_script* script, const char* method, char** text);
/* For people: "[1, 2]", "float32[2, 3]"; to be freed likewise. */
flambeau_status flambeau_value_to_text(const flambeau_value* value, char** text);
void flambeau_text_free(char* text);

/* What a file beside the model holds; its bytes live as long as the handle. */
flambeau_status flambeau_script_extra_file(flambeau_script* script, const char* name,
                                           flambeau_extra_file* file);
/* As torch.jit.save; the file is there whole, or not at all. */
flambeau_status flambeau_script_save(const flambeau_script* script, const char* path,
                                     const flambeau_extra_file* extra_files, size_t extra_file_count);

#ifdef __cplusplus
}
#endif

#endif /* FLAMBEAU_C_API_H_ */
