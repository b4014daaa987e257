import { age } from './age/age.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { pkcs11 } from './pkcs11/pkcs11.ts';
import { sops } from './sops/sops.ts';
import { ssh } from './ssh/ssh.ts';

/** Every agent protocol. */
export const AGENT_DOORS: readonly AgentDoorKind[] = [ssh, pkcs11, age, sops];
