/** Elements of a page: whatever is put into them is shown as text and as nothing else. */

/**
 * Make an element.
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
 * Make a link.
 * @param {string} address
 * @param {...(Node | string)} content
 * @returns {HTMLAnchorElement}
 */
export function link(address, ...content) {
  return Object.assign(element("a", "", ...content), { href: address });
}

/**
 * Give the element with an id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Give what HTML of our own server stands for: it has escaped what others have written.
 * @param {string} html
 * @returns {Document}
 */
export function documentOf(html) {
  return new DOMParser().parseFromString(html, "text/html");
}
