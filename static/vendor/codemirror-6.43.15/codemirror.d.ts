/** As much of CodeMirror's types as pages use; the packages bring the whole. */

export type Extension = unknown;
export interface Text {
  readonly lines: number;
  readonly length: number;
  line(number: number): { from: number; to: number; text: string; number: number };
  lineAt(position: number): { from: number; to: number; text: string; number: number };
  toString(): string;
}
export interface ChangeSpec { from: number; to?: number; insert?: string }
export interface TransactionSpec {
  changes?: ChangeSpec;
  selection?: { anchor: number; head?: number };
  effects?: unknown;
  scrollIntoView?: boolean;
}
export interface Transaction {
  readonly state: EditorState;
  readonly changes: unknown;
  readonly effects: readonly StateEffect<unknown>[];
  readonly docChanged: boolean;
}
export declare class EditorState {
  static create(config: { doc?: string; selection?: { anchor: number }; extensions?: Extension }): EditorState;
  static readonly readOnly: { of(value: boolean): Extension };
  static readonly tabSize: { of(value: number): Extension };
  readonly doc: Text;
  readonly selection: { main: { head: number } };
  field<T>(field: StateField<T>): T;
  update(spec: TransactionSpec): Transaction;
}
export interface ViewUpdate { readonly docChanged: boolean; readonly state: EditorState }
export declare class EditorView {
  constructor(config: { parent: Element; state: EditorState });
  static readonly cspNonce: { of(nonce: string): Extension };
  static readonly lineWrapping: Extension;
  static readonly contentAttributes: { of(attributes: Record<string, string>): Extension };
  static readonly updateListener: { of(listener: (update: ViewUpdate) => void): Extension };
  static readonly decorations: { from(field: StateField<unknown>): Extension };
  static theme(rules: Record<string, Record<string, string>>, options?: { dark?: boolean }): Extension;
  static scrollIntoView(position: number, options?: { x?: "end"; y?: "center" | "nearest" }): StateEffect<unknown>;
  readonly state: EditorState;
  readonly dom: HTMLElement;
  readonly contentDOM: HTMLElement;
  setState(state: EditorState): void;
  dispatch(spec: TransactionSpec): void;
  focus(): void;
}
export interface StateEffect<T> {
  readonly value: T;
  is<U>(type: StateEffectType<U>): this is StateEffect<U>;
}
export interface StateEffectType<T> { of(value: T): StateEffect<T> }
export declare const StateEffect: { define<T>(): StateEffectType<T> };
export interface StateField<T> { readonly init?: T; extension: Extension }
export declare const StateField: {
  define<T>(config: {
    create(state: EditorState): T;
    update(value: T, transaction: Transaction): T;
    provide?(field: StateField<T>): Extension;
  }): StateField<T>;
};
export interface Ranges { map(changes: unknown): Ranges }
export declare const Decoration: {
  readonly none: Ranges;
  line(spec: { class: string }): { range(position: number): unknown };
  widget(spec: { widget: WidgetType; side?: number; block?: boolean }): { range(position: number): unknown };
  set(ranges: unknown[], sort?: boolean): Ranges;
};
export declare class WidgetType {
  toDOM(view: EditorView): HTMLElement;
  eq(other: WidgetType): boolean;
}
export interface KeyBinding { key: string; run: (view: EditorView) => boolean; preventDefault?: boolean }
export declare const keymap: { of(bindings: readonly KeyBinding[]): Extension };
export declare const HighlightStyle: { define(rules: { tag: unknown; [style: string]: unknown }[]): unknown };
export declare const StreamLanguage: { define(mode: unknown): Extension };
export declare const indentUnit: { of(unit: string): Extension };
export declare const indentWithTab: KeyBinding;
export declare const closeBracketsKeymap: readonly KeyBinding[];
export declare const completionKeymap: readonly KeyBinding[];
export declare const defaultKeymap: readonly KeyBinding[];
export declare const historyKeymap: readonly KeyBinding[];
export declare const searchKeymap: readonly KeyBinding[];
export declare const ruby: unknown;
export declare const tags: Record<string, any>;
export interface Completion { label: string; type?: string; detail?: string; boost?: number }
export interface CompletionContext {
  readonly explicit: boolean;
  matchBefore(pattern: RegExp): { from: number; to: number; text: string } | null;
}
export interface CompletionResult { from: number; options: Completion[]; validFor?: RegExp }
export declare function autocompletion(config?: { override?: ((context: CompletionContext) => any)[] }): Extension;
export declare function completeAnyWord(context: CompletionContext): CompletionResult | null;
export declare function closeBrackets(): Extension;
export declare function history(): Extension;
export declare function cpp(): Extension;
export declare function go(): Extension;
export declare function java(): Extension;
export declare function javascript(): Extension;
export declare function php(config?: { plain?: boolean }): Extension;
export declare function python(): Extension;
export declare function bracketMatching(): Extension;
export declare function indentOnInput(): Extension;
export declare function syntaxHighlighting(style: unknown): Extension;
export declare function highlightSelectionMatches(): Extension;
export declare function search(config?: { top?: boolean }): Extension;
export declare function drawSelection(): Extension;
export declare function highlightActiveLine(): Extension;
export declare function highlightActiveLineGutter(): Extension;
export declare function highlightSpecialChars(): Extension;
export declare function lineNumbers(): Extension;
