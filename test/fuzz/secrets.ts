import { asCofferError, type CofferError } from '../../src/errors.ts';
import { Defect } from './target.ts';

/** So much of a secret, from its start or its end, counts as the secret. */
const TELLING_BYTES = 12;
/** Texts that were looked through already; most errors say the same again and again. */
const REMEMBERED_TEXTS = 20_000;

/**
 * Secrets that were put where the product must keep them: plaintexts, keys, tokens. They are looked for as they are, in
 * hexadecimal and in base64, in everything that the product says.
 */
export class Secrets {
  readonly #needles = new Map<string, string>();
  #harmless = new Set<string>();

  /** @param name what failures call it. */
  add(name: string, secret: string | Uint8Array): void {
    const bytes = Buffer.from(secret);
    const parts =
      bytes.length <= TELLING_BYTES
        ? [bytes]
        : [bytes.subarray(0, TELLING_BYTES), bytes.subarray(-TELLING_BYTES)];
    for (const part of parts) {
      if (typeof secret === 'string') this.#needles.set(part.toString(), `${name} as it is`);
      this.#needles.set(part.toString('hex'), `${name} in hexadecimal`);
      for (const needle of base64Forms(part)) this.#needles.set(needle, `${name} in base64`);
    }
    this.#harmless = new Set();
  }

  /** @throws Defect when a text tells a secret. @param where the text was said. */
  examine(text: string, where: string): void {
    if (this.#harmless.has(text)) return;
    for (const [needle, what] of this.#needles) {
      if (text.includes(needle)) throw new Defect(`${where} tells ${what}: ${text.slice(0, 500)}`);
    }
    if (text.length > 500) return;
    if (this.#harmless.size >= REMEMBERED_TEXTS) this.#harmless.clear();
    this.#harmless.add(text);
  }

  /** As `examine`, for everything that an error says to anybody. */
  examineError(error: CofferError): void {
    this.examine(error.message, 'a message');
    if (error.hint !== undefined) this.examine(error.hint, 'a hint');
    if (error.field !== undefined) this.examine(error.field, 'a field');
  }

  /**
   * What a call answers, or the refusal that it ends with.
   * @throws what is no refusal, and Defect for a refusal that tells a secret.
   */
  async outcome<T>(call: () => T | Promise<T>): Promise<Outcome<T>> {
    try {
      return { value: await call() };
    } catch (error) {
      return { refused: this.#refusal(error) };
    }
  }

  /** The same for what answers at once. */
  outcomeNow<T>(call: () => T): Outcome<T> {
    try {
      return { value: call() };
    } catch (error) {
      return { refused: this.#refusal(error) };
    }
  }

  #refusal(error: unknown): CofferError {
    const known = asCofferError(error);
    if (known === undefined) throw error;
    this.examineError(known);
    return known;
  }
}

export type Outcome<T> = { readonly value: T } | { readonly refused: CofferError };

/** What base64 text holds of these bytes wherever they stand in what was encoded, in both alphabets. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last character also depend on what stands around.
    const inner = text.slice(before === 0 ? 0 : before + 1, -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
