import { createHash } from 'node:crypto';
import { decodeBase64 } from '../../ground/base64.ts';
import type { InputHash, Operation } from '../../operations/declaration/operation.ts';
import type { RawValues } from '../parse/operation-values.ts';
import type { Session } from '../session.ts';
import type { Input } from '../terminal/streams.ts';
import { inputText, MAX_INPUT_BYTES, type OpenedInput, openInput } from './input.ts';

/** What was typed about the input that fills a parameter of an operation. */
export interface TypedInput {
  readonly value: string | undefined;
  /** `--in FILE` */
  readonly file: string | undefined;
  /** `--base64` */
  readonly isBase64: boolean;
}

/** Up to here an input is sent as it is, and nobody is asked about the key. */
const ORDINARY_BYTES = 1 << 20;

/** For what is larger, so that ordinary commands start without it. */
const largeInputs = () => import('./large-input.ts');

/**
 * The parameters that the main input of a command gives: the input itself, or a hash of it.
 * @param checked the other parameters, parsed.
 */
export async function mainInput(
  session: Session,
  operation: Operation,
  typed: TypedInput,
  checked: RawValues,
): Promise<RawValues> {
  const { input, largeInput } = operation.cli ?? {};
  if (input === undefined) return {};
  if (input.secret !== undefined) {
    const { askedSecret } = await import('./secret-input.ts');
    const secret = await askedSecret(session, input.param, input, typed);
    if (secret !== undefined) return { [input.param]: secret };
  }
  const isText = input.as === 'text' || typed.isBase64;
  const filled = (bytes: Buffer): RawValues => ({
    [input.param]: isText ? inputText(bytes, labelOf(operation)) : bytes.toString('base64'),
  });
  const parameters = await taken(session, operation, typed, filled, async ({ input: from }) => {
    if (largeInput === undefined || isText) return filled(from.readAll(MAX_INPUT_BYTES));
    const start = readStart(from);
    if (start.length <= ORDINARY_BYTES) return filled(start);
    const { hashInput, readRest } = await largeInputs();
    const hash = await largeInput.hash?.(checked, await session.runner());
    if (hash === undefined) return filled(readRest(from, start));
    return hash.of(await hashInput(session, from, start, hash.algorithm));
  });
  return parameters ?? {};
}

/** The start of an input. @returns all of it when it is no longer than an ordinary one; else one byte more than that. */
function readStart(input: Input): Buffer {
  const start = Buffer.allocUnsafe(ORDINARY_BYTES + 1);
  let filled = 0;
  while (filled < start.length) {
    const bytes = input.readNow(start.subarray(filled));
    if (bytes === 0) break;
    filled += bytes;
  }
  return start.subarray(0, filled);
}

/** The hash of the main input, made here. */
export async function hashedMainInput<T>(
  session: Session,
  operation: Operation,
  typed: TypedInput,
  hash: InputHash<T>,
): Promise<T> {
  const label = labelOf(operation);
  const ofBytes = (bytes: Buffer): T => {
    const input = typed.isBase64 ? decodeBase64(inputText(bytes, label), label) : bytes;
    return hash.of(createHash(hash.algorithm).update(input).digest());
  };
  const made = await taken(session, operation, typed, ofBytes, async ({ input }) => {
    if (typed.isBase64) return ofBytes(input.readAll(MAX_INPUT_BYTES));
    const { hashInput } = await largeInputs();
    return hash.of(await hashInput(session, input, Buffer.alloc(0), hash.algorithm));
  });
  return made ?? ofBytes(Buffer.alloc(0));
}

/** Opens the input, has it taken as what it is, and closes it. @returns undefined when none was given. */
async function taken<T>(
  session: Session,
  operation: Operation,
  { value, file }: TypedInput,
  ofValue: (bytes: Buffer) => T,
  ofFile: (opened: OpenedInput) => Promise<T>,
): Promise<T | undefined> {
  const { fromFile, optional, onRequest } = operation.cli?.input ?? {};
  const opened = openInput(session, {
    value,
    file,
    valueIsFile: fromFile === true,
    label: labelOf(operation),
    optional: optional === true,
    onRequest: onRequest === true,
  });
  if (opened === undefined) return undefined;
  if (Buffer.isBuffer(opened)) return ofValue(opened);
  try {
    return await ofFile(opened);
  } finally {
    opened.close();
  }
}

/** How messages call the input. */
function labelOf({ cli, params }: Operation): string {
  const param = cli?.input?.param ?? '';
  return params[param]?.cli.metavar ?? param;
}
