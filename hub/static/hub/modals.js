/** Modals with a form: errors are shown inside, without a reload. */

/** @typedef {{next?: string, errors?: Record<string, string>, error?: string}} Answer */

/** Make the buttons of a page open their modals. */
export function bindModals() {
  for (const button of document.querySelectorAll("[data-opens]")) {
    const id = /** @type {HTMLElement} */ (button).dataset.opens ?? "";
    const dialog = document.getElementById(id);
    if (dialog instanceof HTMLDialogElement) {
      button.addEventListener("click", () => open(dialog));
    }
  }
  for (const form of document.querySelectorAll("form[data-modal]")) {
    bindForm(/** @type {HTMLFormElement} */ (form));
  }
}

/**
 * Open a modal in its initial state; the browser restores the focus when it closes.
 * @param {HTMLDialogElement} dialog
 */
function open(dialog) {
  const form = dialog.querySelector("form");
  form?.reset();
  if (form) {
    showErrors(form, {});
  }
  dialog.showModal();
  /** @type {HTMLInputElement | null} */ (dialog.querySelector("input[type=password]"))?.focus();
}

/**
 * Submit a form by script, and make its X close the modal.
 * @param {HTMLFormElement} form
 */
function bindForm(form) {
  form.querySelector("[data-cancel]")?.addEventListener("click", () => form.closest("dialog")?.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
}

/**
 * Submit a form; go on, or show the errors.
 * @param {HTMLFormElement} form
 */
async function send(form) {
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  const answer = await ask(form);
  buttons.forEach((button) => (button.disabled = false));
  if (answer.next) {
    form.closest("dialog")?.close();
    location.assign(answer.next);
    return;
  }
  showErrors(form, answer.errors ?? {}, answer.error);
}

/**
 * Post a form; return the answer, or an error if there is none.
 * @param {HTMLFormElement} form
 * @returns {Promise<Answer>}
 */
async function ask(form) {
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(/** @type {any} */ (new FormData(form))),
      headers: { Accept: "application/json" },
    });
    return answer.status === 401 ? { next: location.pathname } : await answer.json();
  } catch {
    return { error: "The server does not answer. Please try again." };
  }
}

/**
 * Show the errors of a form, clear its passwords, and focus the first invalid field.
 * @param {HTMLFormElement} form
 * @param {Record<string, string>} errors
 * @param {string} general
 */
function showErrors(form, errors, general = "") {
  /** @type {HTMLInputElement | null} */
  let first = null;
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll(".field input"))) {
    const words = errors[input.name] ?? "";
    input.toggleAttribute("aria-invalid", false);
    if (words) {
      input.setAttribute("aria-invalid", "true");
      first ??= input;
    }
    say(document.getElementById(`${input.id}-error`), words);
    input.value = "";
  }
  say(form.querySelector("[data-general]"), general);
  first?.focus();
}

/**
 * Show a message in a place for errors, or hide the place.
 * @param {Element | null} place
 * @param {string} words
 */
function say(place, words) {
  if (place instanceof HTMLElement) {
    place.textContent = words;
    place.hidden = !words;
  }
}
