'use strict';
// An HTTP server for bots: each reply leaves in one write, each request is logged in one line.

const http = require('node:http');

/** Bytes that the body of a request may have. */
const MAX_BODY = 16 * 1024 * 1024;

/** Characters of an exception that are sent. */
const MAX_WORDS = 1000;

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {URLSearchParams} query
 * @property {http.IncomingHttpHeaders} headers names in lower case
 * @property {Buffer} body
 */

/**
 * @typedef {object} Reply
 * @property {number} status
 * @property {string} [body]
 * @property {Record<string, string>} [headers]
 */

/**
 * Answers requests with `handle` until SIGTERM or Ctrl-C.
 *
 * Listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by default.
 * @param {(request: Request) => Reply} handle
 * @param {number} defaultPort
 */
function serve(handle, defaultPort) {
  const host = process.env.BOT_HOST || '127.0.0.1';
  const port = Number(process.env.PORT || process.env.BOT_PORT || defaultPort);
  const server = http.createServer({ noDelay: true, keepAliveTimeout: 0, requestTimeout: 0 });
  server.on('request', (request, response) => receive(handle, request, response));
  server.on('error', (error) => {
    console.error(`cannot listen on ${host}:${port}: ${error.message}`);
    process.exit(1);
  });
  server.listen(port, host, () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    console.log(`listening on http://${host}:${address.port}`);
  });
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(0));
}

/**
 * @param {(request: Request) => Reply} handle
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
function receive(handle, request, response) {
  const started = performance.now();
  if (Number(request.headers['content-length'] || 0) > MAX_BODY) {
    response.shouldKeepAlive = false;
    send(request, response, { status: 413 }, started);
    return;
  }
  /** @type {Buffer[]} */
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('error', () => response.destroy());
  request.on('end', () => {
    send(request, response, safely(handle, request, Buffer.concat(parts)), started);
  });
}

/**
 * @param {(request: Request) => Reply} handle
 * @param {http.IncomingMessage} request
 * @param {Buffer} body
 * @returns {Reply}
 */
function safely(handle, request, body) {
  const [path, query] = split(request.url || '');
  const { method = '', headers } = request;
  try {
    return handle({ method, path, query: new URLSearchParams(query), headers, body });
  } catch (error) {
    console.error(error);
    return { status: 500, body: inWords(error), headers: TEXT };
  }
}

/**
 * Gives an exception, its message, and the innermost line of the program's own file.
 * @param {unknown} error
 */
function inWords(error) {
  if (!(error instanceof Error)) return String(error);
  const frames = (error.stack || '').split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  const main = require.main?.filename || '';
  const at = frames.find((line) => line.includes(`${main}:`)) || frames[0];
  const place = at?.match(/([^/\\(]+):(\d+):\d+\)?$/);
  const what = `${error.name}: ${error.message}`.slice(0, MAX_WORDS);
  return `${what}${place ? ` (${place[1]}, line ${place[2]})` : ''}`;
}

/**
 * Writes head and body at once: two writes would cost 40 ms on a kept connection.
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 * @param {Reply} reply
 * @param {number} started
 */
function send(request, response, reply, started) {
  const body = Buffer.from(reply.body || '');
  response.writeHead(reply.status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...reply.headers,
  });
  const milliseconds = (performance.now() - started).toFixed(1);
  const [path] = split(request.url || '');
  // Logged first, so that whoever has the reply can rely on the line.
  console.error(`${request.method} ${path} ${reply.status} ${milliseconds} ms`);
  response.end(body);
}

/** @param {string} url */
function split(url) {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

module.exports = { serve };
