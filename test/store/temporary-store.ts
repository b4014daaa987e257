import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { checkpoint } from '../../src/store/backends/files/log/checkpoint.ts';
import { openStore } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';

/** A master key for tests: the bytes 0, 1, 2, … 31. */
export const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

export const rawCredential = (key: Uint8Array = KEY): Credential => ({
  kind: 'raw',
  source: 'the test key',
  reveal: () => Uint8Array.from(key),
});

/** A new directory, deleted after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Makes a store that `KEY` opens, and returns its directory. */
export async function newStoreDirectory(key: Uint8Array = KEY): Promise<string> {
  const directory = join(temporaryDirectory(), 'store');
  await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(key) }] });
  return directory;
}

/** Moves everything from a store's log into its documents, for tests that look at their files or change them. */
export async function intoDocuments(directory: string): Promise<void> {
  while ((await checkpoint(directory, { isIdle: true })) === 'done');
}

export const openWithKey = async (
  directory: string,
  key: Uint8Array = KEY,
  lockWaitMs = 20_000,
): Promise<SealedStore> => openStore({ location: directory, credentials: [rawCredential(key)], lockWaitMs });

/** Whose writers fail when they have to wait for the lock at all. */
export const openImpatiently = (directory: string): Promise<SealedStore> => openWithKey(directory, KEY, 0);
