import { randomUUID } from 'node:crypto';
import { type Clock, printGoTime } from '../ground/clock.ts';
import { type CofferError, corrupt, type Place, placed } from '../ground/errors.ts';
import type { Backend } from './backends/backend.ts';
import { parseChecked, printChecked } from './checked-json.ts';
import { RESTORE } from './refusals.ts';

/** Format version of docs/format.md, of everything but the files that contain it. A store of a higher one is refused. */
export const FORMAT = 1;
const KIND = 'coffer store';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Public description of a store. Written once and never changed. */
export interface Header {
  readonly format: number;
  /** Random UUID; part of the associated data of everything that is authenticated. */
  readonly id: string;
  /** Creation time, RFC 3339 in UTC. */
  readonly created: string;
}

export const newHeader = (clock: Clock): Header => ({
  format: FORMAT,
  id: randomUUID(),
  created: printGoTime(clock.now()),
});

export const printHeader = ({ format, id, created }: Header): Buffer =>
  printChecked({ kind: KIND, format, id, created });

/**
 * Reads the header.
 * @throws `not-found` without a store; `corrupt` if the header is damaged or of a newer format
 */
export async function readHeader(backend: Backend): Promise<Header> {
  return parseHeader(await backend.header(), backend.headerPlace);
}

/** Creates the error for a format that only a newer release reads. */
export const newerFormat = (place: Place, format: number, newest: number): CofferError =>
  corrupt(
    placed`${place} was created by a newer Coffer (format ${format}); this one reads format ${newest}`,
    {
      hint: 'install a newer Coffer; the store is not damaged',
    },
  );

/**
 * Parses a header.
 * @param place location for messages
 * @throws `corrupt` if it is damaged or of a newer format
 */
export function parseHeader(bytes: Uint8Array, place: Place): Header {
  const { kind, format, id, created } = parseChecked(bytes) ?? {};
  if (kind === KIND && typeof format === 'number' && format > FORMAT) {
    throw newerFormat(place, format, FORMAT);
  }
  if (
    kind !== KIND ||
    format !== FORMAT ||
    typeof id !== 'string' ||
    !UUID.test(id) ||
    typeof created !== 'string'
  ) {
    throw corrupt(placed`${place} is damaged`, { hint: RESTORE });
  }
  return { format, id, created };
}
