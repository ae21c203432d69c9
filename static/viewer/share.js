/** Sharing: a link to the turn, code for another page, pictures, and a page that needs no server. */

import { byId } from "./elements.js";
import { scoresOf, titleOf, winnerOf } from "./words.js";

/** HTML entities of `&`, `<` and the like. */
const ENTITIES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" });

/** Milliseconds between requests for the progress of an animation. */
const ASK_AGAIN = 400;

/** Maximum number of players named in the title of a frame. */
const MOST_NAMES = 6;

/**
 * What is shared: a turn of a replay, as currently shown.
 * @typedef {object} Content
 * @property {import("./replay.js").Replay} replay
 * @property {number} turn
 * @property {string} view the player whose view is shown, "" for all
 * @property {boolean} told whether the result may be shown
 * @property {boolean} pictured whether there is a picture of the board
 */

/** The dialog that shares the current turn. */
export class Share {
  /** @param {() => Content | null} content returns what to share now */
  constructor(content) {
    this.contentOf = content;
    const root = byId("viewer").dataset;
    byId("share-link-part").hidden = !(root.source || root.live);
    byId("share-embed-part").hidden = !root.source;
    byId("share-files-part").hidden = !root.source;
    if (root.source) {
      byId("save-page").href = formOf(root.source, "page.html");
      byId("save-animation").addEventListener("click", () => void this.animate(formOf(root.source ?? "", "animation.gif")));
    }
    byId("share-hide").addEventListener("change", () => this.fill());
    byId("share").addEventListener("click", () => this.open());
    byId("copy-link").addEventListener("click", () => void copy(byId("share-link")));
    byId("copy-embed").addEventListener("click", () => void copy(byId("share-embed")));
    byId("save-picture").addEventListener("click", () => this.save());
  }

  /** Open the dialog. */
  open() {
    const content = this.contentOf();
    if (content) {
      byId("share-hide").checked = !content.told;
      byId("share-hide-part").hidden = !content.replay.over;
      this.fill();
      byId("share-dialog").showModal();
    }
  }

  /** Fill the dialog; with a hidden result, the link does not point to the end either. */
  fill() {
    const link = this.contentOf();
    if (link) {
      const told = !byId("share-hide").checked;
      const content = { ...link, told, turn: told || link.turn < link.replay.last ? link.turn : 0 };
      byId("share-turn").textContent = String(content.turn);
      byId("share-link").value = addressOf(content, false);
      byId("share-embed").value = embedCode(content);
      byId("share-picture-part").hidden = !content.pictured;
      byId("share-words").textContent = "";
    }
  }

  /**
   * Save the whole match as an animation made by the server.
   * @param {string} address
   */
  async animate(address) {
    const button = byId("save-animation");
    const name = button.textContent;
    const words = byId("share-words");
    button.disabled = true;
    words.textContent = "The server is making the animation. This takes a few seconds.";
    try {
      await animationReady(address.replace(/\.gif$/, ""), (part) => {
        button.textContent = `${name}: ${Math.floor(100 * part)} %`;
      });
      const answer = await accept(await fetch(address, { headers: { Accept: "application/json" } }));
      saveFile(await answer.blob(), decodeURIComponent(address.split("/").at(-2) ?? "replay") + ".gif");
      words.textContent = "The animation is saved.";
    } catch (error) {
      words.textContent = `No animation: ${error instanceof Refused ? error.message : "the server does not answer"}.`;
    }
    button.textContent = name;
    button.disabled = false;
  }

  /** Save the picture of the board as a file. */
  save() {
    const content = this.contentOf();
    if (!content) {
      return;
    }
    const game = content.replay.document.game.replace(/[^a-z0-9]+/gi, "-").slice(0, 40);
    boardPicture().toBlob((blob) => {
      if (blob) {
        saveFile(blob, `${game}-turn-${content.turn}.png`);
        byId("share-words").textContent = "The picture is saved.";
      }
    }, "image/png");
  }
}

/** The server has refused a request. */
class Refused extends Error {}

/**
 * Wait until the server has made an animation; it stops making it when polling ends.
 * @param {string} address
 * @param {(part: number) => void} tell called with the finished share, 0 to 1
 */
async function animationReady(address, tell) {
  for (;;) {
    const answer = await accept(await fetch(address, { method: "POST", headers: { Accept: "application/json" } }));
    const { painted, frames, ready } = await answer.json();
    if (ready) {
      return;
    }
    tell(frames ? painted / frames : 0);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN));
  }
}

/**
 * Return a response, or throw its message if it is a refusal.
 * @param {Response} answer
 */
async function accept(answer) {
  if (!answer.ok) {
    throw new Refused((await answer.json()).error);
  }
  return answer;
}

/**
 * Return the address of a replay in another form.
 * @param {string} source the address of its document
 * @param {string} form
 * @returns {string}
 */
function formOf(source, form) {
  return source.replace(/document$/, form);
}

/**
 * Let the browser save a file.
 * @param {Blob} blob
 * @param {string} name
 */
function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address));
}

/**
 * Return the address of the current view. Other parts of the page's address, such as the key for playing, are not
 * shared.
 * @param {Content} content
 * @param {boolean} embedded
 * @returns {string}
 */
function addressOf({ turn, view, told, replay }, embedded) {
  const address = new URL(location.pathname, location.href);
  const parameters = { embed: embedded ? "1" : "", turn: String(turn), view, hide: replay.over && !told ? "1" : "" };
  address.search = String(new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "")));
  return address.href;
}

/**
 * Return the code that embeds the replay in another page, with names and scores for people who cannot see it.
 * @param {Content} content
 * @returns {string}
 */
function embedCode(content) {
  const words = escaped(`${titleOf(content.replay.document.game)}: ${matchWords(content)}`);
  const frame = `<iframe src="${escaped(addressOf(content, true))}" title="${words}" width="720" height="640" loading="lazy" style="max-width: 100%; border: 0"></iframe>`;
  return `${frame}\n<p><a href="${escaped(addressOf(content, false))}">${words}</a></p>`;
}

/**
 * Return who plays, and how it ended if that may be shown.
 * @param {Content} content
 * @returns {string}
 */
function matchWords({ replay, told }) {
  const scores = told ? scoresOf(replay) : [];
  const names = replay.seats.slice(0, MOST_NAMES).map(({ name, index }) => (scores.length ? `${name} ${scores[index]}` : name));
  const rest = replay.seats.length - names.length;
  const players = [...names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return told && replay.over ? `${players}. ${winnerOf(replay)}` : players;
}

/**
 * @param {string} text
 * @returns {string} escaped for HTML
 */
function escaped(text) {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
}

/**
 * Return the board on its background: the canvas itself is transparent where nothing is drawn.
 * @returns {HTMLCanvasElement}
 */
function boardPicture() {
  const board = byId("board");
  const picture = Object.assign(document.createElement("canvas"), { width: board.width, height: board.height });
  const ctx = picture.getContext("2d");
  if (ctx) {
    ctx.fillStyle = getComputedStyle(byId("stage")).backgroundColor;
    ctx.fillRect(0, 0, picture.width, picture.height);
    ctx.drawImage(board, 0, 0);
  }
  return picture;
}

/**
 * Copy a text; if the browser forbids it, select the text for manual copying.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
async function copy(field) {
  field.select();
  const copied = await (navigator.clipboard?.writeText(field.value) ?? Promise.reject(new Error())).then(() => true, () => false);
  byId("share-words").textContent = copied ? "Copied." : "This browser does not let the page copy. The text is selected: copy it yourself.";
}
