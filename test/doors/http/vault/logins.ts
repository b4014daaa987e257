import { onTestFinished } from 'vitest';
import { lightWork } from '../../../light-work.ts';
import {
  type CleanLater,
  cleanUpAfterAll,
  type Reply,
  type SendOptions,
  send,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

/** A server with login methods, and ways to ask it. */
export interface LoginServer {
  readonly server: TestServer;
  /** As root. */
  root(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Without a token, or with the one that is given. */
  anybody(method: string, path: string, options?: SendOptions): Promise<Reply>;
  /** Enables a method at a path of its own. */
  enable(type: string, path: string, config?: object): Promise<void>;
  /** Whether a token is good, from this machine. */
  isGood(token: string): Promise<boolean>;
}

/** Puts the clock forward, for the servers of this process as well, to the end of the test. */
export function putClockForward(milliseconds: number): void {
  const { now } = Date;
  Date.now = () => now() + milliseconds;
  onTestFinished(() => {
    Date.now = now;
  });
}

export async function loginServer(finished: CleanLater = cleanUpAfterAll()): Promise<LoginServer> {
  finished(lightWork.here());
  const server = await startServer({}, finished);
  const anybody = (method: string, path: string, options: SendOptions = {}) =>
    send(server.address, method, `/v1/${path}`, options);
  const root = (method: string, path: string, body?: unknown) =>
    anybody(method, path, { token: server.token, body });
  return {
    server,
    root,
    anybody,
    async enable(type, path, config = {}) {
      const { status, text } = await root('POST', `sys/auth/${path}`, { type, config });
      if (status !== 204) throw new Error(`${path}: ${status} ${text}`);
    },
    async isGood(token) {
      return (await anybody('GET', 'auth/token/lookup-self', { token })).status === 200;
    },
  };
}
