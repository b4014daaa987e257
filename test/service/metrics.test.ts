import { describe, expect, it } from 'vitest';
import { Metrics, printMetrics } from '../../src/service/metrics.ts';

describe('the metrics of several processes', () => {
  const server = { sealed: false, replaced: 0 };
  const snapshot = (change: object) => ({ ...new Metrics().snapshot(), ...change });
  const lineOf = (text: string, name: string): string | undefined =>
    text.split('\n').find((line) => line.startsWith(`${name} `));

  it('are those of all of them together, and since the first of them was started', () => {
    const text = printMetrics(
      [
        snapshot({ inFlight: 2, defects: 1, residentBytes: 100, startedAt: 1000 }),
        snapshot({ inFlight: 3, defects: 0, residentBytes: 50, startedAt: 2000 }),
      ],
      server,
    );
    expect(lineOf(text, 'coffer_requests_in_flight')).toBe('coffer_requests_in_flight 5');
    expect(lineOf(text, 'coffer_defects_total')).toBe('coffer_defects_total 1');
    expect(lineOf(text, 'process_resident_memory_bytes')).toBe('process_resident_memory_bytes 150');
    expect(lineOf(text, 'coffer_processes')).toBe('coffer_processes 2');
    expect(lineOf(text, 'process_start_time_seconds')).toBe('process_start_time_seconds 1000');
  });

  it.each([
    ['coffer_tls_certificate_end_seconds', 'certificateEnds'],
    ['coffer_store_free_bytes', 'storeFreeBytes'],
    ['coffer_audit_free_bytes', 'auditFreeBytes'],
  ])('give as %s what is worst for an alert, and nothing where no process knows it', (name, member) => {
    const printed = (...values: readonly (number | undefined)[]) =>
      lineOf(
        printMetrics(
          values.map((value) => snapshot({ [member]: value })),
          server,
        ),
        name,
      );
    expect(printed(3000, 1000, 2000)).toBe(`${name} 1000`);
    expect(printed(1000, 3000)).toBe(`${name} 1000`);
    expect(printed(undefined, 3000)).toBe(`${name} 3000`);
    expect(printed(0, 3000)).toBe(`${name} 0`);
    expect(printed(undefined, undefined)).toBeUndefined();
  });

  it.each([
    [['available', 'available'], 1, 0],
    [['available', 'unavailable'], 0, 0],
    [['available', 'went-back'], 0, 1],
    [[undefined, 'available'], 1, 0],
    [[undefined], 0, 0],
  ])('say of a store that is %j to them whether all can use it: %d', (conditions, available, wentBack) => {
    const text = printMetrics(
      conditions.map((store) => snapshot({ store })),
      server,
    );
    expect(lineOf(text, 'coffer_store_available')).toBe(`coffer_store_available ${available}`);
    expect(lineOf(text, 'coffer_store_went_back')).toBe(`coffer_store_went_back ${wentBack}`);
  });
});

describe('the metrics of a process', () => {
  const lines = (metrics: Metrics): readonly string[] =>
    printMetrics([metrics.snapshot()], { sealed: false, replaced: 0 })
      .split('\n')
      .filter((line) => !line.startsWith('#'));

  it('count a request in the first bucket that it is not longer than, and in all behind', () => {
    const metrics = new Metrics();
    for (const seconds of [0, 0.001, 0.0011, 10, 10.5]) {
      metrics.begin();
      metrics.end('vault', 'GET', 200, seconds);
    }
    const name = 'coffer_http_request_duration_seconds';
    const found = lines(metrics).filter((line) => line.startsWith(name));
    const below = (bound: string): string | undefined =>
      found.find((line) => line.includes(`le="${bound}"`))?.split(' ')[1];
    expect(['0.001', '0.005', '2.5', '10', '+Inf'].map(below)).toEqual(['2', '3', '3', '4', '5']);
    expect(found.at(-1)).toBe(`${name}_count{api="vault"} 5`);
    expect(lines(metrics)).toContain('coffer_http_requests_total{api="vault",method="GET",status="200"} 5');
    expect(lines(metrics)).toContain('coffer_requests_in_flight 0');
  });

  it('have one name for all methods that nobody knows', () => {
    const metrics = new Metrics();
    for (const method of ['GET', 'BREW', 'get', '"} 7']) {
      metrics.begin();
      metrics.end('vault', method, 405, 1);
    }
    metrics.begin();
    expect(lines(metrics)).toEqual(
      expect.arrayContaining([
        'coffer_http_requests_total{api="vault",method="GET",status="405"} 1',
        'coffer_http_requests_total{api="vault",method="other",status="405"} 3',
        'coffer_requests_in_flight 1',
      ]),
    );
  });

  it('count what went wrong by what it was', () => {
    const metrics = new Metrics();
    metrics.defect();
    metrics.unrecorded(2);
    metrics.unrecorded(3);
    for (let i = 0; i < 6; i++) metrics.loginFailure();
    for (const kind of ['corrupt', 'unconfirmed', 'unavailable', 'not-found', 'unavailable'] as const)
      metrics.storeFailure(kind);
    expect(lines(metrics)).toEqual(
      expect.arrayContaining([
        'coffer_defects_total 1',
        'coffer_audit_failures_total 5',
        'coffer_login_failures_total 6',
        'coffer_store_failures_total{kind="corrupt"} 1',
        'coffer_store_failures_total{kind="unavailable"} 3',
        'coffer_store_failures_total{kind="unconfirmed"} 1',
      ]),
    );
  });
});
