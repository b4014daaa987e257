import type { Answer } from '../exchange.ts';
import { JSON_TYPE } from '../vault/envelope.ts';

/** Where programs of the family look first when they know a host and nothing more. */
export const DISCOVERY_PATH = '/.well-known/terraform.json';

/**
 * The tags API under each name that clients know for it; the later ones are what the later clients ask for. There is no registry of modules: who
 * asks it for one is told that it is not there, and one client library does not start where none is named.
 */
const SERVICES = {
  'modules.v1': '/api/registry/v1/modules/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
} as const;

/** The same for everybody, with a token or without, and while the store is sealed. */
export const DISCOVERY: Answer = {
  status: 200,
  contentType: JSON_TYPE,
  body: JSON.stringify(SERVICES),
};
