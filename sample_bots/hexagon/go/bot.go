// A bot for Hexagon that makes a random legal move: rewrite Choose.
package main

import (
	"math/rand"
	"time"
)

// RandomBot makes any legal move, each equally likely.
type RandomBot struct{ Events }

// Choose gives your move.
func (RandomBot) Choose(board *Board, color int, jumps int) Move {
	moves := board.LegalMoves(color)
	return moves[rand.Intn(len(moves))]
}

func main() {
	rand.Seed(time.Now().UnixNano())
	Run(RandomBot{})
}
