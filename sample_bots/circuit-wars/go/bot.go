// A bot for Circuit Wars that draws a random free segment: rewrite Choose.
package main

import (
	"math/rand"
	"time"
)

// RandomBot draws any free segment, each equally likely.
type RandomBot struct{ Events }

// Choose gives the free segment to draw.
func (RandomBot) Choose(board *Board, player int) Segment {
	free := board.FreeSegments()
	return free[rand.Intn(len(free))]
}

func main() {
	rand.Seed(time.Now().UnixNano())
	Run(RandomBot{})
}
