import { CofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Outcome, resultOf } from '../../operations/declaration/operation.ts';
import { type Given, textOption } from '../given.ts';
import { FIELD, FORMAT, JSON_FORMAT } from '../parse/vault-options.ts';
import type { Session } from '../session.ts';
import type { OutputShape } from './output.ts';

/** Result as the options `--format` and `--field` of Vault's commands print it. */
export interface VaultForm {
  /** Session with the requested format. */
  readonly session: Session;
  readonly result: unknown;
  /** Undefined for the shape of the command. */
  readonly shape: OutputShape | undefined;
}

/**
 * Returns the result in the form that `--format` or `--field` asks for.
 * @returns undefined if neither is given
 * @throws `not-found` if the result has no such field
 */
export function vaultForm(
  session: Session,
  outcome: Outcome<unknown>,
  options: Given['options'],
): VaultForm | undefined {
  const format = textOption(options, FORMAT);
  const field = fieldOf(outcome, textOption(options, FIELD));
  if (format === undefined && field === undefined) return undefined;
  const printing = format === undefined ? session : session.inFormat(format);
  if (format === JSON_FORMAT) return { session: printing, result: asVault(outcome, false, field), shape: {} };
  const result = resultOf(outcome);
  if (field === undefined) return { session: printing, result, shape: undefined };
  return alone(printing, result, memberShape(result, field));
}

/**
 * Returns one member of a result, of which every format prints nothing else: another member may be a token.
 * @param shape output of the member alone
 */
export function alone(session: Session, result: unknown, shape: OutputShape): VaultForm {
  const { format } = session.settings;
  if (format === undefined || format === 'raw') return { session, result, shape };
  const { member = '' } = shape.result ?? {};
  const value = isObject(result) ? result[member] : undefined;
  return { session, result: format === 'json' ? value : { [member]: value }, shape: {} };
}

/** Fields of a token under the names that `vault write -field` has for them. */
const TOKEN_FIELDS: ReadonlyMap<string, string> = new Map([
  ['token', 'client_token'],
  ['token_accessor', 'accessor'],
  ['token_duration', 'lease_duration'],
  ['token_renewable', 'renewable'],
]);

/** Returns the member of the result that a field names; those of an issued token have further names. */
export const fieldOf = ({ auth }: Outcome<unknown>, field: string | undefined): string | undefined =>
  field === undefined || !isObject(auth) || Object.hasOwn(auth, field)
    ? field
    : (TOKEN_FIELDS.get(field) ?? field);

/**
 * Returns what `vault -format=json` prints. A local store has no IDs of requests.
 * @param isList whether the response is a list, of which only the names are printed
 * @returns undefined for a response without a body
 * @throws `not-found` if the result has no such field
 * @see docs/decisions/0322
 */
export function asVault(outcome: Outcome<unknown>, isList: boolean, field?: string): unknown {
  const { data = null, warnings = null, auth, wrapInfo: wrap_info, envelope } = outcome;
  const result = resultOf(outcome);
  if (field !== undefined) {
    memberShape(result, field);
    return isObject(result) ? result[field] : undefined;
  }
  if (isList) return isObject(data) ? data['keys'] : [];
  if (result === undefined && wrap_info === undefined) return undefined;
  // Not every server answers with all members.
  const sent = Object.entries(envelope ?? {}).filter(([, value]) => value !== undefined);
  const defaults = { request_id: '', lease_id: '', lease_duration: 0, renewable: false };
  return { ...defaults, ...Object.fromEntries(sent), data, warnings, auth, wrap_info };
}

/**
 * Returns the output of one member of the result.
 * @throws `not-found` if the result has no such member
 */
export function memberShape(result: unknown, member: string): OutputShape {
  if (isObject(result) && Object.hasOwn(result, member) && result[member] !== undefined) {
    return { result: { member, as: Array.isArray(result[member]) ? 'lines' : 'text' } };
  }
  const names = isObject(result) ? Object.keys(result).sort() : [];
  const hint = names.length === 0 ? undefined : `use one of ${names.join(', ')}`;
  throw new CofferError('not-found', `the result has no field ${JSON.stringify(member)}`, {
    field: FIELD,
    hint,
  });
}
