/** Name of the file with the licenses of third-party code. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const LICENSES = 'THIRD-PARTY-LICENSES';
/** The same in the executable: a sixth of their size, and read by one command. */
export const COMPRESSED_LICENSES = `${LICENSES}.br`;

/** Licenses that require their text to be included, or nothing. */
const ALLOWED: readonly unknown[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
];
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENSE_FILE = /^(?:licen[cs]e|copying)/i;
const NOTICE_FILE = /^notice/i;
const LICENSE_IN_README = /^#+ *licen[cs]e\s*$.*/ims;
const RULE = '='.repeat(80);

/**
 * Returns the licenses of the packages in a bundle.
 * @param root root directory, with a slash at its end
 * @param inputs paths of the bundled files, relative to the root
 * @throws if a package has no license, or one with further requirements
 */
export function licensesOfBundle(root: string, inputs: readonly string[]): string {
  const sections = packagesIn(inputs).map((path) => sectionOf(join(root, path)));
  return [
    'Coffer contains works of others, each under the license that follows its name.\n',
    ...sections,
  ].join('\n');
}

/**
 * Returns the directories of the packages that bundled files belong to, relative to the same directory as the inputs.
 */
export const packagesIn = (inputs: readonly string[]): readonly string[] =>
  [...new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))].sort();

function sectionOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    readonly [member: string]: unknown;
  };
  if (!ALLOWED.includes(license)) throw new Error(`${name} is licensed under ${license}: may it be shipped?`);
  const files = readdirSync(directory).sort();
  const texts = [LICENSE_FILE, NOTICE_FILE]
    .flatMap((wanted) => files.filter((file) => wanted.test(file)))
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
  const text = texts.length > 0 ? texts.join('\n\n') : licenseInReadme(directory);
  if (text === undefined) throw new Error(`there is no license in ${directory}`);
  return section(`${name} ${version} (${license})`, text);
}

const licenseInReadme = (directory: string): string | undefined =>
  LICENSE_IN_README.exec(readFileSync(join(directory, 'README.md'), 'utf8'))?.[0].trim();

/**
 * Returns the licenses of Node and everything in it.
 * @param binary path of the Node binary, whose archive has the license above its `bin`, or next to it for Windows
 */
export function licenseOfNode(binary: string = process.execPath): string {
  const directory = dirname(realpathSync(binary));
  const file = [dirname(directory), directory]
    .map((place) => join(place, 'LICENSE'))
    .find((path) => existsSync(path));
  if (file === undefined) {
    throw new Error(`there is no license beside ${binary}: take a Node as https://nodejs.org hands it out`);
  }
  return sectionOfNode(process.versions.node, readFileSync(file, 'utf8'));
}

/** Formats the section of a Node from its license text. */
export const sectionOfNode = (version: string, license: string): string =>
  section(`Node.js ${version}`, license.trim());

const section = (title: string, text: string): string => `${RULE}\n${title}\n\n${text}\n`;
