/** The Settings page: modals, the picture, the flag of the country. */

import { byId } from "../shared/dom.js";
import { bindModals } from "./modals.js";

const form = /** @type {HTMLFormElement} */ (byId("picture-form"));
const picture = /** @type {HTMLInputElement} */ (byId("picture"));
const refusal = byId("picture-error");

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

const country = /** @type {HTMLSelectElement} */ (byId("country"));
const flag = /** @type {HTMLImageElement} */ (byId("country-flag"));

country.addEventListener("change", () => {
  flag.hidden = country.value === "";
  flag.src = flag.hidden ? "" : `${flag.dataset.folder}/${country.value.toLowerCase()}.svg`;
});

bindModals();
