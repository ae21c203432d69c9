/** Buttons that copy the value of a field. */

export function bindCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!(button instanceof HTMLElement)) continue;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy ?? "");
      if (!(field instanceof HTMLTextAreaElement)) return;
      field.select();
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    });
  }
}
