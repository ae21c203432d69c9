package main

// Paint for bots: the conversation over standard input and output, and its events.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Square is a row and a column.
type Square [2]int

// Action is "walk" or "shoot" with a direction.
type Action struct {
	Type      string `json:"type"`
	Direction Square `json:"direction"`
}

// Directions are the eight directions; row grows downward.
var Directions = []Square{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}

// Actions are the 16 actions.
var Actions = allActions()

func allActions() []Action {
	var actions []Action
	for _, kind := range []string{"walk", "shoot"} {
		for _, direction := range Directions {
			actions = append(actions, Action{kind, direction})
		}
	}
	return actions
}

// State is the board of a turn: Colors[row][col] is a player id or nil, PlayerID is yours.
//
// TurnsLeft counts this turn too; PreviousActions holds one map a turn, the oldest first.
type State struct {
	PlayerID        string              `json:"-"`
	TurnsLeft       int                 `json:"turns_left"`
	Width           int                 `json:"width"`
	Height          int                 `json:"height"`
	PlayerPositions map[string]Square   `json:"player_positions"`
	Colors          [][]*string         `json:"colors"`
	PreviousActions []map[string]Action `json:"previous_actions"`
	Obstacles       []Square            `json:"obstacles"`
}

// Position gives the square of your avatar.
func (state *State) Position() Square { return state.PlayerPositions[state.PlayerID] }

// IsFree tells whether a square is on the board and no obstacle.
func (state *State) IsFree(row, col int) bool {
	for _, square := range state.Obstacles {
		if square == (Square{row, col}) {
			return false
		}
	}
	return row >= 0 && row < state.Height && col >= 0 && col < state.Width
}

// Bot is what you write: Choose, and whichever of the other events you want to hear of; embed
// Events for those that you do not.
type Bot interface {
	// OnStart hears who you are; there are 5 s until you must be ready.
	OnStart(playerID string)
	// Choose gives your action; there is 0.5 s for it.
	Choose(state *State) Action
	// OnEnd hears that the game is over.
	OnEnd()
}

// Events hears of everything and does nothing.
type Events struct{}

// OnStart does nothing.
func (Events) OnStart(string) {}

// OnEnd does nothing.
func (Events) OnEnd() {}

// Run plays until the referee closes our input.
func Run(bot Bot) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		os.Exit(0)
	}()
	playerID := ""
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadString('\n')
		if line != "" {
			playerID = hear(bot, playerID, line)
		}
		if err != nil {
			bot.OnEnd()
			return
		}
	}
}

// hear answers a line; it gives the player id from then on.
func hear(bot Bot, playerID, line string) string {
	started := time.Now()
	var start struct {
		PlayerID string `json:"player_id"`
	}
	state := &State{PlayerID: playerID}
	if json.Unmarshal([]byte(line), &start) == nil && start.PlayerID != "" {
		bot.OnStart(start.PlayerID)
		send(map[string]bool{"ready": true}, "ready as "+start.PlayerID, started)
		return start.PlayerID
	}
	if json.Unmarshal([]byte(line), state) == nil && state.Width > 0 && state.PlayerPositions != nil {
		takeTurn(bot, state, started)
	} else if strings.TrimSpace(line) != "" {
		fmt.Fprintln(os.Stderr, "skipped an unreadable line")
	}
	return playerID
}

func takeTurn(bot Bot, state *State, started time.Time) {
	action := bot.Choose(state)
	answer := struct {
		TurnsLeft int `json:"turns_left"`
		Action
	}{state.TurnsLeft, action}
	send(answer, fmt.Sprintf("turns_left %d: %s [%d,%d]", state.TurnsLeft, action.Type,
		action.Direction[0], action.Direction[1]), started)
}

// send logs to standard error: standard output belongs to the referee.
func send(message any, text string, started time.Time) {
	line, _ := json.Marshal(message)
	fmt.Fprintf(os.Stderr, "%s %.1f ms\n", text, float64(time.Since(started).Microseconds())/1000)
	os.Stdout.Write(append(line, '\n'))
}
