import type { Answer } from '../exchange.ts';
import { JSON_TYPE } from '../vault/envelope.ts';

/** Path of Terraform's service discovery document. */
export const DISCOVERY_PATH = '/.well-known/terraform.json';

/**
 * Tags API under all its service names; later clients use the later names. There is no module registry: requests to it
 * get "not found", but one client library requires its name.
 */
const SERVICES = {
  'modules.v1': '/api/registry/v1/modules/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
} as const;

/** Discovery document, the same for everyone, with and without a token, sealed or not. */
export const DISCOVERY: Answer = {
  status: 200,
  contentType: JSON_TYPE,
  body: JSON.stringify(SERVICES),
};
