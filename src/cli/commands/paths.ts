import { CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../mounts/paths.ts';
import { type PathRequest, resultOf } from '../../operations/declaration/operation.ts';
import type { ArgumentSpec, Command, OptionSpec } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { inputText, readInput } from '../files/input.ts';
import { type Given, textOption } from '../given.ts';
import { OUT, outOption } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';

/*
 * The API of the Vault family by its paths, as `vault read` and the like have it: on the local store, on a server of
 * ours, or on any other of the family, with engines that nobody here knows.
 */

const path: ArgumentSpec = {
  metavar: 'PATH',
  help: 'Path of the API without /v1/, e.g. transit/keys/orders.',
  required: true,
};

const pairs: ArgumentSpec = {
  metavar: 'KEY=VALUE',
  help: 'Parameters; KEY=@FILE and KEY=- read the value from a file or from standard input, FILE.json and - alone a whole JSON object.',
  required: false,
  many: true,
};

const FIELD = 'field';
const fieldOption: OptionSpec = {
  flag: FIELD,
  takes: 'value',
  metavar: 'NAME',
  help: 'Print this member of the result alone.',
};

type Examples = Command['examples'];

const command = (
  method: PathRequest['method'],
  takes: readonly ArgumentSpec[],
  details: string,
  examples: Examples,
): Command => ({
  arguments: takes,
  options: [fieldOption, outOption],
  details,
  examples,
  run: (session, given) => run(session, method, given),
});

export const read = command('GET', [path, pairs], 'Parameters go into the query.', [
  ['coffer read transit/keys/orders', 'What "vault read" shows'],
  ['coffer read transit/keys/orders --field latest_version', 'One member alone'],
]);
export const write = command('POST', [path, pairs], 'Parameters go into the body.', [
  ['coffer write transit/encrypt/orders plaintext=aGVsbG8=', 'As "vault write" does'],
  ['coffer write transit/keys/orders/config @config.json', 'The whole body from a file'],
]);
export const list = command('LIST', [path], 'Prints the names below a path.', [
  ['coffer list transit/keys', 'What "vault list" shows'],
]);
export const remove = command('DELETE', [path, pairs], 'What is deleted is gone.', [
  ['coffer delete transit/keys/orders', 'As "vault delete" does'],
]);

async function run(session: Session, method: PathRequest['method'], given: Given): Promise<number> {
  const [place = '', ...texts] = given.arguments;
  const parameters = Object.assign({}, ...texts.map((text) => parametersOf(session, text))) as object;
  const runner = await session.runner();
  const asked = { method, path: trimSlashes(place).replace(/^v1\//, ''), parameters: { ...parameters } };
  const outcome = await runner.at(asked);
  for (const warning of outcome.warnings ?? []) session.warn(warning);
  const destination = { file: textOption(given.options, OUT), keepBase64: true };
  if (outcome.text !== undefined) {
    const shape = { result: { member: 'text', as: 'text' } } as const;
    await printResult(session, { text: outcome.text.body }, shape, destination);
    return DONE;
  }
  const result = resultOf(outcome);
  const member = textOption(given.options, FIELD) ?? (method === 'LIST' ? 'keys' : undefined);
  if (member === undefined) {
    await printResult(session, result, {}, destination);
    return DONE;
  }
  if (!isObject(result) || !Object.hasOwn(result, member)) {
    throw new CofferError('not-found', `the result has no member ${JSON.stringify(member)}`, {
      field: FIELD,
    });
  }
  const as = Array.isArray(result[member]) ? 'lines' : 'text';
  await printResult(session, result, { result: { member, as } }, destination);
  return DONE;
}

/** One argument: `KEY=VALUE`, or a whole object from a file or from standard input. */
function parametersOf(session: Session, text: string): object {
  if (text === '-' || text.startsWith('@')) return objectIn(textOf(session, text));
  const mark = text.indexOf('=');
  if (mark < 1) {
    throw invalid(`${JSON.stringify(text)} is not KEY=VALUE`, {
      field: 'KEY=VALUE',
      hint: 'give KEY=VALUE, KEY=@FILE, KEY=-, @FILE or -',
    });
  }
  return { [text.slice(0, mark)]: textOf(session, text.slice(mark + 1)) };
}

function textOf(session: Session, text: string): string {
  if (text !== '-' && !text.startsWith('@')) return text;
  const file = text === '-' ? '-' : text.slice(1);
  const bytes = readInput(session, {
    value: undefined,
    valueIsFile: false,
    file,
    label: 'KEY=VALUE',
    optional: false,
  });
  return bytes === undefined ? '' : inputText(bytes, 'KEY=VALUE');
}

function objectIn(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw invalid('this is not a JSON object', { field: 'KEY=VALUE', hint: 'give {"key": "value", …}' });
}
