/*
 * The time of one signature through a module of PKCS #11, as a program has it that calls the C interface.
 *
 * Usage: pkcs11-sign MODULE TOKEN PIN COUNT. Signs a digest with the first private key for ECDSA that the token has, and prints
 * the milliseconds of one C_SignInit and C_Sign. An empty PIN means no login.
 */
#include <dlfcn.h>
#include <p11-kit/pkcs11.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(CK_RV value, const char *what) {
  if (value == CKR_OK) return;
  fprintf(stderr, "%s: 0x%lx\n", what, value);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* Labels are filled up with spaces. */
static CK_SLOT_ID slot_of(CK_FUNCTION_LIST *module, const char *token) {
  CK_SLOT_ID slots[64];
  CK_ULONG count = 64;
  check(module->C_GetSlotList(CK_TRUE, slots, &count), "C_GetSlotList");
  for (CK_ULONG i = 0; i < count; i++) {
    CK_TOKEN_INFO info;
    check(module->C_GetTokenInfo(slots[i], &info), "C_GetTokenInfo");
    if (strncmp((const char *)info.label, token, strlen(token)) == 0) return slots[i];
  }
  fprintf(stderr, "there is no token %s\n", token);
  exit(1);
}

static CK_OBJECT_HANDLE key_in(CK_FUNCTION_LIST *module, CK_SESSION_HANDLE session) {
  CK_OBJECT_CLASS class = CKO_PRIVATE_KEY;
  CK_KEY_TYPE type = CKK_EC;
  CK_ATTRIBUTE wanted[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type}};
  CK_OBJECT_HANDLE key = 0;
  CK_ULONG count = 0;
  check(module->C_FindObjectsInit(session, wanted, 2), "C_FindObjectsInit");
  check(module->C_FindObjects(session, &key, 1, &count), "C_FindObjects");
  check(module->C_FindObjectsFinal(session), "C_FindObjectsFinal");
  if (count == 1) return key;
  fprintf(stderr, "there is no key\n");
  exit(1);
}

static void sign(CK_FUNCTION_LIST *module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, long count) {
  CK_MECHANISM ecdsa = {CKM_ECDSA, NULL, 0};
  unsigned char digest[32] = {7};
  for (long i = 0; i < count; i++) {
    unsigned char signature[128];
    CK_ULONG length = sizeof signature;
    check(module->C_SignInit(session, &ecdsa, key), "C_SignInit");
    check(module->C_Sign(session, digest, sizeof digest, signature, &length), "C_Sign");
    digest[i % 32] ^= signature[0];
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  CK_C_GetFunctionList list = (CK_C_GetFunctionList)dlsym(library, "C_GetFunctionList");
  CK_FUNCTION_LIST *module;
  check(list(&module), "C_GetFunctionList");
  check(module->C_Initialize(NULL), "C_Initialize");
  CK_SESSION_HANDLE session;
  CK_SLOT_ID slot = slot_of(module, argv[2]);
  check(module->C_OpenSession(slot, CKF_SERIAL_SESSION, NULL, NULL, &session), "C_OpenSession");
  if (argv[3][0] != 0) {
    check(module->C_Login(session, CKU_USER, (unsigned char *)argv[3], strlen(argv[3])), "C_Login");
  }
  CK_OBJECT_HANDLE key = key_in(module, session);
  long count = atol(argv[4]);
  sign(module, session, key, count / 4);
  double started = now();
  sign(module, session, key, count);
  printf("%f\n", (now() - started) / count);
  module->C_Finalize(NULL);
  return 0;
}
