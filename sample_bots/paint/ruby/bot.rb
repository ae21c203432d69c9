# frozen_string_literal: true

# A bot for Paint that takes any of the 16 actions: rewrite `choose`.
# Standard output belongs to the referee: print with `warn`.

require_relative 'paint'

# Takes any of the 16 actions, each equally likely.
class RandomBot < Paint::Bot
  # Gives your action, as [type, direction].
  def choose(state)
    Paint::ACTIONS.sample
  end
end

Paint.run(RandomBot.new)
