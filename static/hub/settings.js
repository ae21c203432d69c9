/** The Settings page: modals, the picture, the list of countries. */

import { chooseCountries } from "./countries.js";
import { bindModals } from "./modals.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("picture-form"));
const picture = /** @type {HTMLInputElement} */ (document.getElementById("picture"));
const refusal = /** @type {HTMLElement} */ (document.getElementById("picture-error"));

picture.addEventListener("change", () => {
  const file = picture.files?.[0];
  if (!file) {
    return;
  }
  const isTooLarge = file.size > Number(form.dataset.largest);
  refusal.hidden = !isTooLarge;
  refusal.textContent = isTooLarge ? (form.dataset.refusal ?? "") : "";
  if (isTooLarge) {
    picture.value = "";
  } else {
    form.submit();
  }
});

bindModals();
chooseCountries(/** @type {HTMLSelectElement} */ (document.getElementById("country")));
