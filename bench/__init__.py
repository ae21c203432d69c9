"""How fast the arena is: ratios against yardsticks that are measured in the same run."""
