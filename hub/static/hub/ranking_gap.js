/** The gap between the top of a ranking and one's own place: it opens ten rows at a time, from either end. */

const STEP = 10;
const LINES = 3;

/**
 * Fetch rows.
 * @param {string} address
 * @param {number} first
 * @param {number} last
 * @returns {Promise<Element[]>}
 */
async function fetchRows(address, first, last) {
  const whole = new URL(address, location.href);
  whole.searchParams.set("from", String(first));
  whole.searchParams.set("to", String(last));
  const answer = await fetch(whole);
  if (!answer.ok) {
    throw new Error(answer.statusText);
  }
  // Our own server rendered them. Rows alone do not parse as a document, so wrap them in a table.
  const page = new DOMParser().parseFromString(`<table><tbody>${await answer.text()}</tbody></table>`, "text/html");
  return [...page.querySelectorAll("tr")];
}

/**
 * Return which rows of a gap a click shows, and which stay hidden.
 * @param {number} first position that is hidden
 * @param {number} last
 * @param {boolean} fromTop
 * @returns {{opening: [number, number], remainder: [number, number]}}
 */
export function partsOf(first, last, fromTop) {
  const edge = fromTop ? Math.min(first + STEP - 1, last) : Math.max(last - STEP + 1, first);
  return fromTop
    ? { opening: [first, edge], remainder: [edge + 1, last] }
    : { opening: [edge, last], remainder: [first, edge - 1] };
}

/**
 * Open a gap from one of its ends.
 * @param {HTMLElement} gap
 * @param {string} address of rows
 * @param {boolean} fromTop
 */
async function open(gap, address, fromTop) {
  const { opening, remainder: [first, last] } = partsOf(Number(gap.dataset.from), Number(gap.dataset.to), fromTop);
  const rows = await fetchRows(address, ...opening);
  if (fromTop) {
    gap.before(...rows);
  } else {
    gap.after(...rows);
  }
  Object.assign(gap.dataset, { from: String(first), to: String(last) });
  const left = last - first + 1;
  const thin = /** @type {HTMLElement} */ (gap.querySelector(".thin"));
  thin.className = `thin n${Math.min(left, LINES)}`;
  if (left <= 0) {
    rows[fromTop ? rows.length - 1 : 0]?.querySelector("a")?.focus();
    gap.remove();
  }
}

/** Make the gaps of this page open click by click. */
export function bindGaps() {
  const table = document.getElementById("ranking");
  /** @type {HTMLElement | null | undefined} */
  const gap = table?.querySelector(".gap");
  let working = Promise.resolve();
  for (const button of gap?.querySelectorAll("button") ?? []) {
    const fromTop = button.classList.contains("from-top");
    button.addEventListener("click", () => {
      working = working.then(async () => {
        if (gap?.isConnected) {
          await open(gap, table?.dataset.rows ?? "", fromTop);
        }
      }).catch(() => {});
    });
  }
}
