import { type CofferError, unsupported } from '../../ground/errors.ts';
import { keyTypeNamed, keyTypes } from './index.ts';
import type { KeyType } from './key-type.ts';

/** What a backup says about its type, beside the number. */
export interface TypeEvidence {
  readonly type: number | string;
  /** A key size is given, or versions answer HMACs with the key itself. */
  readonly makesHmacsItself: boolean;
  /** Members that only OpenBao writes are there. */
  readonly openBaoLayout: boolean;
}

/** Types of peers that are not here, for a refusal that says what it is about. */
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
 * The key type that a backup is about. The two registers of numbers disagree from 10 on (10 is hmac in OpenBao and managed_key
 * in Vault, 11 is xchacha20-poly1305 in OpenBao and hmac in Vault); then the rest of the document decides.
 * @throws `unsupported` when there is no such type here.
 */
export function keyTypeOfBackup(evidence: TypeEvidence): KeyType {
  const { type } = evidence;
  const found = typeof type === 'string' ? unnumberedType(type) : numberedType(type, evidence);
  if (found === undefined) throw unknownType(type);
  return found;
}

function unnumberedType(name: string): KeyType | undefined {
  const type = keyTypeNamed(name);
  return type && type.backup.openbao === undefined && type.backup.vault === undefined ? type : undefined;
}

function numberedType(number: number, evidence: TypeEvidence): KeyType | undefined {
  const openbao = keyTypes().find(({ backup }) => backup.openbao === number);
  const vault = keyTypes().find(({ backup }) => backup.vault === number);
  if (openbao === vault) return openbao;
  const makesHmacs = (type: KeyType | undefined): boolean => type?.hmacKeyOf !== undefined;
  if (evidence.makesHmacsItself) return [openbao, vault].find(makesHmacs);
  if (evidence.openBaoLayout) return openbao;
  return [openbao, vault].find((type) => !makesHmacs(type));
}

function unknownType(type: number | string): CofferError {
  const meaning = typeof type === 'number' ? FOREIGN_TYPES[type] : undefined;
  const shown = typeof type === 'number' ? String(type) : JSON.stringify(type.slice(0, 40));
  return unsupported(
    `backup has the key type ${shown}${meaning ? ` (${meaning})` : ''}, which is not supported`,
    {
      field: 'backup',
      hint: 'only keys of types that this release lists can be restored',
    },
  );
}
