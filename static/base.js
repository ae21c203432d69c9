"use strict";

/**
 * Choices of the viewer, kept between visits where the browser allows it.
 */
window.memory = {
  /**
   * Give what was chosen before, or the fallback.
   * @param {string} name
   * @param {string} fallback
   * @returns {string}
   */
  recall(name, fallback) {
    try {
      return localStorage.getItem(`circuit-wars:${name}`) ?? fallback;
    } catch {
      return fallback;
    }
  },

  /**
   * Keep a choice.
   * @param {string} name
   * @param {string} value
   */
  keep(name, value) {
    try {
      localStorage.setItem(`circuit-wars:${name}`, value);
    } catch {
      // Storage is full or forbidden: the choice holds until the page is left.
    }
  },
};

const THEMES = ["auto", "light", "dark"];

/**
 * Colour the page; "auto" leaves it to the system.
 * @param {string} theme
 */
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

/** Let the button in the header go through the themes. */
function bindThemeButton() {
  const button = document.getElementById("theme");
  if (!button) {
    return;
  }
  const word = button.querySelector("[data-word]");
  word.textContent = document.documentElement.dataset.theme;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme;
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    showTheme(next);
    word.textContent = next;
    window.memory.keep("theme", next);
  });
}

// Before the first paint, so that the page does not flash in the other theme.
const chosen = window.memory.recall("theme", "auto");
showTheme(THEMES.includes(chosen) ? chosen : "auto");
document.addEventListener("DOMContentLoaded", bindThemeButton);
