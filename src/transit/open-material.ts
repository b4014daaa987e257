import type { AeadCipher, KeyType, MaybePromise } from './key-types/key-type.ts';

/** Key material and the cipher made of it, which is kept for further messages. */
export class OpenMaterial {
  readonly material: unknown;
  readonly #type: KeyType;
  #cipher: MaybePromise<AeadCipher> | undefined;

  constructor(type: KeyType, material: unknown) {
    this.#type = type;
    this.material = material;
  }

  /** For types with AEAD only; a promise only until a heavy dependency has come. */
  get cipher(): MaybePromise<AeadCipher> {
    this.#cipher ??= this.#open();
    return this.#cipher;
  }

  #open(): MaybePromise<AeadCipher> {
    if (this.#type.aead === undefined) throw new TypeError(`${this.#type.name} has no cipher`);
    const cipher = this.#type.aead.cipher(this.material);
    if (!(cipher instanceof Promise)) return cipher;
    return cipher.then((ready) => {
      this.#cipher = ready;
      return ready;
    });
  }
}
