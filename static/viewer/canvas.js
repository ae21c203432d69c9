/** Canvases at the resolution of the screen. */

/**
 * Return the drawing context of a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings]
 * @returns {CanvasRenderingContext2D}
 * @throws {Error} if the browser gives none
 */
export function contextOf(canvas, settings) {
  const ctx = canvas.getContext("2d", settings);
  if (!ctx) {
    throw new Error("This browser cannot draw.");
  }
  return ctx;
}

/**
 * Set the resolution of a canvas to that of the screen.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width in pixels of the page
 * @param {number} height
 */
export function fitCanvas(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    Object.assign(canvas, { width: across, height: down });
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/**
 * Clear a canvas, and return its context in pixels of the page.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width in pixels of the page
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
export function emptied(canvas, width, height) {
  fitCanvas(canvas, width, height);
  const ctx = contextOf(canvas);
  const ratio = canvas.width / width;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}
