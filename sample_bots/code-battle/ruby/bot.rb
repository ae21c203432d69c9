# frozen_string_literal: true

# A bot for AI Code Battle that gives random orders: rewrite `choose`.

require_relative 'code_battle'

# Lets one bot in five hold and sends the others anywhere.
class RandomBot < CodeBattle::Bot
  # Gives your orders as [row, col, direction]; bots without one hold.
  def choose(match, view)
    movers = view.mine.reject { rand < 0.2 }
    movers.map { |row, col| [row, col, %w[N E S W].sample] }
  end
end

CodeBattle.run(RandomBot.new)
