import { unavailable } from '../../../src/ground/errors.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { questionsOf, READINGS } from '../questions.ts';
import type { Sandbox } from '../sandbox.ts';

/** It looks at the whole store, and where others change that again and again it takes its turn among them. */
const TAKES_TURNS = 'doctor';

/** Asks questions while others write, and never gets the right to write, but for `doctor`; says each that was answered. */
export async function reader(box: Sandbox, [ciphertext = '']: readonly string[]): Promise<void> {
  const { exclusive } = FilesBackend.prototype;
  const refused = () => Promise.reject(unavailable('a reader has asked for the lock'));
  for (let reading = 0; reading < READINGS; reading++) {
    for (const words of questionsOf(box, ciphertext)) {
      FilesBackend.prototype.exclusive = words[0] === TAKES_TURNS ? exclusive : refused;
      await box.ok(words);
      process.stdout.write(`${words.join(' ')}\n`);
    }
  }
}
