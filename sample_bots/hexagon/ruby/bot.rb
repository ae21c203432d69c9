# frozen_string_literal: true

# A bot for Hexagon that makes a random legal move: rewrite `choose`.

require_relative 'hexagon'

# Makes any legal move, each equally likely.
class RandomBot < Hexagon::Bot
  # Gives your move, as [move_from, move_to].
  def choose(board, color, jumps)
    board.legal_moves(color).sample
  end
end

Hexagon.run(RandomBot.new)
