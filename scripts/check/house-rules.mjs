/** Rules of this project that no linter ships, as a plugin of oxlint (`oxlint.config.mjs` says where each holds). */

/** @param {string} message @param {readonly string[]} selectors what of the syntax tree breaks the rule */
const forbids = (message, ...selectors) => ({
  create: (context) =>
    Object.fromEntries(selectors.map((selector) => [selector, (node) => context.report({ node, message })])),
});

export default {
  meta: { name: "house" },
  rules: {
    environment: forbids(
      "The environment is read in config.ts only.",
      "MemberExpression[object.name='process'][property.name='env']",
    ),
    subscription: forbids(
      "Through runtime/src/nats/subscription.ts: a callback that throws ends all reading.",
      "CallExpression[callee.property.name='subscribe'][callee.object.name='nc']",
      "CallExpression[callee.property.name='subscribe'][callee.object.property.name='nc']",
    ),
    /** One place prints, and makes text from outside harmless (cli/C5). */
    printing: forbids(
      "Print through the screen (cli/src/screen).",
      "MemberExpression[object.name='process'][property.name=/^(stdout|stderr)$/]",
      "ImportDeclaration[source.value=/^(node:)?process$/]",
      "CallExpression[callee.name=/^write(v|Sync|File|FileSync)?$/][arguments.0.raw=/^(1|2|.[/]dev[/](stdout|stderr|tty).)$/]",
    ),
    terminal: forbids(
      "A child that has the terminal prints past the screen: read its output and print it through the screen.",
      "Property[key.name='stdio'] Literal[value='inherit']",
    ),
  },
};
