import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../access/access.ts';
import { asCofferError, CofferError, denied, notFound } from '../../ground/errors.ts';
import { type Outcome, resultOf } from '../../operations/declaration/operation.ts';
import type { AnswerPrinter, AskedRequest, Result } from '../../operations/pipeline/asked-request.ts';
import type { Endpoint } from '../../operations/pipeline/endpoints.ts';
import { perform } from '../../operations/pipeline/perform.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import type { NoteFailure } from '../../service/outside-view.ts';
import type { ServedCore } from '../../service/served-core.ts';
import { dataStatus } from '../http/status-codes.ts';
import type { DoorOperation } from './door-operations.ts';

/** Operation of a mount that a protocol requests. */
interface WantedOperation {
  readonly found: DoorOperation;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly mount: string;
}

/** Caller that the protocol identifies by itself, and the look at the store that its request is answered from. */
interface KnownIdentity {
  readonly identity: TokenIdentity;
  readonly look: StoreLook;
}

/** Result of the operation, or its error. */
type Answered = { readonly outcome: Outcome<unknown> } | { readonly error: unknown };

/**
 * Runs an operation for an identity without a token, in the same pipeline as every request.
 * @param failed logs errors
 * @throws errors of the operation; `denied`; `not-found` for an unknown mount; `unavailable` if it cannot be recorded
 */
export async function performAs(
  served: ServedCore,
  known: KnownIdentity,
  wanted: WantedOperation,
  failed: NoteFailure,
): Promise<Outcome<unknown>> {
  const asked = askedOf(known, wanted);
  const answered = await perform(served, asked, doorOf(asked, failed));
  if ('outcome' in answered) return answered.outcome;
  throw answered.error;
}

function askedOf({ identity, look }: KnownIdentity, { found, raw, mount }: WantedOperation): AskedRequest {
  const endpoint = found.endpoints.at(look, mount, raw);
  const sent = besidePath(endpoint, raw);
  return {
    id: randomUUID(),
    endpoint,
    token: undefined,
    identity,
    remoteAddress: '',
    parameters: async () => ({ sent, recorded: sent }),
  };
}

/** Returns the parameters that are not part of the path. */
function besidePath({ match }: Endpoint, raw: WantedOperation['raw']): WantedOperation['raw'] {
  if (typeof match === 'string') return raw;
  const sent: Record<string, unknown> = {};
  for (const name in raw) {
    if (!Object.hasOwn(match.captures, name)) sent[name] = raw[name];
  }
  return sent;
}

function doorOf({ endpoint: { method } }: AskedRequest, failed: NoteFailure): AnswerPrinter<Answered> {
  const refused = (status: number, error: CofferError): Result<Answered> => ({
    answer: { error },
    status,
    error: error.message,
  });
  const unwelcome = (): Result<Answered> => refused(403, denied('not offered'));
  return {
    unauthenticated: unwelcome,
    denied: unwelcome,
    missing: () => refused(404, notFound('nothing is mounted at this path')),
    printed: ({ outcome }) => ({ answer: { outcome }, status: 200, data: resultOf(outcome) }),
    failed(error) {
      failed(error);
      const known = asCofferError(error);
      if (known === undefined) return refused(500, new CofferError('unavailable', 'internal error'));
      return refused(dataStatus(known, method), known);
    },
    unrecorded: (error) => ({ error }),
  };
}
