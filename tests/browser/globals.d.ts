/** What the browser code finds on the page, for its type check: see tests/test_browser_types.py. */

/** Choices kept between visits, by static/base.js. */
interface Memory {
  recall(name: string, fallback: string): string;
  keep(name: string, value: string): void;
}

interface Window {
  memory: Memory;
}

/** As much of jQuery as the monitor uses. */
interface JQuery {
  readonly [index: number]: Element;
  append(...content: (JQuery | string)[]): JQuery;
  attr(name: string, value: string | number): JQuery;
  attr(values: Record<string, string | number>): JQuery;
  find(selector: string): JQuery;
  prop(name: string): unknown;
  prop(name: string, value: boolean): JQuery;
  text(text: string | number): JQuery;
  toggleClass(name: string, on: boolean): JQuery;
}

/** What jQuery throws where an answer does not come or is no success. */
interface FailedRequest {
  readonly status: number;
  readonly responseJSON?: { error?: string };
}

declare const $: {
  (selector: string, attributes?: Record<string, string | number>): JQuery;
  ajax(settings: {
    url: string;
    dataType: "json";
    timeout: number;
    ifModified: boolean;
    headers: Record<string, string>;
  }): Promise<unknown>;
};
