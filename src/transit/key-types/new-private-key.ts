import { generateKeyPair, type KeyObject } from 'node:crypto';

type Generate = (
  type: string,
  options: object,
  done: (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => void,
) => void;

/**
 * A fresh private key, made on another thread. By callback: `util.promisify` would load a module on the way of every command.
 * @param type and options as `node:crypto` takes them; its declarations don't know all types that it makes.
 */
export const newPrivateKey = (type: string, options: object = {}): Promise<KeyObject> =>
  new Promise((resolve, reject) => {
    (generateKeyPair as unknown as Generate)(type, options, (error, _publicKey, privateKey) => {
      if (error === null) resolve(privateKey);
      else reject(error);
    });
  });
