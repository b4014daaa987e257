import type { Capability } from '../../../src/access/capability.ts';
import type { Admission } from '../../../src/access/quotas/quotas.ts';
import { asCofferError } from '../../../src/ground/errors.ts';
import type { Operation, Outcome } from '../../../src/operations/declaration/operation.ts';
import { text } from '../../../src/operations/declaration/params.ts';
import type {
  AnswerPrinter,
  AskedRequest,
  GuardedCore,
  Result,
} from '../../../src/operations/pipeline/asked-request.ts';
import { perform } from '../../../src/operations/pipeline/perform.ts';

/** What a test sets of the surroundings of a request; everything else is as usual. */
export interface Scene {
  readonly asked?: object;
  readonly endpoint?: object;
  readonly operation?: object;
  /** What the operation answers, or fails with. */
  readonly outcome?: Outcome<unknown> | Error;
  /** Rights of the token, each as `update transit/x`; undefined for a token that does not hold. */
  readonly rights?: readonly string[];
  readonly door?: object;
  readonly sent?: object | Error;
  /** Steps that fail, by their names among those that are noted. */
  readonly fails?: Readonly<Record<string, Error>>;
  readonly admission?: Admission | Error | undefined;
  /** Whether a login is let begin. */
  readonly isBarred?: boolean;
}

/** Answer of the door of the tests, and how it came about. */
export interface Staged {
  readonly answer: string;
  /** Steps in their order. */
  readonly steps: readonly string[];
  /** What was written into the trail last. */
  readonly recorded: Result<unknown> | undefined;
  /** Capabilities that the records of requests name. */
  readonly capabilities: readonly Capability[];
  readonly wrapped: readonly object[];
}

const PATH = 'transit/x';

const described = (error: unknown): string => {
  const known = asCofferError(error);
  return known === undefined ? `defect: ${String(error)}` : `${known.kind}: ${known.message}`;
};

function doorOf({ door }: Scene): AnswerPrinter<string> {
  const result = (answer: string, status: number): Result<string> => ({ answer, status, error: answer });
  return {
    unauthenticated: () => result('unauthenticated', 403),
    denied: () => result('denied', 403),
    tooOften: (seconds) => result(`too often: ${seconds}`, 429),
    told: (answer, headers) => `${answer} ${Object.values(headers).join('/')}`,
    missing: (match) => result(match, 404),
    printed: ({ outcome, unrecognized }) => ({
      answer: [outcome.wrapInfo === undefined ? 'done' : 'wrapped', ...unrecognized].join(' '),
      status: 200,
      data: outcome.data,
    }),
    kept: (answer) => answer,
    failed: (error) => result(described(error), 500),
    unrecorded: (error) => `unrecorded: ${described(error)}`,
    ...door,
  };
}

/** Runs a request through the pipeline, with everything around it made up. */
export async function staged(scene: Scene): Promise<Staged> {
  const { rights, outcome = { data: { a: 1 } }, sent = {} } = scene;
  const steps: string[] = [];
  const capabilities: Capability[] = [];
  const wrapped: object[] = [];
  let recorded: Result<unknown> | undefined;
  const step = (name: string): void => {
    steps.push(name);
    const failure = scene.fails?.[name];
    if (failure !== undefined) throw failure;
  };
  const operation = {
    capability: 'update',
    params: { value: text({ help: 'A value.' }) },
    async run() {
      step('run');
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    ...scene.operation,
  } as unknown as Operation;
  const acl = {
    allows: (path: string, wanted: Capability, parameters: object = {}) =>
      rights?.includes(`${wanted} ${path}`) === true && !Object.hasOwn(parameters, 'forbidden'),
    reaches: () => false,
  };
  const guarded = {
    core: {},
    access: {
      quotas: {
        areNoneAt: () => scene.admission === undefined,
        async admit() {
          step('admit');
          if (scene.admission instanceof Error) throw scene.admission;
          return scene.admission;
        },
      },
      async authenticate() {
        step('authenticate');
        return rights === undefined ? undefined : { accessor: 'a', acl };
      },
      headersInTrail: {
        async follow() {
          step('follow');
        },
      },
      loginAttempts: {
        begin: () => (scene.isBarred ? undefined : { end: (hasFailed: boolean) => step(`end ${hasFailed}`) }),
      },
      wrapping: {
        async wrap(what: object) {
          step('wrap');
          wrapped.push(what);
          return { text: 't', accessor: 'w', token: { creationTtl: 60, createdMs: 0, path: 'p' } };
        },
      },
    },
    async recordRequest({ operation: capability }: { operation: Capability }) {
      capabilities.push(capability);
      step('record request');
    },
    async recordResponse(_: object, response: Result<unknown>) {
      recorded = response;
      step('record response');
    },
    loginFailed: () => step('login failed'),
  } as unknown as GuardedCore;
  const asked = {
    id: 'i',
    token: 't',
    remoteAddress: '192.0.2.1',
    async parameters() {
      step('read');
      if (sent instanceof Error) throw sent;
      return { sent, recorded: sent };
    },
    endpoint: {
      revision: '1-1',
      method: 'POST',
      path: PATH,
      match: { served: { operation }, captures: {} },
      operation,
      capability: operation.capability,
      policyPrefix: '',
      policyPaths: () => ({ paths: [PATH] }),
      ...scene.endpoint,
    },
    ...scene.asked,
  } as unknown as AskedRequest;
  const answer = await perform(guarded, asked, doorOf(scene));
  return { answer, steps, recorded, capabilities, wrapped };
}
