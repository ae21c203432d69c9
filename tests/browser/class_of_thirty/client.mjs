// A client of Circuit Wars for Node, with its own fetch.

const [server, team] = process.argv.slice(2);
const BORDERS = ["top", "right", "bottom", "left"];

async function get(path) {
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.PAUSE) * 1000));
  return (await fetch(`${server}/${path}`)).json();
}

function free(board) {
  return board.flatMap((row, y) => row.flatMap((square, x) => BORDERS.flatMap(
    (border, bit) => (square < 16 && !(square & (1 << bit)) ? [`${x},${y},${border}`] : []),
  )));
}

const answer = await get(`reg/${team}`);
if (answer.response !== "OK") {
  console.error("not registered", answer);
  process.exit(1);
}
let status = await get("status");
while (status.status_code < 300) {
  const moves = free(status.board);
  status = status.status_code === 200 + answer.player
    ? await get(`move/${team}/${moves[Math.floor(Math.random() * moves.length)]}`)
    : await get("status");
}
console.log(status.status_code);
