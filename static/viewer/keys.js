/** The keys of the viewer. */

/** Elements in which keys type or choose something: ignored here. */
const WRITING = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";


/**
 * Listen for keys.
 * @param {Record<string, (digit: number) => void>} actions by `event.key`; "digit" takes digits,
 *   and keys with shift start with "Shift+"
 */
export function bindKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) {
      return;
    }
    const arrow = event.key.startsWith("Arrow") && event.shiftKey;
    const action = /^\d$/.test(event.key) ? actions.digit : actions[arrow ? `Shift+${event.key}` : event.key];
    if (action) {
      event.preventDefault();
      action(Number(event.key));
    }
  });
}

/**
 * Return whether the focused element uses a key itself.
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function isTaken({ key, target }) {
  if (!(target instanceof Element) || document.querySelector("dialog[open]")) {
    return true;
  }
  const presses = key === " " && target.matches("button, a, summary, input:not([type=range])");
  const goes = key.startsWith("Arrow") && target.matches("input[type=radio]");
  const scrolls = /^(Arrow|Home|End)/.test(key) && target.matches(".scroller, .lines");
  return target.matches(WRITING) || presses || goes || scrolls;
}
