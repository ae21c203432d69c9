# frozen_string_literal: true

# AI Code Battle for bots: the signed web service, and the events that a bot answers.

require 'json'
require 'openssl'
require_relative 'bot_server'

module CodeBattle
  # The step [drow, dcol] of each direction; row grows to the south.
  DIRECTIONS = { 'N' => [-1, 0], 'E' => [0, 1], 'S' => [1, 0], 'W' => [0, -1] }.freeze

  # Matches that are remembered; when one more comes, the oldest is forgotten.
  MAX_MATCHES = 64

  # A match: `config` holds 'rows', 'cols', 'max_turns', 'vision_radius2', 'attack_radius2',
  # 'spawn_cost' and 'energy_interval'; `memory` is yours and lives as long as the match.
  class Match
    attr_reader :match_id, :config
    attr_accessor :memory

    def initialize(match_id, config)
      @match_id = match_id
      @config = config
    end

    # Gives the tile one step away; the grid has no edges.
    def step(tile, direction)
      down, right = DIRECTIONS[direction]
      [(tile[0] + down) % config['rows'], (tile[1] + right) % config['cols']]
    end

    # Gives the squared distance of two tiles.
    def distance2(one, other)
      down = (one[0] - other[0]).abs
      right = (one[1] - other[1]).abs
      ([down, config['rows'] - down].min**2) + ([right, config['cols'] - right].min**2)
    end
  end

  # What you see in a turn; each list holds hashes with 'row' and 'col'.
  #
  # `bots` and `dead` have an 'owner' (you are 0), `cores` an 'owner' and 'active'; `energy` are
  # the nodes that hold some, `walls` the walls. `you` has 'id', 'energy' and 'score'.
  class View
    attr_reader :turn, :you, :bots, :energy, :cores, :walls, :dead

    def initialize(document)
      @turn = document['turn']
      @you = document.fetch('you', {})
      @bots, @energy, @cores, @walls, @dead =
        %w[bots energy cores walls dead].map { |name| document.fetch(name, []) }
    end

    # Gives the tiles of your bots.
    def mine
      bots.filter_map { |bot| bot.values_at('row', 'col') if bot['owner'].zero? }
    end
  end

  # What you write: `choose`, and whichever of the other events you want to hear of.
  class Bot
    # Hears of a match for the first time.
    def on_start(match); end

    # Gives your orders as [row, col, direction]; bots without one hold.
    def choose(match, view)
      raise NotImplementedError
    end

    # Hears that a match is forgotten, as too many others came after it.
    def on_end(match); end
  end

  # Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET.
  def self.run(bot)
    secret = ENV.fetch('BOT_SECRET', '')
    abort 'set BOT_SECRET to the secret of your bot, 64 hexadecimal digits' if secret.empty?
    service = Service.new(bot, secret)
    BotServer.serve(8080) { |request| service.handle(request) }
  end

  # What the requests mean.
  class Service
    Reply = BotServer::Reply

    def initialize(bot, secret)
      @bot = bot
      @secret = secret
      @lock = Mutex.new
      @matches = {}
    end

    def handle(request)
      case "#{request.method} #{request.path}"
      when 'GET /health' then Reply.new(200, '{"status":"ok"}')
      when 'POST /turn' then turn(request)
      else Reply.new(404)
      end
    end

    private

    def turn(request)
      return Reply.new(401) unless signed?(request.headers, request.body)

      document = read(request.headers, request.body)
      document ? play(request.headers, document) : Reply.new(400)
    end

    def sign(text, body)
      hash = OpenSSL::Digest::SHA256.hexdigest(body)
      OpenSSL::HMAC.hexdigest('SHA256', @secret, "#{text}.#{hash}".b)
    end

    def signed?(headers, body)
      names = %w[match-id turn timestamp bot-id signature]
      match_id, turn, timestamp, bot_id, signature = names.map { |name| headers["x-acb-#{name}"].to_s }
      return false if match_id.empty? || bot_id.empty?
      return false unless [turn, timestamp].all?(/\A[0-9]{1,18}\z/)
      return false if (Time.now.to_i - timestamp.to_i).abs > 30

      OpenSSL.secure_compare(sign("#{match_id}.#{turn}.#{timestamp}", body), signature)
    end

    def play(headers, document)
      orders = choose(find(document), View.new(document))
      moves = orders.map { |row, col, way| { row: row, col: col, direction: way } }
      body = JSON.generate({ moves: moves })
      signature = sign("#{headers['x-acb-match-id']}.#{headers['x-acb-turn']}", body)
      Reply.new(200, body, { 'X-ACB-Signature' => signature })
    end

    # Asks the bot, and logs how long it took.
    def choose(match, view)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      orders = @bot.choose(match, view)
      taken = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000
      $stderr.write(format("turn %d %.1f ms %d moves\n", view.turn, taken, orders.length))
      orders
    end

    def find(document)
      id = document['match_id']
      known = @lock.synchronize { @matches[id] }
      return known if known

      match = Match.new(id, document.fetch('config', {}))
      forgotten = remember(match)
      @bot.on_end(forgotten) if forgotten
      @bot.on_start(match)
      match
    end

    # Puts a match into the table; gives the one that makes way, or nil.
    def remember(match)
      @lock.synchronize do
        @matches[match.match_id] = match
        @matches.shift[1] if @matches.length > MAX_MATCHES
      end
    end

    # Reads the body; nil if it is no JSON object or of another match or turn than the headers.
    def read(headers, body)
      document = JSON.parse(body)
      return nil unless document.is_a?(Hash) && document['turn'].is_a?(Integer)

      named = [headers['x-acb-match-id'], headers['x-acb-turn'].to_i]
      document if document.values_at('match_id', 'turn') == named
    rescue JSON::ParserError
      nil
    end
  end
end
