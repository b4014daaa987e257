import { type CofferError, unsupported } from '../../ground/errors.ts';
import { type CalledType, keyTypeCalled, keyTypeNamed, keyTypes } from './index.ts';
import type { KeyType } from './key-type.ts';

/** Parts of a backup that indicate its key type, besides the type number. */
interface TypeEvidence {
  readonly type: number | string;
  /** Whether a key size is given, or versions use the key itself for HMACs. */
  readonly makesHmacsItself: boolean;
  /** Whether there are members that only OpenBao writes. */
  readonly openBaoLayout: boolean;
  /** Vault's parameter set, for types that share a number; undefined if not given. */
  readonly parameterSet: string | undefined;
  /** Name under which the key was created, from Coffer's own backups. */
  readonly calledType: { readonly name: string; readonly parameterSet: string } | undefined;
  /** Whether every private key has a public key, and vice versa. */
  readonly hasKeyPairs: boolean;
}

/** Types that Coffer does not have, or whose numbers are ambiguous, for error messages. */
const FOREIGN_TYPES: Readonly<Record<number, string>> = {
  10: 'managed_key in Vault',
  12: 'mldsa-44 in OpenBao, aes128-cmac in Vault',
  13: 'mldsa-65 in OpenBao, aes256-cmac in Vault',
  14: 'mldsa-87 in OpenBao, ml-dsa in Vault',
  15: 'hybrid in Vault',
  16: 'aes192-cmac in Vault',
  17: 'slh-dsa in Vault',
  18: 'aes128-cbc or aes256-cbc in Vault',
  19: 'aes128-cbc or aes256-cbc in Vault',
  10000: 'external-key in OpenBao',
};

/**
 * Determines the key type of a backup, and Vault's name for it if the key was created by that. The registers of Vault
 * and OpenBao differ from number 10 on (10 is hmac in OpenBao and managed_key in Vault, 14 is mldsa-87 in OpenBao and
 * ml-dsa in Vault); then the rest of the document decides, or the backup is refused.
 * @throws `unsupported` if Coffer does not have the type, or the document is contradictory
 * @see docs/decisions/0022
 */
export function keyTypeOfBackup(evidence: TypeEvidence): CalledType {
  const { type, calledType, openBaoLayout, parameterSet } = evidence;
  const found = typeof type === 'string' ? namedType(type) : numberedType(type, evidence);
  if (found === undefined) throw unknownType(evidence);
  if (calledType !== undefined) {
    const called = keyTypeCalled(calledType.name, calledType.parameterSet);
    if (called?.type !== found) throw contradiction(evidence, 'type name', calledType.name);
    return called;
  }
  if (parameterSet !== undefined && !hasSet(found, parameterSet))
    throw contradiction(evidence, 'parameter set', parameterSet);
  if (typeof type === 'string') return { type: found };
  if (!openBaoLayout && found.familyNames !== undefined) requireKeyPairs(evidence);
  const familyName = found.familyNames?.find((name) => (name.parameterSet === undefined) === openBaoLayout);
  return familyName === undefined ? { type: found } : { type: found, familyName };
}

/** Finds a type without an OpenBao number, or without one when earlier releases wrote backups of it. */
function namedType(name: string): KeyType | undefined {
  const type = keyTypeNamed(name);
  return type && (type.backup.openbao === undefined || type.backup.wasNamed) ? type : undefined;
}

function numberedType(number: number, evidence: TypeEvidence): KeyType | undefined {
  const openbao = keyTypes().find(({ backup }) => backup.openbao === number);
  const vault = keyTypes().find((type) => type.backup.vault === number && isInSet(type, evidence));
  if (openbao === vault) return openbao;
  const makesHmacs = (type: KeyType | undefined): boolean => type?.hmacKeyOf !== undefined;
  if (evidence.makesHmacsItself) return [openbao, vault].find(makesHmacs);
  if (evidence.openBaoLayout) return openbao;
  // OpenBao has had these types only since it has written the members unique to it.
  if ((openbao ?? vault)?.familyNames !== undefined) return vault;
  return [openbao, vault].find((type) => !makesHmacs(type));
}

/** Whether the parameter set identifies this type among those that share Vault's number. */
const isInSet = (type: KeyType, { parameterSet }: TypeEvidence): boolean =>
  type.familyNames === undefined || (parameterSet !== undefined && hasSet(type, parameterSet));

/** Whether a type has a parameter set. A type without sets has every one, because Vault always writes the member. */
const hasSet = ({ familyNames }: KeyType, set: string): boolean =>
  familyNames === undefined || familyNames.some(({ parameterSet }) => parameterSet === set);

/**
 * Requires a public key for every private key. Vault Enterprise has its own members for private keys, so only material
 * confirmed by a public key is trusted.
 */
function requireKeyPairs(evidence: TypeEvidence): void {
  if (evidence.hasKeyPairs) return;
  throw unsupported(
    `backup has the key type ${shown(evidence)} and only one half of a key pair, so its format is unknown`,
    { field: 'backup', hint: 'export the key on the server that made the backup, and import it here' },
  );
}

const shown = ({ type }: TypeEvidence): string =>
  typeof type === 'number' ? String(type) : JSON.stringify(type.slice(0, 40));

const contradiction = (evidence: TypeEvidence, told: string, value: string): CofferError =>
  unsupported(
    `backup has the key type ${shown(evidence)}, which contradicts its ${told} ${JSON.stringify(value.slice(0, 40))}`,
    { field: 'backup', hint: 'the backup is damaged or was modified' },
  );

function unknownType(evidence: TypeEvidence): CofferError {
  const { type, parameterSet } = evidence;
  const meaning = typeof type === 'number' ? FOREIGN_TYPES[type] : undefined;
  const set =
    parameterSet === undefined ? '' : ` with the parameter set ${JSON.stringify(parameterSet.slice(0, 40))}`;
  return unsupported(
    `backup has the key type ${shown(evidence)}${meaning ? ` (${meaning})` : ''}${set}, which is not supported`,
    {
      field: 'backup',
      hint: 'only keys of the types in "coffer transit keys create --help" can be restored',
    },
  );
}
