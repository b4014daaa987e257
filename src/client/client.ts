import type { Runner } from '../operations/declaration/operation.ts';
import type { RunnerOptions } from '../operations/runner.ts';
import { HttpTransport, type TransportOptions } from './http-transport.ts';
import { remoteRunner } from './remote-runner.ts';

interface ClientOptions extends RunnerOptions, TransportOptions {
  readonly token?: string | undefined;
  /** Namespace, for Vault servers that support it. */
  readonly namespace?: string | undefined;
}

/**
 * Creates a runner for a server. Nothing is sent before the first operation.
 * @throws `invalid` for an impossible address
 */
export const connect = (options: ClientOptions): Runner => {
  const { token, namespace } = options;
  return remoteRunner(new HttpTransport(options), { token, namespace }, options);
};
