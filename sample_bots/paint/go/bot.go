// A bot for Paint that takes any of the 16 actions: rewrite Choose.
//
// Standard output belongs to the referee: print with fmt.Fprintln(os.Stderr, ...).
package main

import (
	"math/rand"
	"time"
)

// RandomBot takes any of the 16 actions, each equally likely.
type RandomBot struct{ Events }

// Choose gives your action.
func (RandomBot) Choose(state *State) Action {
	return Actions[rand.Intn(len(Actions))]
}

func main() {
	rand.Seed(time.Now().UnixNano())
	Run(RandomBot{})
}
