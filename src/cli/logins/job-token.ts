import { HttpTransport, isExposed } from '../../client/http-transport.ts';
import { attempt, CofferError, denied, expected, invalid, unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Environment, variable } from '../given.ts';

/** Timeout of the token request, in milliseconds. The job waits for it. */
const WITHIN_MS = 30_000;
const MAX_BYTES = 256 * 1024;
const OK = 200;

/** Request for the job's own token. */
export interface JobTokenRequest {
  /** Intended audience; servers refuse a token for another one. */
  readonly audience: string;
  /** PEM certificates to trust in addition to those of the platform. */
  readonly certificateAuthorities?: string | undefined;
}

/**
 * Returns the token with which a CI job proves its identity. GitLab sets it in a variable that the job names
 * (`id_tokens`); GitHub's runner tells the URL to request one from.
 * @throws `invalid` if there is none, with a hint how the job gets one
 * @see docs/decisions/0190
 * @see https://docs.github.com/en/actions/reference/security/oidc
 * @see https://docs.gitlab.com/ci/secrets/id_token_authentication/
 */
export async function jobToken(environment: Environment, request: JobTokenRequest): Promise<string> {
  for (const name of ['COFFER_ID_TOKEN', 'VAULT_ID_TOKEN']) {
    const token = variable(environment, name);
    if (token !== undefined) return token;
  }
  const url = variable(environment, 'ACTIONS_ID_TOKEN_REQUEST_URL');
  const bearer = variable(environment, 'ACTIONS_ID_TOKEN_REQUEST_TOKEN');
  if (url !== undefined && bearer !== undefined) return gitHubToken(environment, url, bearer, request);
  throw invalid('no CI job token found', { field: 'jwt', hint: wayToOne(environment) });
}

function wayToOne(environment: Environment): string {
  if (environment['GITHUB_ACTIONS'] === 'true') return 'add "permissions: { id-token: write }" to the job';
  if (environment['GITLAB_CI'] === 'true')
    return 'add "id_tokens: { COFFER_ID_TOKEN: { aud: https://… } }" to the job, with the address of the server';
  return 'use jwt=@FILE or jwt=-, or set COFFER_ID_TOKEN';
}

async function gitHubToken(
  environment: Environment,
  text: string,
  bearer: string,
  { audience, certificateAuthorities }: JobTokenRequest,
): Promise<string> {
  if (!URL.canParse(text)) throw invalid('invalid URL', { field: 'ACTIONS_ID_TOKEN_REQUEST_URL' });
  const url = new URL(text);
  // A network attacker who reads the request could request tokens of this job.
  if (isExposed(url.origin)) {
    throw denied(
      `the connection to ${url.origin} is not encrypted, so the token of the CI job was not requested`,
      {
        field: 'ACTIONS_ID_TOKEN_REQUEST_URL',
        hint: 'set it to an https:// URL, as GitHub does',
      },
    );
  }
  url.searchParams.set('audience', audience);
  const transport = new HttpTransport({
    address: url.origin,
    timeoutMs: WITHIN_MS,
    maxAnswerBytes: MAX_BYTES,
    proxyEnv: environment,
    certificateAuthorities,
  });
  try {
    const { status, body } = await transport.send({
      method: 'GET',
      target: url.pathname + url.search,
      headers: { accept: 'application/json', authorization: `bearer ${bearer}` },
    });
    return tokenIn(status, body);
  } catch (error) {
    const known = expected(error);
    throw new CofferError(known.kind, `cannot get a token for the CI job: ${known.message}`, {
      field: known.field,
      hint:
        known.kind === 'unavailable' ? 'check https://www.githubstatus.com and rerun the job' : known.hint,
      cause: error,
    });
  } finally {
    transport.close();
  }
}

function tokenIn(status: number, body: string): string {
  const answer: unknown = status === OK ? attempt(() => JSON.parse(body)) : undefined;
  if (isObject(answer) && typeof answer['value'] === 'string') return answer['value'];
  throw unavailable(`GitHub returned status ${status}${status === OK ? ' without a token' : ''}`);
}
