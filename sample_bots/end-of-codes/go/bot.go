// A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite Choose.
package main

import (
	"math/rand"
	"time"
)

// SampleBot attacks a random opponent next to it, else is idle or makes a random valid move.
type SampleBot struct{ Events }

// Name gives botname and version.
func (SampleBot) Name() (string, string) { return "sample", "1.0" }

// Choose gives your intents, at most one for each of your living creatures.
func (SampleBot) Choose(game *Game) []Intent {
	var intents []Intent
	for _, creature := range game.Mine() {
		intents = append(intents, act(game, creature)...)
	}
	return intents
}

// act chooses for one creature; nothing is idle.
func act(game *Game, creature *Creature) []Intent {
	var targets, ways []Direction
	for _, direction := range Directions {
		x, y := creature.X+direction.DX, creature.Y+direction.DY
		other := game.At(x, y)
		if other == nil && game.IsOnMap(x, y) {
			ways = append(ways, direction)
		} else if other != nil && other.Userid != game.Myid {
			targets = append(targets, direction)
		}
	}
	if len(targets) > 0 {
		return []Intent{creature.Attack(targets[rand.Intn(len(targets))])}
	}
	if len(ways) > 0 && rand.Intn(2) == 0 {
		return []Intent{creature.Move(ways[rand.Intn(len(ways))])}
	}
	return nil
}

func main() {
	rand.Seed(time.Now().UnixNano())
	Run(SampleBot{})
}
