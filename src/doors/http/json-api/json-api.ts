import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../../access/access.ts';
import { asCofferError, attempt } from '../../../ground/errors.ts';
import type { Operation } from '../../../operations/declaration/operation.ts';
import type { Method } from '../../../operations/declaration/route.ts';
import { readQuery } from '../../../operations/json-api/query.ts';
import { readDocument } from '../../../operations/json-api/request.ts';
import type { AnswerPrinter, AskedRequest, Result } from '../../../operations/pipeline/asked-request.ts';
import { DocumentEndpoints } from '../../../operations/pipeline/endpoints.ts';
import { isWelcome } from '../../../operations/pipeline/judge.ts';
import { perform } from '../../../operations/pipeline/perform.ts';
import type { ServedRoute } from '../../../operations/routes.ts';
import type { NoteFailure } from '../../../service/outside-view.ts';
import type { ServedCore } from '../../../service/served-core.ts';
import {
  type Answer,
  type Exchange,
  errorDetails,
  type PendingRequest,
  settled,
  tokenOf,
  withHeaders,
} from '../exchange.ts';
import { parseObject, parseQuery } from '../request-body.ts';
import {
  baseUrlOf,
  coreErrorDocument,
  documentAnswer,
  errorDocument,
  JSON_API_PREFIX,
  NO_DOCUMENT,
  NOT_FOUND,
  refusedMediaType,
  UNAUTHORIZED,
} from './documents.ts';

interface JsonApiOptions {
  readonly routes: readonly ServedRoute[];
  readonly served: () => ServedCore | undefined;
  readonly failed: NoteFailure;
  /** Present if only the owner can connect: tokens are ignored. */
  readonly byOwner?: boolean;
}

/** Tags API: `/api/v2`, following JSON:API. */
export class JsonApi {
  readonly #endpoints: DocumentEndpoints;
  readonly #options: JsonApiOptions;

  constructor(options: JsonApiOptions) {
    this.#endpoints = new DocumentEndpoints(options.routes);
    this.#options = options;
  }

  /** Reads what is requested, without the body. */
  take(exchange: Exchange): PendingRequest {
    const { target } = exchange;
    const mark = target.indexOf('?');
    const path = target.slice(JSON_API_PREFIX.length, mark === -1 ? undefined : mark);
    if (!isEncoded(path)) return settled(MALFORMED_PATH);
    // First call of every client, answered whatever its token is.
    if (path === 'ping') return settled(NO_DOCUMENT);
    const query = mark === -1 ? '' : target.slice(mark + 1);
    return {
      weight: exchange.body.isLarge ? 'large' : 'light',
      answer: () => this.#answer(exchange, path, query),
      caller: () => this.#caller(exchange, path, query),
      failed: (error) => this.#failure(exchange, undefined, error).answer,
    };
  }

  async #answer(exchange: Exchange, path: string, query: string): Promise<Answer> {
    try {
      const served = this.#options.served();
      if (served === undefined) return SEALED;
      const asked = await this.#ask(exchange, path, query, served);
      return await perform(served, asked, this.#door(exchange));
    } catch (error) {
      return this.#failure(exchange, undefined, error).answer;
    }
  }

  async #caller(exchange: Exchange, path: string, query: string): Promise<TokenIdentity | undefined> {
    const served = this.#options.served();
    if (served === undefined) return undefined;
    const asked = await this.#ask(exchange, path, query, served);
    return asked.endpoint.operation === undefined ? undefined : isWelcome(served, asked);
  }

  async #ask(exchange: Exchange, path: string, query: string, served: ServedCore): Promise<AskedRequest> {
    const method = METHODS[exchange.method];
    const endpoint = this.#endpoints.at(await served.look(), method, path);
    const { match } = endpoint;
    return {
      id: randomUUID(),
      endpoint,
      ...(this.#options.byOwner ? { token: undefined, byOwner: true } : { token: tokenOf(exchange) }),
      remoteAddress: exchange.remoteAddress,
      headers: exchange.headers,
      baseUrl: baseUrlOf(exchange),
      async parameters(operation) {
        const body = method === 'GET' ? undefined : await exchange.body.read();
        const sent = {
          ...readQuery(operation, parseQuery(query)),
          ...readDocument(operation, parseBody(body)),
        };
        return { sent, recorded: typeof match === 'string' ? sent : { ...sent, ...match.captures } };
      },
    };
  }

  #door(exchange: Exchange): AnswerPrinter<Answer> {
    return {
      unauthenticated: () => resultOf(UNAUTHORIZED, 'unauthorized'),
      refused() {
        const refused = refusedMediaType(exchange);
        return refused === undefined ? undefined : resultOf(refused);
      },
      denied: () => MISSING,
      tooOften: (seconds) =>
        resultOf(withHeaders(TOO_OFTEN, { 'retry-after': String(seconds) }), 'rate limit quota exceeded'),
      told: withHeaders,
      missing: () => MISSING,
      printed({ outcome }) {
        const answer = documentAnswer(outcome);
        return { answer, status: answer.status, data: outcome.data };
      },
      failed: (error, operation) => this.#failure(exchange, operation, error),
      unrecorded: (error) =>
        asCofferError(error)?.kind === 'unconfirmed'
          ? this.#failure(exchange, undefined, error).answer
          : UNRECORDED,
    };
  }

  #failure(exchange: Exchange, operation: Operation | undefined, error: unknown): Result<Answer> {
    if (error instanceof MalformedBody) {
      return resultOf(errorDocument(400, { detail: error.message }), error.message);
    }
    const known = this.#options.failed(error);
    if (known === undefined) return resultOf(errorDocument(500), 'internal error');
    const details = errorDetails(exchange, known);
    return resultOf(coreErrorDocument(known, operation, details, this.#options.byOwner), known.message);
  }
}

const METHODS: Readonly<Record<string, Method>> = {
  GET: 'GET',
  // Node omits the body.
  HEAD: 'GET',
  POST: 'POST',
  PATCH: 'PATCH',
  DELETE: 'DELETE',
};

const resultOf = (answer: Answer, error?: string): Result<Answer> => ({
  answer,
  status: answer.status,
  error,
});

const SEALED = errorDocument(503, { detail: 'The store is sealed.' });
const TOO_OFTEN = errorDocument(429, { detail: 'Too many requests.' });
const UNRECORDED = errorDocument(503, { detail: 'The request could not be audited.' });
const MALFORMED_PATH = errorDocument(400, { detail: 'the path is not percent-encoded UTF-8' });
const MISSING = resultOf(NOT_FOUND, 'not found');

const isEncoded = (path: string): boolean =>
  attempt(() => !path.includes('%') || decodeURIComponent(path) !== undefined, false);

class MalformedBody extends Error {}

function parseBody(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return parseObject(body);
  } catch (error) {
    throw new MalformedBody('The body is not a JSON object.', { cause: error });
  }
}
