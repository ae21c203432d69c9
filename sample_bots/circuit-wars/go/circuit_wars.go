package main

// Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events.

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Borders are the bits of the sides of a square.
var Borders = map[string]int{"top": 1, "right": 2, "bottom": 4, "left": 8}

// Segment is a side of a square.
type Segment struct {
	X, Y   int
	Border string
}

// Board has in Squares[y][x] a bit for each drawn side, 16 or 32 if player 1 or 2 owns it.
type Board struct {
	Size    int
	Squares [][]int
}

// HasBorder tells whether this side of the square is drawn.
func (board *Board) HasBorder(x, y int, border string) bool {
	return board.Squares[y][x]&Borders[border] != 0
}

// Owner tells who owns the square: 0 nobody, 1 or 2.
func (board *Board) Owner(x, y int) int { return board.Squares[y][x] >> 4 }

// FreeSegments gives every free segment once.
func (board *Board) FreeSegments() []Segment {
	var found []Segment
	for y := 0; y < board.Size; y++ {
		for x := 0; x < board.Size; x++ {
			for _, border := range board.ownSides(x, y) {
				if board.Owner(x, y) == 0 && !board.HasBorder(x, y, border) {
					found = append(found, Segment{x, y, border})
				}
			}
		}
	}
	return found
}

// ownSides names the sides of a square that no square to the right or below names too.
func (board *Board) ownSides(x, y int) []string {
	sides := []string{"top", "left"}
	if x == board.Size-1 {
		sides = append(sides, "right")
	}
	if y == board.Size-1 {
		sides = append(sides, "bottom")
	}
	return sides
}

// Status is what the server says of the game.
type Status struct {
	StatusCode int     `json:"status_code"`
	Status     string  `json:"status"`
	Score1     int     `json:"score_1"`
	Score2     int     `json:"score_2"`
	TimeLeft   int     `json:"time_left"`
	LastMove   string  `json:"last_move"`
	BoardSize  int     `json:"board_size"`
	Board      [][]int `json:"board"`
}

// Bot is what you write: Choose, and whichever of the other events you want to hear of; embed
// Events for those that you do not.
type Bot interface {
	// OnStart hears that you are player 1 or 2.
	OnStart(player int)
	// Choose gives the free segment to draw.
	Choose(board *Board, player int) Segment
	// OnEnd hears how the game ended.
	OnEnd(status *Status)
}

// Events hears of everything and does nothing.
type Events struct{}

// OnStart does nothing.
func (Events) OnStart(int) {}

// OnEnd does nothing.
func (Events) OnEnd(*Status) {}

var (
	server = strings.TrimRight(setting("CW_SERVER", "http://127.0.0.1:5000"), "/")
	client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
)

// Run registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game.
func Run(bot Bot) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		os.Exit(0)
	}()
	team := setting("TEAM_ID", "sample")
	if len(os.Args) > 1 {
		team = os.Args[1]
	}
	player := register(team)
	fmt.Printf("%s is player %d. Watch the game at %s/\n", team, player, server)
	bot.OnStart(player)
	status := play(bot, team, player)
	bot.OnEnd(status)
	fmt.Printf("%s, %d to %d.\n", status.Status, status.Score1, status.Score2)
	if Winner(status.StatusCode) == player {
		fmt.Println("You won.")
	} else {
		fmt.Println("You lost.")
	}
}

// Winner tells who won: 301 is a win of player 1, 401 and 501 are a loss.
func Winner(statusCode int) int {
	if statusCode < 400 {
		return statusCode % 10
	}
	return 3 - statusCode%10
}

func setting(name, otherwise string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return otherwise
}

func register(team string) int {
	var answer struct {
		Response string `json:"response"`
		Player   int    `json:"player"`
		Message  string `json:"message"`
		Error    string `json:"error"`
	}
	ask("reg/"+team, &answer)
	if answer.Response != "OK" {
		leave("not registered as %s: %s%s", team, answer.Message, answer.Error)
	}
	return answer.Player
}

func play(bot Bot, team string, player int) *Status {
	for {
		pause()
		status := &Status{}
		ask("status", status)
		if status.StatusCode == 200+player {
			chosen := bot.Choose(&Board{len(status.Board), status.Board}, player)
			pause()
			ask(fmt.Sprintf("move/%s/%d,%d,%s", team, chosen.X, chosen.Y, chosen.Border), status)
		}
		if status.StatusCode >= 300 {
			return status
		}
	}
}

func pause() {
	seconds, _ := strconv.ParseFloat(setting("CW_PAUSE", "0.2"), 64)
	time.Sleep(time.Duration(seconds * float64(time.Second)))
}

// ask requests a route and reads its JSON; it exits with a message if there is none.
func ask(path string, answer any) {
	started := time.Now()
	reply, err := client.Get(server + "/" + path)
	if err != nil {
		leave("there is no server at %s: %v", server, err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	milliseconds := float64(time.Since(started).Microseconds()) / 1000
	fmt.Fprintf(os.Stderr, "GET /%s %d %.1f ms\n", path, reply.StatusCode, milliseconds)
	if err != nil || json.Unmarshal(body, answer) != nil {
		leave("the server at %s did not answer /%s with JSON", server, path)
	}
}

func leave(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
