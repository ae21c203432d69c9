/** The editor: one view, and a state per file. */

import {
  autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, cpp, Decoration,
  defaultKeymap, drawSelection, EditorState, EditorView, go, highlightActiveLine, highlightActiveLineGutter,
  highlightSelectionMatches, highlightSpecialChars, HighlightStyle, history, historyKeymap, indentOnInput, indentUnit,
  indentWithTab, java, javascript, keymap, lineNumbers, php, python, ruby, search, searchKeymap, StateEffect,
  StateField, StreamLanguage, syntaxHighlighting, tags, WidgetType,
} from "../vendor/codemirror-6.43.15/codemirror.js";

/** @type {Record<string, () => unknown>} by file extension */
const LANGUAGES = {
  py: python, js: javascript, mjs: javascript, php: () => php(), java, go, c: cpp, h: cpp, cpp, hpp: cpp,
  rb: () => StreamLanguage.define(ruby),
};

const WIDTHS = { py: 4, php: 4, java: 4, c: 4, h: 4 };
const FEWEST_SIGNS = 3;
const MOST_NAMES = 2000;
const NAME = /[A-Za-z_]\w{2,}/g;

/** Colours taken from the site's tokens, so that both themes distinguish the same words. */
const STYLE = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.character], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.docString], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName)), tags.function(tags.propertyName)], color: "var(--code-name)" },
  { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--code-type)" },
  { tag: [tags.meta, tags.processingInstruction], color: "var(--code-type)" },
]);

/** @typedef {{line: number, words: string}} LineMark */

/** @type {import("../vendor/codemirror-6.43.15/codemirror.js").StateEffectType<LineMark[]>} */
const setMarks = StateEffect.define();

/** Words beside a line. */
class Words extends WidgetType {
  /** @param {string} words */
  constructor(words) {
    super();
    this.words = words;
  }

  /**
   * @override
   * @param {Words} other
   * @returns {boolean}
   */
  eq(other) {
    return other.words === this.words;
  }

  /**
   * @override
   * @returns {HTMLElement}
   */
  toDOM() {
    const words = document.createElement("span");
    words.className = "cm-mark-words";
    words.textContent = this.words;
    return words;
  }
}

/** The lines that have problems. */
const marksField = StateField.define({
  create: () => Decoration.none,
  update(ranges, transaction) {
    const marking = transaction.effects.find((effect) => effect.is(setMarks));
    return marking ? decorations(transaction.state, /** @type {LineMark[]} */ (marking.value)) : ranges.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * @param {EditorState} state
 * @param {LineMark[]} marks
 */
function decorations({ doc }, marks) {
  const ranges = marks.filter(({ line }) => line <= doc.lines).flatMap(({ line, words }) => {
    const { from, to } = doc.line(line);
    return [
      Decoration.line({ class: "cm-mark" }).range(from),
      Decoration.widget({ widget: new Words(words), side: 1 }).range(to),
    ];
  });
  return Decoration.set(ranges, true);
}

/** Shows files, and reports typing. */
export class Editor {
  /**
   * @param {HTMLElement} place
   * @param {string} nonce of the styles that it adds to the page
   * @param {{change: (name: string) => void, run: () => void}} page
   */
  constructor(place, nonce, page) {
    this.nonce = nonce;
    this.page = page;
    this.name = "";
    /** @type {Map<string, EditorState>} states of the files not shown */
    this.states = new Map();
    this.view = new EditorView({ parent: place, state: this.stateOf("", "") });
  }

  /**
   * @param {string} name
   * @param {string} text
   * @returns {EditorState}
   */
  stateOf(name, text) {
    const ending = name.split(".").at(-1) ?? "";
    const language = LANGUAGES[ending]?.() ?? [];
    const width = /** @type {Record<string, number>} */ (WIDTHS)[ending] ?? 2;
    return EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(this.nonce),
        keymap.of([{ key: "Mod-Enter", run: () => { this.page.run(); return true; }, preventDefault: true }]),
        lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(), drawSelection(),
        history(), indentOnInput(), bracketMatching(), closeBrackets(), highlightSelectionMatches(), search({ top: true }),
        autocompletion({ override: [(context) => this.complete(context)] }),
        indentUnit.of(ending === "go" ? "\t" : " ".repeat(width)), EditorState.tabSize.of(4),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
        language, syntaxHighlighting(STYLE), marksField,
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": name ? `Text of ${name}; Escape, then Tab leaves it` : "Editor" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) { this.page.change(this.name); } }),
      ],
    });
  }

  /**
   * Complete a name by those in all files, which include the kit's.
   * @param {import("../vendor/codemirror-6.43.15/codemirror.js").CompletionContext} context
   */
  complete(context) {
    const word = context.matchBefore(/\w+/);
    if (!context.explicit && (word?.text.length ?? 0) < FEWEST_SIGNS) {
      return null;
    }
    /** @type {Map<string, string>} the file of each name */
    const names = new Map();
    for (const name of [this.name, ...this.states.keys()]) {
      for (const [label] of this.text(name).matchAll(NAME)) {
        if (!names.has(label) && label !== word?.text && names.size < MOST_NAMES) {
          names.set(label, name);
        }
      }
    }
    const options = [...names].map(([label, file]) => ({ label, detail: file === this.name ? "" : file }));
    return { from: word?.from ?? 0, options, validFor: /^\w*$/ };
  }

  /**
   * Load a file from disk, whatever the editor contains.
   * @param {string} name
   * @param {string} text
   */
  take(name, text) {
    if (!this.has(name)) {
      this.states.set(name, this.stateOf(name, text));
    } else if (this.text(name) !== text) {
      const state = this.stateNamed(name);
      this.update(name, { changes: { from: 0, to: state.doc.length, insert: text } });
    }
  }

  /**
   * @param {string} name
   * @returns {boolean}
   */
  has(name) {
    return name === this.name ? name !== "" : this.states.has(name);
  }

  /**
   * @param {string} name
   * @returns {string}
   */
  text(name) {
    return this.stateNamed(name).doc.toString();
  }

  /**
   * @param {string} name
   * @returns {EditorState}
   */
  stateNamed(name) {
    return name === this.name ? this.view.state : this.states.get(name) ?? this.stateOf(name, "");
  }

  /**
   * Forget a deleted file.
   * @param {string} name
   */
  forget(name) {
    this.states.delete(name);
  }

  /**
   * Show a file.
   * @param {string} name
   */
  show(name) {
    if (name === this.name) {
      return;
    }
    const next = this.stateNamed(name);
    if (this.name) {
      this.states.set(this.name, this.view.state);
    }
    this.states.delete(name);
    this.name = name;
    this.view.setState(next);
  }

  /**
   * Go to a line of the current file.
   * @param {number} number from 1
   */
  goTo(number) {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.max(1, Math.min(number, doc.lines)));
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }

  /**
   * Scroll a line of the current file into view; cursor and focus stay where they are.
   * @param {number} number from 1
   */
  reveal(number) {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.max(1, Math.min(number, doc.lines)));
    // The start of the line at the right edge scrolls the editor all the way to the left.
    this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center", x: "end" }) });
  }

  /**
   * Mark lines, replacing all earlier marks.
   * @param {{file: string, line: number, words: string}[]} marks
   */
  mark(marks) {
    for (const name of [this.name, ...this.states.keys()].filter(Boolean)) {
      this.update(name, { effects: setMarks.of(marks.filter(({ file }) => file === name)) });
    }
  }

  /**
   * @param {string} name
   * @param {import("../vendor/codemirror-6.43.15/codemirror.js").TransactionSpec} spec
   */
  update(name, spec) {
    if (name === this.name) {
      this.view.dispatch(spec);
    } else {
      this.states.set(name, this.stateNamed(name).update(spec).state);
    }
  }
}
