"use strict";

/** The viewer's settings, kept between visits if the browser allows it. */
window.memory = {
  /**
   * Return a stored setting, or the fallback.
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
   * Store a setting.
   * @param {string} name
   * @param {string} value
   */
  keep(name, value) {
    try {
      localStorage.setItem(`circuit-wars:${name}`, value);
    } catch {
      // Storage is full or forbidden: the setting lasts until the page is left.
    }
  },
};

const THEMES = ["auto", "light", "dark"];

/**
 * Set the colours of the page; "auto" leaves them to the system.
 * @param {string} theme
 */
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

/**
 * Return the current theme of the page.
 * @returns {string}
 */
function shownTheme() {
  return document.documentElement.dataset.theme ?? "auto";
}

/** Make the button in the header cycle through the themes. */
function bindThemeButton() {
  const button = document.getElementById("theme");
  const word = button?.querySelector("[data-word]");
  if (!button || !word) {
    return;
  }
  word.textContent = shownTheme();
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(shownTheme()) + 1) % THEMES.length];
    showTheme(next);
    word.textContent = next;
    window.memory.keep("theme", next);
  });
}

// Before the first paint, so that the page does not flash in the other theme.
const choice = window.memory.recall("theme", "auto");
showTheme(THEMES.includes(choice) ? choice : "auto");
document.addEventListener("DOMContentLoaded", bindThemeButton);
