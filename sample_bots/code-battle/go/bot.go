// A bot for AI Code Battle that gives random orders: rewrite Choose.
package main

import (
	"math/rand"
	"time"
)

// RandomBot lets one bot in five hold and sends the others anywhere.
type RandomBot struct{ Events }

// Choose gives your orders; bots without one hold.
func (RandomBot) Choose(match *Match, view *View) []Order {
	var orders []Order
	for _, tile := range view.Mine() {
		if rand.Intn(5) > 0 {
			direction := string("NESW"[rand.Intn(4)])
			orders = append(orders, Order{tile[0], tile[1], direction})
		}
	}
	return orders
}

func main() {
	rand.Seed(time.Now().UnixNano())
	Run(RandomBot{})
}
