/**
 * Metrics for Prometheus. Snapshots of several processes can be added, so that any of them can answer for all. Alerts
 * and a dashboard refer to the metrics by name: they are checked against the output of this module.
 * @see docs/decisions/0067
 */

import type { ErrorKind } from '../ground/errors.ts';
import { madeOnce } from '../ground/objects.ts';

/** State of the store. `went-back`: it was rolled back to an older revision and is not used. */
export type StoreCondition = 'available' | 'unavailable' | 'went-back';

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

interface Durations {
  /** One more than there are bounds: the last bucket is unbounded. */
  readonly counts: number[];
  sumSeconds: number;
}

/** Plain data, to be sent between processes. */
export interface Snapshot {
  /** Number of requests, by `api method status`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Durations of requests, by `api`. */
  readonly durations: Readonly<Record<string, Durations>>;
  readonly inFlight: number;
  readonly defects: number;
  /** Audit records that could not be written, so that the request failed. */
  readonly unrecorded: number;
  /** Requests that failed because of the server's disk or database, by kind of error. */
  readonly storeFailures: Readonly<Record<string, number>>;
  /** Logins that failed because of the client. */
  readonly loginFailures: number;
  /** Condition of the store in this process; undefined while it is sealed. */
  readonly store?: StoreCondition | undefined;
  /** Free bytes on the disks of the store and of the audit log; undefined if there is none. */
  readonly storeFreeBytes?: number | undefined;
  readonly auditFreeBytes?: number | undefined;
  /** Expiration time of the certificate, in Unix seconds; undefined without TLS. */
  readonly certificateEnds?: number | undefined;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** In Unix seconds. */
  readonly startedAt: number;
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Durations>();
  readonly #startedAt = Date.now() / 1000;
  #inFlight = 0;
  #defects = 0;
  #unrecorded = 0;
  #loginFailures = 0;
  readonly #storeFailures = new Map<string, number>();
  /** Expiration time of the frontend's certificate, in Unix seconds. */
  certificateEnds: number | undefined;

  begin(): void {
    this.#inFlight += 1;
  }

  end(api: string, method: string, status: number, seconds: number): void {
    this.#inFlight -= 1;
    const name = `${api} ${KNOWN_METHODS.has(method) ? method : 'other'} ${status}`;
    this.#requests.set(name, (this.#requests.get(name) ?? 0) + 1);
    const durations = madeOnce(this.#durations, api, () => ({
      counts: Array.from({ length: BUCKETS.length + 1 }, () => 0),
      sumSeconds: 0,
    }));
    const found = BUCKETS.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BUCKETS.length : found;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.sumSeconds += seconds;
  }

  defect(): void {
    this.#defects += 1;
  }

  unrecorded(records: number): void {
    this.#unrecorded += records;
  }

  loginFailure(): void {
    this.#loginFailures += 1;
  }

  storeFailure(kind: ErrorKind): void {
    // Data that the server misses is unavailable to it at the moment, and is reported like that to callers.
    const told = kind === 'corrupt' || kind === 'unconfirmed' ? kind : 'unavailable';
    this.#storeFailures.set(told, (this.#storeFailures.get(told) ?? 0) + 1);
  }

  /** Returns the counters, without the condition of the store and disks, which this class does not know. */
  snapshot(): Snapshot {
    const { rss, heapUsed } = process.memoryUsage();
    return {
      requests: Object.fromEntries(this.#requests),
      durations: Object.fromEntries(this.#durations),
      inFlight: this.#inFlight,
      defects: this.#defects,
      unrecorded: this.#unrecorded,
      storeFailures: Object.fromEntries(this.#storeFailures),
      loginFailures: this.#loginFailures,
      certificateEnds: this.certificateEnds,
      residentBytes: rss,
      heapBytes: heapUsed,
      startedAt: this.#startedAt,
    };
  }
}

/** Methods are chosen by the client: without a bound they would fill the memory. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function sumByName(records: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const record of records) {
    for (const [name, count] of Object.entries(record)) total[name] = (total[name] ?? 0) + count;
  }
  return total;
}

/** Numbers of the processes that are added. */
type Summed = 'inFlight' | 'defects' | 'unrecorded' | 'loginFailures' | 'residentBytes' | 'heapBytes';

/** Numbers of the server besides those of its processes. */
interface ServerNumbers {
  readonly sealed: boolean;
  /** Processes that exited unexpectedly, and were replaced. */
  readonly replaced: number;
  /** Expiration time of the caller's token, in Unix seconds; undefined if it never expires, or none is needed. */
  readonly tokenEnds?: number | undefined;
}

/**
 * Prints the metrics in Prometheus's text format, version 0.0.4.
 * @param snapshots of every process that answers requests
 */
export function printMetrics(snapshots: readonly Snapshot[], server: ServerNumbers): string {
  const of = (member: Summed): number => sum(snapshots.map((snapshot) => snapshot[member]));
  return [
    ...printRequests(sumByName(snapshots.map(({ requests }) => requests))),
    ...printDurations(snapshots),
    ...gauge('coffer_requests_in_flight', 'Number of requests in progress.', of('inFlight')),
    ...counter('coffer_defects_total', 'Number of internal errors.', of('defects')),
    ...counter(
      'coffer_audit_failures_total',
      'Number of audit records that could not be written.',
      of('unrecorded'),
    ),
    ...counter('coffer_login_failures_total', 'Number of failed logins.', of('loginFailures')),
    ...printStore(snapshots),
    // The earliest, in case a process has missed a renewal.
    ...printLeast(
      'coffer_tls_certificate_end_seconds',
      'Expiration time of the TLS certificate, Unix time.',
      snapshots.map(({ certificateEnds }) => certificateEnds),
    ),
    ...printLeast(
      'coffer_scrape_token_end_seconds',
      'Expiration time of the token used for this scrape, Unix time.',
      [server.tokenEnds],
    ),
    ...gauge('coffer_sealed', '1 if the store is sealed.', server.sealed ? 1 : 0),
    ...gauge('coffer_processes', 'Number of worker processes.', snapshots.length),
    ...counter(
      'coffer_worker_restarts_total',
      'Number of workers that exited unexpectedly and were restarted.',
      server.replaced,
    ),
    ...gauge('process_resident_memory_bytes', 'Memory used by all processes.', of('residentBytes')),
    ...gauge('nodejs_heap_size_used_bytes', 'Heap size of all processes.', of('heapBytes')),
    ...gauge(
      'process_start_time_seconds',
      'Start time of the oldest process, Unix time.',
      Math.min(...snapshots.map(({ startedAt }) => startedAt)),
    ),
    '',
  ].join('\n');
}

const describe = (name: string, type: string, help: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const metric =
  (type: string) =>
  (name: string, help: string, value: number): string[] => [
    ...describe(name, type, help),
    `${name} ${value}`,
  ];
const gauge = metric('gauge');
const counter = metric('counter');

/** Prints the condition of the store: the worst of all processes. */
function printStore(snapshots: readonly Snapshot[]): string[] {
  const failures = 'coffer_store_failures_total';
  const byKind = sumByName([
    { corrupt: 0, unavailable: 0, unconfirmed: 0 },
    ...snapshots.map(({ storeFailures }) => storeFailures),
  ]);
  const found = snapshots.flatMap(({ store }) => store ?? []);
  const count = (is: boolean): number => (is ? 1 : 0);
  return [
    ...describe(failures, 'counter', 'Number of requests that failed because of the disk or database.'),
    ...Object.entries(byKind).map(([kind, number]) => `${failures}{kind="${kind}"} ${number}`),
    ...gauge(
      'coffer_store_available',
      '1 if all processes can use the store, else 0 (also while sealed).',
      count(found.length > 0 && found.every((condition) => condition === 'available')),
    ),
    ...gauge(
      'coffer_store_went_back',
      '1 if the store was rolled back to an older state.',
      count(found.includes('went-back')),
    ),
    ...printLeast(
      'coffer_store_free_bytes',
      'Free bytes on the disk of the store.',
      snapshots.map(({ storeFreeBytes }) => storeFreeBytes),
    ),
    ...printLeast(
      'coffer_audit_free_bytes',
      'Free bytes on the disk of the audit log.',
      snapshots.map(({ auditFreeBytes }) => auditFreeBytes),
    ),
  ];
}

/** Prints the least of several numbers, if there are any. */
const printLeast = (name: string, help: string, found: readonly (number | undefined)[]): string[] => {
  const known = found.filter((number) => number !== undefined);
  return known.length === 0 ? [] : gauge(name, help, Math.min(...known));
};

function printRequests(requests: Readonly<Record<string, number>>): string[] {
  const name = 'coffer_http_requests_total';
  const lines = Object.entries(requests).map(([labels, count]) => {
    const [api, method, status] = labels.split(' ');
    return `${name}{api="${api}",method="${method}",status="${status}"} ${count}`;
  });
  return [...describe(name, 'counter', 'Number of requests answered.'), ...lines.sort()];
}

function printDurations(snapshots: readonly Snapshot[]): string[] {
  const name = 'coffer_http_request_duration_seconds';
  const apis = new Set(snapshots.flatMap(({ durations }) => Object.keys(durations)));
  const lines = [...apis].sort().flatMap((api) => {
    const all = snapshots.flatMap(({ durations }) => durations[api] ?? []);
    let below = 0;
    const buckets = [...BUCKETS, '+Inf'].map((bound, index) => {
      below += sum(all.map(({ counts }) => counts[index] ?? 0));
      return `${name}_bucket{api="${api}",le="${bound}"} ${below}`;
    });
    const total = sum(all.map(({ sumSeconds }) => sumSeconds));
    return [...buckets, `${name}_sum{api="${api}"} ${total}`, `${name}_count{api="${api}"} ${below}`];
  });
  return [...describe(name, 'histogram', 'Request duration.'), ...lines];
}
