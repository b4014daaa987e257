import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/** What is encrypted in the files of these tests: everything but what is named so. */
const RULES = `rules:
  - files: ['*.env', '*.yaml', '*.json', '*.cfg']
    key: app
    except: [PLAIN, plain]
`;

/** A store with a key, and rules for files beside it. */
export async function placeWithRules(environment: Readonly<Record<string, string>> = {}): Promise<Place> {
  const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, ...environment });
  onTestFinished(() => removePlace(place));
  await place.ok('init');
  await place.ok('transit keys create app');
  writeFileSync(place.file('.coffer.yaml'), RULES);
  return place;
}

/**
 * The same, whose plaintexts lie in a directory in memory of its own: what is left there is this test's, and no command of another one
 * clears it away.
 */
export async function placeWithMemory(): Promise<Place> {
  const place = await placeWithRules();
  const runtime = mkdtempSync('/dev/shm/coffer-test-');
  onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
  return place.with({ XDG_RUNTIME_DIR: runtime });
}

export const runtimeOf = (place: Place): string => place.environment()['XDG_RUNTIME_DIR'] ?? '';

/** An editor that is a shell script, with the file in `$1`. */
export function scriptedEditor(place: Place, script: string): Readonly<Record<string, string>> {
  const path = place.file(`editor-${Math.abs(hashOf(script))}.sh`);
  writeFileSync(path, script);
  return { EDITOR: `sh '${path}'` };
}

const hashOf = (text: string): number =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);

/** Makes a file whose decrypted text is this, as a person does. */
export async function writeSecret(place: Place, name: string, text: string): Promise<void> {
  writeFileSync(place.file('wanted'), text);
  await place.ok(['edit', name], {
    environment: scriptedEditor(place, `cat '${place.file('wanted')}' > "$1"`),
  });
}
