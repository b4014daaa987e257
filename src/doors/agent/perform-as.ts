import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../access/access.ts';
import { asCofferError, CofferError, denied, notFound } from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { type Operation, type Outcome, resultOf } from '../../operations/declaration/operation.ts';
import { pathParams, printPath, type Route, routesOf } from '../../operations/declaration/route.ts';
import type { AskedRequest, Door, Result } from '../../operations/pipeline/asked-request.ts';
import { perform } from '../../operations/pipeline/perform.ts';
import type { NoteFailure } from '../../service/outside-view.ts';
import type { ServedCore } from '../../service/served-core.ts';
import { dataStatus } from '../http/status-codes.ts';

/** Operation of a mount that a protocol requests. */
export interface Wanted {
  readonly operation: Operation;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly mount: string;
}

/** Somebody whom a door knows, as of a revision of the store. */
export interface Known {
  readonly identity: TokenIdentity;
  readonly revision: string;
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
  known: Known,
  wanted: Wanted,
  failed: NoteFailure,
): Promise<Outcome<unknown>> {
  const asked = askedOf(served, known, wanted);
  const answered = await perform(served, asked, doorOf(asked, failed));
  if ('outcome' in answered) return answered.outcome;
  throw answered.error;
}

function askedOf(
  served: ServedCore,
  { identity, revision }: Known,
  { operation, raw, mount: at }: Wanted,
): AskedRequest {
  const route = routeOf(operation, raw);
  const captures = Object.fromEntries(pathParams(route).flatMap((name) => capture(name, raw[name])));
  const inMount = printPath(
    route,
    (name) => captures[name],
    (segment) => segment,
  );
  const path = `${trimSlashes(at)}/${inMount}`;
  const found = served.mountOf(path);
  const mount = found?.type === operation.mount ? found : undefined;
  const sent = Object.fromEntries(Object.entries(raw).filter(([name]) => !Object.hasOwn(captures, name)));
  return {
    id: randomUUID(),
    method: route.method,
    path,
    match:
      mount === undefined
        ? 'unsupported-path'
        : { served: { name: '', summary: '', operation, route }, captures },
    mount,
    token: undefined,
    identity,
    remoteAddress: '',
    revision,
    policyPrefix: '',
    policyPaths: () => ({ paths: [path] }),
    parameters: async () => ({ sent, recorded: sent }),
  };
}

const capture = (name: string, value: unknown): readonly (readonly [string, string])[] =>
  typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];

function routeOf(operation: Operation, raw: Wanted['raw']): Route {
  const route = routesOf(operation).find(({ parts }) =>
    parts.every((part) => 'text' in part || part.optional || raw[part.param] !== undefined),
  );
  if (route === undefined) throw new Error('a parameter of the path is missing');
  return route;
}

function doorOf({ method }: AskedRequest, failed: NoteFailure): Door<Answered> {
  const refused = (status: number, error: CofferError): Result<Answered> => ({
    answer: { error },
    status,
    error: error.message,
  });
  const unwelcome = (): Result<Answered> => refused(403, denied('this is not offered here'));
  return {
    unauthenticated: unwelcome,
    denied: unwelcome,
    missing: () => refused(404, notFound('nothing is mounted there')),
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
