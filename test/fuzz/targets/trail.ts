import { createSecretKey } from 'node:crypto';
import { AuditRecorder } from '../../../src/access/audit-record.ts';
import type { Chance } from '../../chance.ts';
import { processorMs } from '../../processor-time.ts';
import { Defect, target, type World } from '../target.ts';

/** Records of the audit trail: one line of JSON, without what was sent, in proportion to its length. */

const MOST_MS = 1000;
/** So much of the beginning of a value is known again where an error cuts it short. */
const BEGINNING = 16;
/** No letter of a hash in hex, so that a value stands in none by chance. */
const LETTERS = 'GHIJKLMNOPQRSTUVWXYZ';
/** A hash, and what stands around it. */
const MOST_BYTES_OF_A_VALUE = 100;
const MOST_BYTES_OF_A_LINE = 10_000;
const KNOWN: ReadonlySet<string> = new Set(['plaintext', 'batch_input', 'context', 'nonce']);

interface Sample {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly error: string;
}

const recorder = new AuditRecorder(createSecretKey(Buffer.alloc(32, 7)), { now: () => 0 });

function secretOf(chance: Chance): string {
  const letters = (length: number): string =>
    Array.from({ length }, () => LETTERS[chance.below(LETTERS.length)]).join('');
  const text = letters(6 + chance.size(400));
  return chance.below(3) === 0
    ? `${text}${chance.pick(['"', '\\', '\n', '\u2028', '\ud800', 'hmac-sha256:', ' permission denied ', '\u0000'])}${letters(6)}`
    : text;
}

function someValue(chance: Chance, depth: number): unknown {
  const kind = chance.below(depth > 3 ? 1 : 4);
  if (kind === 0) return secretOf(chance);
  const inner = Array.from({ length: chance.below(4) }, () => someValue(chance, depth + 1));
  return kind === 1
    ? inner
    : Object.fromEntries(
        inner.map((value) => [chance.pick(['plaintext', '__proto__', secretOf(chance)]), value]),
      );
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) yield* textsOf(one);
}

/** Values that the operation knows, of which its error may repeat some. */
const sentOf = ({ parameters }: Sample): readonly string[] =>
  Object.keys(parameters).flatMap((name) => (KNOWN.has(name) ? [...textsOf(parameters[name])] : []));

function errorOf(chance: Chance, sent: readonly string[]): string {
  const piece = (): string => {
    const value = sent.length === 0 ? '' : chance.pick(sent);
    return chance.pick([
      value,
      JSON.stringify(value),
      `${value.slice(0, BEGINNING + chance.below(40))}\u2026`,
      'permission denied',
      'hmac-sha256:',
      ' is no ',
      '"',
    ]);
  };
  return Array.from({ length: chance.size(40) }, piece).join(chance.pick(['', ' ', ': ']));
}

const open = async (): Promise<World<Sample>> => ({
  generate(chance) {
    const names = [...KNOWN, 'z', '__proto__', 'constructor', `${secretOf(chance)}`];
    const some = Array.from(
      { length: chance.below(6) },
      () => [chance.pick(names), someValue(chance, 0)] as const,
    );
    const many = Array.from(
      { length: chance.below(20) === 0 ? 3000 : 0 },
      (_, at) => [`a${at}`, secretOf(chance)] as const,
    );
    const parameters = Object.fromEntries([...some, ...many]);
    return { parameters, error: errorOf(chance, sentOf({ parameters, error: '' })) };
  },
  check(sample) {
    const { parameters, error } = sample;
    let line = '';
    const took = processorMs(() => {
      line = recorder.response(
        {
          id: 'i',
          operation: 'update',
          path: 'transit/encrypt/orders',
          remoteAddress: '',
          parameters,
          isKnown: (name) => KNOWN.has(name),
          isPlain: () => false,
        },
        { status: 400, error },
      );
    });
    const sentBytes = JSON.stringify(parameters).length;
    if (took > MOST_MS) throw new Defect(`a record of ${sentBytes} bytes took ${took} ms`);
    if (/[\r\n]/.test(line)) throw new Defect('a record is more than one line');
    const record = JSON.parse(line) as { readonly error: string };
    const most =
      MOST_BYTES_OF_A_LINE + 2 * sentBytes + MOST_BYTES_OF_A_VALUE * 2 * Object.keys(parameters).length;
    if (line.length > most) throw new Defect(`a record of ${sentBytes} bytes has ${line.length}`);
    for (const value of sentOf(sample)) {
      // Up to what JSON writes in another way, in which errors repeat values as well.
      const [beginning = ''] = /^[G-Z]{1,16}/.exec(value) ?? [];
      if (beginning !== '' && (line.includes(beginning) || record.error.includes(beginning)))
        throw new Defect('a record shows a value');
    }
  },
  print: (sample) => JSON.stringify(sample),
  *simpler({ parameters, error }) {
    for (const name of Object.keys(parameters)) {
      const { [name]: _, ...rest } = parameters;
      yield { parameters: rest, error };
    }
    if (error !== '') yield { parameters, error: error.slice(0, error.length / 2) };
  },
  close: () => undefined,
});

export const trail = target<Sample>({ name: 'trail', cases: 10_000, open });
