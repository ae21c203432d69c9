/** Elements of a page: strings put into them are only ever shown as text. */

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {...(Node | string)} content strings become text
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, className, ...content) {
  const created = document.createElement(tag);
  if (className) {
    created.className = className;
  }
  created.append(...content);
  return created;
}

/**
 * Create a link.
 * @param {string} address
 * @param {...(Node | string)} content
 * @returns {HTMLAnchorElement}
 */
export function link(address, ...content) {
  return Object.assign(element("a", "", ...content), { href: address });
}

/**
 * Return an element by its id, which must exist.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Parse HTML from our own server, which has escaped foreign text.
 * @param {string} html
 * @returns {Document}
 */
export function documentOf(html) {
  return new DOMParser().parseFromString(html, "text/html");
}
