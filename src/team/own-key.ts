import type { AgeIdentity } from '../transit/envelope/age/recipients.ts';
import type { CardFact } from './fact.ts';

/** Private key of the user that decrypts for a public key. */
export interface OwnKey {
  /** Public key in the form of cards; empty for a key of a plugin whose public key is not in the identity file. */
  readonly recipient: string;
  /** Name of the plugin that has the key, which may ask for a touch or a PIN whenever it is used. */
  readonly plugin?: string;
  /** Whether its use prompts for a passphrase now. */
  isLocked?(): boolean;
  /** Returns the identity. May prompt for a passphrase, so it is called only to decrypt. */
  identity(): Promise<AgeIdentity>;
}

/** Starts of recipients whose private keys any plugin may have. */
const OF_ANY_PLUGIN = ['age1tag1', 'age1tagpq1'] as const;

/**
 * Returns the cards that a key may be for: those that name it or, if none does and it is a plugin's key, those that
 * name a key of the same plugin. A plugin does not reveal its public keys, and one key can be written in two ways.
 * @see docs/decisions/0306
 */
export function cardsFor({ recipient, plugin }: OwnKey, cards: readonly CardFact[]): readonly CardFact[] {
  const named = cards.filter(({ card }) => card.keys.includes(recipient));
  if (named.length > 0 || plugin === undefined) return named;
  const starts = [`age1${plugin}1`, ...OF_ANY_PLUGIN];
  return cards.filter(({ card }) => card.keys.some((key) => starts.some((start) => key.startsWith(start))));
}
