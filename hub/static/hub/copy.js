/** Buttons that copy the value of a field, or an address of this site. */

export function bindCopies() {
  for (const button of document.querySelectorAll("[data-copy-link]")) {
    if (!(button instanceof HTMLElement)) continue;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(new URL(button.dataset.copyLink ?? "", location.href).href);
      button.textContent = "Copied";
    });
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!(button instanceof HTMLElement)) continue;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy ?? "");
      if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return;
      field.select();
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    });
  }
}
