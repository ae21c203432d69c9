/** The page of a daily game: the calendar that leads to others. */

import { bindCalendars } from "./calendar.js";

bindCalendars();
