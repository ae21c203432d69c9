# frozen_string_literal: true

# End of Codes for bots: the web service, the map, and the events that a bot answers.

require 'json'
require 'openssl'
require_relative 'bot_server'

module EndOfCodes
  # The step [dx, dy] of each direction; y grows to the north.
  DIRECTIONS = {
    'north' => [0, 1], 'east' => [1, 0], 'south' => [0, -1], 'west' => [-1, 0]
  }.freeze

  # Games that are remembered; when one more comes, the oldest is forgotten.
  MAX_GAMES = 64

  # A creature; it is alive while hp is above 0.
  Creature = Struct.new(:creatureid, :userid, :x, :y, :hp) do
    # Gives the intent to move.
    def move(direction)
      { creatureid: creatureid, action: 'move', direction: direction }
    end

    # Gives the intent to attack.
    def attack(direction)
      { creatureid: creatureid, action: 'attack', direction: direction }
    end
  end

  # A game, as it stands in this round.
  #
  # `creatures` holds the dead ones too; `players` are hashes with 'userid' and 'username'.
  # `memory` is yours and lives as long as the game. `M` and `MAX_HP` are 0 if the game began
  # before this program.
  class Game
    attr_reader :gameid, :creatures
    attr_accessor :myid, :round, :W, :H, :M, :MAX_HP, :players, :memory

    def initialize(gameid)
      @gameid = gameid
      @myid = @round = @W = @H = @M = @MAX_HP = 0
      @players = []
      @creatures = []
      @living = {}
    end

    # Takes over the map of a round.
    def update(creatures)
      @creatures = creatures
      living = creatures.select { |creature| creature.hp.positive? }
      @living = living.to_h { |creature| [(creature.y * @W) + creature.x, creature] }
    end

    # Gives your living creatures.
    def mine
      @living.values.select { |creature| creature.userid == myid }
    end

    # Gives the living creature in a cell, or nil.
    def at(x, y)
      @living[(y * @W) + x] if on_map?(x, y)
    end

    # Tells whether there is such a cell.
    def on_map?(x, y)
      x >= 0 && x < @W && y >= 0 && y < @H
    end

    # Counts the players that have a living creature.
    def owners_alive
      @living.values.map(&:userid).uniq.length
    end
  end

  # What you write: `choose`, and whichever of the other events you want to hear of.
  class Bot
    def botname
      'sample'
    end

    def version
      '1.0'
    end

    # Hears that a game begins; there are no creatures yet.
    def on_start(game); end

    # Gives your intents, at most one for each of your living creatures.
    def choose(game)
      raise NotImplementedError
    end

    # Hears that a game is over; `game` shows how it ended.
    def on_end(game); end
  end

  # Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set.
  def self.run(bot)
    service = Service.new(bot)
    BotServer.serve(8801) { |request| service.handle(request) }
  end

  # What the requests mean.
  class Service
    Refusal = BotServer::Refusal
    NAMES = %w[creatureid userid x y hp].freeze

    def initialize(bot)
      @bot = bot
      @username = ENV.fetch('BOT_USERNAME', '')
      @username = 'sample' if @username.empty?
      @api_key = ENV.fetch('API_KEY', '')
      @lock = Mutex.new
      @games = {}
    end

    def handle(request)
      reply(200, dispatch(request))
    rescue Refusal => e
      reply(e.status, { error: e.message })
    end

    private

    def dispatch(request)
      case "#{request.method} #{request.path}"
      when 'GET /bot' then identify(request.query)
      when 'POST /game' then start(form(request))
      when 'POST /round' then play(form(request))
      else raise Refusal.new(404, "there is no #{request.method} #{request.path}")
      end
    end

    # Compares in constant time, whatever lengths came.
    def check_key(fields)
      same = @api_key.empty? || OpenSSL.secure_compare(fields['api_key'].to_s, @api_key)
      raise Refusal.new(401, 'wrong api_key') unless same
    end

    def identify(query)
      check_key(query)
      { botname: @bot.botname, version: @bot.version, username: @username }
    end

    def form(request)
      fields = Form.read(request.headers['content-type'].to_s, request.body)
      check_key(fields)
      raise Refusal.new(400, 'method must be create') unless fields['method'] == 'create'

      fields
    end

    def start(fields)
      game = Game.new(integer(fields, 'gameid'))
      game.W = integer(fields, 'W')
      game.H = integer(fields, 'H')
      game.M = integer(fields, 'M')
      game.MAX_HP = integer(fields, 'MAX_HP')
      game.players = list(fields, 'players')
      remember(game)
      @bot.on_start(game)
      []
    end

    def play(fields)
      game = update(fields)
      if game.owners_alive < 2
        forget(game.gameid)
        return { intent: [] }
      end
      { intent: game.mine.empty? ? [] : @bot.choose(game) }
    end

    def update(fields)
      round, myid, width, height = %w[round myid W H].map { |name| integer(fields, name) }
      creatures = list(fields, 'map').map { |said| creature(said) }
      game = find(integer(fields, 'gameid'))
      game.round = round
      game.myid = myid
      game.W = width
      game.H = height
      game.update(creatures)
      game
    end

    def creature(said)
      values = said.is_a?(Hash) ? said.values_at(*NAMES) : [nil]
      raise Refusal.new(400, 'map must be a list of creatures') unless values.all?(Integer)

      Creature.new(*values)
    end

    # Gives the game; one that began before this program is made here.
    def find(gameid)
      @lock.synchronize { @games[gameid] } || Game.new(gameid).tap { |game| remember(game) }
    end

    def remember(game)
      forget(game.gameid)
      oldest = @lock.synchronize do
        @games[game.gameid] = game
        @games.keys.first if @games.length > MAX_GAMES
      end
      forget(oldest)
    end

    def forget(gameid)
      game = @lock.synchronize { @games.delete(gameid) }
      @bot.on_end(game) if game
    end

    def reply(status, document)
      BotServer::Reply.new(status, JSON.generate(document))
    end

    def integer(fields, name)
      text = fields[name].to_s
      raise Refusal.new(400, "#{name} must be an integer") unless text.match?(/\A[0-9]{1,9}\z/)

      text.to_i
    end

    def list(fields, name)
      value = JSON.parse(fields[name].to_s)
      raise Refusal.new(400, "#{name} must be a list") unless value.is_a?(Array)

      value
    rescue JSON::ParserError
      raise Refusal.new(400, "#{name} must be a JSON list")
    end
  end

  # Forms in both encodings.
  module Form
    def self.read(type, body)
      boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.match(type)
      case type.split(';').first.to_s.strip.downcase
      when 'application/x-www-form-urlencoded' then return BotServer.decode(body)
      when 'multipart/form-data' then return multipart(boundary[1] || boundary[2], body) if boundary
      end
      raise BotServer::Refusal.new(400, 'the body is not a form')
    end

    def self.multipart(boundary, body)
      parts = "\r\n".b.concat(body).split("\r\n--#{boundary}".b).drop(1)
      parts.filter_map do |part|
        head, value = part.split("\r\n\r\n", 2)
        name = /name="([^"]*)"/n.match(head)
        [name[1].force_encoding('UTF-8'), value.to_s.force_encoding('UTF-8')] if name
      end.to_h
    end
  end
end
