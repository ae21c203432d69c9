# frozen_string_literal: true

# A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite `choose`.

require_relative 'end_of_codes'

# Attacks a random opponent next to it, else is idle or makes a random valid move.
class SampleBot < EndOfCodes::Bot
  def botname
    'sample'
  end

  def version
    '1.0'
  end

  # Gives your intents, at most one for each of your living creatures.
  def choose(game)
    game.mine.filter_map { |creature| act(game, creature) }
  end

  # Chooses for one creature; nil is idle.
  def act(game, creature)
    targets = []
    ways = []
    EndOfCodes::DIRECTIONS.each do |direction, (dx, dy)|
      x = creature.x + dx
      y = creature.y + dy
      other = game.at(x, y)
      targets << direction if other && other.userid != game.myid
      ways << direction if other.nil? && game.on_map?(x, y)
    end
    return creature.attack(targets.sample) if targets.any?

    creature.move(ways.sample) if ways.any? && rand < 0.5
  end
end

EndOfCodes.run(SampleBot.new)
