import type { ByteSink } from '../../transit/envelope/ports.ts';
import { binaryRefused } from '../terminal/output.ts';
import type { Output } from '../terminal/streams.ts';
import { isPlainText } from '../terminal/visible.ts';

/**
 * Decrypted data shown to a person while they come.
 * Writing fails with `invalid` as soon as they turn out to be no text: other bytes could do anything to a terminal.
 */
export function screen(out: Output): ByteSink {
  // A character may be cut in two by the border of a chunk.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: true });
    } catch {
      throw binaryRefused();
    }
  };
  return {
    async write(bytes) {
      const text = decode(bytes);
      if (!isPlainText(text)) throw binaryRefused();
      out.write(text);
    },
  };
}
