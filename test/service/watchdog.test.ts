import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const WATCHDOG = new URL('../../src/service/agent/watchdog.ts', import.meta.url);

/** How a process ends that does this with a watchdog, and after how many milliseconds since it was ready. */
async function endOf(
  script: string,
): Promise<{ readonly signal: unknown; readonly code: unknown; ms: number }> {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module-typescript',
      '--eval',
      `import { Watchdog } from ${JSON.stringify(WATCHDOG.href)};
      const dog = new Watchdog();
      const hang = () => { process.stdout.write('.', () => { for (;;); }); };
      const far = { wall: Date.now() + 3_600_000, leftMs: 3_600_000 };
      const near = { wall: Date.now() + 300, leftMs: 300 };
      ${script}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('.', import.meta.url)) },
  );
  let start = Number.NaN;
  child.stdout.once('data', () => {
    start = performance.now();
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, ms: performance.now() - start };
}

describe('the watchdog of an agent', () => {
  it.each([
    { title: 'by both clocks', script: 'dog.set(near); hang();' },
    {
      title: 'by the clock of the wall alone, as after a sleep',
      script: 'dog.set({ ...far, wall: near.wall }); hang();',
    },
    {
      title: 'by the other clock alone, when that of the wall was set back',
      script: 'dog.set({ ...near, wall: far.wall }); hang();',
    },
    {
      title: 'by an end that came nearer',
      script: 'dog.set(far); setTimeout(() => { dog.set(near); hang(); }, 100);',
    },
  ])('kills a process that never comes back to its event loop, $title', async ({ script }) => {
    const { signal, ms } = await endOf(script);
    expect(signal).toBe('SIGKILL');
    // Not before an agent has had the time to end by itself.
    expect(ms).toBeGreaterThan(500);
  });

  it.each([
    { title: 'that ends by itself', script: 'dog.set(far); process.stdout.write(".");' },
    {
      title: 'whose end was put off',
      script: 'dog.set(near); dog.set(far); process.stdout.write("."); setTimeout(() => {}, 2500);',
    },
    {
      title: 'that has stopped it',
      script: 'dog.set(near); process.stdout.write("."); await dog.stop(); setTimeout(() => {}, 2500);',
    },
  ])('leaves a process alone $title', async ({ script }) => {
    expect(await endOf(script)).toMatchObject({ signal: null, code: 0 });
  });
});
