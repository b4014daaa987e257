import { goLibrary } from '../go.ts';

const module = 'github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2';

export const client = goLibrary('go-kms-wrapping', 'go-kms-wrapping', module, [
  'wraps and unwraps a root key',
  'tells the version of the key after a rotation',
]);
