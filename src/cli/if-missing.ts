import { type CofferError, expected } from '../ground/errors.ts';
import type { JsonObject } from '../ground/objects.ts';
import type { Operation, Outcome } from '../operations/declaration/operation.ts';
import type { Session } from './session.ts';

type RunRaw = (raw: JsonObject) => Promise<Outcome<unknown>>;

/**
 * Creates objects that do not exist yet, and reports those that do. If several names are created together or not at
 * all, the existing ones do not keep the others from being created.
 * @returns undefined if all existed
 * @see docs/decisions/0154
 */
export async function callUnlessThere(
  session: Session,
  operation: Operation,
  raw: JsonObject,
  call: RunRaw,
): Promise<Outcome<unknown> | undefined> {
  try {
    return await call(raw);
  } catch (error) {
    const known = expected(error, 'exists');
    const [several] = Object.entries(operation.params).filter(([, { cli }]) => cli.positional === 'variadic');
    const names = several === undefined ? [] : raw[several[0]];
    if (several === undefined || !Array.isArray(names) || names.length < 2) return say(session, known, raw);
    return eachUnlessThere(
      session,
      names.map((name) => ({ ...raw, [several[0]]: [name] })),
      call,
    );
  }
}

async function eachUnlessThere(
  session: Session,
  calls: readonly JsonObject[],
  call: RunRaw,
): Promise<Outcome<unknown> | undefined> {
  const made: unknown[] = [];
  for (const raw of calls) {
    try {
      const { data } = await call(raw);
      made.push(...((data as { readonly data?: readonly unknown[] } | undefined)?.data ?? []));
    } catch (error) {
      say(session, expected(error, 'exists'), raw);
    }
  }
  return made.length === 0 ? undefined : { created: true, data: { data: made } };
}

/** Text about a key to import whose name is taken: what to do instead, which is not what the user asked. */
const KEY_TO_IMPORT = /^the import path cannot be used with an existing key/;

function say(session: Session, { message, hint }: CofferError, { name }: JsonObject): undefined {
  if (KEY_TO_IMPORT.test(message)) session.say(`Key ${String(name)} already exists; it was left unchanged.`);
  else session.say(hint === undefined ? `${message}.` : `${message} (${hint}).`);
}
