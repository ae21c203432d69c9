package main

// AI Code Battle for bots: the signed web service, and the events that a bot answers.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Tile is a row and a col.
type Tile [2]int

// Directions are the steps by their names; row grows to the south.
var Directions = map[string]Tile{"N": {-1, 0}, "E": {0, 1}, "S": {1, 0}, "W": {0, -1}}

// MaxMatches are remembered; when one more comes, the oldest is forgotten.
const MaxMatches = 64

// Config is what holds for a whole match.
type Config struct {
	Rows           int `json:"rows"`
	Cols           int `json:"cols"`
	MaxTurns       int `json:"max_turns"`
	VisionRadius2  int `json:"vision_radius2"`
	AttackRadius2  int `json:"attack_radius2"`
	SpawnCost      int `json:"spawn_cost"`
	EnergyInterval int `json:"energy_interval"`
}

// Match is a match; Memory is yours and lives as long as the match.
type Match struct {
	MatchID string
	Config  Config
	Memory  any
}

// Step gives the tile one step away; the grid has no edges.
func (match *Match) Step(tile Tile, direction string) Tile {
	rows, cols, step := match.Config.Rows, match.Config.Cols, Directions[direction]
	return Tile{(tile[0] + step[0] + rows) % rows, (tile[1] + step[1] + cols) % cols}
}

// Distance2 gives the squared distance of two tiles.
func (match *Match) Distance2(a, b Tile) int {
	down, right := around(a[0]-b[0], match.Config.Rows), around(a[1]-b[1], match.Config.Cols)
	return down*down + right*right
}

func around(difference, length int) int {
	if difference < 0 {
		difference = -difference
	}
	if length-difference < difference {
		return length - difference
	}
	return difference
}

// Thing is what stands on a tile; Owner 0 is you, where there is an owner; Active is told of cores.
type Thing struct {
	Row    int  `json:"row"`
	Col    int  `json:"col"`
	Owner  int  `json:"owner"`
	Active bool `json:"active"`
}

// View is what you see in a turn; Energy are the nodes that hold some.
type View struct {
	Turn int `json:"turn"`
	You  struct {
		ID     int `json:"id"`
		Energy int `json:"energy"`
		Score  int `json:"score"`
	} `json:"you"`
	Bots   []Thing `json:"bots"`
	Energy []Thing `json:"energy"`
	Cores  []Thing `json:"cores"`
	Walls  []Thing `json:"walls"`
	Dead   []Thing `json:"dead"`
}

// Mine gives the tiles of your bots.
func (view *View) Mine() []Tile {
	var mine []Tile
	for _, bot := range view.Bots {
		if bot.Owner == 0 {
			mine = append(mine, Tile{bot.Row, bot.Col})
		}
	}
	return mine
}

// Order sends the bot on a tile into a direction.
type Order struct {
	Row       int    `json:"row"`
	Col       int    `json:"col"`
	Direction string `json:"direction"`
}

// Bot is what you write: Choose, and whichever of the other events you want to hear of; embed
// Events for those that you do not.
type Bot interface {
	// OnStart hears of a match for the first time.
	OnStart(match *Match)
	// Choose gives your orders; bots without one hold.
	Choose(match *Match, view *View) []Order
	// OnEnd hears that a match is forgotten, as too many others came after it.
	OnEnd(match *Match)
}

// Events hears of everything and does nothing.
type Events struct{}

// OnStart does nothing.
func (Events) OnStart(*Match) {}

// OnEnd does nothing.
func (Events) OnEnd(*Match) {}

// Run serves the bot on PORT, 8080 by default, with the secret BOT_SECRET.
func Run(bot Bot) {
	secret := os.Getenv("BOT_SECRET")
	if secret == "" {
		fmt.Fprintln(os.Stderr, "set BOT_SECRET to the secret of your bot, 64 hexadecimal digits")
		os.Exit(1)
	}
	Serve((&service{bot: bot, secret: []byte(secret), matches: map[string]*Match{}}).handle, 8080)
}

type service struct {
	bot     Bot
	secret  []byte
	lock    sync.Mutex
	matches map[string]*Match
	order   []string
}

type document struct {
	MatchID string `json:"match_id"`
	Turn    *int   `json:"turn"`
	Config  Config `json:"config"`
}

type moves struct {
	Moves []Order `json:"moves"`
}

func (service *service) handle(request *http.Request, body []byte) Reply {
	switch request.Method + " " + request.URL.Path {
	case "GET /health":
		return Reply{Body: []byte(`{"status":"ok"}`)}
	case "POST /turn":
		return service.turn(request.Header, body)
	}
	return Reply{Status: http.StatusNotFound}
}

func (service *service) turn(headers http.Header, body []byte) Reply {
	if !service.isSigned(headers, body) {
		return Reply{Status: http.StatusUnauthorized}
	}
	var said document
	var view View
	turn, _ := strconv.Atoi(headers.Get("X-ACB-Turn"))
	if json.Unmarshal(body, &said) != nil || json.Unmarshal(body, &view) != nil ||
		said.MatchID != headers.Get("X-ACB-Match-Id") || said.Turn == nil || *said.Turn != turn {
		return Reply{Status: http.StatusBadRequest}
	}
	match, started := service.find(said), time.Now()
	orders := service.bot.Choose(match, &view)
	milliseconds := float64(time.Since(started).Microseconds()) / 1000
	fmt.Fprintf(os.Stderr, "turn %d %.1f ms %d moves\n", turn, milliseconds, len(orders))
	answer, _ := json.Marshal(moves{append([]Order{}, orders...)})
	text := headers.Get("X-ACB-Match-Id") + "." + headers.Get("X-ACB-Turn")
	return Reply{Body: answer, Signature: service.sign(text, answer)}
}

func (service *service) sign(text string, body []byte) string {
	hash := sha256.Sum256(body)
	made := hmac.New(sha256.New, service.secret)
	made.Write([]byte(text + "." + hex.EncodeToString(hash[:])))
	return hex.EncodeToString(made.Sum(nil))
}

var decimal = regexp.MustCompile(`^[0-9]{1,18}$`)

func (service *service) isSigned(headers http.Header, body []byte) bool {
	matchID, turn := headers.Get("X-ACB-Match-Id"), headers.Get("X-ACB-Turn")
	timestamp := headers.Get("X-ACB-Timestamp")
	if matchID == "" || headers.Get("X-ACB-Bot-Id") == "" {
		return false
	}
	if !decimal.MatchString(turn) || !decimal.MatchString(timestamp) {
		return false
	}
	sent, _ := strconv.ParseInt(timestamp, 10, 64)
	if away := time.Now().Unix() - sent; away > 30 || away < -30 {
		return false
	}
	expected := service.sign(matchID+"."+turn+"."+timestamp, body)
	return hmac.Equal([]byte(headers.Get("X-ACB-Signature")), []byte(expected))
}

func (service *service) find(said document) *Match {
	match, isNew, forgotten := service.look(said)
	if forgotten != nil {
		service.bot.OnEnd(forgotten)
	}
	if isNew {
		service.bot.OnStart(match)
	}
	return match
}

// look gives the match, whether it is new, and the match that makes way for it or nil.
func (service *service) look(said document) (match *Match, isNew bool, forgotten *Match) {
	service.lock.Lock()
	defer service.lock.Unlock()
	if known := service.matches[said.MatchID]; known != nil {
		return known, false, nil
	}
	match = &Match{MatchID: said.MatchID, Config: said.Config}
	service.matches[said.MatchID] = match
	service.order = append(service.order, said.MatchID)
	if len(service.order) > MaxMatches {
		forgotten = service.matches[service.order[0]]
		delete(service.matches, service.order[0])
		service.order = service.order[1:]
	}
	return match, true, forgotten
}
