# frozen_string_literal: true

# Hexagon for bots: the web service, the board, and the events that a bot answers.

require 'json'
require_relative 'bot_server'

module Hexagon
  # Games that are remembered; when one more comes, the oldest is forgotten.
  MAX_GAMES = 64

  # Steps [di, dj] by distance, for even rows and for odd rows.
  OFFSETS = {
    1 => [
      [[-1, -1], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 0]],
      [[-1, 0], [-1, 1], [0, -1], [0, 1], [1, 0], [1, 1]]
    ],
    2 => [
      [[-2, -1], [-2, 0], [-2, 1], [-1, -2], [-1, 1], [0, -2],
       [0, 2], [1, -2], [1, 1], [2, -1], [2, 0], [2, 1]],
      [[-2, -1], [-2, 0], [-2, 1], [-1, -1], [-1, 2], [0, -2],
       [0, 2], [1, -1], [1, 2], [2, -1], [2, 0], [2, 1]]
    ]
  }.freeze

  # A game: `cells[i][j]` is -1 stone, 0 empty, 1 or 2 a chip of that colour.
  #
  # `jumps[color]` is how many jumps a colour may make now, `placed[color]` how many chips it has
  # placed; `memory` is yours and lives as long as the game.
  class Board
    attr_reader :id, :size, :cells
    attr_accessor :jumps, :placed, :memory

    def initialize(id, cells, jumps)
      @id = id
      @size = (cells.length + 1) / 2
      @cells = cells
      @jumps = jumps
      @placed = [1, 2].to_h { |color| [color, cells.sum { |row| row.count(color) }] }
    end

    # Gives an independent board, to try moves on; it shares the memory.
    def copy
      made = Board.new(id, cells.map(&:dup), jumps.dup)
      made.placed = placed.dup
      made.memory = memory
      made
    end

    # Gives the cells of the array at distance 1 or 2.
    def neighbours(cell, distance)
      inside = (0...cells.length)
      near = OFFSETS[distance][cell[0] % 2].map { |i, j| [cell[0] + i, cell[1] + j] }
      near.select { |i, j| inside.cover?(i) && inside.cover?(j) }
    end

    # Gives all moves of a colour, as [move_from, move_to].
    def legal_moves(color)
      chips = cells.each_index.to_a.product(cells.each_index.to_a)
      chips.select! { |i, j| cells[i][j] == color }
      chips.flat_map { |cell| targets(cell, color).map { |target| [cell, target] } }
    end

    # Makes a legal move; gives what it changed, as [i, j, old, new].
    def play(color, move)
      from, to = move
      changes = [[*to, 0, color]]
      if neighbours(from, 1).include?(to)
        placed[color] += 1
        jumps[color] += 1 if placed[color].even?
      else
        jumps[color] -= 1
        changes.unshift([*from, color, 0])
      end
      taken = neighbours(to, 1).select { |i, j| cells[i][j] == 3 - color }
      write(changes + taken.map { |i, j| [i, j, 3 - color, color] })
    end

    # Writes changes to the cells; gives them back.
    def write(changes)
      changes.each { |i, j, _, value| cells[i][j] = value }
    end

    private

    def targets(cell, color)
      near = neighbours(cell, 1)
      near += neighbours(cell, 2) if jumps[color].positive?
      near.select { |i, j| cells[i][j].zero? }
    end
  end

  # What you write: `choose`, and whichever of the other events you want to hear of.
  class Bot
    # Hears that a game begins, and which colour is yours.
    def on_start(board, color, training); end

    # Gives your move, as [move_from, move_to]; `jumps` is how many jumps you have.
    def choose(board, color, jumps)
      raise NotImplementedError
    end

    # Hears what a move has changed, yours or the opponent's; it is on the board already.
    def on_changes(board, changes); end

    # Hears that a game is over.
    def on_end(board); end
  end

  # Serves the bot on PORT, 3000 by default.
  def self.run(bot)
    service = Service.new(bot)
    BotServer.serve(3000) { |request| service.handle(request) }
  end

  # What the requests mean.
  class Service
    Refusal = BotServer::Refusal

    def initialize(bot)
      @bot = bot
      @lock = Mutex.new
      @games = {}
    end

    def handle(request)
      reply(200, { status: 'ok' }.merge(dispatch(request)))
    rescue Refusal => e
      reply(e.status, { status: 'error', message: e.message })
    end

    private

    def dispatch(request)
      return post(document(request)) if request.method == 'POST' && request.path == '/games'

      found = %r{\A/games/([^/]+)\z}.match(request.path)
      raise Refusal.new(404, "there is no #{request.path}") unless found

      case request.method
      when 'GET' then get(find(found[1]), request.query['color'])
      when 'PUT' then put(find(found[1]), document(request))
      when 'DELETE' then delete(found[1])
      else raise Refusal.new(404, "there is no #{request.method} #{request.path}")
      end
    end

    def find(id)
      @lock.synchronize { @games[id] } || raise(Refusal.new(404, "there is no game #{id}"))
    end

    def post(document)
      cells = document.dig('board', 'cells') if document['board'].is_a?(Hash)
      unless document['id'].is_a?(String) && square?(cells)
        raise Refusal.new(400, 'this is not a valid game')
      end

      board = Board.new(document['id'], cells, read_jumps(document))
      delete(board.id)
      delete(remember(board))
      @bot.on_start(board, document['first_turn'] ? 1 : 2, document['training'] ? true : false)
      {}
    end

    # Puts a game into the table; gives the id of the one that makes way, or nil.
    def remember(board)
      @lock.synchronize do
        @games[board.id] = board
        @games.keys.first if @games.length > MAX_GAMES
      end
    end

    def get(board, text)
      raise Refusal.new(400, 'color must be 1 or 2') unless %w[1 2].include?(text)

      color = text.to_i
      none = board.legal_moves(color).empty?
      raise Refusal.new(409, "colour #{color} has no legal move") if none

      from, to = @bot.choose(board, color, board.jumps[color])
      { move_from: from, move_to: to }
    end

    def put(board, document)
      changes = document['changes']
      jumps = read_jumps(document)
      raise Refusal.new(400, 'the changes are invalid') unless changes?(changes, board.cells.length)

      board.write(changes)
      board.jumps = jumps
      board.placed[changes[0][3]] += 1 if changes[0] && changes[0][3].positive?
      @bot.on_changes(board, changes)
      {}
    end

    def delete(id)
      board = @lock.synchronize { @games.delete(id) }
      @bot.on_end(board) if board
      {}
    end

    def reply(status, document)
      BotServer::Reply.new(status, JSON.generate(document))
    end

    def document(request)
      document = JSON.parse(request.body)
      raise Refusal.new(400, 'the body is not a JSON object') unless document.is_a?(Hash)

      document
    rescue JSON::ParserError
      raise Refusal.new(400, 'the body is not JSON')
    end

    def read_jumps(document)
      jumps = document['jumps'].is_a?(Hash) ? document['jumps'].values_at('1', '2') : []
      unless jumps.length == 2 && jumps.all?(Integer)
        raise Refusal.new(400, 'jumps must hold two numbers')
      end

      { 1 => jumps[0], 2 => jumps[1] }
    end

    def square?(cells)
      cells.is_a?(Array) && cells.length.odd? && cells.all? do |row|
        row.is_a?(Array) && row.length == cells.length && row.all?(Integer)
      end
    end

    def changes?(changes, side)
      changes.is_a?(Array) && changes.all? do |change|
        change.is_a?(Array) && change.length == 4 && change.all?(Integer) &&
          change[0..1].all? { |place| (0...side).cover?(place) } && (0..2).cover?(change[3])
      end
    end
  end
end
