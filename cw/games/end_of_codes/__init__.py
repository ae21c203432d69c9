"""End of Codes: hundreds of creatures on one map; the last player alive wins."""
