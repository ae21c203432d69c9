/** Shows the result of a team bot's check as soon as it is known; text typed meanwhile is kept. */

import { byId, documentOf } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";

const EVERY = 2_000;
/** Maximum number of polls: the result of a longer check shows at the next visit. */
const MOST = 60;

const page = new Source(location.href);
let asked = 0;

await new Poller(async () => {
  const health = byId("health");
  const answer = await page.ask();
  const fresh = answer && documentOf(await answer.text()).getElementById("health");
  const isNew = fresh && fresh.dataset.checked !== health.dataset.checked;
  if (isNew) health.replaceWith(fresh);
  return Boolean(isNew) || ++asked >= MOST;
}, EVERY).run({ later: true });
