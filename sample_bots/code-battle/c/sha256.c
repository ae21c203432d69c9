#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64

struct sha256 {
    uint32_t hash[8];
    uint8_t block[BLOCK];
    uint64_t length;
};

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void add_block(struct sha256 *sha, const uint8_t *block)
{
    uint32_t w[64], h[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16
             | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7]
             + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3)
             + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(h, sha->hash, sizeof h);
    for (int i = 0; i < 64; i++) {
        uint32_t one = h[7] + (turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25))
                     + ((h[4] & h[5]) ^ (~h[4] & h[6])) + constants[i] + w[i];
        uint32_t two = (turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22))
                     + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        memmove(h + 1, h, 7 * sizeof *h);
        h[4] += one;
        h[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        sha->hash[i] += h[i];
}

static void begin(struct sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->hash, start, sizeof start);
    sha->length = 0;
}

static void add(struct sha256 *sha, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    for (size_t place = 0; place < length; place++) {
        sha->block[sha->length++ % BLOCK] = bytes[place];
        if (sha->length % BLOCK == 0)
            add_block(sha, sha->block);
    }
}

static void end(struct sha256 *sha, uint8_t digest[32])
{
    uint64_t bits = sha->length * 8;
    uint8_t length[8];
    for (int place = 0; place < 8; place++)
        length[place] = (uint8_t)(bits >> (56 - 8 * place));
    add(sha, "\x80", 1);
    while (sha->length % BLOCK != BLOCK - 8)
        add(sha, "", 1);
    add(sha, length, 8);
    for (int place = 0; place < 32; place++)
        digest[place] = (uint8_t)(sha->hash[place / 4] >> (24 - 8 * (place % 4)));
}

static void print_hex(const uint8_t digest[32], char hex[65])
{
    for (int place = 0; place < 32; place++)
        snprintf(hex + 2 * place, 3, "%02x", digest[place]);
}

void sha256_hex(const void *data, size_t length, char hex[65])
{
    struct sha256 sha;
    uint8_t digest[32];
    begin(&sha);
    add(&sha, data, length);
    end(&sha, digest);
    print_hex(digest, hex);
}

/* Hashes a padded key and what follows it. */
static void hash_keyed(const uint8_t pad[BLOCK], uint8_t with, const void *data, size_t length,
                       uint8_t digest[32])
{
    struct sha256 sha;
    uint8_t key[BLOCK];
    for (int place = 0; place < BLOCK; place++)
        key[place] = pad[place] ^ with;
    begin(&sha);
    add(&sha, key, BLOCK);
    add(&sha, data, length);
    end(&sha, digest);
}

void hmac_sha256_hex(const char *key, const char *text, char hex[65])
{
    uint8_t pad[BLOCK] = {0}, inner[32], outer[32];
    if (strlen(key) > BLOCK) {
        struct sha256 sha;
        begin(&sha);
        add(&sha, key, strlen(key));
        end(&sha, pad);
    } else {
        memcpy(pad, key, strlen(key));
    }
    hash_keyed(pad, 0x36, text, strlen(text), inner);
    hash_keyed(pad, 0x5c, inner, sizeof inner, outer);
    print_hex(outer, hex);
}
