import type { WrapInfo } from '../../../access/wrapping.ts';
import { isObject } from '../../../ground/objects.ts';
import type { Operation, Outcome } from '../../../operations/declaration/operation.ts';
import type { Answer } from '../exchange.ts';

/**
 * The answers of `/v1`, byte for byte as peers write them: one line with a final newline, members of `data` sorted,
 * `<`, `>` and `&` escaped as Go's encoder does for the sake of HTML.
 */

export const JSON_TYPE = 'application/json';
export const NO_STORE = { 'cache-control': 'no-store' } as const;

/** What an envelope says of its request. */
export interface Labels {
  readonly id: string;
  /** The kind of engine that answered, as newer versions of Vault tell it; some clients check it. */
  readonly mountType: string;
}

const JSON_ANSWER = { status: 200, contentType: JSON_TYPE, headers: NO_STORE } as const;

/** The id belongs to the wrapped answer. */
const printWrapInfo = (wrapInfo: WrapInfo): string =>
  '{"request_id":"","lease_id":"","renewable":false,"lease_duration":0,"data":null' +
  `,"wrap_info":${printInOrder(wrapInfo)},"warnings":null,"auth":null}\n`;

/** What is kept of an answer for the one who unwraps it. */
export function keptOf({ body }: Answer): string | undefined {
  if (body === undefined) return undefined;
  return (typeof body === 'string' ? body : Buffer.concat(body).toString()).trimEnd();
}

/**
 * A successful answer: the envelope, or 204 when there is nothing to say.
 * @param notes warnings about the request, which are lost when the answer has no body.
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
  // A batch with failed items is answered with the whole result, without a final newline, as peers do.
  if (failedItems !== undefined) {
    const { statusCode: status } = failedItems;
    const answer = { status, contentType: JSON_TYPE, headers: NO_STORE };
    return status === 204 || status === 304 ? answer : { ...answer, body };
  }
  return { ...JSON_ANSWER, status: outcome.statusCode ?? 200, body: `${body}\n` };
}

/** An answer without the envelope: health, seal status. */
function bare(data: unknown, status = 200): Answer {
  return { status, contentType: JSON_TYPE, headers: NO_STORE, body: `${printInOrder(data)}\n` };
}

const keptAnswers = new WeakMap<object, Answer>();

/** To print the description of all operations takes as long as hundreds of other answers, and anybody may ask for it. */
function kept(data: unknown): Answer {
  if (!isObject(data)) return bare(data);
  const answer = keptAnswers.get(data) ?? bare(data);
  keptAnswers.set(data, answer);
  return answer;
}

/** The answer for what an operation gave. @param notes warnings about the request. */
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

/** Warnings about the request itself. */
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

/** `{"errors":[…]}`; no text at all for a missing thing on a read. */
export function errorBody(status: number, texts: readonly string[], details?: object): Answer {
  const extra = details === undefined ? {} : { coffer: details };
  return {
    status,
    contentType: JSON_TYPE,
    headers: NO_STORE,
    body: `${printInOrder({ errors: texts, ...extra })}\n`,
  };
}

/** How Go prints a list of errors of which some handler gave one. */
export const wrapped = (text: string): string => `1 error occurred:\n\t* ${text}\n\n`;

const HTML_SPECIALS = /[<>&\u2028\u2029]/g;
const escapeHtml = (json: string): string =>
  json.replace(HTML_SPECIALS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON with members in the order they have. */
const printInOrder = (value: unknown): string => escapeHtml(JSON.stringify(value));

/** Further top-level members: some calls repeat their data there. */
function printMembers(members: object | undefined): string {
  if (members === undefined) return '';
  let printed = '';
  for (const [name, value] of Object.entries(members)) {
    printed += `,${JSON.stringify(name)}:${sortedJson(value)}`;
  }
  return escapeHtml(printed);
}

/** JSON with the members of every object sorted by code unit; undefined ones are left out. */
export const printSorted = (value: unknown): string => escapeHtml(sortedJson(value));

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) {
    // Lists of texts are most of what long answers are made of.
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
