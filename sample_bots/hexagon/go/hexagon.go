package main

// Hexagon for bots: the web service, the board, and the events that a bot answers.

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// MaxGames are remembered; when one more comes, the oldest is forgotten.
const MaxGames = 64

// Cell is a row and a column.
type Cell [2]int

// Move is MoveFrom and MoveTo.
type Move [2]Cell

// Change is row, column, old value and new value.
type Change [4]int

// offsets are the steps by distance, for even rows and for odd rows.
var offsets = map[int][2][]Cell{
	1: {
		{{-1, -1}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 0}},
		{{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {1, 1}},
	},
	2: {
		{{-2, -1}, {-2, 0}, {-2, 1}, {-1, -2}, {-1, 1}, {0, -2},
			{0, 2}, {1, -2}, {1, 1}, {2, -1}, {2, 0}, {2, 1}},
		{{-2, -1}, {-2, 0}, {-2, 1}, {-1, -1}, {-1, 2}, {0, -2},
			{0, 2}, {1, -1}, {1, 2}, {2, -1}, {2, 0}, {2, 1}},
	},
}

// Board is a game: Cells[i][j] is -1 stone, 0 empty, 1 or 2 a chip of that colour.
//
// Jumps[color] is how many jumps a colour may make now, Placed[color] how many chips it has
// placed; Memory is yours and lives as long as the game.
type Board struct {
	ID     string
	Size   int
	Cells  [][]int
	Jumps  [3]int
	Placed [3]int
	Memory any
}

// Copy gives an independent board, to try moves on; it shares the memory.
func (board *Board) Copy() *Board {
	made := *board
	made.Cells = make([][]int, len(board.Cells))
	for i, row := range board.Cells {
		made.Cells[i] = append([]int(nil), row...)
	}
	return &made
}

// Neighbours gives the cells of the array at distance 1 or 2.
func (board *Board) Neighbours(cell Cell, distance int) []Cell {
	near := make([]Cell, 0, 12)
	for _, step := range offsets[distance][cell[0]%2] {
		i, j := cell[0]+step[0], cell[1]+step[1]
		if i >= 0 && i < len(board.Cells) && j >= 0 && j < len(board.Cells) {
			near = append(near, Cell{i, j})
		}
	}
	return near
}

// LegalMoves gives all moves of a colour.
func (board *Board) LegalMoves(color int) []Move {
	var moves []Move
	for i, row := range board.Cells {
		for j, value := range row {
			if value == color {
				moves = append(moves, board.movesFrom(Cell{i, j}, color)...)
			}
		}
	}
	return moves
}

func (board *Board) movesFrom(cell Cell, color int) []Move {
	near := board.Neighbours(cell, 1)
	if board.Jumps[color] > 0 {
		near = append(near, board.Neighbours(cell, 2)...)
	}
	var moves []Move
	for _, target := range near {
		if board.Cells[target[0]][target[1]] == 0 {
			moves = append(moves, Move{cell, target})
		}
	}
	return moves
}

// Play makes a legal move; it gives what it changed.
func (board *Board) Play(color int, move Move) []Change {
	from, to := move[0], move[1]
	changes := []Change{{from[0], from[1], color, 0}, {to[0], to[1], 0, color}}
	board.Jumps[color]--
	for _, cell := range board.Neighbours(from, 1) {
		if cell == to {
			changes = changes[1:]
			board.Placed[color]++
			board.Jumps[color] += 2 - board.Placed[color]%2
		}
	}
	for _, cell := range board.Neighbours(to, 1) {
		if board.Cells[cell[0]][cell[1]] == 3-color {
			changes = append(changes, Change{cell[0], cell[1], 3 - color, color})
		}
	}
	board.write(changes)
	return changes
}

func (board *Board) write(changes []Change) {
	for _, change := range changes {
		board.Cells[change[0]][change[1]] = change[3]
	}
}

// Bot is what you write: Choose, and whichever of the other events you want to hear of; embed
// Events for those that you do not.
type Bot interface {
	// OnStart hears that a game begins, and which colour is yours.
	OnStart(board *Board, color int, training bool)
	// Choose gives your move; jumps is how many jumps you have.
	Choose(board *Board, color int, jumps int) Move
	// OnChanges hears what a move has changed, yours or the opponent's; it is on the board already.
	OnChanges(board *Board, changes []Change)
	// OnEnd hears that a game is over.
	OnEnd(board *Board)
}

// Events hears of everything and does nothing.
type Events struct{}

// OnStart does nothing.
func (Events) OnStart(*Board, int, bool) {}

// OnChanges does nothing.
func (Events) OnChanges(*Board, []Change) {}

// OnEnd does nothing.
func (Events) OnEnd(*Board) {}

// Run serves the bot on PORT, 3000 by default.
func Run(bot Bot) {
	Serve((&service{bot: bot, games: map[string]*Board{}}).handle, 3000)
}

type service struct {
	bot   Bot
	lock  sync.Mutex
	games map[string]*Board
	order []string
}

type answer struct {
	Status   string `json:"status"`
	Message  string `json:"message,omitempty"`
	MoveFrom *Cell  `json:"move_from,omitempty"`
	MoveTo   *Cell  `json:"move_to,omitempty"`
}

type document struct {
	ID        *string `json:"id"`
	FirstTurn bool    `json:"first_turn"`
	Training  bool    `json:"training"`
	Jumps     struct {
		One *int `json:"1"`
		Two *int `json:"2"`
	} `json:"jumps"`
	Board struct {
		Cells [][]int `json:"cells"`
	} `json:"board"`
	Changes *[][]int `json:"changes"`
}

func (service *service) handle(request *http.Request, body []byte) Reply {
	said, err := service.dispatch(request, body)
	said.Status = "ok"
	status := http.StatusOK
	if refusal, refused := err.(*Refusal); refused {
		said, status = answer{Status: "error", Message: refusal.Message}, refusal.Status
	}
	text, _ := json.Marshal(said)
	return Reply{Status: status, Body: text}
}

func (service *service) dispatch(request *http.Request, body []byte) (answer, error) {
	path := request.URL.Path
	if request.Method == "POST" && path == "/games" {
		return answer{}, service.post(body)
	}
	parts := strings.Split(path, "/")
	if len(parts) != 3 || parts[1] != "games" {
		return answer{}, refuse(404, "there is no %s", path)
	}
	switch request.Method {
	case "GET":
		return service.get(parts[2], request.URL.Query().Get("color"))
	case "PUT":
		return answer{}, service.put(parts[2], body)
	case "DELETE":
		service.delete(parts[2])
		return answer{}, nil
	}
	return answer{}, refuse(404, "there is no %s %s", request.Method, path)
}

func (service *service) find(id string) (*Board, error) {
	service.lock.Lock()
	defer service.lock.Unlock()
	if board, known := service.games[id]; known {
		return board, nil
	}
	return nil, refuse(404, "there is no game %s", id)
}

func (service *service) post(body []byte) error {
	said, err := read(body)
	if err != nil {
		return err
	}
	if said.ID == nil || !isSquare(said.Board.Cells) || said.Jumps.One == nil || said.Jumps.Two == nil {
		return refuse(400, "this is not a valid game")
	}
	cells := said.Board.Cells
	board := &Board{ID: *said.ID, Size: (len(cells) + 1) / 2, Cells: cells}
	board.Jumps = [3]int{0, *said.Jumps.One, *said.Jumps.Two}
	for _, row := range cells {
		for _, value := range row {
			if value == 1 || value == 2 {
				board.Placed[value]++
			}
		}
	}
	service.remember(board)
	color := 2
	if said.FirstTurn {
		color = 1
	}
	service.bot.OnStart(board, color, said.Training)
	return nil
}

func (service *service) remember(board *Board) {
	service.delete(board.ID)
	service.lock.Lock()
	service.games[board.ID] = board
	service.order = append(service.order, board.ID)
	oldest := service.order[0]
	full := len(service.order) > MaxGames
	service.lock.Unlock()
	if full {
		service.delete(oldest)
	}
}

// take removes a game from the table and gives it; nil if there is none.
func (service *service) take(id string) *Board {
	service.lock.Lock()
	defer service.lock.Unlock()
	board := service.games[id]
	delete(service.games, id)
	for place, other := range service.order {
		if other == id {
			service.order = append(service.order[:place:place], service.order[place+1:]...)
			break
		}
	}
	return board
}

func (service *service) get(id, text string) (answer, error) {
	board, err := service.find(id)
	if err != nil {
		return answer{}, err
	}
	if text != "1" && text != "2" {
		return answer{}, refuse(400, "color must be 1 or 2")
	}
	color, _ := strconv.Atoi(text)
	if len(board.LegalMoves(color)) == 0 {
		return answer{}, refuse(409, "colour %d has no legal move", color)
	}
	move := service.bot.Choose(board, color, board.Jumps[color])
	return answer{MoveFrom: &move[0], MoveTo: &move[1]}, nil
}

func (service *service) put(id string, body []byte) error {
	board, err := service.find(id)
	if err != nil {
		return err
	}
	said, err := read(body)
	if err != nil {
		return err
	}
	changes, fine := changesOf(said, len(board.Cells))
	if !fine || said.Jumps.One == nil || said.Jumps.Two == nil {
		return refuse(400, "the changes are invalid")
	}
	board.write(changes)
	board.Jumps = [3]int{0, *said.Jumps.One, *said.Jumps.Two}
	if len(changes) > 0 && changes[0][3] > 0 {
		board.Placed[changes[0][3]]++
	}
	service.bot.OnChanges(board, changes)
	return nil
}

func (service *service) delete(id string) {
	if board := service.take(id); board != nil {
		service.bot.OnEnd(board)
	}
}

func read(body []byte) (document, error) {
	var said document
	if json.Unmarshal(body, &said) != nil {
		return said, refuse(400, "the body is not a JSON object of this kind")
	}
	return said, nil
}

func isSquare(cells [][]int) bool {
	for _, row := range cells {
		if len(row) != len(cells) {
			return false
		}
	}
	return len(cells)%2 == 1
}

func changesOf(said document, side int) ([]Change, bool) {
	if said.Changes == nil {
		return nil, false
	}
	var changes []Change
	for _, row := range *said.Changes {
		if len(row) != 4 || row[0] < 0 || row[0] >= side || row[1] < 0 || row[1] >= side ||
			row[3] < 0 || row[3] > 2 {
			return nil, false
		}
		changes = append(changes, Change{row[0], row[1], row[2], row[3]})
	}
	return changes, true
}
