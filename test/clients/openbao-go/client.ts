import { goLibrary } from '../go.ts';
import { titles } from '../vault-go/client.ts';

const module = 'github.com/openbao/openbao/api/v2';

// The same program with the other library.
export const client = goLibrary('vault-go', 'OpenBao’s client for Go', module, titles, {
  tags: 'openbao',
  name: 'openbao-go',
});
