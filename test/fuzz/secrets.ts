import { asCofferError, type CofferError } from '../../src/ground/errors.ts';
import { Defect } from './target.ts';

/**
 * So many characters in a row, from anywhere in a secret, tell it. In hexadecimal a character says less, and there are
 * many hashes around that must not be taken for a secret by chance.
 */
const TELLING_CHARACTERS = { text: 10, base64: 9, hexadecimal: 12 } as const;
type Form = keyof typeof TELLING_CHARACTERS;
const FORMS = Object.keys(TELLING_CHARACTERS) as Form[];
/** Texts that were looked through already; most errors say the same again and again. */
const REMEMBERED_TEXTS = 20_000;

/**
 * Secrets that were put where the product must keep them: plaintexts, keys, tokens. Pieces of them are looked for as they
 * are, in hexadecimal and in base64, in everything that the product says.
 */
export class Secrets {
  readonly #pieces: Readonly<Record<Form, Pieces>> = {
    text: new Pieces(TELLING_CHARACTERS.text),
    base64: new Pieces(TELLING_CHARACTERS.base64),
    hexadecimal: new Pieces(TELLING_CHARACTERS.hexadecimal),
  };
  #harmless = new Set<string>();

  /** @param name what failures call it. */
  add(name: string, secret: string | Uint8Array): void {
    const bytes = Buffer.from(secret);
    if (typeof secret === 'string') this.#pieces.text.add(secret, name);
    this.#pieces.hexadecimal.add(bytes.toString('hex'), name);
    for (const text of base64Forms(bytes)) this.#pieces.base64.add(text, name);
    this.#harmless = new Set();
  }

  /** @throws Defect when a text tells a secret. @param where the text was said. */
  examine(text: string, where: string): void {
    if (this.#harmless.has(text)) return;
    for (const form of FORMS) {
      const name = this.#pieces[form].foundIn(text);
      if (name !== undefined) throw new Defect(`${where} tells ${name} in ${form}: ${text.slice(0, 500)}`);
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

/** All pieces of one length of some texts. */
class Pieces {
  readonly #length: number;
  readonly #names = new Map<string, string>();
  /** Which beginnings there are: sorts out nearly everything without cutting the text. */
  readonly #beginnings = new Uint8Array(1 << 16);

  constructor(length: number) {
    this.#length = length;
  }

  add(text: string, name: string): void {
    for (let at = 0; at + this.#length <= text.length; at++) {
      this.#names.set(text.slice(at, at + this.#length), name);
      this.#beginnings[beginningAt(text, at)] = 1;
    }
  }

  /** The name of one that a text has a piece of. */
  foundIn(text: string): string | undefined {
    for (let at = 0; at + this.#length <= text.length; at++) {
      if (this.#beginnings[beginningAt(text, at)] === 0) continue;
      const name = this.#names.get(text.slice(at, at + this.#length));
      if (name !== undefined) return name;
    }
    return undefined;
  }
}

const beginningAt = (text: string, at: number): number =>
  (text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5) ^ (text.charCodeAt(at + 2) << 9)) & 0xffff;
