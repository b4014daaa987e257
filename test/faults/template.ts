import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { KeptDirectory } from '../e2e/kept-directory.ts';
import { intoDocuments } from '../store/temporary-store.ts';
import { Sandbox } from './sandbox.ts';

/** More than the template and the processes of a crowd draw from. */
const AFTER_THE_TEMPLATE = 100_000;

/** Plaintext of the envelope in the template. */
export const LETTER = 'Dear reader, this stays between us. '.repeat(40);

let kept: KeptDirectory | undefined;

/** A store with something of everything, made once in a process and kept for each test file; copies of it are what faults strike. */
export function usualTemplate(): () => Sandbox {
  let template: Sandbox | undefined;
  beforeAll(async () => {
    template = kept === undefined ? Sandbox.make() : new Sandbox(kept.path);
    if (kept === undefined) await furnish(template);
    else kept.make();
    kept ??= new KeptDirectory(template.root);
    // Each file draws the same, whichever files came before it in its process.
    Sandbox.drawFrom(AFTER_THE_TEMPLATE);
  });
  afterAll(() => template?.remove());
  return () => {
    if (template === undefined) throw new Error('the template is not ready');
    return template;
  };
}

async function furnish(box: Sandbox): Promise<void> {
  await box.ok(['init']);
  const keys = ['transit', 'keys'];
  await box.ok([...keys, 'create', 'orders', '--exportable', '--allow-plaintext-backup']);
  await box.ok([...keys, 'rotate', 'orders']);
  await box.ok([...keys, 'rotate', 'orders']);
  await box.ok([
    ...keys,
    'config',
    'orders',
    ...['--min-decryption-version', '2', '--min-encryption-version', '2', '--deletion-allowed'],
  ]);
  await box.ok([...keys, 'create', 'letters']);
  writeFileSync(box.at('key.backup'), await box.ok(['transit', 'backup', 'orders']));
  writeFileSync(box.at('ciphertext'), await box.ok(['transit', 'encrypt', 'letters', 'a small secret']));
  await box.ok([...keys, 'rotate', 'orders']);
  writeFileSync(box.at('letter'), LETTER);
  await box.ok([
    'transit',
    'envelope',
    'encrypt',
    'letters',
    '--in',
    box.at('letter'),
    '--out',
    box.at('envelope'),
  ]);
  await box.ok([...keys, 'rotate', 'letters']);
  await box.ok(['orgs', 'create', 'acme']);
  await box.ok(['tags', 'create', 'red', 'green', 'blue', 'grey']);
  for (const name of ['alpha', 'beta']) await box.ok(['workspaces', 'create', name, '--tag', 'red', 'green']);
  // What comes later is in the log.
  await intoDocuments(box.store);
  writeFileSync(box.at('policy.hcl'), 'path "transit/encrypt/*" { capabilities = ["update"] }\n');
  writeFileSync(box.at('other-policy.hcl'), 'path "transit/sign/*" { capabilities = ["update"] }\n');
  await box.ok(['policy', 'write', 'senders', box.at('policy.hcl')]);
  await box.ok(['token', 'create', '--policy', 'senders']);
  await box.ok(['mounts', 'add', 'payments']);
  await box.ok([...keys, 'create', 'cards', '--mount', 'payments']);
  await box.ok(['slots', 'add', '--raw', '--label', 'second']);
  const slots = JSON.parse(await box.ok(['slots', 'list', '-o', 'json'])) as { id: string }[];
  writeFileSync(box.at('second-slot'), slots[1]?.id ?? '');
  await box.ok(['store', 'backup', box.at('store.backup')]);
}
