import type { TokenIdentity } from '../../access/access.ts';
import type { AuditedRequest } from '../../access/audit-record.ts';
import type { Capability } from '../../access/capability.ts';
import type { IssuedToken } from '../../access/tokens.ts';
import { attempt, failedAfter } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { changesSomething, type Operation } from '../declaration/operation.ts';
import type { Params } from '../declaration/params.ts';
import { CAPABILITY_OF } from '../declaration/route.ts';
import type { AskedRequest, GuardedCore, Result } from './asked-request.ts';

export const afterChange = (error: unknown): unknown =>
  failedAfter('the change was made', error, 'check the result before you retry');

/** Audit records of one request. */
export class Trail {
  readonly #guarded: GuardedCore;
  readonly #shownOfAnswers: readonly string[] | undefined;
  /** Completed step by step: copying it at each step would cost as much as one of its hashes. */
  readonly #request: { -readonly [K in keyof AuditedRequest]: AuditedRequest[K] };
  /** Whether a modifying operation was allowed to run. */
  isChange = false;
  /** Whether the record before a modifying operation could not be written. */
  isUnrecorded = false;

  /** Must be created when the settings of recorded headers are those of the endpoint's revision. */
  constructor(guarded: GuardedCore, asked: AskedRequest, identity: TokenIdentity | undefined) {
    const { id, endpoint, token, remoteAddress, wrapTtl } = asked;
    const { method, path, mount } = endpoint;
    this.#guarded = guarded;
    this.#shownOfAnswers = mount?.config?.audit_non_hmac_response_keys;
    this.#request = {
      id,
      operation: CAPABILITY_OF[method],
      path,
      remoteAddress,
      mountPoint: mount === undefined ? undefined : `${mount.path}/`,
      shown: mount?.config?.audit_non_hmac_request_keys,
      token,
      wrapTtl,
      identity,
      headers: asked.headers && guarded.access.headersInTrail.of(asked.headers),
    };
  }

  sent({ params }: Operation, parameters: JsonObject): void {
    this.#request.parameters = parameters;
    this.#request.isPlain = (name, value) => isPlain(params, name, value);
    this.#request.isKnown = (name) => Object.hasOwn(params, name);
  }

  /** Writes the record before a modifying operation; returns undefined for any other, which has none. */
  request(operation: Operation, capability: Capability): Promise<void> | undefined {
    this.#request.operation = capability;
    return capability === 'create' || changesSomething(operation, capability)
      ? this.#recordChange()
      : undefined;
  }

  /** Records the response of a login as that of its new token, as Vault does: with its name, metadata and policies. */
  loggedIn({ accessor, text, token }: IssuedToken): void {
    const { displayName, meta, policies, kind } = token;
    this.#request.token = text;
    this.#request.identity = {
      accessor,
      displayName,
      meta,
      policies,
      batch: kind === 'batch' ? text : undefined,
    };
  }

  async #recordChange(): Promise<void> {
    this.isUnrecorded = true;
    await this.#guarded.recordRequest(this.#request);
    this.isUnrecorded = false;
    this.isChange = true;
  }

  /** Runs the steps after the operation; if they fail after a change, the error says that the change was made. */
  async sparing<T>(after: () => Promise<T>): Promise<T> {
    try {
      return await after();
    } catch (error) {
      throw this.isChange ? afterChange(error) : error;
    }
  }

  /** Records the response before it is sent: one that cannot be recorded is not sent. */
  respond({ status, data, error, wrapInfo }: Result<unknown>): Promise<void> | undefined {
    return this.#guarded.recordResponse(this.#request, {
      status,
      data: isObject(data) ? data : undefined,
      shown: this.#shownOfAnswers,
      error,
      wrapInfo,
    });
  }
}

/** Whether the value has the type of the parameter; otherwise it may be a secret that was meant to be text. */
const isPlain = (params: Params, name: string, value: unknown): boolean =>
  attempt(() => Object.hasOwn(params, name) && params[name]?.parse(value, name) === value, false);
