#include "sha256.hpp"

#include <array>
#include <cstdint>

namespace {

constexpr std::size_t BLOCK = 64;

constexpr std::array<std::uint32_t, 64> CONSTANTS{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t turn(std::uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

using Words = std::array<std::uint32_t, 8>;

Words start()
{
    return {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
}

void add_block(Words& hash, const std::string& data, std::size_t at)
{
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < BLOCK; ++i)
        w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(data[at + i]);
    for (std::size_t i = 16; i < 64; ++i)
        w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3)
            + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    Words h = hash;
    for (std::size_t i = 0; i < 64; ++i) {
        std::uint32_t one = h[7] + (turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25))
            + ((h[4] & h[5]) ^ (~h[4] & h[6])) + CONSTANTS[i] + w[i];
        std::uint32_t two = (turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22))
            + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        h = {one + two, h[0], h[1], h[2], h[3] + one, h[4], h[5], h[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) hash[i] += h[i];
}

// Gives the 32 bytes of the hash.
std::string digest(std::string data)
{
    const std::uint64_t bits = data.size() * 8;
    data += '\x80';
    data.append((2 * BLOCK - 8 - data.size() % BLOCK) % BLOCK, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) data += char(bits >> shift);
    Words hash = start();
    for (std::size_t at = 0; at < data.size(); at += BLOCK) add_block(hash, data, at);
    std::string bytes;
    for (std::uint32_t word : hash)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += char(word >> shift);
    return bytes;
}

std::string hex(const std::string& bytes)
{
    std::string digits;
    for (unsigned char byte : bytes) {
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}

}  // namespace

std::string sha256_hex(const std::string& data) { return hex(digest(data)); }

std::string hmac_sha256_hex(const std::string& key, const std::string& text)
{
    std::string pad = key.size() > BLOCK ? digest(key) : key, inner, outer;
    pad.resize(BLOCK, '\0');
    for (char each : pad) {
        inner += char(each ^ 0x36);
        outer += char(each ^ 0x5c);
    }
    return hex(digest(outer + digest(inner + text)));
}
