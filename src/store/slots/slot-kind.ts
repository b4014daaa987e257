/**
 * Unlock methods of a store.
 *
 * - `passphrase`  something a person remembers; stretched with argon2id
 * - `key-file`    the content of a file
 * - `raw`         32 random bytes, as `generateMasterKey` makes them; costs no stretching
 * - `command`     the output of a command (a password manager): a raw key, or else a passphrase
 * - `shares`      a threshold of recovery shares
 * - `recipient`   the private key for a public key of age or SSH
 */
export type SlotKind = 'passphrase' | 'key-file' | 'raw' | 'command' | 'shares' | 'recipient';

/** Request for a new slot. The label is visible only to users who can unlock the store. */
export type SlotRequest = { readonly label?: string } & (
  | { readonly kind: 'passphrase'; readonly passphrase: string | Uint8Array }
  /** Whole content of the file: a 32-byte key as text or bytes, or anything else of at least 32 bytes. */
  | { readonly kind: 'key-file'; readonly content: Uint8Array }
  | { readonly kind: 'raw'; readonly key: Uint8Array }
  /** Everything the command wrote to its standard output. */
  | { readonly kind: 'command'; readonly output: Uint8Array }
  /** Any `threshold` (2 to `count`) of `count` shares (2 to 255) open the slot. */
  | { readonly kind: 'shares'; readonly count: number; readonly threshold: number }
  | ({ readonly kind: 'recipient' } & WrappedSecret)
);

/** Secret of a slot of kind `recipient`. The store neither encrypts nor decrypts it: the caller knows the formats. */
export interface WrappedSecret {
  /** Public key, for lists of slots. */
  readonly recipient: string;
  /** 32 random bytes; overwritten. */
  readonly secret: Uint8Array;
  /** The secret encrypted to the public key: a file in the age format, at most {@link MAX_WRAPPED_BYTES} long. */
  readonly wrapped: Uint8Array;
}

/** Maximum length of an encrypted secret: several times that of the longest recipient in use. */
export const MAX_WRAPPED_BYTES = 16 * 1024;

/** Public description of a slot. */
export interface SlotSummary {
  /** 16 hexadecimal digits, random. */
  readonly id: string;
  readonly kind: SlotKind;
  /** Creation time, RFC 3339 in UTC. */
  readonly created: string;
  readonly label: string;
  /** Only for `shares`: how many exist, and how many are needed. */
  readonly shares?: { readonly count: number; readonly threshold: number } | undefined;
  /** Only for `recipient`, and only in an unlocked store: the public key. */
  readonly recipient?: string | undefined;
}

/** Slot just created. The shares exist nowhere else: the caller must hand them out. */
export interface CreatedSlot extends SlotSummary {
  readonly shareTexts?: readonly string[] | undefined;
}
