package main

// End of Codes for bots: the web service, the map, and the events that a bot answers.

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
)

// Direction is a name and the step that it stands for; y grows to the north.
type Direction struct {
	Name string
	DX   int
	DY   int
}

// Directions are the four directions.
var Directions = []Direction{{"north", 0, 1}, {"east", 1, 0}, {"south", 0, -1}, {"west", -1, 0}}

// MaxGames are remembered; when one more comes, the oldest is forgotten.
const MaxGames = 64

// Creature is alive while HP is above 0.
type Creature struct {
	Creatureid int `json:"creatureid"`
	Userid     int `json:"userid"`
	X          int `json:"x"`
	Y          int `json:"y"`
	HP         int `json:"hp"`
}

// Player is a participant.
type Player struct {
	Userid   int    `json:"userid"`
	Username string `json:"username"`
}

// Intent is what a creature is to do.
type Intent struct {
	Creatureid int    `json:"creatureid"`
	Action     string `json:"action"`
	Direction  string `json:"direction"`
}

// Move gives the intent to move.
func (creature *Creature) Move(direction Direction) Intent {
	return Intent{creature.Creatureid, "move", direction.Name}
}

// Attack gives the intent to attack.
func (creature *Creature) Attack(direction Direction) Intent {
	return Intent{creature.Creatureid, "attack", direction.Name}
}

// Game is a game, as it stands in this round.
//
// Creatures holds the dead ones too; Memory is yours and lives as long as the game. M and MAX_HP
// are 0 if the game began before this program.
type Game struct {
	Gameid    int
	Myid      int
	Round     int
	W, H      int
	M         int
	MAX_HP    int
	Players   []Player
	Creatures []Creature
	Memory    any
	living    map[[2]int]*Creature
}

// Update takes over the map of a round.
func (game *Game) Update(creatures []Creature) {
	game.Creatures = creatures
	game.living = map[[2]int]*Creature{}
	for place := range creatures {
		if creature := &creatures[place]; creature.HP > 0 {
			game.living[[2]int{creature.X, creature.Y}] = creature
		}
	}
}

// Mine gives your living creatures.
func (game *Game) Mine() []*Creature {
	var mine []*Creature
	for place := range game.Creatures {
		if creature := &game.Creatures[place]; creature.HP > 0 && creature.Userid == game.Myid {
			mine = append(mine, creature)
		}
	}
	return mine
}

// At gives the living creature in a cell, or nil.
func (game *Game) At(x, y int) *Creature { return game.living[[2]int{x, y}] }

// IsOnMap tells whether there is such a cell.
func (game *Game) IsOnMap(x, y int) bool { return x >= 0 && x < game.W && y >= 0 && y < game.H }

// OwnersAlive counts the players that have a living creature.
func (game *Game) OwnersAlive() int {
	owners := map[int]bool{}
	for _, creature := range game.living {
		owners[creature.Userid] = true
	}
	return len(owners)
}

// Bot is what you write: Name, Choose, and whichever of the other events you want to hear of; embed
// Events for those that you do not.
type Bot interface {
	// Name gives botname and version.
	Name() (botname, version string)
	// OnStart hears that a game begins; there are no creatures yet.
	OnStart(game *Game)
	// Choose gives your intents, at most one for each of your living creatures.
	Choose(game *Game) []Intent
	// OnEnd hears that a game is over; game shows how it ended.
	OnEnd(game *Game)
}

// Events hears of everything and does nothing.
type Events struct{}

// OnStart does nothing.
func (Events) OnStart(*Game) {}

// OnEnd does nothing.
func (Events) OnEnd(*Game) {}

// Run serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set.
func Run(bot Bot) {
	made := &service{bot: bot, games: map[int]*Game{}}
	made.username, made.apiKey = setting("BOT_USERNAME", "sample"), setting("API_KEY", "")
	Serve(made.handle, 8801)
}

type service struct {
	bot      Bot
	username string
	apiKey   string
	lock     sync.Mutex
	games    map[int]*Game
	order    []int
}

type identity struct {
	Botname  string `json:"botname"`
	Version  string `json:"version"`
	Username string `json:"username"`
}

type intents struct {
	Intent []Intent `json:"intent"`
}

func (service *service) handle(request *http.Request, body []byte) Reply {
	said, err := service.dispatch(request, body)
	status := http.StatusOK
	if refusal, refused := err.(*Refusal); refused {
		said, status = map[string]string{"error": refusal.Message}, refusal.Status
	}
	text, _ := json.Marshal(said)
	return Reply{Status: status, Body: text}
}

func (service *service) dispatch(request *http.Request, body []byte) (any, error) {
	switch request.Method + " " + request.URL.Path {
	case "GET /bot":
		botname, version := service.bot.Name()
		return identity{botname, version, service.username}, service.checkKey(request.URL.Query().Get("api_key"))
	case "POST /game":
		fields, err := service.form(request, body)
		if err != nil {
			return nil, err
		}
		return []int{}, service.start(fields)
	case "POST /round":
		fields, err := service.form(request, body)
		if err != nil {
			return nil, err
		}
		return service.play(fields)
	}
	return nil, refuse(404, "there is no %s %s", request.Method, request.URL.Path)
}

// checkKey compares in constant time; the digests have one length whatever came.
func (service *service) checkKey(key string) error {
	given, right := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(service.apiKey))
	if service.apiKey != "" && subtle.ConstantTimeCompare(given[:], right[:]) == 0 {
		return refuse(401, "wrong api_key")
	}
	return nil
}

func (service *service) form(request *http.Request, body []byte) (fields, error) {
	read, err := readForm(request.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, err
	}
	if err := service.checkKey(read["api_key"]); err != nil {
		return nil, err
	}
	if read["method"] != "create" {
		return nil, refuse(400, "method must be create")
	}
	return read, nil
}

func (service *service) start(said fields) error {
	game := &Game{}
	err := said.integers(map[string]*int{
		"gameid": &game.Gameid, "W": &game.W, "H": &game.H, "M": &game.M, "MAX_HP": &game.MAX_HP,
	})
	if err != nil {
		return err
	}
	if json.Unmarshal([]byte(said["players"]), &game.Players) != nil {
		return refuse(400, "players must be a JSON list of players")
	}
	service.remember(game)
	service.bot.OnStart(game)
	return nil
}

func (service *service) play(said fields) (any, error) {
	var now Game
	err := said.integers(map[string]*int{
		"gameid": &now.Gameid, "round": &now.Round, "myid": &now.Myid, "W": &now.W, "H": &now.H,
	})
	if err != nil {
		return nil, err
	}
	creatures, err := readCreatures(said["map"])
	if err != nil {
		return nil, err
	}
	game := service.find(now.Gameid)
	game.Round, game.Myid, game.W, game.H = now.Round, now.Myid, now.W, now.H
	game.Update(creatures)
	chosen := []Intent{}
	if game.OwnersAlive() < 2 {
		service.forget(game.Gameid)
	} else if len(game.Mine()) > 0 {
		chosen = append(chosen, service.bot.Choose(game)...)
	}
	return intents{chosen}, nil
}

// find gives the game; one that began before this program is made here.
func (service *service) find(gameid int) *Game {
	service.lock.Lock()
	game := service.games[gameid]
	service.lock.Unlock()
	if game == nil {
		game = &Game{Gameid: gameid}
		service.remember(game)
	}
	return game
}

func (service *service) remember(game *Game) {
	service.forget(game.Gameid)
	service.lock.Lock()
	service.games[game.Gameid] = game
	service.order = append(service.order, game.Gameid)
	oldest := service.order[0]
	full := len(service.order) > MaxGames
	service.lock.Unlock()
	if full {
		service.forget(oldest)
	}
}

// take removes a game from the table and gives it; nil if there is none.
func (service *service) take(gameid int) *Game {
	service.lock.Lock()
	defer service.lock.Unlock()
	game := service.games[gameid]
	delete(service.games, gameid)
	for place, other := range service.order {
		if other == gameid {
			service.order = append(service.order[:place:place], service.order[place+1:]...)
			break
		}
	}
	return game
}

func (service *service) forget(gameid int) {
	if game := service.take(gameid); game != nil {
		service.bot.OnEnd(game)
	}
}

type fields map[string]string

var integer = regexp.MustCompile(`^[0-9]{1,9}$`)

func (said fields) integers(wanted map[string]*int) error {
	for name, value := range wanted {
		if !integer.MatchString(said[name]) {
			return refuse(400, "%s must be an integer", name)
		}
		*value, _ = strconv.Atoi(said[name])
	}
	return nil
}

func readCreatures(text string) ([]Creature, error) {
	var said []struct{ Creatureid, Userid, X, Y, HP *int }
	if json.Unmarshal([]byte(text), &said) != nil || said == nil {
		return nil, refuse(400, "map must be a JSON list of creatures")
	}
	creatures := make([]Creature, len(said))
	for place, one := range said {
		if one.Creatureid == nil || one.Userid == nil || one.X == nil || one.Y == nil || one.HP == nil {
			return nil, refuse(400, "map must be a list of creatures")
		}
		creatures[place] = Creature{*one.Creatureid, *one.Userid, *one.X, *one.Y, *one.HP}
	}
	return creatures, nil
}

func readForm(contentType string, body []byte) (fields, error) {
	kind, parameters, _ := mime.ParseMediaType(contentType)
	read := fields{}
	switch kind {
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		for name := range values {
			read[name] = values.Get(name)
		}
		return read, noForm(err)
	case "multipart/form-data":
		return read, noForm(readMultipart(multipart.NewReader(bytes.NewReader(body), parameters["boundary"]), read))
	}
	return nil, refuse(400, "the body is not a form")
}

func noForm(err error) error {
	if err == nil {
		return nil
	}
	return refuse(400, "the body is not a form: %v", err)
}

func readMultipart(reader *multipart.Reader, read fields) error {
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		read[part.FormName()] = string(value)
	}
}
