/** What pages take of CodeMirror: bundled into static/vendor/ by docs/make_editor.py. */

export { autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { cpp } from "@codemirror/lang-cpp";
export { go } from "@codemirror/lang-go";
export { java } from "@codemirror/lang-java";
export { javascript } from "@codemirror/lang-javascript";
export { php } from "@codemirror/lang-php";
export { python } from "@codemirror/lang-python";
export { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
export { ruby } from "@codemirror/legacy-modes/mode/ruby";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars,
  keymap, lineNumbers, WidgetType,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
