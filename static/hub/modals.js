/** Modals with a form: what is wrong shows within them, without a reload. */

/** @typedef {{next?: string, errors?: Record<string, string>, error?: string}} Answer */

/** Let the buttons of a page open their modals. */
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
 * Open a modal as if it had never been used; the browser gives the focus back when it closes.
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
 * Let a form be sent by script, and its X close the modal.
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
 * Send a form; go on, or show what is wrong.
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
 * Post a form; give the answer, which may be that there is none.
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
 * Show the errors of a form, empty its passwords, and go to the first that is wrong.
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
 * Show words in a place for errors, or hide it.
 * @param {Element | null} place
 * @param {string} words
 */
function say(place, words) {
  if (place instanceof HTMLElement) {
    place.textContent = words;
    place.hidden = !words;
  }
}
