// @ts-check
// Colours of code as classes instead of inline styles, which the gateway's content policy forbids. theme/style.css gives
// each class its colour in light and dark.

/** Stand-ins that only serve to tell the kinds of token apart. */
const COLORS = /** @type {const} */ ({
  "#000002": "code-comment",
  "#000003": "code-string",
  "#000004": "code-keyword",
  "#000005": "code-name",
  "#000006": "code-value",
});

export const CODE_THEME = {
  name: "switchyard",
  type: /** @type {const} */ ("light"),
  fg: "#000001",
  bg: "#ffffff",
  settings: [
    { settings: { foreground: "#000001", background: "#ffffff" } },
    rule("#000002", ["comment", "punctuation.definition.comment"]),
    rule("#000003", ["string", "punctuation.definition.string"]),
    rule("#000004", ["keyword", "storage", "keyword.operator.new"]),
    rule("#000005", ["entity.name", "support.function", "support.type.property-name", "meta.object-literal.key"]),
    rule("#000006", ["constant", "variable.other.constant", "variable.other.normal.shell"]),
  ],
};

function rule(/** @type {keyof typeof COLORS} */ foreground, /** @type {string[]} */ scope) {
  return { scope, settings: { foreground } };
}

/** @typedef {{ properties: Record<string, any> }} Element */

/** A transformer of Shiki, which runs on every code block. */
export const classesForColors = {
  name: "switchyard:classes",
  pre(/** @type {Element} */ { properties }) {
    properties.style = undefined;
  },
  span(/** @type {Element} */ { properties }) {
    const color = /#\d{6}/.exec(properties.style)?.[0] ?? "";
    properties.style = undefined;
    properties.class = COLORS[/** @type {keyof typeof COLORS} */ (color)];
  },
};
