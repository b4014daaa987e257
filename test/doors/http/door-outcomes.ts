import type { ContractDoor, DoorOutcome } from '../../contracts/door.ts';

/** How answers of HTTP read in the words of the contract of doors. */

export const prefixOf = (api: ContractDoor['api']): string => (api === 'vault' ? '/v1/' : '/api/v2/');

export const TYPE_OF: Readonly<Record<ContractDoor['api'], string>> = {
  vault: 'application/json',
  'json-api': 'application/vnd.api+json',
};

const REFUSED: ReadonlySet<number> = new Set([401, 403, 404, 405]);

export function outcomeOf(status: number, text: string): DoorOutcome {
  if (status < 300) return 'done';
  if (REFUSED.has(status)) return 'refused';
  if (status < 500) return 'invalid';
  return status === 503 && text.includes('sealed') ? 'sealed' : 'failed';
}
