/** The licenses of what others made and we ship, as one text. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const LICENSES = 'THIRD-PARTY-LICENSES';

/** Those that ask for no more than that their text comes along. */
const ALLOWED: readonly unknown[] = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENSE_FILE = /^(?:licen[cs]e|copying)/i;
const NOTICE_FILE = /^notice/i;
const LICENSE_IN_README = /^#+ *licen[cs]e\s*$.*/ims;
const RULE = '='.repeat(80);

/**
 * Of the packages that went into a bundle.
 * @param root with a slash at its end.
 * @param inputs the files that went into it, by their paths from there.
 * @throws for a package without a license, or with one that asks for more than its text.
 */
export function licensesOfBundle(root: string, inputs: readonly string[]): string {
  const sections = packagesIn(inputs).map((path) => sectionOf(join(root, path)));
  return [
    'Coffer contains works of others, each under the license that follows its name.\n',
    ...sections,
  ].join('\n');
}

/** The folders of the packages that some files of a bundle are from, by their paths from where those begin. */
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
 * Of the Node that runs, and of all that is in it.
 * @param binary where it is; what it comes in has the license above its `bin`, for Windows beside it.
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

/** Of a Node of which the license is at hand. */
export const sectionOfNode = (version: string, license: string): string =>
  section(`Node.js ${version}`, license.trim());

const section = (title: string, text: string): string => `${RULE}\n${title}\n\n${text}\n`;
