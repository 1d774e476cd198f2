// The YAML parser as a module that is imported when it is needed: as a CommonJS package of the bundle it would lose its
// named exports.
export { parse } from "yaml";
