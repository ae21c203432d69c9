/** The button that restarts the game; it asks for confirmation while a game is running. */

/**
 * Bind the button, if the page has one.
 * @param {() => boolean} isRunning whether a game would be lost
 * @param {() => Promise<unknown>} restart
 */
export function bindRestart(isRunning, restart) {
  const button = document.getElementById("restart");
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("restart-dialog"));
  if (!button || !dialog) {
    return;
  }
  button.addEventListener("click", () => (isRunning() ? dialog.showModal() : attempt(restart)));
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "restart") {
      attempt(restart);
    }
    dialog.returnValue = "";
  });
}

/**
 * Restart the game, and report a refusal by the server.
 * @param {() => Promise<unknown>} restart
 */
async function attempt(restart) {
  const notice = $("#restart-notice").text("");
  try {
    await restart();
  } catch (failure) {
    const { responseJSON } = /** @type {FailedRequest} */ (failure);
    notice.text(responseJSON?.error ?? "The server does not answer.");
  }
}
