import { sign } from 'node:crypto';
import { NO_SETTINGS } from '../../../src/access/login/token-settings.ts';
import { writeConfig } from '../../../src/access/methods/jwt/config.ts';
import type { JwtConfig, JwtPorts } from '../../../src/access/methods/jwt/documents.ts';
import { login } from '../../../src/access/methods/jwt/login.ts';
import { writeRole } from '../../../src/access/methods/jwt/roles.ts';
import { isObject } from '../../../src/ground/objects.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { Mounts } from '../../../src/mounts/mounts.ts';
import { MOUNT_TYPES } from '../../../src/operations/mount-types.ts';
import { openRoom } from '../../access/room.ts';
import type { Chance } from '../../chance.ts';
import { signingKey } from '../../servers/signing-key.ts';
import { anyText, shorterTexts, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';
import { anyValue, printValue, spoiledDeeply } from '../values.ts';

/** What a stranger sends for a token: one of ours that was changed, or whatever an issuer may have signed. */
type Attempt = { readonly token: string } | { readonly payload: string };

const SUBJECT = 'repo:acme/app:ref:refs/heads/main';
const AUDIENCE = 'https://coffer.example';
const TIMES = { iat: 1_767_323_045, exp: 1_767_323_345 };
const CLAIMS = { sub: SUBJECT, aud: [AUDIENCE], repository: 'acme/app', nested: { n: [1, 'x'] }, ...TIMES };
const HEADER = { alg: 'EdDSA', typ: 'JWT', kid: 'one' };
const MAX_MESSAGE = 400;

const part = (text: string): string => Buffer.from(text).toString('base64url');

async function open(_chance: Chance, secrets: Secrets): Promise<World<Attempt>> {
  const { store, clock, access } = await openRoom();
  const mount = await new Mounts(store, systemRandom, MOUNT_TYPES).add('jwt', 'auth/jwt');
  const room: JwtPorts = { store, clock, mount };
  const key = signingKey('EdDSA');
  await writeConfig(room, configOf(key.publicPem), {
    skipsValidation: false,
    clientSecret: '',
    provider: {},
  });
  await writeRole(room, 'job', {
    settings: {
      user_claim: 'sub',
      bound_subject: SUBJECT,
      bound_audiences: [AUDIENCE],
      bound_claims: { repository: ['acme/*'], '/nested/n/1': 'x' },
      claim_mappings: { repository: 'where' },
    },
    roleType: 'jwt',
    boundClaimsType: 'glob',
    callbackMode: undefined,
    token: { ...NO_SETTINGS, token_type: 'batch' },
  });
  const signed = (payload: string): string => {
    const text = `${part(JSON.stringify(HEADER))}.${part(payload)}`;
    return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
  };
  const genuine = signed(JSON.stringify(CLAIMS));
  let letIn = 0;
  return {
    generate: (chance) => attempt(chance, genuine),
    async check(input) {
      const jwt = 'token' in input ? input.token : signed(input.payload);
      const outcome = await secrets.outcome(() =>
        login(room, access.tokens, { role: 'job', jwt, address: '127.0.0.1' }),
      );
      if ('refused' in outcome) {
        const { kind, message } = outcome.refused;
        // What is taken over from the claims may be more than a batch token has room for.
        if (kind !== 'invalid' && kind !== 'too-large') throw outcome.refused;
        if (message.length > MAX_MESSAGE) throw new Defect(`a refusal of ${message.length} characters`);
        return;
      }
      letIn += 1;
      if ('payload' in input) checkClaims(JSON.parse(input.payload));
      else if (withoutSignature(jwt) !== withoutSignature(genuine))
        throw new Defect('a changed token lets in');
    },
    print: (input) => printValue(input),
    *simpler(input) {
      if ('payload' in input) for (const payload of shorterTexts(input.payload)) yield { payload };
      else for (const token of shorterTexts(input.token)) yield { token };
    },
    close() {
      if (letIn === 0) throw new Defect('nobody was ever let in');
    },
  };
}

const configOf = (pem: string): JwtConfig => ({
  oidc_discovery_url: '',
  oidc_discovery_ca_pem: '',
  jwks_url: '',
  jwks_ca_pem: '',
  jwt_validation_pubkeys: [pem],
  bound_issuer: '',
  jwt_supported_algs: [],
  default_role: '',
  override_allowed_server_names: [],
  namespace_in_state: true,
  oidc_client_id: '',
  oidc_response_mode: '',
  oidc_response_types: [],
});

function attempt(chance: Chance, genuine: string): Attempt {
  if (chance.oneIn(3)) return { token: spoiledToken(chance, genuine) };
  const json = JSON.stringify(CLAIMS);
  if (chance.oneIn(3)) return { payload: spoiledText(chance, json, [json, anyText(chance)]) };
  const claims = chance.oneIn(4)
    ? { ...CLAIMS, [anyText(chance)]: anyValue(chance) }
    : spoiledDeeply(chance, CLAIMS);
  return { payload: printValue(claims) };
}

/** Its parts, one of which is changed behind its base64, or not. */
function spoiledToken(chance: Chance, genuine: string): string {
  if (chance.oneIn(2)) return spoiledText(chance, genuine, [genuine]);
  const parts = genuine.split('.');
  const index = chance.below(parts.length);
  const plain = Buffer.from(parts[index] ?? '', 'base64url').toString('latin1');
  const header = JSON.stringify({
    ...HEADER,
    alg: chance.pick(['none', 'HS256', 'RS256', 'ES256', 'Ed25519', 'EdDSA']),
  });
  parts[index] =
    index === 0 && chance.oneIn(2)
      ? part(header)
      : Buffer.from(spoiledText(chance, plain), 'latin1').toString('base64url');
  return parts.join('.');
}

/** The last character of base64 may have bits that mean nothing. */
const withoutSignature = (token: string): string => token.slice(0, token.lastIndexOf('.'));

function checkClaims(claims: unknown): void {
  if (!isObject(claims) || claims['sub'] !== SUBJECT) throw new Defect('somebody else is let in');
  if (![claims['aud']].flat().includes(AUDIENCE)) throw new Defect('a token for somebody else lets in');
  if (!String(claims['repository']).startsWith('acme/')) throw new Defect('another repository is let in');
}

export const signedTokens = target<Attempt>({ name: 'signed-tokens', cases: 12_000, open });
