/** Updates a part of a page, keeping everything unchanged in place. */

/**
 * Make an element equal to a fresh one, keeping equal parts with their focus and their open and scroll state.
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 */
export function renew(old, fresh) {
  if (old.isEqualNode(fresh)) {
    return;
  }
  if (!(old instanceof Element && fresh instanceof Element) || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  for (const { name } of [...old.attributes].filter(({ name }) => name !== "open")) {
    if (!fresh.hasAttribute(name)) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of fresh.attributes) {
    old.setAttribute(name, value);
  }
  renewChildren(old, [...old.childNodes], [...fresh.childNodes]);
}

/**
 * @param {Element} old
 * @param {ChildNode[]} children
 * @param {ChildNode[]} fresh
 */
function renewChildren(old, children, fresh) {
  children.slice(fresh.length).forEach((child) => child.remove());
  fresh.forEach((child, index) => {
    if (index < children.length) {
      renew(children[index], child);
    } else {
      old.append(child);
    }
  });
}
