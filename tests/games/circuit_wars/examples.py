"""Positions and move lists that several tests use."""

SEED_MOVES = """
    1,0,top 3,0,top 2,0,top 3,2,left 5,1,left 2,2,top 2,0,left 4,3,left 3,1,left
    3,1,top 5,2,left 2,2,left 3,3,top 4,3,top 1,3,top 2,1,left 4,0,left 4,0,bottom
""".split()
"""The drawn segments of the seed's example, in an order that gives its scores."""

SEED_STATUS = {
    "status_code": 201,
    "status": "It's Player 1's turn",
    "score_1": 3,
    "score_2": 4,
    "time_left": 3000,
    "last_move": "4,0,bottom",
    "board_size": 7,
    "board": [
        [0, 3, 25, 23, 12, 0, 0],
        [0, 2, 30, 41, 35, 8, 0],
        [0, 6, 11, 44, 38, 8, 0],
        [0, 1, 0, 3, 9, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ],
}
"""The status document of the seed."""

BOUNDARY = [
    *(f"{x},0,top" for x in range(7)),
    *(f"6,{y},right" for y in range(7)),
    *(f"{x},6,bottom" for x in range(7)),
    *(f"0,{y},left" for y in range(7)),
]
"""The 28 boundary segments of a 7x7 board."""
