import { dirname, resolve } from 'node:path';
import { utf8 } from '../../ground/bytes.ts';
import { type CofferError, expected, invalid } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { type FileFormatName, FORMAT_NAMES } from '../../secret-files/format.ts';
import { RULES_NAME, type Rule } from '../../secret-files/rules.ts';
import type { SealedValue } from '../../secret-files/value.ts';
import { type ArgumentSpec, argument, taking } from '../command.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import type { OutPlace } from '../files/out-file.ts';
import { printDocument, printResult } from '../files/output.ts';
import { choiceOption, type Given, textOption } from '../given.ts';
import type { Session } from '../session.ts';
import { errorLine } from '../terminal/report.ts';
import { Rulebook } from './rulebook.ts';
import { FILE, type OpenFile, openOrNewFile, openSecretFile, replaceSecretFile } from './secret-file.ts';
import type { FileResult } from './transform.ts';
import type { ChosenKey } from './values.ts';

/* Common parts of the commands for files with secrets. */

export const oneFile = argument(FILE, 'File: .env, YAML or JSON.', { offers: 'file' });
export const manyFiles: ArgumentSpec = { ...oneFile, help: 'Files: .env, YAML or JSON.', many: true };

export const KEY = 'key';
const FORMAT = 'format';

/** Past participle of the messages of `secrets encrypt`. */
export const ENCRYPTED = 'Encrypted';

export const keyOption = taking(KEY, 'NAME', 'Key to encrypt with.', {
  fallback: 'from .coffer.yaml',
  offers: 'key',
});
export const formatOption = taking(FORMAT, 'FORMAT', 'File format, if the file name does not show it.', {
  fallback: 'from .coffer.yaml, else from the file name',
  choices: FORMAT_NAMES,
});

/**
 * Returns the requested format.
 * @throws `invalid` for an unknown format
 */
export const formatIn = (options: Given['options']): FileFormatName | undefined =>
  choiceOption(options, FORMAT, FORMAT_NAMES);

/** File, and the rule that applies to it. */
export interface RuledFile extends OpenFile {
  readonly rule: Rule | undefined;
}

/** Reads files according to options, rules and their names. */
export class Files {
  readonly #options: Given['options'];
  readonly #rulebook: Rulebook;

  constructor(session: Session, options: Given['options'], rulebook = new Rulebook(session)) {
    this.#options = options;
    this.#rulebook = rulebook;
  }

  open(path: string): Promise<RuledFile> {
    return this.#openBy(openSecretFile, path);
  }

  /** Reads a file, or returns a new one if it does not exist. */
  openOrNew(path: string): Promise<RuledFile> {
    return this.#openBy(openOrNewFile, path);
  }

  async #openBy(opener: typeof openSecretFile, path: string): Promise<RuledFile> {
    const rule = await this.#rulebook.ruleFor(path);
    return { ...(await opener(path, formatIn(this.#options) ?? rule?.format)), rule };
  }

  /**
   * Returns the key to encrypt with.
   * @param before value that is replaced, or another one of the file
   * @throws `invalid` if neither option nor rule names a key
   */
  keyFor(
    session: Session,
    { path, rule }: Pick<RuledFile, 'path' | 'rule'>,
    before?: SealedValue,
  ): ChosenKey {
    const named = textOption(this.#options, KEY);
    if (named === undefined && before !== undefined) return { mount: before.mount, name: before.key };
    const name = named ?? rule?.key;
    if (name === undefined) {
      const hasRules = this.#rulebook.sourceOf(dirname(resolve(path))) !== undefined;
      const isUnmatched = hasRules && rule === undefined;
      throw invalid(`no key given to encrypt ${path} with`, {
        hint: isUnmatched
          ? `use --key NAME, or add a rule: no rule in ${RULES_NAME} matches ${path}`
          : `use --key NAME, or add a rule to ${RULES_NAME}`,
      });
    }
    const { mount, mountNamed } = session.settings;
    return {
      mount: mountNamed ? mount : (rule?.mount ?? DEFAULT_MOUNT),
      name,
      isOfRule: named === undefined,
    };
  }
}

/** Collects the outcomes of work on several files. If one fails, the others are still processed. */
export class Outcomes {
  exitCode = DONE;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Prints an error, and keeps the exit code of the first one. */
  failed(error: CofferError): void {
    this.#session.write(errorLine(error.message, undefined, error.hint), 'error');
    if (this.exitCode === DONE) this.exitCode = exitCodeOf[error.kind];
  }

  /**
   * Processes each item.
   * @returns results of those that did not fail
   */
  async each<I, R>(items: readonly I[], work: (item: I) => R | Promise<R>): Promise<R[]> {
    const results: R[] = [];
    for (const item of items) {
      try {
        results.push(await work(item));
      } catch (error) {
        const known = expected(error);
        this.failed(known);
      }
    }
    return results;
  }

  /**
   * Writes the resulting files.
   * @param done past participle for the message to users: `Encrypted`
   */
  async write(files: readonly OpenFile[], results: readonly FileResult[], done: string): Promise<void> {
    const written = await this.each([...files.entries()], async ([index, file]) => {
      const result = results[index];
      if (result === undefined) return [];
      if ('errors' in result) {
        for (const error of result.errors) this.failed(error);
        return [];
      }
      const { changed } = result;
      await replaceSecretFile(file, result.file.text);
      this.#session.remark(doneText(done, changed, file));
      return [{ file: file.path, changed }];
    });
    await printDocument(this.#session, { files: written.flat() });
  }
}

/** Formats the message about a file. */
function doneText(done: string, changed: number, { path, file: { places } }: OpenFile): string {
  const values = (count: number): string => `${count} ${count === 1 ? 'value' : 'values'}`;
  const sealed = places.filter((place) => place.sealed !== undefined).length;
  if (changed > 0 || done !== ENCRYPTED || sealed === 0) return `${done} ${values(changed)} in ${path}.`;
  return `Nothing to encrypt in ${path}: ${values(sealed)} ${sealed === 1 ? 'is' : 'are'} encrypted already.`;
}

/**
 * Prints a text unchanged, without an additional newline, to `--out` or a pipe. With `-o json`, as a member of an
 * object.
 */
export async function printExactly(
  session: Session,
  file: OutPlace | undefined,
  member: string,
  text: string,
): Promise<void> {
  const isJson = session.settings.format === 'json';
  const data = { [member]: isJson ? text : utf8(text).toString('base64') };
  const shape = isJson ? {} : { result: { member, as: 'base64' as const } };
  await printResult(session, data, shape, { file, keepBase64: false });
}
