'use strict';
// The default protocol for bots: questions as lines or as requests, and one bot for each match.

const readline = require('node:readline');
const fs = require('node:fs');
const { serve } = require('./bot_server.js');

const PORT = 3000;

/** Seats of matches that are remembered; the oldest makes way. */
const MOST_BOTS = 64;

/**
 * What your player sees, and who it is in this match.
 * @typedef {object} Question
 * @property {string} game
 * @property {string} match the same in all questions of a match
 * @property {number | string} player who you are
 * @property {number} turn how many turns were played before
 * @property {any} view all that your player may know
 * @property {unknown[]} actions that are allowed: all of them where the game lists them, else examples
 */

/**
 * What you write. Each match has a bot of its own, which may remember what it saw.
 * @typedef {object} Bot
 * @property {(question: Question) => unknown} choose
 *   give your action; there is 1 s for it, unless the match allows another time
 */

/**
 * Plays: as a web service where PORT or BOT_PORT says so, else on standard input and output.
 * @param {() => Bot} make
 */
function run(make) {
  const answer = answering(make);
  if (process.env.PORT || process.env.BOT_PORT) {
    serve((request) => respond(request, answer), PORT);
    return;
  }
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(0));
  const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
  lines.on('line', (line) => {
    const started = performance.now();
    const question = read(line);
    if (question === null) {
      console.error('skipped an unreadable line');
      return;
    }
    const text = JSON.stringify(answer(question));
    console.error(`turn ${question.turn}: ${text} ${(performance.now() - started).toFixed(1)} ms`);
    fs.writeSync(1, `${text}\n`);
  });
  lines.on('close', () => process.exit(0));
}

/**
 * Gives what answers questions, each with the bot of its match and player.
 * @param {() => Bot} make
 * @returns {(question: Question) => {turn: number, action: unknown}}
 */
function answering(make) {
  /** @type {Map<string, Bot>} */
  const bots = new Map();
  return (question) => {
    const key = JSON.stringify([question.match, question.player]);
    while (!bots.has(key) && bots.size >= MOST_BOTS) {
      bots.delete(/** @type {string} */ (bots.keys().next().value));
    }
    const bot = bots.get(key) ?? make();
    bots.set(key, bot);
    return { turn: question.turn, action: bot.choose(question) };
  };
}

/**
 * @param {import('./bot_server.js').Request} request
 * @param {ReturnType<typeof answering>} answer
 * @returns {import('./bot_server.js').Reply}
 */
function respond({ method, path, body }, answer) {
  if (method !== 'POST' || path !== '/act') {
    return { status: 404 };
  }
  const question = read(body.toString('utf8'));
  return question === null ? { status: 400 } : { status: 200, body: JSON.stringify(answer(question)) };
}

/**
 * Reads a question; null if it is none.
 * @param {string} text
 * @returns {Question | null}
 */
function read(text) {
  try {
    const question = JSON.parse(text);
    return typeof question.turn === 'number' && Array.isArray(question.actions) ? question : null;
  } catch {
    return null;
  }
}

module.exports = { run };
