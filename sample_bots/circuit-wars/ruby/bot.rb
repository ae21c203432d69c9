# frozen_string_literal: true

# A bot for Circuit Wars that draws a random free segment: rewrite `choose`.

require_relative 'circuit_wars'

# Draws any free segment, each equally likely.
class RandomBot < CircuitWars::Bot
  # Gives the free segment to draw, as [x, y, border].
  def choose(board, player)
    board.free_segments.sample
  end
end

CircuitWars.run(RandomBot.new)
