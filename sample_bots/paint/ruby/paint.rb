# frozen_string_literal: true

# Paint for bots: the conversation over standard input and output, and its events.

require 'json'

module Paint
  # The eight directions [drow, dcol]; row grows downward.
  DIRECTIONS = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]].freeze

  # The 16 actions, as [type, direction].
  ACTIONS = %w[walk shoot].product(DIRECTIONS).freeze

  # The board of a turn: `colors[row][col]` is a player id or nil, `player_id` is yours.
  #
  # `player_positions` gives the square [row, col] of each id; `turns_left` counts this turn too;
  # `previous_actions` holds one hash a turn, the oldest first; `obstacles` are squares.
  class State
    attr_reader :player_id, :turns_left, :width, :height, :player_positions, :colors,
                :previous_actions, :obstacles

    # Reads a message; raises KeyError and TypeError if it is none.
    def initialize(player_id, document)
      @player_id = player_id
      @turns_left = Integer(document.fetch('turns_left'))
      @width = document.fetch('width')
      @height = document.fetch('height')
      @player_positions = document.fetch('player_positions')
      @colors = document.fetch('colors')
      @previous_actions = document.fetch('previous_actions', [])
      @obstacles = document.fetch('obstacles', [])
    end

    # Gives the square of your avatar.
    def position
      player_positions[player_id]
    end

    # Tells whether a square is on the board and no obstacle.
    def free?(row, col)
      (0...height).cover?(row) && (0...width).cover?(col) && !obstacles.include?([row, col])
    end
  end

  # What you write: `choose`, and whichever of the other events you want to hear of.
  class Bot
    # Hears who you are; there are 5 s until you must be ready.
    def on_start(player_id); end

    # Gives your action, as [type, direction]; there is 0.5 s for it.
    def choose(state)
      raise NotImplementedError
    end

    # Hears that the game is over.
    def on_end; end
  end

  # Plays until the referee closes our input.
  def self.run(bot)
    trap('TERM') { exit!(0) }
    trap('INT') { exit!(0) }
    $stdout.sync = $stderr.sync = true
    talker = Talker.new(bot)
    $stdin.each_line { |line| talker.hear(line) }
    bot.on_end
  end

  # What the lines mean.
  class Talker
    def initialize(bot)
      @bot = bot
      @player_id = ''
    end

    def hear(line)
      @started = now
      case (message = read(line))
      when String then start(message)
      when State then play(message)
      else warn 'skipped an unreadable line' unless line.strip.empty?
      end
    end

    private

    # Gives the player id or the state that a line holds; nil if it holds neither.
    def read(line)
      message = JSON.parse(line)
      return nil unless message.is_a?(Hash)

      message.key?('player_id') ? message['player_id'] : State.new(@player_id, message)
    rescue KeyError, TypeError, ArgumentError, JSON::ParserError
      nil
    end

    def start(player_id)
      @player_id = player_id
      @bot.on_start(player_id)
      send({ ready: true }, "ready as #{player_id}")
    end

    def play(state)
      type, direction = @bot.choose(state)
      send({ turns_left: state.turns_left, type: type, direction: direction },
           "turns_left #{state.turns_left}: #{type} [#{direction.join(',')}]")
    end

    # Logs to standard error: standard output belongs to the referee.
    def send(message, text)
      $stderr.write("#{text} #{format('%.1f', (now - @started) * 1000)} ms\n")
      $stdout.write("#{JSON.generate(message)}\n")
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
