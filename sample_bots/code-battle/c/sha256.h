/* SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), written as lower-case hexadecimal digits. */

#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

void sha256_hex(const void *data, size_t length, char hex[65]);

/* The key has at most 64 bytes; a longer one is hashed first, as the RFC says. */
void hmac_sha256_hex(const char *key, const char *text, char hex[65]);

#endif
