import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const WATCHDOG = new URL('../../src/service/agent/watchdog.ts', import.meta.url);

/** How a process ends that does this with a watchdog, what it said, and how many shells it has started. */
async function endOf(script: string) {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import child from 'node:child_process';
      import { syncBuiltinESMExports } from 'node:module';
      import { Watchdog } from ${JSON.stringify(WATCHDOG.href)};
      const { spawn } = child;
      let shells = 0;
      let shell;
      child.spawn = (...all) => { shells += 1; return (shell = spawn(...all)); };
      // Nothing else would kill this process.
      const isEnded = async (of) => { while (of.signalCode === null) await pause(20); };
      syncBuiltinESMExports();
      const dog = new Watchdog();
      const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      const HOUR = 3_600_000;
      const at = (ms) => ({ wall: Date.now() + ms, leftMs: ms });
      const watch = (latest, idle = at(HOUR), idleMs = HOUR) => dog.watch({ latest, idle, idleMs }, (error) => { throw error; });
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      ${script}
      console.log(String(shells));`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('.', import.meta.url)) },
  );
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, shells: Number(said) };
}

describe('the watchdog of an agent', () => {
  it.concurrent.each([
    { title: 'by both clocks', script: 'watch(at(300)); hang();' },
    {
      title: 'by the clock of the wall alone, as after a sleep',
      script: 'watch({ ...at(HOUR), wall: Date.now() - 2000 }); hang();',
    },
    {
      title: 'by the other clock alone, when that of the wall was set back',
      script: 'watch({ ...at(300), wall: Date.now() + HOUR }); hang();',
    },
    {
      title: 'by an end that came nearer',
      script: 'watch(at(HOUR)); await pause(100); watch(at(300)); hang();',
    },
    {
      title: 'also after somebody has killed the shell',
      script: `watch(at(HOUR)); shell.kill('SIGKILL'); await isEnded(shell); watch(at(300)); hang();`,
    },
    {
      title: 'also after somebody has killed what the shell waits for',
      script: `watch(at(HOUR));
        const sleeping = () => child.execFileSync('ps', ['-axo', 'pid=,ppid=,comm='], { encoding: 'utf8' }).split('\\n')
          .map((line) => line.trim().split(/ +/)).find(([, of, name]) => Number(of) === shell.pid && name.endsWith('sleep'));
        // The first one sleeps for a part of a second alone: another may have taken its place meanwhile.
        while (shell.exitCode === null) {
          const [pid] = sleeping() ?? [];
          try { if (pid !== undefined) process.kill(Number(pid), 'SIGKILL'); } catch {}
          await pause(20);
        }
        watch(at(300)); hang();`,
    },
    {
      title: 'for want of use, some time later',
      script: 'watch(at(HOUR), at(-59_500), 1000); hang();',
    },
  ])('kills a process that never comes back to its event loop, $title', async ({ script }) => {
    expect((await endOf(script)).signal).toBe('SIGKILL');
  });

  it.concurrent.each([
    { title: 'that ends by itself', script: 'watch(at(HOUR));', shells: 1 },
    {
      title: 'whose end was put off',
      script: 'watch(at(60_000)); const first = shell; watch(at(HOUR)); await isEnded(first); dog.stop();',
      shells: 2,
    },
    {
      title: 'that has stopped it',
      script: 'watch(at(60_000)); dog.stop(); await isEnded(shell);',
      shells: 1,
    },
    {
      title: 'and starts no shell for each use',
      script: 'for (let use = 0; use < 100; use++) watch(at(10 * HOUR), at(HOUR + use * 1000)); dog.stop();',
      shells: 1,
    },
    {
      title: 'and starts one for uses that have put off the end by long enough',
      script:
        'for (let use = 0; use < 10; use++) watch(at(24 * HOUR), at(HOUR + use * 0.3 * HOUR)); dog.stop();',
      shells: 5,
    },
  ])('leaves a process alone $title', async ({ script, shells }) => {
    expect(await endOf(script)).toEqual({ signal: null, code: 0, shells });
  });
});
