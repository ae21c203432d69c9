/** The page of a daily game, with the calendar of the others. */

import { bindCalendars } from "./calendar.js";

bindCalendars();
