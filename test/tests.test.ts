import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BARE_TEMPLATE, weaknessOf } from './titles.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = globSync('test/**/*.ts', { cwd: root }).filter((path) => path !== 'test/tests.test.ts');
const findAll = (pattern: RegExp): string[] =>
  files.flatMap((path) =>
    [...readFileSync(root + path, 'utf8').matchAll(pattern)].map(([found]) => `${path}: ${found}`),
  );

describe('the title of a test', () => {
  it.each([
    ['still fails', ['a command'], 'leans on the test before it'],
    ['does so over TLS', ['a client'], 'leans on the test before it'],
    ['undefined as a public key', ['exporting'], 'shows a case that has no name'],
    ['reads errors', [], 'has fewer than three words'],
    ['adds up', ['the same pattern in several policies'], undefined],
    ['a store keeps what was acknowledged', [], undefined],
  ])('is weighed as it should be: %j after %j', (title, groups, weakness) => {
    expect(weaknessOf(title, groups)).toBe(weakness);
  });

  it('is more than a row of values', () => {
    const bare = ["])('%j: %s', (", "it('%s', async (", "])(\n    '$kind: $text',\n    async ("];
    expect(bare.filter((text) => [...text.matchAll(BARE_TEMPLATE)].length !== 1)).toEqual([]);
    expect(findAll(BARE_TEMPLATE)).toEqual([]);
  });
});

describe('the choices of a test', () => {
  it('are drawn by chance only with a seed that is printed', () => {
    expect(findAll(/\bMath\.random\b|\brandomInt\b/g)).toEqual([]);
  });

  it('never put a fixed character in the place of one that may be the same', () => {
    const replacing = /\.slice\(0, -[12]\)(?:\}\w{1,2}`| ?\+ ?(['"`])\w{1,2}\1)/g;
    const seen = ['.slice(0, -1)}q`', "age.slice(0, -1) + 'q'", '.slice(0, -6)}zzzzzz`'];
    expect(seen.map((text) => [...text.matchAll(replacing)].length)).toEqual([1, 1, 0]);
    expect(findAll(replacing)).toEqual([]);
  });
});

describe('a bound on the time of a processor', () => {
  it('is held against a clock that was brought up to date, which the one of Node is not', () => {
    const found = findAll(/\bprocess\.(?:threadCpuUsage|cpuUsage)\b/g).map((place) => place.split(':')[0]);
    expect([...new Set(found)].sort()).toEqual(['test/processor-time.ts']);
  });
});

/** A call, from its name to the bracket that ends it. */
function callAt(text: string, start: number): string {
  let depth = 0;
  for (let at = text.indexOf('(', start); at < text.length; at++) {
    // What is escaped is part of a pattern.
    const isEscaped = text[at - 1] === '\\';
    if (text[at] === '(' && !isEscaped) depth++;
    if (text[at] === ')' && !isEscaped && --depth === 0) return text.slice(start, at + 1);
  }
  return text.slice(start);
}

/** Calls that wait until something is so, and whose limit is not said, or is one that a busy machine may need for itself. */
function* impatientIn(text: string): Generator<string> {
  for (const { index } of text.matchAll(/\b(?:vi\.waitUntil|vi\.waitFor|expect\.poll)\(/g)) {
    const call = callAt(text, index);
    const limit = [...call.matchAll(/(?:timeout: |, )(\d[\d_]*)/g)].at(-1)?.[1];
    const isPatient = limit !== undefined && Number(limit.replaceAll('_', '')) >= LEAST_PATIENCE_MS;
    if (!isPatient && !/, [A-Z]+\)$/.test(call)) yield call;
  }
}

const LEAST_PATIENCE_MS = 10_000;

/** Who may sleep or look at intervals, and why: everybody else waits for a condition. */
const TIMERS: Readonly<Record<string, readonly string[]>> = {
  'draws the moment of a kill': [
    'test/contracts/backend/process-cases.ts',
    'test/faults/kill/random.test.ts',
    'test/store/postgres/fleet.test.ts',
    'test/store/processes/kill.test.ts',
    'test/tags/processes.test.ts',
  ],
  'is slow, or there for long, on purpose': [
    'test/access/audit-log.test.ts',
    'test/cli/last-seen.ts',
    'test/contracts/backend/child.ts',
    'test/doors/http/list-method.test.ts',
    'test/e2e/single-executable.test.ts',
    'test/faults/conditions/parts.ts',
    'test/faults/kill/watchers.ts',
    'test/hygiene/processes.test.ts',
    'test/plugins/fake-plugin.ts',
    'test/servers/issuer-program.ts',
    'test/servers/raw-http.ts',
    'test/store/postgres/database-line.ts',
    'test/store/postgres/silence.long.test.ts',
  ],
  'ends what takes too long': [
    'test/clients/run.ts',
    'test/contracts/backend/bench.ts',
    'test/fuzz/jobs.ts',
    'test/fuzz/targets/sockets.ts',
    'test/hygiene/watched-process.ts',
    'test/servers/server-process.ts',
  ],
  'asks again and again, until it is answered or told to stop': [
    'test/clients/bao/dev-server.ts',
    'test/doors/http/strangers.test.ts',
    'test/release/image.ts',
    'test/service/health-prober.ts',
    'test/service/watchdog.test.ts',
    'test/store/backends/sqlite/sqlite-backend.ts',
    'test/store/postgres/cluster.ts',
    'test/store/postgres/fleet.ts',
    'test/store/postgres/traffic.ts',
  ],
};

/** Looks at every turn of the event loop, which is when the machine comes to it: what is looked for may have come and gone. */
const AT_EVERY_TURN =
  /\belse setImmediate\(|\bwhile \(![^\n]*\) await (?:new Promise\(|setImmediate\(|turn\()/g;

/** A time limit of a test or hook of its own, in seconds and thousands; that of all others is 300 s. */
const TIME_LIMITS = /^ *\}?,? *(\d+)_000(?:,|\);)$|\}, (\d+)_000\);/gm;
const USUAL_LIMIT_S = 300;

describe('a test that waits', () => {
  it('has no time limit of its own below that of all tests, which is for what hangs', () => {
    const tooShort = (text: string): readonly string[] =>
      [...text.matchAll(TIME_LIMITS)]
        .filter(([, alone, behind]) => Number(alone ?? behind) < USUAL_LIMIT_S)
        .map(([found]) => found.trim());
    expect(tooShort('it(TITLE, () => {\n}, 60_000);\nit(\n  TITLE,\n  f,\n  90_000,\n);')).toEqual([
      '}, 60_000);',
      '90_000,',
    ]);
    expect(tooShort('it(TITLE, () => {\n}, 600_000);')).toEqual([]);
    const found = files.flatMap((path) =>
      tooShort(readFileSync(root + path, 'utf8')).map((limit) => `${path}: ${limit}`),
    );
    expect(found).toEqual([]);
  });

  it('says for how long, and leaves a busy machine time', () => {
    const impatient = [
      'vi.waitUntil(() => f(x))',
      'expect.poll(f, { timeout: 9_000 })',
      'vi.waitFor(f, 1_000)',
    ];
    expect(impatient.flatMap((call) => [...impatientIn(`${call};`)])).toEqual(impatient);
    const patient = [
      'vi.waitUntil(f, WITHIN)',
      'vi.waitUntil(() => f(x), { timeout: 20_000, interval: 5 })',
      'expect.poll(f, {\n  timeout: 20_000,\n})',
      'vi.waitFor(f, 10_000)',
    ];
    expect(patient.flatMap((call) => [...impatientIn(`${call};`)])).toEqual([]);
    const found = files.flatMap((path) =>
      [...impatientIn(readFileSync(root + path, 'utf8'))].map((call) => `${path}: ${call}`),
    );
    expect(found).toEqual([]);
  });

  it('waits for a condition, and sleeps only where that is the point', () => {
    const timers = files.filter((path) =>
      /\bset(?:Timeout|Interval)\(|\bsetTimeout as\b/.test(readFileSync(root + path, 'utf8')),
    );
    expect(timers.toSorted()).toEqual(Object.values(TIMERS).flat().toSorted());
  });

  it('does not look for a moment that passes at every turn of the event loop', () => {
    const bad = ['if (isThere()) abort(); else setImmediate(look);', 'while (!isThere()) await turn();'];
    expect(bad.filter((text) => [...text.matchAll(AT_EVERY_TURN)].length !== 1)).toEqual([]);
    expect(findAll(AT_EVERY_TURN)).toEqual([]);
  });
});
