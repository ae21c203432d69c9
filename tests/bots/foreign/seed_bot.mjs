// A bot server of somebody who has read the rules of AI Code Battle and nothing else.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRET = process.env.SECRET ?? "";
const DIRECTIONS = ["N", "E", "S", "W"];

const sha256 = (body) => createHash("sha256").update(body).digest("hex");
const hmac = (text) => createHmac("sha256", SECRET).update(text).digest("hex");

function verified(headers, body) {
  const { "x-acb-match-id": match, "x-acb-turn": turn, "x-acb-timestamp": timestamp } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 30) return false;
  const expected = Buffer.from(hmac(`${match}.${turn}.${timestamp}.${sha256(body)}`));
  const given = Buffer.from(headers["x-acb-signature"] ?? "");
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function movesOf(state) {
  const mine = state.bots.filter((bot) => bot.owner === state.you.id);
  return mine.map(({ row, col }, index) => ({
    row, col, direction: DIRECTIONS[(state.turn + index) % DIRECTIONS.length],
  }));
}

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts);
    if (request.method === "GET" && request.url === "/health") {
      response.end("ok");
    } else if (request.url !== "/turn" || !verified(request.headers, body)) {
      response.writeHead(request.url === "/turn" ? 401 : 404).end();
    } else {
      const answer = JSON.stringify({ moves: movesOf(JSON.parse(body)) });
      const said = `${request.headers["x-acb-match-id"]}.${request.headers["x-acb-turn"]}.${sha256(answer)}`;
      response.setHeader("X-ACB-Signature", hmac(said));
      response.end(answer);
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
