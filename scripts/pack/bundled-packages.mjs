/**
 * Lists the npm packages that a bundle contains, from esbuild's own list of inputs: name, version, licence and the text of
 * its licence. They become the package's THIRD-PARTY.txt, which their licences ask for, and its bill of materials.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const PACKAGE_PATH = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const SHA_512 = "sha512-";
const LICENCE_FILE = /^(licen[cs]e|copying)(\.|-|$)/i;

/** @typedef {{name: string, version: string, license: string, text: string | null, integrity: string}} BundledPackage */

/**
 * @param {string} root the directory of package-lock.json
 * @param {readonly string[]} inputs absolute paths
 * @returns {BundledPackage[]}
 */
export function bundledPackages(root, inputs) {
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const folders = new Set();
  for (const input of inputs) {
    const folder = PACKAGE_PATH.exec(input)?.[1];
    if (folder !== undefined) folders.add(folder);
  }
  const found = [...folders].map((folder) => described(folder, locked[relative(root, folder)]));
  const byName = new Map(found.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName.keys()].sort().map((key) => byName.get(key));
}

function described(folder, lock) {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => LICENCE_FILE.test(entry));
  const text =
    file === undefined || !existsSync(join(folder, file)) ? null : readFileSync(join(folder, file), "utf8");
  if (lock?.version !== version || !lock.integrity?.startsWith(SHA_512))
    throw new Error(`package-lock.json does not hold the SHA-512 of ${name} ${version}; run npm run setup`);
  return { name, version, license: nameOf(license ?? licenses), text, integrity: lock.integrity };
}

/** Old packages name their licence in an object, or in a list of objects. */
function nameOf(license) {
  if (typeof license === "string") return license;
  const [first] = [license].flat();
  if (typeof first?.type === "string") return first.type;
  throw new Error("a bundled package does not name its licence");
}

/** @param {readonly BundledPackage[]} packages */
export function noticesOf(packages) {
  const parts = packages.map(
    ({ name, version, license, text }) =>
      `${name} ${version} (${license})\n\n${text?.trim() ?? "The package contains no licence text."}\n`,
  );
  return `Antiphon's programs contain these packages.\n\n${parts.join(`\n${"-".repeat(78)}\n\n`)}`;
}

/**
 * A bill of materials in CycloneDX 1.5.
 *
 * @param {{version: string, license: string}} antiphon
 * @param {readonly BundledPackage[]} packages
 */
export function billOfMaterials({ version, license }, packages) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: component({ name: "antiphon", version, license }, "application") },
    components: packages.map((one) => component(one, "library")),
  };
}

function component({ name, version, license, integrity }, type) {
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  // An SPDX expression such as "MIT OR Apache-2.0" is not the id of one licence.
  const licence = /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license };
  const hashes =
    integrity === undefined
      ? {}
      : {
          hashes: [
            {
              alg: "SHA-512",
              content: Buffer.from(integrity.slice(SHA_512.length), "base64").toString("hex"),
            },
          ],
        };
  return { type, "bom-ref": purl, name, version, ...hashes, licenses: [licence], purl };
}
