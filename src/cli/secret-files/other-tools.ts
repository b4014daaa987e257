import { unsupported } from '../../ground/errors.ts';
import type { ScalarPlace } from '../../secret-files/format.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/* Values that other tools have encrypted. Encrypted a second time, they would open as those tools' ciphertext. */

interface Tool {
  readonly name: string;
  /** Form of its encrypted values. */
  readonly form: RegExp;
  /** Its command that decrypts a file in place. */
  decrypt(path: string): string;
}

const TOOLS: readonly Tool[] = [
  {
    name: 'sops',
    form: /^ENC\[AES256_GCM,data:/,
    decrypt: (path) => `sops decrypt --in-place ${shellWord(path)}`,
  },
  {
    name: 'dotenvx',
    form: /^encrypted:[\w+/=-]{80}/,
    decrypt: (path) => `dotenvx decrypt -f ${shellWord(path)}`,
  },
];

/** Returns the tool that has encrypted a value; undefined if none that is known has. */
const toolOf = ({ text }: ScalarPlace): Tool | undefined => TOOLS.find(({ form }) => form.test(text));

/**
 * Refuses to encrypt values that another tool has encrypted.
 * @throws `unsupported` with that tool's command to decrypt them
 */
export function refuseOfOtherTool(path: string, places: readonly ScalarPlace[]): void {
  for (const place of places) {
    const tool = toolOf(place);
    if (tool === undefined) continue;
    throw unsupported(`${path}: ${place.name} is already encrypted, by ${tool.name}`, {
      hint: `decrypt it first with "${tool.decrypt(path)}"`,
    });
  }
}

/** Warns that programs get a value as another tool has encrypted it. */
export function warnOfOtherTool(session: Session, path: string, places: readonly ScalarPlace[]): void {
  for (const place of places) {
    const tool = toolOf(place);
    if (tool === undefined) continue;
    session.warn(
      `${path}: ${place.name} is encrypted by ${tool.name} and is not decrypted (to move the file: "${tool.decrypt(path)}", then "coffer secrets encrypt ${shellWord(path)}")`,
    );
    return;
  }
}
