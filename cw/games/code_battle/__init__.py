"""Code Battle: bots of two to six slots gather energy on a torus and raze each other's cores."""
