import type { WrapInfo } from '../access/wrapping.ts';
import { attempt, CofferError, ERROR_KINDS, type ErrorKind, sealed, unavailable } from '../ground/errors.ts';
import { isObject, type JsonObject } from '../ground/objects.ts';
import {
  type Operation,
  type Outcome,
  type PathRequest,
  resultOf,
} from '../operations/declaration/operation.ts';
import { routesOf } from '../operations/declaration/route.ts';
import { STRANGER_HINT, TOO_MANY_REQUESTS, type WireAnswer } from './request.ts';

const NO_CONTENT = 204;

/**
 * Converts a server's response to the result that a local store would return. A response of another form is rejected,
 * whatever its status: the login page of a network must not count as a valid signature.
 * @throws the error in the response
 */
export function readAnswer(operation: Operation, answer: WireAnswer): Outcome<unknown> {
  const { status, contentType, body } = answer;
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && operation.answersText) return { text: { contentType, body } };
  const members = readBody(answer);
  if (isSuccess && status !== NO_CONTENT && !operation.bare && !Object.hasOwn(members, 'data')) {
    throw strange(answer);
  }
  if (operation.api === 'json-api') {
    if (isSuccess) return documentOutcome(status, members);
    throw documentError(answer, members);
  }
  if (operation.bare && isSuccess) return { data: members };
  if (isSuccess || isBatch(members)) return withResult(operation, dataOutcome(status, members), answer);
  if (isListOfNothing(operation, answer, members)) return { data: { keys: [] }, nothingListed: true };
  throw dataError(answer, members);
}

/**
 * Converts a response of an arbitrary path.
 * @throws the error in the response
 */
export function readAnyAnswer({ method }: PathRequest, answer: WireAnswer): Outcome<unknown> {
  const { status, contentType, body } = answer;
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && !contentType.startsWith('application/json')) {
    return body === '' ? {} : { text: { contentType, body } };
  }
  const members = readBody(answer);
  if (isSuccess || isBatch(members)) {
    // Responses about the server itself have no envelope.
    if (!Object.hasOwn(members, 'data')) return bareOutcome(members);
    const { request_id, lease_id, lease_duration, renewable } = members;
    return { ...dataOutcome(status, members), envelope: { request_id, lease_id, lease_duration, renewable } };
  }
  if (method === 'LIST' && isNothing(status, members)) return { data: { keys: [] }, nothingListed: true };
  throw dataError(answer, members);
}

const bareOutcome = (members: JsonObject): Outcome<unknown> =>
  Object.keys(members).length === 0 ? {} : { data: members };

/**
 * Requires the operation's result.
 * @throws `unavailable` if the response lacks it
 */
function withResult(operation: Operation, outcome: Outcome<unknown>, answer: WireAnswer): Outcome<unknown> {
  const member = operation.cli?.result?.member;
  const result = resultOf(outcome);
  const isThere =
    member === undefined ||
    (isObject(result) && (Object.hasOwn(result, member) || isBatch({ data: result })));
  if (!isThere) throw strange(answer);
  return outcome;
}

function readBody(answer: WireAnswer): JsonObject {
  const { status, body } = answer;
  if (body === '' && (status === NO_CONTENT || status >= 300)) return {};
  const value: unknown = attempt(() => JSON.parse(body));
  if (isObject(value)) return value;
  // Something else responded in place of the server: a proxy, another program.
  throw strange(answer);
}

const strange = (answer: WireAnswer): CofferError =>
  unavailable(
    `the server gave an unexpected response (status ${answer.status})`,
    limitHint(answer) ?? STRANGER_HINT,
  );

/** Whether it is a batch with failed items, which has an error's status and the complete result. */
const isBatch = ({ data, errors }: JsonObject): boolean =>
  errors === undefined && isObject(data) && Array.isArray(data['batch_results']);

/**
 * Whether a response is an empty list: Vault responds with 404 and without a text; for a missing mount there is a text.
 */
const isListOfNothing = (operation: Operation, { status }: WireAnswer, members: JsonObject): boolean =>
  routesOf(operation).some(({ method }) => method === 'LIST') && isNothing(status, members);

const isNothing = (status: number, { errors }: JsonObject): boolean =>
  status === 404 && Array.isArray(errors) && errors.length === 0;

function dataOutcome(
  status: number,
  { data, warnings, auth, wrap_info: wrapInfo, coffer }: JsonObject,
): Outcome<unknown> {
  return {
    data: data ?? undefined,
    warnings: Array.isArray(warnings) ? warnings.map(String) : undefined,
    auth: isObject(auth) ? auth : undefined,
    wrapInfo: isObject(wrapInfo) ? (wrapInfo as unknown as WrapInfo) : undefined,
    existing: isObject(coffer) && coffer['existing'] === true ? true : undefined,
    created: isObject(coffer) && coffer['created'] === true ? true : undefined,
    failedItems: status >= 300 ? { statusCode: status } : undefined,
  };
}

function documentOutcome(status: number, document: JsonObject): Outcome<unknown> {
  if (status === 204) return {};
  const data = isObject(document['links']) ? { ...document, links: relative(document['links']) } : document;
  return status === 201 ? { data, created: true } : { data };
}

/** Makes links relative, as a local command shows them: the address is known. */
const relative = (links: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(links).map(([name, link]) => [
      name,
      typeof link === 'string' ? link.replace(/^https?:\/\/[^/]+/, '') : link,
    ]),
  );

const DATA_KINDS: Readonly<Record<number, ErrorKind>> = {
  400: 'invalid',
  403: 'denied',
  404: 'not-found',
  405: 'unsupported',
  413: 'too-large',
};

const DOCUMENT_KINDS: Readonly<Record<number, ErrorKind>> = {
  400: 'invalid',
  401: 'denied',
  404: 'not-found',
  406: 'invalid',
  413: 'too-large',
  415: 'invalid',
  422: 'invalid',
};

/** Errors that Vault reports with the status of an invalid parameter, by their texts. */
const KINDS_OF_TEXTS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/message authentication failed$|RSA decrypt.{0,60}: decryption error$/, 'inauthentic'],
  [
    /^path is already in use at |^key ".*" already exists$|^the import path cannot be used with an existing/,
    'exists',
  ],
];

/** Texts of an error. Some lookups of Vault have theirs in the result, beside the status. */
function textsOf({ errors, data }: JsonObject): readonly string[] {
  if (Array.isArray(errors)) return errors.map((text) => unwrapped(String(text)));
  return isObject(data) && typeof data['error'] === 'string' ? [data['error']] : [];
}

function dataError(answer: WireAnswer, members: JsonObject): CofferError {
  const { status } = answer;
  const detailed = detailedError(members['coffer']);
  if (detailed !== undefined) return detailed;
  const texts = textsOf(members);
  const message = texts.length === 0 ? `the server responded with status ${status}` : texts.join('; ');
  if (status === 503 && texts.includes('Vault is sealed')) return sealedServer();
  const kind =
    KINDS_OF_TEXTS.find(([known]) => known.test(message))?.[1] ?? DATA_KINDS[status] ?? 'unavailable';
  return kind === 'not-found' && texts.length === 0
    ? new CofferError(kind, 'not found')
    : new CofferError(kind, message, limitHint(answer) ?? HINTS[kind] ?? {});
}

export const DENIED_HINT = {
  hint: 'check that the token is valid and that its policies allow this',
} as const;

/** Returns the hint for a token whose policies do not allow a request. */
export function policiesHint(right: string, path: string): string {
  const shown = /^[\w./-]+$/.test(path) ? `; "coffer token capabilities ${path}" shows what they grant` : '';
  return `the token's policies must grant ${right} on ${path} for this request${shown}`;
}

const HINTS: Readonly<Partial<Record<ErrorKind, { readonly hint: string }>>> = {
  denied: DENIED_HINT,
  'too-large': {
    hint: 'raise --max-request-size on the server, or use "coffer transit envelope encrypt", which encrypts on this machine and requests only a data key',
  },
};

/** Returns the hint for a request that exceeds a rate limit, also after waiting. */
function limitHint({ status, waitMs = 0 }: WireAnswer): { readonly hint: string } | undefined {
  if (status !== TOO_MANY_REQUESTS) return undefined;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return { hint: `try again in ${seconds} s: the server limits the rate of requests` };
}

/** Message of a server that is sealed, or of an agent that has just lost its store. */
export const SEALED_SERVER = 'the server is sealed';

const sealedServer = (): CofferError => sealed(SEALED_SERVER, { hint: 'unseal it with "coffer unseal"' });

/** Servers give the same answer for what a token may not see as for what does not exist. */
export const UNSEEN_HINT = { hint: 'it does not exist, or the token is not allowed to see it' } as const;

/** Unwraps texts that Go prints as a list with one entry. */
const unwrapped = (text: string): string => /^1 error occurred:\n\t\* (.*)\n\n$/s.exec(text)?.[1] ?? text;

function documentError(answer: WireAnswer, { errors }: JsonObject): CofferError {
  const { status } = answer;
  const [first] = Array.isArray(errors) ? errors.filter(isObject) : [];
  const detailed = detailedError(first?.['meta']);
  if (detailed !== undefined) return detailed;
  const kind = DOCUMENT_KINDS[status] ?? 'unavailable';
  const text = first?.['detail'] ?? first?.['title'] ?? `the server responded with status ${status}`;
  if (status === 401) return new CofferError(kind, 'the token is missing or not valid', DENIED_HINT);
  if (status === 503 && text === 'The store is sealed.') return sealedServer();
  const hint = status === 404 ? UNSEEN_HINT : limitHint(answer);
  return new CofferError(kind, String(text), hint ?? {});
}

/** Parses the complete error, which Coffer servers include. */
function detailedError(details: unknown): CofferError | undefined {
  if (!isObject(details)) return undefined;
  const kind = ERROR_KINDS.find((candidate) => candidate === details['kind']);
  const { message, field, hint } = details;
  if (kind === undefined || typeof message !== 'string') return undefined;
  return new CofferError(kind, message, {
    field: typeof field === 'string' ? field : undefined,
    hint: typeof hint === 'string' ? hint : undefined,
  });
}
