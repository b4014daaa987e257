/**
 * Writes backups the way Go's encoding/json does, for tests: an encoder of its own, which shares nothing with the
 * program under test. Members are given by their names on the wire and keep their order; what a test does not set
 * has the value that OpenBao writes for it.
 */

export type Members = Readonly<Record<string, unknown>>;

/** An empty version, as it stands at index 0 of an archive that was never trimmed. */
export const zeroEntry: Members = {
  key: null,
  hmac_key: null,
  time: '0001-01-01T00:00:00Z',
  ec_x: null,
  ec_y: null,
  ec_d: null,
  rsa_key: null,
  rsa_public_key: null,
  public_key: '',
  convergent_version: 0,
  creation_time: 0,
  certificate_chain: null,
  external_key_ref: '',
};

/** A version with the members that every type has. */
export const goEntry = (members: Members = {}): Members => ({
  ...zeroEntry,
  hmac_key: Buffer.alloc(32, 0x22).toString('base64'),
  time: '2026-02-03T10:20:30.123456789Z',
  creation_time: 1_770_114_030,
  ...members,
});

/** Versions `first`, `first + 1`, …; the ring holds those not below `min_decryption_version`. */
export function goDocument(versions: readonly Members[], policy: Members = {}, first = 1): Members {
  const latest = first + versions.length - 1;
  const lowest = (policy['min_decryption_version'] as number | undefined) ?? first;
  const minAvailable = first === 1 ? 0 : first;
  const ring = versions.map((entry, index) => [String(first + index), entry] as const);
  return {
    policy: {
      name: 'orders',
      keys: new Map(
        ring.filter(([version]) => Number(version) >= lowest).sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      derived: false,
      kdf: 0,
      convergent_encryption: false,
      exportable: true,
      min_decryption_version: lowest,
      min_encryption_version: minAvailable,
      latest_version: latest,
      archive_version: latest,
      archive_min_version: minAvailable,
      min_available_version: minAvailable,
      deletion_allowed: false,
      convergent_version: 0,
      type: 0,
      backup_info: { time: '2026-03-01T08:00:00.5Z', version: latest },
      restore_info: null,
      allow_plaintext_backup: true,
      version_template: '',
      storage_prefix: '',
      auto_rotate_period: 0,
      Imported: false,
      AllowImportedKeyRotation: false,
      soft_deleted: false,
      ...policy,
    },
    archived_keys: { keys: first === 1 ? [zeroEntry, ...versions] : versions },
  };
}

const BIG = /"<big>(-?\d+)"/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON with bigints as bare digits. */
export function goJson(value: unknown): string {
  if (value instanceof Map) {
    const members = [...value].map(([name, member]) => `${JSON.stringify(name)}:${goJson(member)}`);
    return `{${members.join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) return goJson(new Map(Object.entries(value)));
  const text = JSON.stringify(typeof value === 'bigint' ? `<big>${value}` : value).replace(BIG, '$1');
  return text.replace(/[<>&\u2028\u2029]/g, (character) => ESCAPED[character] ?? character);
}

/** The text that goes into `restore`. */
export const goBackup = (document: unknown): string =>
  Buffer.from(`${goJson(document)}\n`).toString('base64');
