# frozen_string_literal: true

# Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events.

require 'json'
require 'net/http'

module CircuitWars
  # The bit of each side of a square.
  BORDERS = { 'top' => 1, 'right' => 2, 'bottom' => 4, 'left' => 8 }.freeze

  # The board: `squares[y][x]` has a bit for each drawn side, 16 or 32 if player 1 or 2 owns it.
  class Board
    attr_reader :size, :squares

    def initialize(squares)
      @size = squares.length
      @squares = squares
    end

    # Tells whether this side of the square is drawn.
    def border?(x, y, border)
      (squares[y][x] & BORDERS[border]) != 0
    end

    # Tells who owns the square: 0 nobody, 1 or 2.
    def owner(x, y)
      squares[y][x] >> 4
    end

    # Gives every free segment once, as [x, y, border].
    def free_segments
      places = (0...size).to_a.product((0...size).to_a).select { |y, x| owner(x, y).zero? }
      sides = places.flat_map { |y, x| own_sides(x, y).map { |border| [x, y, border] } }
      sides.reject { |side| border?(*side) }
    end

    private

    # Names the sides of a square that no square to the right or below names too.
    def own_sides(x, y)
      sides = %w[top left]
      sides << 'right' if x == size - 1
      sides << 'bottom' if y == size - 1
      sides
    end
  end

  # What you write: `choose`, and whichever of the other events you want to hear of.
  class Bot
    # Hears that you are player 1 or 2.
    def on_start(player); end

    # Gives the free segment to draw, as [x, y, border].
    def choose(board, player)
      raise NotImplementedError
    end

    # Hears how the game ended.
    def on_end(status); end
  end

  # Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game.
  def self.run(bot)
    trap('TERM') { exit!(0) }
    trap('INT') { exit!(0) }
    $stdout.sync = $stderr.sync = true
    Client.new.run(bot, ARGV[0] || ENV['TEAM_ID'] || 'sample')
  end

  # Tells who won: 301 is a win of player 1, 401 and 501 are a loss.
  def self.winner(status_code)
    status_code < 400 ? status_code % 10 : 3 - (status_code % 10)
  end

  # The conversation with the server.
  class Client
    GONE = [SystemCallError, SocketError, EOFError, Net::OpenTimeout, Net::ReadTimeout].freeze

    def initialize
      @server = ENV.fetch('CW_SERVER', 'http://127.0.0.1:5000').chomp('/')
      @pause = ENV.fetch('CW_PAUSE', '0.2').to_f
      uri = URI(@server)
      @base = uri.path
      @http = Net::HTTP.new(uri.host, uri.port, nil)
      @http.use_ssl = uri.scheme == 'https'
      @http.open_timeout = @http.read_timeout = 10
    end

    def run(bot, team)
      player = register(team)
      puts "#{team} is player #{player}. Watch the game at #{@server}/"
      bot.on_start(player)
      status = play(bot, team, player)
      bot.on_end(status)
      puts "#{status['status']}, #{status['score_1']} to #{status['score_2']}."
      puts CircuitWars.winner(status['status_code']) == player ? 'You won.' : 'You lost.'
    end

    private

    def register(team)
      answer = ask("reg/#{team}")
      return answer['player'] if answer['response'] == 'OK'

      abort "not registered as #{team}: #{answer['message'] || answer['error']}"
    end

    def play(bot, team, player)
      loop do
        sleep @pause
        status = ask('status')
        if status['status_code'] == 200 + player
          segment = bot.choose(Board.new(status['board']), player)
          sleep @pause
          status = ask("move/#{team}/#{segment.join(',')}")
        end
        return status if status['status_code'] >= 300
      end
    end

    # Requests a route and gives its JSON; exits with a message if there is none.
    def ask(path)
      started = now
      @http.start unless @http.started?
      reply = @http.get("#{@base}/#{path}")
      warn "GET /#{path} #{reply.code} #{format('%.1f', (now - started) * 1000)} ms"
      JSON.parse(reply.body)
    rescue JSON::ParserError
      abort "the server at #{@server} did not answer /#{path} with JSON"
    rescue *GONE => e
      abort "there is no server at #{@server}: #{e.message}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
