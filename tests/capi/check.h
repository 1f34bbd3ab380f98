/* What tests of the C API share: checks that are counted, and a drawn seven. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>
#include <weft/weft_c.h>

enum { pixels = 28 * 28, digits = 10 };

extern int failures;
/* What weft compile wrote, for an image and for 8 at once, and the ONNX file that it was made of. */
extern const char *folder, *batch_folder, *model_file;
extern float seven[pixels];

void check(int is_so, const char* what, const char* file, int line);
void check_status(int found, int expected, const char* what, const char* file, int line);

#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define STATUS(expected, call) check_status(call, expected, #call, __FILE__, __LINE__)
#define OK(call) STATUS(WEFT_OK, call)

weft_model* opened(const char* path);
weft_session* session_of(weft_model* model);
int best_of(const float* scores);
/* The scores of a session that has the input. */
void scores_of(weft_session* session, float* scores);

void test_constants(void);
void test_ports(weft_model* model);
void test_open(void);
void test_damaged_files(void);
void test_links(void);
void test_sessions(weft_model* model);
void test_misuse(weft_model* model);
void test_closed_handles(void);
void test_threads(weft_model* model);
void test_pool(void);
void test_entries(const char* sums);
void test_delay(const char* delay);
void test_onnx(int has_compiler);
void test_any_misuse(int has_compiler);

#endif
