import type { WrapInfo } from '../../../access/wrapping.ts';
import { isObject, madeOnce } from '../../../ground/objects.ts';
import type { Operation, Outcome } from '../../../operations/declaration/operation.ts';
import type { Answer } from '../exchange.ts';

/**
 * Responses of `/v1`, byte for byte like Vault's: one line with a final newline, members of `data` sorted, `<`, `>` and
 * `&` escaped like Go's encoder does for HTML.
 */

export const JSON_TYPE = 'application/json';
const NO_STORE = { 'cache-control': 'no-store' } as const;

/** Request data in the envelope. */
export interface Labels {
  readonly id: string;
  /** Type of the engine that responded, as in newer versions of Vault; some clients check it. */
  readonly mountType: string;
}

const JSON_ANSWER = { status: 200, contentType: JSON_TYPE, headers: NO_STORE } as const;

/** The request ID is part of the wrapped response. */
const printWrapInfo = (wrapInfo: WrapInfo): string =>
  '{"request_id":"","lease_id":"","renewable":false,"lease_duration":0,"data":null' +
  `,"wrap_info":${printInOrder(wrapInfo)},"warnings":null,"auth":null}\n`;

/** Returns the part of a response that is stored for unwrapping. */
export function keptOf({ body }: Answer): string | undefined {
  if (body === undefined) return undefined;
  return (typeof body === 'string' ? body : Buffer.concat(body).toString()).trimEnd();
}

/**
 * Formats a successful response: the envelope, or 204 if it is empty.
 * @param notes warnings about the request, which are lost if the response has no body
 */
function envelope({ id, mountType }: Labels, outcome: Outcome<unknown>, notes: readonly string[]): Answer {
  const { data, auth, topLevel, failedItems, wrapInfo } = outcome;
  if (wrapInfo !== undefined) return { ...JSON_ANSWER, body: printWrapInfo(wrapInfo) };
  if (outcome.nothingListed) return errorBody(404, []);
  if (data === undefined && auth === undefined && (outcome.warnings ?? []).length === 0) {
    return { status: 204, contentType: JSON_TYPE, headers: NO_STORE };
  }
  const warnings = [...(outcome.warnings ?? []), ...notes];
  const body =
    `{"request_id":"${id}","lease_id":"","renewable":false,"lease_duration":0` +
    `,"data":${data === undefined ? 'null' : printSorted(data)},"wrap_info":null` +
    `,"warnings":${warnings.length === 0 ? 'null' : printSorted(warnings)}` +
    `,"auth":${auth === undefined ? 'null' : printInOrder(auth)}${printMembers(topLevel)}` +
    `,"mount_type":"${mountType}"}`;
  // A batch with failed items is answered with the complete result, without a final newline, as in Vault.
  if (failedItems !== undefined) {
    const { statusCode: status } = failedItems;
    const answer = { status, contentType: JSON_TYPE, headers: NO_STORE };
    return status === 204 || status === 304 ? answer : { ...answer, body };
  }
  return { ...JSON_ANSWER, status: outcome.statusCode ?? 200, body: `${body}\n` };
}

/** Formats a response without the envelope: health, seal status. */
function bare(data: unknown, status = 200): Answer {
  return { status, contentType: JSON_TYPE, headers: NO_STORE, body: `${printInOrder(data)}\n` };
}

const keptAnswers = new WeakMap<object, Answer>();

/**
 * Formats and caches a constant response: formatting the description of all operations takes as long as hundreds of
 * other responses, and anyone may request it.
 */
function kept(data: unknown): Answer {
  if (!isObject(data)) return bare(data);
  return madeOnce(keptAnswers, data, () => bare(data));
}

/**
 * Formats the result of an operation.
 * @param notes warnings about the request
 */
export function printOutcome(
  labels: Labels,
  operation: Operation,
  outcome: Outcome<unknown>,
  notes: readonly string[],
): Answer {
  if (outcome.text !== undefined) {
    return { status: 200, contentType: outcome.text.contentType, body: outcome.text.body };
  }
  if (outcome.verbatim !== undefined) return { ...JSON_ANSWER, body: outcome.verbatim };
  if (!operation.bare) return envelope(labels, outcome, notes);
  return operation.answersTheSame ? kept(outcome.data) : bare(outcome.data, outcome.statusCode);
}

/** Returns warnings about the request itself. */
export function parameterNotes(
  unrecognized: readonly string[],
  captures: Readonly<Record<string, string>>,
  parameters: Readonly<Record<string, unknown>>,
): readonly string[] {
  const notes: string[] = [];
  if (unrecognized.length > 0) {
    notes.push(`Endpoint ignored these unrecognized parameters: [${unrecognized.join(' ')}]`);
  }
  const replaced = Object.keys(captures).filter((name) => Object.hasOwn(parameters, name));
  if (replaced.length > 0) {
    notes.push(
      `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [${replaced.sort().join(' ')}]`,
    );
  }
  return notes;
}

/** Formats `{"errors":[…]}`; without texts for a missing resource on a read. */
export function errorBody(status: number, texts: readonly string[], details?: object): Answer {
  const extra = details === undefined ? {} : { coffer: details };
  return {
    status,
    contentType: JSON_TYPE,
    headers: NO_STORE,
    body: `${printInOrder({ errors: texts, ...extra })}\n`,
  };
}

/** Formats an error like Go's multierror does. */
export const wrapped = (text: string): string => `1 error occurred:\n\t* ${text}\n\n`;

const HTML_SPECIALS = /[<>&\u2028\u2029]/g;
const escapeHtml = (json: string): string =>
  json.replace(HTML_SPECIALS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Serializes JSON with members in their own order. */
const printInOrder = (value: unknown): string => escapeHtml(JSON.stringify(value));

/** Serializes additional top-level members: some responses repeat their data there. */
function printMembers(members: object | undefined): string {
  if (members === undefined) return '';
  let printed = '';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    printed += `,${JSON.stringify(name)}:${sortedJson(value)}`;
  }
  return escapeHtml(printed);
}

/** Serializes JSON with the members of every object sorted by code unit; undefined ones are omitted. */
const printSorted = (value: unknown): string => escapeHtml(sortedJson(value));

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) {
    // Long responses consist mostly of lists of texts.
    if (value.every((item) => typeof item === 'string')) return JSON.stringify(value);
    return `[${value.map(sortedJson).join(',')}]`;
  }
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = value as Readonly<Record<string, unknown>>;
  let printed = '';
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    printed += `${printed === '' ? '' : ','}${JSON.stringify(name)}:${sortedJson(member)}`;
  }
  return `{${printed}}`;
}
