/** A list of countries with their flags, searched by typing; it stands in for a select. */

/** @typedef {{code: string, name: string, flag: string, key: string}} Country */

/**
 * Write a name without accents and case.
 * @param {string} name
 * @returns {string}
 */
function plain(name) {
  return name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * Put the list in the place of a select, which keeps the value and is sent with the form.
 * @param {HTMLSelectElement} select
 */
export function chooseCountries(select) {
  new CountryChooser(select);
}

class CountryChooser {
  /** @param {HTMLSelectElement} select */
  constructor(select) {
    this.select = select;
    /** @type {Country[]} */
    this.countries = [...select.options].map((option) => ({
      code: option.value, name: option.text, flag: option.dataset.flag ?? "", key: plain(option.text),
    }));
    this.box = document.createElement("div");
    this.input = document.createElement("input");
    this.list = document.createElement("ul");
    this.active = -1;
    this.build();
    this.bind();
    this.showChosen();
  }

  /** Make the field and the list, and hide the select. */
  build() {
    const { box, input, list, select } = this;
    box.className = "chooser";
    input.type = "text";
    input.id = `${select.id}-search`;
    input.autocomplete = "off";
    input.spellcheck = false;
    list.id = `${select.id}-list`;
    list.hidden = true;
    list.role = "listbox";
    list.ariaLabel = "Countries";
    input.role = "combobox";
    input.setAttribute("aria-controls", list.id);
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-autocomplete", "list");
    for (const name of ["aria-describedby", "aria-invalid"]) {
      const value = select.getAttribute(name);
      if (value) {
        input.setAttribute(name, value);
      }
    }
    document.querySelector(`label[for="${select.id}"]`)?.setAttribute("for", input.id);
    box.append(input, list);
    select.after(box);
    select.hidden = true;
  }

  /** Listen to keys, typing and the pointer. */
  bind() {
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => this.open(""));
    this.input.addEventListener("input", () => this.open(this.input.value));
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.press(event));
    // The field keeps the focus while somebody scrolls or clicks in the list.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest("li") : null;
      if (item?.dataset.code !== undefined) {
        this.choose(item.dataset.code);
      }
    });
  }

  /**
   * Open the list with the countries whose names hold what was typed.
   * @param {string} typed
   */
  open(typed) {
    const wanted = plain(typed.trim());
    const begins = this.countries.filter(({ key }) => key.startsWith(wanted));
    const holds = this.countries.filter(({ key }) => key.includes(wanted) && !key.startsWith(wanted));
    const found = [...begins, ...holds];
    this.list.replaceChildren(...found.map((country, index) => this.item(country, index)));
    if (found.length === 0) {
      this.list.append(this.nothing());
    }
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.point(wanted ? 0 : found.findIndex(({ code }) => code === this.select.value));
  }

  /**
   * Make the entry of a country.
   * @param {Country} country
   * @param {number} index
   * @returns {HTMLLIElement}
   */
  item({ code, name, flag }, index) {
    const item = document.createElement("li");
    item.id = `${this.list.id}-${index}`;
    item.role = "option";
    item.dataset.code = code;
    item.ariaSelected = String(code === this.select.value);
    item.append(...(flag ? [flagPicture(flag)] : []), name);
    return item;
  }

  /** @returns {HTMLLIElement} */
  nothing() {
    const item = document.createElement("li");
    item.className = "none";
    item.role = "option";
    item.ariaDisabled = "true";
    item.textContent = "No country has such a name.";
    return item;
  }

  /**
   * Point to an entry of the list.
   * @param {number} index
   */
  point(index) {
    const items = [...this.list.querySelectorAll("li[data-code]")];
    this.active = Math.max(-1, Math.min(index, items.length - 1));
    items.forEach((item, at) => item.classList.toggle("active", at === this.active));
    const item = items[this.active];
    this.input.setAttribute("aria-activedescendant", item?.id ?? "");
    item?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (steps) {
      event.preventDefault();
      if (this.list.hidden) {
        this.open("");
      } else {
        this.point(Math.max(0, this.active + steps));
      }
    } else if (event.key === "Enter" && !this.list.hidden) {
      event.preventDefault();
      const item = /** @type {HTMLElement | null} */ (this.list.querySelector("li.active"));
      if (item?.dataset.code !== undefined) {
        this.choose(item.dataset.code);
      }
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.close();
    }
  }

  /**
   * Take a country.
   * @param {string} code
   */
  choose(code) {
    this.select.value = code;
    this.close();
  }

  /** Close the list; what is chosen stands in the field. */
  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.setAttribute("aria-activedescendant", "");
    this.showChosen();
  }

  /** Show the chosen country in the field. */
  showChosen() {
    const chosen = this.countries.find(({ code }) => code === this.select.value) ?? this.countries[0];
    this.input.value = chosen.name;
    this.box.querySelector(".chosen-flag")?.remove();
    this.box.classList.toggle("flagged", Boolean(chosen.flag));
    if (chosen.flag) {
      const picture = flagPicture(chosen.flag);
      picture.classList.add("chosen-flag");
      this.box.prepend(picture);
    }
  }
}

/**
 * Make the picture of a flag; the name beside it says whose it is.
 * @param {string} address
 * @returns {HTMLImageElement}
 */
function flagPicture(address) {
  const picture = new Image(24, 18);
  picture.className = "flag";
  picture.alt = "";
  picture.loading = "lazy";
  picture.src = address;
  return picture;
}
