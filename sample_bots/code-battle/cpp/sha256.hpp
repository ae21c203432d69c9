// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), written as lower-case hexadecimal digits.

#pragma once

#include <string>

std::string sha256_hex(const std::string& data);
std::string hmac_sha256_hex(const std::string& key, const std::string& text);
