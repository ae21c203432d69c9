"""End of Codes: hundreds of creatures on one map; the last player alive wins.

"Rule book" and "rule N" in this package refer to docs/games/end_of_codes.md.
"""
